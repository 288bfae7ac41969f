/** Why a body is not taken for an object: Kubernetes' words for a client, and apart from them what the decoder found wrong. */
import { type DecodeProblem, otherProblem, problemText } from '../decode-problem.ts'
import { badRequest, StatusError } from '../status.ts'

/** The 400 for a body whose kind is known, or assumed. */
export function cannotBeHandled(
  actual: { readonly kind: string; readonly version: string },
  expected: { readonly kind: string },
  problem: DecodeProblem | string,
  cause?: unknown,
): StatusError {
  const what = `${actual.kind} in version "${actual.version}" cannot be handled as a ${expected.kind}`
  return because(problem, badRequest(`${what}: ${typeof problem === 'string' ? problem : problemText(problem)}`, cause))
}

/** The 400 for a body of which not even the kind can be read. `shown` is the body's beginning. */
export function unrecognized(expected: { readonly kind: string }, problem: string, shown: string): StatusError {
  const what = `the object provided is unrecognized (must be of type ${expected.kind})`
  return because(problem, badRequest(`${what}: ${problem} (${shown})`))
}

function because(problem: DecodeProblem | string, error: StatusError): StatusError {
  error.decoderProblem = typeof problem === 'string' ? otherProblem(problem) : problem
  return error
}

/** What a decoder found wrong; undefined for any other error. */
export const decoderProblem = (error: unknown): DecodeProblem | undefined =>
  error instanceof StatusError ? error.decoderProblem : undefined
