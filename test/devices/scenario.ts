/**
 * A scenario of devices: steps of what a user, a driver or a kubelet writes. The same are played to a real cluster and to ours;
 * between steps there is time for all that follows.
 */
import type { Fields, Json, KubeObject } from '../../src/api/object.ts'
import { isAlreadyExists, isNotFound } from '../../src/api/status.ts'
import type { Client, GroupVersionResource } from '../../src/client/client.ts'

export type Act =
  | { readonly make: Fields }
  /** A merge patch. */
  | { readonly change: string; readonly name: string; readonly by: Json; readonly subresource?: string }
  | { readonly remove: string; readonly name: string; readonly gracefully?: true }

export interface Step {
  readonly acts: readonly Act[]
  /** How long until the next step; SETTLE_MS by default. */
  readonly ms?: number
}

export type Scenario = readonly Step[]

export const SETTLE_MS = 2500

const V1 = 'resource.k8s.io'
const STORAGE = { group: 'storage.k8s.io', version: 'v1' }
const RESOURCES: Readonly<Record<string, GroupVersionResource & { readonly kind: string; readonly cluster?: true }>> = {
  nodes: { group: '', version: 'v1', resource: 'nodes', kind: 'Node', cluster: true },
  pods: { group: '', version: 'v1', resource: 'pods', kind: 'Pod' },
  resourceclaims: { group: V1, version: 'v1', resource: 'resourceclaims', kind: 'ResourceClaim' },
  resourceclaimtemplates: {
    group: V1,
    version: 'v1',
    resource: 'resourceclaimtemplates',
    kind: 'ResourceClaimTemplate',
  },
  resourceslices: { group: V1, version: 'v1', resource: 'resourceslices', kind: 'ResourceSlice', cluster: true },
  deviceclasses: { group: V1, version: 'v1', resource: 'deviceclasses', kind: 'DeviceClass', cluster: true },
  services: { group: '', version: 'v1', resource: 'services', kind: 'Service' },
  persistentvolumeclaims: {
    group: '',
    version: 'v1',
    resource: 'persistentvolumeclaims',
    kind: 'PersistentVolumeClaim',
  },
  persistentvolumes: {
    group: '',
    version: 'v1',
    resource: 'persistentvolumes',
    kind: 'PersistentVolume',
    cluster: true,
  },
  storageclasses: { ...STORAGE, resource: 'storageclasses', kind: 'StorageClass', cluster: true },
  csinodes: { ...STORAGE, resource: 'csinodes', kind: 'CSINode', cluster: true },
  csistoragecapacities: { ...STORAGE, resource: 'csistoragecapacities', kind: 'CSIStorageCapacity' },
  csidrivers: { ...STORAGE, resource: 'csidrivers', kind: 'CSIDriver', cluster: true },
  volumeattachments: { ...STORAGE, resource: 'volumeattachments', kind: 'VolumeAttachment', cluster: true },
  priorityclasses: {
    group: 'scheduling.k8s.io',
    version: 'v1',
    resource: 'priorityclasses',
    kind: 'PriorityClass',
    cluster: true,
  },
  devicetaintrules: { group: V1, version: 'v1', resource: 'devicetaintrules', kind: 'DeviceTaintRule', cluster: true },
}

export const make = (...objects: readonly Fields[]): Step => ({ acts: objects.map((object) => ({ make: object })) })
export const change = (resource: string, name: string, by: Json, subresource?: string): Act => ({
  change: resource,
  name,
  by,
  ...(subresource === undefined ? {} : { subresource }),
})
export const remove = (resource: string, name: string): Act => ({ remove: resource, name })
export const step = (...acts: readonly Act[]): Step => ({ acts })
export const wait = (ms: number, { acts }: Step = { acts: [] }): Step => ({ acts, ms })

export interface PlayedOn {
  readonly client: Client
  readonly namespace: string
  /** Resolves after that time. */
  pass(ms: number): Promise<void>
  /** A step is over. */
  ended(): Promise<void>
}

const resourceOf = (name: string) => {
  const known = RESOURCES[name]
  if (known === undefined) throw new Error(`no such resource: ${name}`)
  return known
}

export async function play(scenario: Scenario, on: PlayedOn): Promise<void> {
  const of = (name: string) => {
    const known = resourceOf(name)
    const client = on.client.resource(known)
    return known.cluster ? client : client.namespace(on.namespace)
  }
  for (const { acts, ms = SETTLE_MS } of scenario) {
    for (const act of acts) await perform(act, of)
    await on.pass(ms)
    await on.ended()
  }
  // Nothing is left for the scenario that comes next.
  for (const [resource, { cluster }] of Object.entries(RESOURCES)) {
    // Those of the system are there for good.
    if (resource === 'nodes' || resource === 'priorityclasses') continue
    const client = on.client.resource(resourceOf(resource))
    await (cluster ? client : client.namespace(on.namespace)).deleteCollection({ gracePeriodSeconds: 0 })
  }
  await of('nodes').deleteCollection({})
}

async function perform(act: Act, of: (resource: string) => ReturnType<Client['resource']>): Promise<void> {
  if ('make' in act) {
    const known = Object.entries(RESOURCES).find(([, { kind }]) => kind === act.make['kind'])
    const client = of(known?.[0] ?? '')
    const { status, ...rest } = act.make
    await client.create(rest as KubeObject).catch((error) => {
      if (!isAlreadyExists(error)) throw error
    })
    const name: string = act.make['metadata'].name
    if (status !== undefined) await client.patch(name, 'merge', { status }, { subresource: 'status' })
    // A node is ready when its kubelet says so, not when a controller has noticed.
    if (known?.[0] === 'nodes')
      await client.patch(name, 'merge', { spec: { taints: act.make['spec']?.taints ?? null } })
    // No controller is there that would take them away again.
    if (act.make['kind'].startsWith('PersistentVolume'))
      await client.patch(name, 'merge', { metadata: { finalizers: null } })
    return
  }
  if ('change' in act) {
    const options = act.subresource === undefined ? {} : { subresource: act.subresource }
    await of(act.change).patch(act.name, 'merge', act.by as Fields, options)
    return
  }
  const options = act.gracefully ? {} : { gracePeriodSeconds: 0 }
  await of(act.remove)
    .delete(act.name, options)
    .catch((error) => {
      if (!isNotFound(error)) throw error
    })
}
