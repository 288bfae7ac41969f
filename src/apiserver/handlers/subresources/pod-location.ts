/** Where a pod's containers are reached: which container is meant, and on which node it is. Every answer here is a refusal. */
import type { Fields, KubeObject } from '../../../api/object.ts'
import { badRequest, notFound, StatusError } from '../../../api/status.ts'
import type { CacheReads } from '../../admission/plugin.ts'

/** The container that is meant. @throws StatusError 400 when it is none of the pod's, or one of several is to be named */
export function checkContainer(pod: KubeObject, asked: string): void {
  const { initContainers = [], containers = [], ephemeralContainers = [] }: Fields = pod['spec'] ?? {}
  const names: string[] = [...initContainers, ...containers, ...ephemeralContainers].map(({ name }) => name)
  const { name } = pod.metadata
  if (asked === '' && names.length > 1)
    throw badRequest(`a container name must be specified for pod ${name}, choose one of: [${names.join(' ')}]`)
  if (asked !== '' && !names.includes(asked)) throw badRequest(`container ${asked} is not valid for pod ${name}`)
}

/** @throws StatusError 400 when the pod is on no node, 404 when there is no such node, 500 when it has no address */
export function checkHost(reads: CacheReads, pod: KubeObject): void {
  const node: string = pod['spec']?.nodeName ?? ''
  if (node === '') throw badRequest(`pod ${pod.metadata.name} does not have a host assigned`)
  const found = reads.get('', 'nodes', '', node)
  // Kubernetes names the kind it was asked about.
  if (found === undefined) throw notFound({ group: '', resource: 'pods' }, node)
  addressesOf(found)
}

/** In the order in which they are preferred. @throws StatusError 500 when there is none */
export function addressesOf(node: KubeObject): readonly string[] {
  const known: readonly Fields[] = node['status']?.addresses ?? []
  const preferred = PREFERRED.flatMap((type) => known.filter((address) => address['type'] === type))
  if (preferred.length === 0)
    throw new StatusError(500, '', `no preferred addresses found; known addresses: [${known.join(' ')}]`)
  return preferred.map(({ address }) => address)
}

const PREFERRED = ['Hostname', 'InternalDNS', 'InternalIP', 'ExternalDNS', 'ExternalIP']
