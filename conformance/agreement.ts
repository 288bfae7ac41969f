/**
 * Agreement: by set, the share of answers with the same code; and reason; and body; and managedFields; the share with the
 * same headers; and the names of the cases that differ. agreement.json keeps what was reached; a test holds it, and
 * docs/conformance.md shows it.
 */
import { compareAnswers } from './compare.ts'
import type { Answer, RecordedCase, Step } from './recording.ts'

export interface Shares {
  readonly answers: number
  readonly code: number
  readonly reason: number
  readonly body: number
  readonly managedFields: number
  /** Same warnings and content type, whatever the body. */
  readonly headers: number
}

export interface SetAgreement {
  /** Over every answer of the set. */
  readonly all: Shares
  /** Without the answers counted apart (see `stepWaits`). */
  readonly counted: Shares
  /** Names of the cases in which some body or header differs. */
  readonly differing: readonly string[]
}

export interface Difference {
  readonly set: string
  readonly name: string
  readonly step: number
  readonly request: string
  readonly codes: readonly [number, number]
  readonly at: string
  readonly want: unknown
  readonly got: unknown
}

const waitingResources =
  /\/(resourcequotas|limitranges|customresourcedefinitions|gadgets)\b|probe\.example\.com|\$NS\.example\.com/

/** Answers counted apart: custom resources, pod security, quota and limit ranges. */
function stepWaits(step: Step): boolean {
  if (waitingResources.test(step.p)) return true
  return step.b?.includes('pod-security.kubernetes.io') ?? false
}

/** Once a step waits, what follows in its case depends on it. */
function firstWaiting(c: RecordedCase): number {
  const at = c.steps.findIndex(stepWaits)
  return at < 0 ? Number.POSITIVE_INFINITY : at
}

class Tally {
  answers = 0
  code = 0
  reason = 0
  body = 0
  managedFields = 0
  headers = 0
  shares(): Shares {
    const share = (n: number) => (this.answers === 0 ? 100 : Math.round((10_000 * n) / this.answers) / 100)
    return {
      answers: this.answers,
      code: share(this.code),
      reason: share(this.reason),
      body: share(this.body),
      managedFields: share(this.managedFields),
      headers: share(this.headers),
    }
  }
}

export function agreementOf(
  set: string,
  cases: readonly RecordedCase[],
  answers: readonly (readonly Answer[])[],
): { agreement: SetAgreement; differences: readonly Difference[] } {
  const all = new Tally()
  const counted = new Tally()
  const differing = new Set<string>()
  const differences: Difference[] = []
  for (const [index, c] of cases.entries()) {
    const waiting = firstWaiting(c)
    for (const [step, want] of c.want.entries()) {
      const got = answers[index]?.[step] ?? { code: 0, body: undefined }
      const likeness = compareAnswers(want, got, { anyOrder: c.gadget ?? c.anyOrder ?? false })
      for (const tally of step < waiting ? [all, counted] : [all]) {
        tally.answers++
        if (likeness.code) tally.code++
        if (likeness.reason) tally.reason++
        if (likeness.body) tally.body++
        if (likeness.managedFields) tally.managedFields++
        if (likeness.headers) tally.headers++
      }
      if (likeness.managedFields && likeness.headers) continue
      if (!likeness.body || !likeness.headers) differing.add(c.name)
      differences.push({
        set,
        name: c.name,
        step,
        request: `${c.steps[step]?.m} ${c.steps[step]?.p}`,
        codes: [want.code, got.code],
        at: likeness.difference?.at ?? '',
        want: likeness.difference?.want,
        got: likeness.difference?.got,
      })
    }
  }
  return {
    agreement: { all: all.shares(), counted: counted.shares(), differing: [...differing] },
    differences,
  }
}
