/** What strict decoding finds wrong with a body that can be read. */
import { goQuote } from '../quote.ts'

/** A field that the object's type does not know, or that is there twice. */
export interface FieldProblem {
  /** `json patch …`: of an operation, not of the object. */
  readonly kind: 'unknown' | 'duplicate' | 'json patch unknown' | 'json patch duplicate'
  /** With indexes and map keys: `spec.containers[0].bogus`. */
  readonly path: string
  /** The text has the path as it is: what is restored by reflection, or pruned, quotes nothing. */
  readonly plain?: true
}

/** Keys that a text in YAML sets twice, a line for each. */
export interface RepeatedKeys {
  readonly kind: 'repeated'
  readonly lines: readonly string[]
}

export type StrictProblem = FieldProblem | RepeatedKeys

export const strictText = (problem: StrictProblem): string =>
  problem.kind === 'repeated'
    ? `yaml: unmarshal errors:\n${problem.lines.map((line) => `  ${line}`).join('\n')}`
    : `${problem.kind} field ${problem.plain ? `"${problem.path}"` : goQuote(problem.path)}`

/** The warnings that tell of it: what a YAML parser finds comes as one error, and as a warning each. */
export const strictWarnings = (problem: StrictProblem): readonly string[] =>
  problem.kind === 'repeated' ? problem.lines : [strictText(problem)]

export const strictError = (problems: readonly StrictProblem[]): string =>
  `strict decoding error: ${problems.map(strictText).join(', ')}`

/** Problems of what stands in an object under `prefix`, whose texts quote nothing. */
export const under = (prefix: string, problems: readonly FieldProblem[]): readonly FieldProblem[] =>
  problems.map(({ kind, path }) => ({ kind, path: `${prefix}.${path}`, plain: true }))

/** Problems as what is restored by reflection reports them: in the order of their texts. */
export const asRestored = (problems: readonly StrictProblem[]): readonly StrictProblem[] =>
  problems
    .map((problem) => (problem.kind === 'unknown' ? { ...problem, plain: true as const } : problem))
    .map((problem) => ({ problem, text: strictText(problem) }))
    .sort((a, b) => (a.text < b.text ? -1 : a.text > b.text ? 1 : 0))
    .map(({ problem }) => problem)
