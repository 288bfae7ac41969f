/** What strict decoding finds wrong with a body that can be read. */

/** A field that the object's type does not know, or that is there twice. */
export interface FieldProblem {
  /** `json patch …`: of an operation, not of the object. */
  readonly kind: 'unknown' | 'duplicate' | 'json patch unknown' | 'json patch duplicate'
  /** With indexes and map keys: `spec.containers[0].bogus`. */
  readonly path: string
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
    : `${problem.kind} field "${problem.path}"`

/** The warnings that tell of it: what a YAML parser finds comes as one error, and as a warning each. */
export const strictWarnings = (problem: StrictProblem): readonly string[] =>
  problem.kind === 'repeated' ? problem.lines : [strictText(problem)]

export const strictError = (problems: readonly StrictProblem[]): string =>
  `strict decoding error: ${problems.map(strictText).join(', ')}`

/** Problems of what stands in an object under `prefix`. */
export const under = (prefix: string, problems: readonly FieldProblem[]): readonly FieldProblem[] =>
  problems.map(({ kind, path }) => ({ kind, path: `${prefix}.${path}` }))

/** Problems in the order of their paths. */
export const inOrderOfPaths = (problems: readonly StrictProblem[]): readonly StrictProblem[] => {
  if (problems.length < 2 || problems.some(({ kind }) => kind !== 'unknown')) return problems
  const all = (problems as readonly FieldProblem[]).map((problem) => ({ problem, path: problem.path.split('.') }))
  return all.sort((a, b) => comparePaths(a.path, b.path)).map(({ problem }) => problem)
}

function comparePaths(a: readonly string[], b: readonly string[]): number {
  for (let i = 0; i < Math.min(a.length, b.length); i++) if (a[i] !== b[i]) return a[i]! < b[i]! ? -1 : 1
  return a.length - b.length
}
