/** What any runtime needs to know of a pod's sandbox. */
import { annotationsOf, nameOf, namespaceOf, type Pod, specOf, uidOf } from './pod.ts'
import type { PodSandboxConfig } from './runtimes/runtime.ts'

export function sandboxConfigOf(pod: Pod, attempt: number): PodSandboxConfig {
  const { hostNetwork, hostname } = specOf(pod)
  return {
    metadata: { name: nameOf(pod), namespace: namespaceOf(pod), uid: uidOf(pod), attempt },
    hostname: hostname ?? nameOf(pod),
    labels: pod.metadata.labels ?? {},
    annotations: annotationsOf(pod),
    hostNetwork: hostNetwork === true,
  }
}
