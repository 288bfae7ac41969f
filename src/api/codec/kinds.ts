/**
 * What it means when a body names another kind than its path: whether Kubernetes knows the kind where the path's resource
 * is served, and whether it could make the one of the other. Its words name the Go types of both.
 */
import type { DecodeProblem } from '../decode-problem.ts'
import { internalPackage } from '../scheme/go-packages.ts'
import { builtinKind, GROUPS_WITH_OWN_SERVERS } from '../scheme/scheme.ts'

export interface Kind {
  readonly group: string
  readonly version: string
  readonly kind: string
}

export interface KnownKind extends Kind {
  /** undefined for a kind that Kubernetes knows and does not serve. */
  readonly definition: string | undefined
}

/** The kind as known to the server of `servedGroup`; undefined when it is not registered there. */
export function kindIn(servedGroup: string, actual: Kind): KnownKind | undefined {
  const found = builtinKind(actual.group, actual.version, actual.kind)
  if (found === undefined) return undefined
  const definition = found === 'unserved' ? undefined : found.definition
  const isMeta = definition?.startsWith('io.k8s.apimachinery.') === true
  const server = (group: string) => (GROUPS_WITH_OWN_SERVERS.has(group) ? group : '')
  if (!isMeta && server(actual.group) !== server(servedGroup)) return undefined
  return { ...actual, definition }
}

/** Why a known kind cannot become the expected one, or undefined when only its version differs. */
export function conversionProblem(known: KnownKind, expected: Kind): DecodeProblem | undefined {
  const isMeta = known.definition?.startsWith('io.k8s.apimachinery.') === true
  const target = internalPackage(expected)
  if (!isMeta && known.kind === expected.kind && internalPackage(known) === target) return undefined
  const version = isMeta ? 'v1' : known.version
  const text = `converting (${version}.${known.kind}) to (${target}.${expected.kind}): unknown conversion`
  return { kind: 'conversion', text }
}
