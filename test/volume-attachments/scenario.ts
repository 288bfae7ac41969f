/**
 * A scenario of attached volumes: steps of what users, kubelets and the external attachers of CSI drivers write. The same are played to a
 * real cluster and to ours; between steps there is time for all that follows.
 */
import { createHash } from 'node:crypto'
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
  /** The volumes' handles have this in them, so that nothing is remembered of another playing. */
  readonly token: string
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
    for (const act of acts) await perform(withToken(act, on.token))
    await on.pass(ms)
    await on.ended()
  }
  await clear(on.client, on.pass)
}

/** Nothing is left for the scenario that comes next: pods first, so that their volumes are detached. */
export async function clear(client: Client, pass: (ms: number) => Promise<void>): Promise<void> {
  for (const known of RESOURCES) {
    const all = client.resource(known)
    for (let { items } = await all.list(); items.length > 0; { items } = await all.list()) {
      for (const { metadata } of items) {
        const own = all.namespace(metadata.namespace ?? '')
        const { name = '' } = metadata
        await own.delete(name, { gracePeriodSeconds: 0 }).catch(() => undefined)
        if (metadata.finalizers?.length)
          await own.patch(name, 'merge', { metadata: { finalizers: null } }).catch(() => undefined)
      }
      await pass(100)
    }
    if (known.resource === 'pods') await pass(SETTLE_MS)
  }
}

const DRIVER = 'disk.example.com'
const nameOf = (handle: string, nodeName: string): string =>
  `csi-${createHash('sha256').update(`${handle}${DRIVER}${nodeName}`).digest('hex')}`

function withToken(act: Act, token: string): Act {
  const told = JSON.parse(JSON.stringify(act).replaceAll('handle-', `handle-${token}-`)) as Act
  const [handle, nodeName] = ('name' in told ? told.name : '').split(' on ')
  return nodeName === undefined ? told : { ...told, name: nameOf(handle as string, nodeName) }
}

/** What was written of a scenario's volumes, as it would be without the token, and with names of VolumeAttachments that tell what they are. */
export function withoutToken(scenario: Scenario, token: string): (text: string) => string {
  const handles = new Set(JSON.stringify(scenario).match(/handle-[a-z]+/g))
  const names = [...handles].flatMap((handle) =>
    ['n1', 'n2'].map(
      (node) => [nameOf(handle.replace('handle-', `handle-${token}-`), node), `<${handle} on ${node}>`] as const,
    ),
  )
  return (text) => {
    let told = text.replaceAll(`handle-${token}-`, 'handle-')
    for (const [name, meaning] of names) told = told.replaceAll(name, meaning)
    return told
  }
}
