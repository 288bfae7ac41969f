/** What a kubelet asks a Pod object, as pure functions. */
import type { Container, Pod, PodSpec } from '../api/generated/types.ts'

export type { Container, Pod, PodSpec }

export const uidOf = (pod: Pod): string => pod.metadata.uid ?? ''

/** The runtime's own part of a containerID (`containerd://ID`). */
export const runtimeIdOf = (containerID = ''): string => containerID.replace(/^[^:]*:\/\//, '')
export const namespaceOf = (pod: Pod): string => pod.metadata.namespace ?? ''
export const nameOf = (pod: Pod): string => pod.metadata.name ?? ''
export const annotationsOf = (pod: Pod): Readonly<Record<string, string>> => pod.metadata.annotations ?? noAnnotations
const noAnnotations: Readonly<Record<string, string>> = {}

export const specOf = (pod: Pod): PodSpec => pod.spec ?? { containers: [] }

/** `name_namespace(uid)`, as Events and messages name a pod. */
export const formatPod = (pod: Pod): string => `${nameOf(pod)}_${namespaceOf(pod)}(${uidOf(pod)})`

/** An init container that keeps running beside the others (KEP-753). */
export const isSidecar = (container: Container): boolean => container.restartPolicy === 'Always'

export const initContainersOf = (pod: Pod): readonly Container[] => specOf(pod).initContainers ?? []

/** Containers added to look into a running pod: started once, never again (API concept: ephemeral containers). */
export const ephemeralContainersOf = (pod: Pod): readonly Container[] => specOf(pod).ephemeralContainers ?? []

export const isTerminalPhase = (phase: string | undefined): boolean => phase === 'Succeeded' || phase === 'Failed'

const RESTART_ALL = 'RestartAllContainers'

/** The action of the first of the container's own rules (KEP-5307) that is for this code. */
function actionAfter({ restartPolicyRules = [] }: Container, exitCode: number): string | undefined {
  return restartPolicyRules.find(({ exitCodes }) => {
    const within = exitCodes?.values?.includes(exitCode) === true
    return exitCodes?.operator === 'NotIn' ? !within : within
  })?.action
}

/** Whether all containers of the pod begin anew when this one ends with this code (KEP-5532). */
export const restartsAll = (container: Container, exitCode: number): boolean =>
  actionAfter(container, exitCode) === RESTART_ALL

/** Whether that may happen to the pod. */
export const couldRestartAll = (pod: Pod): boolean =>
  [...initContainersOf(pod), ...specOf(pod).containers].some(({ restartPolicyRules = [] }) =>
    restartPolicyRules.some(({ action }) => action === RESTART_ALL),
  )

/** Whether a container that ended with this code runs again: its own rules and policy first, then the pod's. */
export function restartsAfter(container: Container, pod: Pod, exitCode: number): boolean {
  if (actionAfter(container, exitCode) !== undefined) return true
  switch (container.restartPolicy ?? specOf(pod).restartPolicy ?? 'Always') {
    case 'Never':
      return false
    case 'OnFailure':
      return exitCode !== 0
    default:
      return true
  }
}

/** The same of an init container that is no sidecar: one that ended well is done, and `Always` of its pod means on failure. */
export const initRestartsAfter = (container: Container, pod: Pod, exitCode: number): boolean =>
  exitCode !== 0 && restartsAfter(container, pod, exitCode)

/** Annotations by which Helm and Argo CD wait for the end of a pod of its own. */
const HOOKS = ['helm.sh/hook', 'argocd.argoproj.io/hook']

/**
 * Whether something waits for this container to end: the pod for its init containers, sidecars aside, a Job (of any API group)
 * for the containers of its pods, an installer for its hooks. A container that is always started again is none of them.
 */
export function runsToCompletion(pod: Pod, container: Container): boolean {
  if (initContainersOf(pod).some(({ name }) => name === container.name)) return !isSidecar(container)
  if ((container.restartPolicy ?? specOf(pod).restartPolicy ?? 'Always') === 'Always') return false
  const annotations = annotationsOf(pod)
  return pod.metadata.ownerReferences?.some(({ kind }) => kind === 'Job') || HOOKS.some((name) => name in annotations)
}

/** `spec.containers{c}`: what in the pod an Event is about. */
export function containerPath(pod: Pod, name: string): string {
  const isNamed = (container: Container) => container.name === name
  const list = initContainersOf(pod).some(isNamed)
    ? 'initContainers'
    : ephemeralContainersOf(pod).some(isNamed)
      ? 'ephemeralContainers'
      : 'containers'
  return `spec.${list}{${name}}`
}

/** Where a probe of the container reaches for a port, and by which names. */
export function reachOf(pod: Pod, container: Container, podIPs: readonly string[], hostIP: string) {
  const podIP = specOf(pod).hostNetwork === true ? hostIP : podIPs[0]
  return { ports: container.ports ?? [], ...(podIP === undefined ? {} : { podIP }) }
}

/** The same of a hook: one in the node's own network must name its host, or reaches nothing, as with a kubelet. */
export const hookReachOf = (pod: Pod, container: Container, podIPs: readonly string[]) =>
  reachOf(pod, container, podIPs, '')

/** A container of the spec by name, of any kind. */
export function containerNamed(pod: Pod, name: string): Container | undefined {
  const spec = specOf(pod)
  return (
    spec.containers.find((container) => container.name === name) ??
    spec.initContainers?.find((container) => container.name === name) ??
    spec.ephemeralContainers?.find((container) => container.name === name)
  )
}
