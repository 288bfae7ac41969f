/** Decisions for what cannot wait for them: an expression is evaluated in one go, and a webhook's answer takes its time. */
import type { Attributes, Authorizer, Decision } from './authorizer.ts'

/** Answers at once. */
export interface DecidedAuthorizer {
  authorize(attributes: Attributes): Decision
}

/** Thrown through whatever asked: the answer is on its way. */
class Undecided extends Error {
  readonly key: string
  readonly answer: Promise<Decision>
  constructor(key: string, answer: Promise<Decision>) {
    super('the authorizer has not answered yet')
    this.key = key
    this.answer = answer
  }
}

/** So many answers may be waited for in one evaluation. */
const MAX_ANSWERS = 100

/**
 * What `body` returns when every decision it asks for is there. Where one has to be waited for, `body` is left and run again
 * with the answer: it must change nothing outside before its last question.
 */
export function whenDecided<T>(authorizer: Authorizer, body: (decided: DecidedAuthorizer) => T): T | Promise<T> {
  const known = new Map<string, Decision>()
  const decided: DecidedAuthorizer = {
    authorize(attributes) {
      const decision = known.size === 0 ? undefined : known.get(JSON.stringify(attributes))
      if (decision !== undefined) return decision
      const answer = authorizer.authorize(attributes)
      if (answer instanceof Promise) throw new Undecided(JSON.stringify(attributes), answer)
      return answer
    },
  }
  const again = async (missing: Undecided): Promise<T> => {
    let waitedFor = missing
    for (;;) {
      if (known.size >= MAX_ANSWERS) throw new Error(`more than ${MAX_ANSWERS} decisions of others are needed`)
      known.set(waitedFor.key, await waitedFor.answer)
      try {
        return body(decided)
      } catch (error) {
        if (!(error instanceof Undecided)) throw error
        waitedFor = error
      }
    }
  }
  try {
    return body(decided)
  } catch (error) {
    if (error instanceof Undecided) return again(error)
    throw error
  }
}
