/** Whether words, and types of conditions, are of failing: as controllers write them, each in its own way. */

const FAILS =
  /(error|fail|cannot|can't|unable|denied|forbidden|refused|timed? ?out|not found|unreachable|no such|invalid|exceeded|stopped (posting|reporting|responding|sending|updating)|not (reachable|responding))/i
/** Words of failing that what is on its way down does not say of its progress, as it does `not found`. */
const SURELY_FAILS =
  /\b(error|fail(s|ed|ing|ure|ures)?|cannot|can't|unable|denied|forbidden|refused|timed? ?out|unreachable|exceeded)\b/i

/** `no errors found`, `0 errors so far`, `without any failure`, `has not failed`. */
const NONE =
  /(\b(no|zero|without|not|never)|n't|(?<![\d.,])0) +((any|an?|known|new|recent|further|more|other) +)?(errors?|fail(ed|ing|ures?)?|time-?outs?|timed out|denied|forbidden|refused|invalid|unreachable|exceeded|unable)\b/gi
/**
 * `errors: 0`, `failed=0`, `"error":null`, `err=<nil>`: a value that is the whole of its field. `failed: 0/3 are there`, `err: nil pointer`
 * and `error: [] is no list` begin like it and are failures.
 */
const COUNT_OF_NONE =
  /\b(err|errors?|failures?|failed|time-?outs?)\\?["']? ?[:=] ?(0(m?s|m|h)?|none|false|null|<nil>|nil|""|''|\\"\\"|\[\]|\{\})(?=[ \t]*($|[;)}\]"'\\]|,(?!\d)|\.(?:\s|$))|[ \t]+\\?"?[A-Za-z][\w./-]{0,62}\\?"?=)/gim
/** `NoErrors`, as a reason. */
const REASON_OF_NONE = /\b(No|Not|Non)(Error|Fail)[a-z]*/g

/** What is left of a text without what says that there is no failure. */
export const withoutNone = (text: string): string =>
  text.replaceAll(NONE, '').replaceAll(COUNT_OF_NONE, '').replaceAll(REASON_OF_NONE, '')

/** Whether a text tells of a failure; that there is none is no such word. */
export const tellsOfFailure = (text: string): boolean => FAILS.test(withoutNone(text))

/** The same of what is on its way down, of which less is a failure. */
export const tellsOfFailedEnd = (text: string): boolean => SURELY_FAILS.test(withoutNone(text))

/** Types of conditions that tell of a failure when they are True; others do when they are False. */
const BAD_WHEN_TRUE = /(error|fail|(?<!in)stalled|degraded|problem|blocked|conflict|\.(terminal|recoverable)$)/i
const TELLS =
  /^(ready|synced|healthy|available|reconciled|deleted|succeeded|drain.*|deleting|.*(error|fail|(?<!in)stalled|degraded|blocked).*|.*\.(terminal|recoverable))$/i
/** Conditions of a part (`VpcReady`), which are also false while that is only on its way: of them the words have to tell of a failure. */
const TELLS_OF_PART = /.(ready|synced|healthy|available|reconciled|deleted|succeeded)$/i
/** `NotReady`, `Unhealthy`, `NoErrors`: the opposite of the type without it. */
const OPPOSITE =
  /(^|[a-z0-9_.-])([Nn]ot|[Nn]on?|[Uu]n)[-_]?(?=[A-Z]|ready|synced|healthy|available|reconciled|deleted|succeeded|error|fail|stalled|degraded|problem|blocked|conflict)/

const isOpposite = (type: string): boolean => {
  const found = OPPOSITE.exec(type)
  // Within a word the same letters mean nothing: `RunReady`, `CannotReach`.
  return found !== null && (found[1] === '' || /[-_.]/.test(found[1] ?? '') || /^[NU]/.test(found[2] ?? ''))
}

/** How a condition's type is meant; undefined: it tells nothing of failing. */
export function meaningOf(type: string): { readonly isBadWhenTrue: boolean; readonly isOfPart: boolean } | undefined {
  const isWhole = TELLS.test(type)
  if (!isWhole && !TELLS_OF_PART.test(type)) return undefined
  return { isBadWhenTrue: isBadWhenTrue(type), isOfPart: !isWhole }
}

export const isBadWhenTrue = (type: string): boolean => BAD_WHEN_TRUE.test(type) !== isOpposite(type)
