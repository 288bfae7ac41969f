/** Where a pod's containers are reached: which container is meant, and on which node it is. */

import type { Node, Pod, PodSpec } from '../../../api/generated/types.ts'
import type { KubeObject } from '../../../api/object.ts'
import { badRequest, notFound } from '../../../api/status.ts'
import type { CacheReads } from '../../reads.ts'

/**
 * The container that is meant: without a name the pod's only one, whatever init and ephemeral containers stand beside it.
 * @throws StatusError 400 when it is none of the pod's, or one of several is to be named
 */
export function containerOf(pod: Pod, asked: string): string {
  const { initContainers = [], containers = [], ephemeralContainers = [] }: Partial<PodSpec> = pod.spec ?? {}
  const names: string[] = [...initContainers, ...containers, ...ephemeralContainers].map(({ name }) => name)
  const { name } = pod.metadata
  if (asked === '' && containers.length === 1) return containers[0]?.name ?? ''
  if (asked === '' && names.length > 1)
    throw badRequest(`a container name must be specified for pod ${name}, choose one of: [${names.join(' ')}]`)
  if (asked !== '' && !names.includes(asked)) throw badRequest(`container ${asked} is not valid for pod ${name}`)
  return asked === '' ? (names[0] ?? '') : asked
}

/** The pod's node. @throws StatusError 400 when the pod is on none, 404 when there is no such node */
export function nodeOfPod(reads: CacheReads, pod: Pod): KubeObject {
  const node: string = pod.spec?.nodeName ?? ''
  if (node === '') throw badRequest(`pod ${pod.metadata.name} does not have a host assigned`)
  const found = reads.get<Node>('', 'nodes', '', node)
  // Kubernetes names the kind it was asked about.
  if (found === undefined) throw notFound({ group: '', resource: 'pods' }, node)
  return found
}
