/**
 * Lets the writes of a stage happen in the order of a recording. A write whose turn has not come waits; one that the
 * recording does not have is refused as a conflict, as if somebody had been faster, and its author looks again. What time
 * alone decided on the real cluster (who had seen what when it wrote) is decided so.
 */
import type { Fields, Json } from '../../src/api/object.ts'
import type { SimulatedRuntime } from '../../src/base/simulated-runtime.ts'
import type { Normalizer, RawWrite } from './normalize.ts'
import { sameText, type Write } from './recording.ts'
import type { Verdict } from './stage.ts'

interface Waiting {
  readonly raw: RawWrite
  /** Made when everything is at rest: by then the uids in it are known. */
  write?: Write
  readonly decide: (verdict: Verdict) => void
}

export interface Guide {
  gate(write: RawWrite): Promise<Verdict>
  answered(write: RawWrite): void
  /** Lets time pass until the recorded writes have happened, or nothing more happens. */
  follow(runtime: SimulatedRuntime, limitMs?: number): Promise<void>
  /** Recorded, and not happened. */
  readonly missing: readonly Write[]
  /** Turned away, in their order. */
  readonly refused: readonly Write[]
  /** Happened, and not recorded. */
  readonly unexpected: readonly Write[]
  /** Writes that were held back when everything was over. */
  readonly waiting: readonly Write[]
}

const stepMs = 100
const retryMs = 50
const rethinkMs = 500
const skipMs = 2000
const userWaitsMs = 60_000

export function createGuide(
  recorded: readonly Write[],
  normalizer: Normalizer,
  isChance: (write: Write) => boolean = () => false,
): Guide {
  const expected = [...recorded]
  const certain = certainOnes(recorded.filter((write) => !isChance(write)))
  const unexpected: Write[] = []
  const refused: Write[] = []
  /** Failures that had not come when it was their turn. */
  const late: Write[] = []
  let waiting: Waiting[] = []

  const normalized = (write: RawWrite): Write => {
    normalizer.learn((write.body ?? null) as Json)
    return normalizer.write(write)
  }
  const writeOf = (one: Waiting): Write => {
    one.write ??= normalized(one.raw)
    return one.write
  }
  const indexOf = (write: Write) => expected.findIndex((other) => matches(other, write))
  const decide = (one: Waiting, verdict: Verdict): Verdict => {
    waiting = waiting.filter((other) => other !== one)
    if (verdict === 'refuse') refused.push(writeOf(one))
    one.decide(verdict)
    return verdict
  }

  function step(quietMs: number): Verdict | undefined {
    // Nobody wrote this: its author may have a better idea by the time of the next write.
    const stale = waiting.find((one) => isGuess(writeOf(one)) && indexOf(writeOf(one)) < 0)
    if (stale !== undefined) return decide(stale, 'refuse')
    for (let head = expected[0]; head !== undefined; head = expected[0]) {
      const due = head
      const next = waiting.find((one) => matches(due, writeOf(one)))
      if (next !== undefined && due.code === 409) {
        expected.shift()
        return decide(next, 'refuse')
      }
      if (next !== undefined) return decide(next, 'allow')
      if (certain.has(due)) break
      late.push(due)
      expected.shift()
    }
    const failing = waiting.find(
      (one) => indexOf(writeOf(one)) < 0 && late.some((recorded) => matches(recorded, writeOf(one))),
    )
    if (failing !== undefined) return decide(failing, 'allow')
    // Made too early, it keeps its author from looking again.
    const early = waiting.find((one) => isGuess(writeOf(one)) && writeOf(one).user === expected[0]?.user)
    if (quietMs > 0 && quietMs % rethinkMs === 0 && early !== undefined) return decide(early, 'refuse')
    if (quietMs < skipMs) return undefined
    const ahead = waiting
      // The user waited for what should happen before.
      .filter((one) => one.raw.userAgent !== 'user' || quietMs >= userWaitsMs)
      .map((one) => ({ one, at: indexOf(writeOf(one)) }))
      .filter(({ at }) => at >= 0)
      .sort((a, b) => a.at - b.at)[0]
    return ahead === undefined ? undefined : decide(ahead.one, 'allow')
  }

  return {
    get missing() {
      return expected.filter((write) => certain.has(write))
    },
    refused,
    unexpected,
    get waiting() {
      return waiting.map(writeOf)
    },
    gate: (raw) =>
      new Promise((resolve) => {
        waiting.push({ raw, decide: resolve })
      }),
    answered(raw) {
      const write = normalized(raw)
      const at = expected.findIndex((other) => matches(other, write) && other.code === write.code)
      if (at >= 0) expected.splice(at, 1)
      else if (write.code < 400) unexpected.push(write)
    },
    async follow(runtime, limitMs = 120_000) {
      for (let quietMs = 0; expected.length > 0 && quietMs < limitMs; ) {
        await runtime.settle(1_000_000)
        // Those before it may have been written down late: the log is in the order of the answers.
        const verdict = step(quietMs)
        if (verdict === 'allow') quietMs = 0
        else if (verdict === 'refuse') await runtime.advance(retryMs)
        if (verdict !== undefined) continue
        await runtime.advance(stepMs)
        quietMs += stepMs
      }
      for (let left = 20; left > 0; left--) {
        await runtime.advance(stepMs)
        for (const one of waiting) if (isGuess(writeOf(one))) decide(one, 'refuse')
      }
    },
  }
}

/** Conflicts, deletes of what has gone already and deletes said twice are a matter of time; what a quota forbids is not: it is tried on and on. */
function certainOnes(recorded: readonly Write[]): ReadonlySet<Write> {
  const deleted = new Set<string>()
  return new Set(
    recorded.filter(({ user, verb, uri, code, body }) => {
      const what = `${user} ${uri} ${JSON.stringify(body)}`
      const again = verb === 'delete' && deleted.has(what)
      if (verb === 'delete') deleted.add(what)
      const generated = verb === 'create' && (body as Fields | null)?.['metadata']?.generateName !== undefined
      return (code < 400 || (code === 403 && generated)) && !again
    }),
  )
}

/** An update says what its author believes; a refused one is made anew. What creates or deletes is asked for once. */
const isGuess = ({ verb, user }: Write) => (verb === 'update' || verb === 'patch') && user !== 'user' && user !== 'kwok'

function matches(recorded: Write, write: Write): boolean {
  const { user, verb, uri } = recorded
  return user === write.user && verb === write.verb && uri === write.uri && sameText(recorded.body, write.body)
}
