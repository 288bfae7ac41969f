/** Plays a story to a cluster, waits until nothing is written any more, and gathers what was left and what was written. */
import { asKubeObject } from '../../src/api/object.ts'
import { type Clock, sleep } from '../../src/base/clock.ts'
import { messageOf } from '../../src/base/errors.ts'
import type { Client } from '../../src/client/client.ts'
import type { AuditedWrite } from './audited.ts'
import type { PlayedStory } from './facts.ts'
import { createScene, type PlayedScene, type Resources } from './scene.ts'
import type { Story } from './story.ts'

export interface Playing {
  readonly name: string
  readonly story: Story
  readonly clock: Clock
  readonly user: Client
  readonly observer: Client
  readonly resources: Resources
  /** Others are played to the same cluster: the story leaves nothing behind. */
  readonly isShared: boolean
  /** All that the audit log has. */
  writes(): Promise<readonly AuditedWrite[]>
}

const LOOK_MS = 250
const QUIET_MS = 5000
const REST_MS = 40_000
const BEFORE_MS = 300
const UNSEEN = new Set(['componentstatuses', 'leases', 'apiservices'])

export async function playStory(playing: Playing): Promise<PlayedStory> {
  const { name, story, clock, user, observer, resources } = playing
  const ns = `s-${name}`
  const scene = createScene(ns, user, resources, clock)
  await scene.create('namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: ns } })
  await scene.until('account', () => scene.get('serviceaccounts', 'default'))
  await scene.until('authority', () => scene.get('configmaps', 'kube-root-ca.crt'))
  if (story.nodes !== undefined) await scene.addNodes(story.nodes)
  await scene.pause(BEFORE_MS)
  await story.act(scene).catch((error) => scene.note(`the story broke off: ${messageOf(error)}`))
  const own = async () => (await playing.writes()).filter((write) => isOf(ns, write))
  const writes = await atRest(clock, own, story)
  const objects = []
  for (const resource of resources.values()) {
    if (!resource.verbs.includes('list') || UNSEEN.has(resource.resource)) continue
    const all = observer.resource(resource)
    const { items } = await (resource.namespaced ? all.namespace(ns) : all).list()
    for (const object of items)
      if (resource.namespaced || isNamedAfter(ns, object)) objects.push({ resource: resource.resource, object })
  }
  // How long its cleaning takes is no part of it.
  const timeouts = [...scene.timeouts]
  if (playing.isShared) await clean(scene, story)
  return { ns, writes, objects, notes: scene.notes, timeouts }
}

/** Of the story's namespace, or of what is named after it. */
function isOf(ns: string, { namespace, name, body }: AuditedWrite): boolean {
  if (namespace === ns || name === ns || name.startsWith(`${ns}-`)) return true
  return name === '' && JSON.stringify(body).includes(`"${ns}-`)
}

function isNamedAfter(ns: string, object: { readonly [field: string]: unknown }): boolean {
  const { name = '' } = asKubeObject(object).metadata
  if (name === ns || name.startsWith(`${ns}-`)) return true
  const spec = (object['spec'] ?? {}) as { readonly claimRef?: object; readonly source?: object }
  return JSON.stringify(spec.claimRef ?? spec.source ?? {}).includes(ns)
}

async function atRest(clock: Clock, own: () => Promise<readonly AuditedWrite[]>, story: Story) {
  const { quietMs = QUIET_MS, restMs = REST_MS } = story
  const latest = clock.now() + restMs
  for (let heard = -1, since = clock.now(); ; ) {
    const writes = await own()
    if (writes.length !== heard) [heard, since] = [writes.length, clock.now()]
    if (clock.now() - since > quietMs || clock.now() > latest) return writes
    await sleep(clock, LOOK_MS)
  }
}

async function clean(scene: PlayedScene, story: Story): Promise<void> {
  await story.clean?.(scene)?.catch(() => {})
  for (const { metadata } of await scene.list('pods'))
    if (metadata.finalizers !== undefined)
      await scene.patch('pods', metadata.name, { metadata: { finalizers: null } }).catch(() => {})
  // It may have gone by itself.
  await scene.del('namespaces', scene.ns).catch(() => {})
  if (story.nodes !== undefined) await scene.removeNodes()
  await scene.until('pods gone', async () => {
    for (const { metadata } of await scene.list('pods'))
      await scene.del('pods', metadata.name, { gracePeriodSeconds: 0 }).catch(() => {})
    return (await scene.list('pods')).length.valueOf() === 0
  })
  if (story.nodes !== undefined || story.exclusive) await scene.gone('namespaces', scene.ns, 15_000)
}
