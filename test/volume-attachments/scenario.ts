/**
 * A scenario of attached volumes: steps of what users, kubelets and the external attachers of CSI drivers write. The same are played to a
 * real cluster and to ours; between steps there is time for all that follows.
 */
import type { Fields, Json, KubeObject } from '../../src/api/object.ts'
import { isNotFound } from '../../src/api/status.ts'
import type { Client, GroupVersionResource } from '../../src/client/client.ts'

export type Act =
  | { readonly make: Fields }
  /** A merge patch. */
  | { readonly change: string; readonly name: string; readonly by: Json; readonly subresource?: string }
  | { readonly remove: string; readonly name: string; readonly gracefully?: true }
  /** The controller manager ends, or starts again. */
  | { readonly controllers: 'stop' | 'start' }

export interface Step {
  readonly acts: readonly Act[]
  /** How long until the next step; SETTLE_MS by default. */
  readonly ms?: number
}

export type Scenario = readonly Step[]

const SETTLE_MS = 2500

interface Known extends GroupVersionResource {
  readonly kind: string
  readonly cluster?: true
}
const core = (resource: string, kind: string): Known => ({ group: '', version: 'v1', resource, kind })
const storage = (resource: string, kind: string): Known => ({
  group: 'storage.k8s.io',
  version: 'v1',
  resource,
  kind,
  cluster: true,
})
const RESOURCES: readonly Known[] = [
  core('pods', 'Pod'),
  core('persistentvolumeclaims', 'PersistentVolumeClaim'),
  storage('volumeattachments', 'VolumeAttachment'),
  { ...core('persistentvolumes', 'PersistentVolume'), cluster: true },
  { ...core('nodes', 'Node'), cluster: true },
  storage('csinodes', 'CSINode'),
  storage('csidrivers', 'CSIDriver'),
]

export interface PlayedOn {
  readonly client: Client
  readonly namespace: string
  /** Resolves after that time. */
  pass(ms: number): Promise<void>
  controllers(what: 'stop' | 'start'): Promise<void>
  /** A step is over. */
  ended(): Promise<void>
}

export async function play(scenario: Scenario, on: PlayedOn): Promise<void> {
  const of = (known: Known) => {
    const client = on.client.resource(known)
    return known.cluster ? client : client.namespace(on.namespace)
  }
  const named = (resource: string) => of(RESOURCES.find((known) => known.resource === resource) as Known)
  const perform = async (act: Act) => {
    if ('controllers' in act) return on.controllers(act.controllers)
    if ('make' in act) {
      const client = of(RESOURCES.find(({ kind }) => kind === act.make['kind']) as Known)
      const { status, ...rest } = act.make
      await client.create(rest as KubeObject)
      const name: string = act.make['metadata'].name
      if (status !== undefined) await client.patch(name, 'merge', { status }, { subresource: 'status' })
      return
    }
    if ('change' in act) {
      const options = act.subresource === undefined ? {} : { subresource: act.subresource }
      await named(act.change).patch(act.name, 'merge', act.by as Fields, options)
      return
    }
    await named(act.remove)
      .delete(act.name, act.gracefully ? {} : { gracePeriodSeconds: 0 })
      .catch((error) => {
        if (!isNotFound(error)) throw error
      })
  }
  for (const { acts, ms = SETTLE_MS } of scenario) {
    for (const act of acts) await perform(act)
    await on.pass(ms)
    await on.ended()
  }
  // Nothing is left for the scenario that comes next: pods first, so that their volumes are detached.
  for (const known of RESOURCES) {
    const { items } = await of(known).list()
    for (const { metadata } of items)
      if (metadata.finalizers?.length)
        await of(known)
          .patch(metadata.name ?? '', 'merge', { metadata: { finalizers: null } })
          .catch(() => undefined)
    await of(known).deleteCollection({ gracePeriodSeconds: 0 })
    if (known.resource === 'pods') {
      for (const { metadata } of (await named('nodes').list()).items)
        await named('nodes').patch(
          metadata.name ?? '',
          'merge',
          { status: { volumesInUse: null } },
          { subresource: 'status' },
        )
      await on.pass(SETTLE_MS)
    }
  }
}
