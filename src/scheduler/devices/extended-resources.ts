/**
 * Extended resources that a DeviceClass backs with devices (KEP-5004): a pod asks for them by name and amount, as of a device
 * plugin. Where a node has none by a plugin, a claim is made for the pod.
 */
import type { DeviceClass, Node, Pod } from '../../api/generated/types.ts'
import type { Fields } from '../../api/object.ts'
import type { ResourceClaim } from '../../api/objects/resource-claims.ts'

/** Tells that a claim stands for a pod's extended resources. */
const ANNOTATION = 'resource.kubernetes.io/extended-resource-claim'
/** Any class can be asked for by this and its name. */
const IMPLICIT = 'deviceclass.resource.kubernetes.io/'

export interface ExtendedRequest {
  readonly resource: string
  readonly deviceClass: string
  readonly container: string
  /** The name of the request in the claim. */
  readonly request: string
  readonly count: number
}

/** The classes by the resource that they back: of several for one resource the newest, then the first by name. */
export function backedResources(classes: readonly DeviceClass[]): ReadonlyMap<string, string> {
  const newest = classes.toSorted(
    (a, b) =>
      Date.parse(b.metadata.creationTimestamp ?? '') - Date.parse(a.metadata.creationTimestamp ?? '') ||
      ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1),
  )
  const backed = new Map<string, string>()
  for (const { metadata, spec } of newest) {
    const { name = '' } = metadata
    backed.set(`${IMPLICIT}${name}`, name)
    const resource = spec?.extendedResourceName
    if (resource && !backed.has(resource)) backed.set(resource, name)
  }
  return backed
}

export function extendedRequests(pod: Pod, backed: ReadonlyMap<string, string>): readonly ExtendedRequest[] {
  const containers = [...(pod.spec?.initContainers ?? []), ...(pod.spec?.containers ?? [])]
  return containers.flatMap(({ name: container, resources }, at) => {
    const requests = Object.entries((resources?.requests ?? {}) as Readonly<Record<string, string>>)
    // A request is named by its place among all that the container asks for.
    return requests
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .flatMap(([resource, amount], index) => {
        const deviceClass = backed.get(resource)
        if (deviceClass === undefined || !(Number(amount) > 0)) return []
        const request = `container-${at}-request-${index}`
        return [{ resource, deviceClass, container, request, count: Number(amount) }]
      })
  })
}

/** Those that the node has not by a device plugin. */
export function withoutPlugin(requests: readonly ExtendedRequest[], node: Node): readonly ExtendedRequest[] {
  const allocatable = (node.status?.allocatable ?? node.status?.capacity ?? {}) as Readonly<Record<string, string>>
  return requests.filter(({ resource }) => Number(allocatable[resource] ?? 0) === 0)
}

export function claimFor(pod: Pod, requests: readonly ExtendedRequest[]): ResourceClaim {
  const { name = '', namespace = '', uid = '' } = pod.metadata
  return {
    apiVersion: 'resource.k8s.io/v1',
    kind: 'ResourceClaim',
    metadata: {
      generateName: `${name}-extended-resources-`,
      namespace,
      annotations: { [ANNOTATION]: 'true' },
      ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name, uid, controller: true }],
    },
    spec: {
      devices: {
        requests: requests.map(({ request, deviceClass, count }) => ({
          name: request,
          exactly: { deviceClassName: deviceClass, allocationMode: 'ExactCount', count },
        })),
      },
    },
  } as ResourceClaim
}

/** What the pod's status tells of its claim, in the order of the resources. */
export const extendedStatus = (claim: ResourceClaim, requests: readonly ExtendedRequest[]): Fields => ({
  requestMappings: requests
    .toSorted((a, b) => (a.resource < b.resource ? -1 : Number(a.resource > b.resource)))
    .map(({ container, resource, request }) => ({
      containerName: container,
      resourceName: resource,
      requestName: request,
    })),
  resourceClaimName: claim.metadata.name,
})
