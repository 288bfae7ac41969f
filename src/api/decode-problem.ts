/** What ends the decoding of a body, in the words of Go's decoders. */

/** A value of another type than its place has. */
export interface Mismatch {
  readonly kind: 'mismatch'
  /** What is there: `string`, `number 1.5`. */
  readonly found: string
  readonly goType: string
  /** The Go struct that the value stands in; empty for a value by itself. */
  readonly struct: string
  /** The JSON names on the way to it. */
  readonly path: readonly string[]
}

export type DecodeProblem =
  | Mismatch
  /** A text that is no base64 from this byte on. */
  | { readonly kind: 'base64'; readonly byte: number }
  /** A known kind that cannot become the one expected. */
  | { readonly kind: 'conversion'; readonly text: string }
  | { readonly kind: 'other'; readonly text: string }

export const otherProblem = (text: string): DecodeProblem => ({ kind: 'other', text })

export function problemText(problem: DecodeProblem): string {
  switch (problem.kind) {
    case 'mismatch': {
      const { struct, path } = problem
      return mismatchText(
        problem,
        struct === '' && path.length === 0 ? VALUE : `Go struct field ${struct}.${path.join('.')}`,
      )
    }
    case 'base64':
      return `illegal base64 data at input byte ${problem.byte}`
    case 'conversion':
    case 'other':
      return problem.text
  }
}

/** The same where each value is read for itself: no message says which. */
export function problemOfValue(problem: DecodeProblem): string {
  if (problem.kind === 'mismatch') return mismatchText(problem, VALUE)
  return problem.kind === 'base64' ? `error decoding from json: ${problemText(problem)}` : problem.text
}

const VALUE = 'Go value'

const mismatchText = ({ found, goType }: Mismatch, where: string) =>
  `json: cannot unmarshal ${found} into ${where} of type ${goType}`
