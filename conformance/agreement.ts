/**
 * Agreement: by set, the share of answers with the same code; and reason; and body; and managedFields; and the shares with the
 * same headers and with times in the same relations. agreement.json keeps what was reached, differing.json names each step
 * whose answer differs; a test holds both, and docs/conformance.md shows them.
 */
import { readFileSync } from 'node:fs'
import { compareAnswers, type Likeness } from './compare.ts'
import type { Answer, RecordedCase, Step } from './recording.ts'
import { isStepLeftOut } from './sets.ts'

export interface Shares {
  readonly answers: number
  readonly code: number
  readonly reason: number
  readonly body: number
  readonly managedFields: number
  /** Same warnings and content type, whatever the body. */
  readonly headers: number
  /** Times stand in the same relations (times.ts), whatever the body. */
  readonly times: number
}

export interface SetAgreement {
  /** Over every answer of the set. */
  readonly all: Shares
  /** Without the answers counted apart (see `stepWaits`). */
  readonly counted: Shares
}

/** Steps of a case whose answers differ, and why. */
export interface Excuse {
  readonly case: string
  readonly steps: readonly number[]
  readonly why: string
  /** They differ at one time and not at another: that they agreed when the figures were made holds nothing. */
  readonly sometimes?: true
}

/** By set. */
export const excuses: Readonly<Record<string, readonly Excuse[]>> = JSON.parse(
  readFileSync(new URL('differing.json', import.meta.url), 'utf8'),
)

/** Of several cases of one name the excuse holds for each. */
export const isExcused = ({ set, name, step }: Pick<Difference, 'set' | 'name' | 'step'>): boolean =>
  (excuses[set] ?? []).some((excuse) => excuse.case === name && excuse.steps.includes(step))

/** What is less than before, in words; nothing when all figures are as high, or lower by no more than differs only sometimes. */
export function fallenFigures(set: string, reached: SetAgreement, now: SetAgreement): readonly string[] {
  const sometimes = (excuses[set] ?? []).reduce((sum, excuse) => sum + (excuse.sometimes ? excuse.steps.length : 0), 0)
  return (['all', 'counted'] as const).flatMap((which) =>
    (Object.keys(reached[which]) as (keyof Shares)[]).flatMap((figure) => {
      const [was, is] = [reached[which][figure], now[which][figure]]
      // They are rounded to two digits.
      const chance = sometimes === 0 || figure === 'answers' ? 0 : (100 * sometimes) / now[which].answers + 0.01
      return is < was - chance ? [`${set}: ${figure} of ${which} answers fell from ${was} to ${is}`] : []
    }),
  )
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

const measures = ['code', 'reason', 'body', 'managedFields', 'headers', 'times'] as const

class Tally {
  private answers = 0
  private readonly alike = { code: 0, reason: 0, body: 0, managedFields: 0, headers: 0, times: 0 }
  add(likeness: Likeness): void {
    this.answers++
    for (const measure of measures) if (likeness[measure]) this.alike[measure]++
  }
  shares(): Shares {
    const share = (n: number) => (this.answers === 0 ? 100 : Math.round((10_000 * n) / this.answers) / 100)
    const { code, reason, body, managedFields, headers, times } = this.alike
    return {
      answers: this.answers,
      code: share(code),
      reason: share(reason),
      body: share(body),
      managedFields: share(managedFields),
      headers: share(headers),
      times: share(times),
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
  const differences: Difference[] = []
  for (const [index, c] of cases.entries()) {
    const waiting = firstWaiting(c)
    for (const [step, want] of c.want.entries()) {
      if (isStepLeftOut(set, c.name, step)) continue
      const got = answers[index]?.[step] ?? { code: 0, body: undefined }
      const likeness = compareAnswers(want, got, { anyOrder: c.gadget ?? c.anyOrder ?? false })
      for (const tally of step < waiting ? [all, counted] : [all]) tally.add(likeness)
      if (likeness.managedFields && likeness.headers && likeness.times) continue
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
    agreement: { all: all.shares(), counted: counted.shares() },
    differences,
  }
}
