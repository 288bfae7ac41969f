/** What the checks of the pod security standards share: what they look at, what they find, and how findings are worded. */
import type { Container, EphemeralContainer, PodSpec } from '../../../../api/generated/types.ts'

/** A pod, or what a template would make of one. */
export interface CheckedPod {
  readonly annotations: Readonly<Record<string, string>>
  readonly spec: Partial<PodSpec>
}

/** `reason` names the check (`host namespaces`), `detail` what broke it. */
export interface Violation {
  readonly reason: string
  readonly detail: string
}

/** undefined: the pod conforms. */
export type CheckPod = (pod: CheckedPod) => Violation | undefined

export interface Check {
  readonly id: string
  /** From this minor version of Kubernetes 1 on; ascending. The last one that is not newer than the policy's counts. */
  readonly versions: readonly { readonly since: number; readonly check: CheckPod }[]
  /** Checks of the baseline level that this one of the restricted level makes needless, from the same version on. */
  readonly overrides?: readonly string[]
}

/** Init containers, then containers, then ephemeral ones. */
export function containersOf(spec: Partial<PodSpec>): readonly AnyContainer[] {
  return [...(spec.initContainers ?? []), ...(spec.containers ?? []), ...(spec.ephemeralContainers ?? [])]
}

export type AnyContainer = Container | EphemeralContainer

export const isWindows = (spec: Partial<PodSpec>): boolean => spec.os?.name === 'windows'

export const quoted = (items: readonly string[]): string => `"${items.join('", "')}"`
export const plural = (one: string, many: string, count: number): string => (count === 1 ? one : many)
export const sortedSet = (items: readonly string[]): readonly string[] => [...new Set(items)].sort()

/** `container "a"`, `containers "a", "b"`. */
export const namedContainers = (names: readonly string[]): string =>
  `${plural('container', 'containers', names.length)} ${quoted(names)}`

/** `pod and containers "a", "b"`: those that set something themselves. */
export function setters(pod: boolean, names: readonly string[]): readonly string[] {
  return [...(pod ? ['pod'] : []), ...(names.length > 0 ? [namedContainers(names)] : [])]
}

export const itemName = ({ name }: { readonly name: string }): string => name
export const namesWhere = (spec: Partial<PodSpec>, bad: (container: AnyContainer) => boolean): readonly string[] =>
  containersOf(spec).filter(bad).map(itemName)
