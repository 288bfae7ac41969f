/** A user of a cluster, as stories have one: of a real cluster and of one in simulated time alike. */
import { asKubeObject, type Fields, type JsonObject } from '../../src/api/object.ts'
import { isNotFound } from '../../src/api/status.ts'
import { type Clock, formatTime, sleep } from '../../src/base/clock.ts'
import type { Client, DiscoveredResource } from '../../src/client/client.ts'
import type { PodRuns, Scene, Seen, Several, StoryNode } from './story.ts'

const LOOK_MS = 100
const PATIENCE_MS = 40_000
const NODE_SIZE = { cpu: '4', memory: '8Gi', pods: '10' }

/** Which resource each plural name stands for: of several that have it, the one of the core group. */
export type Resources = ReadonlyMap<string, DiscoveredResource>

export interface PlayedScene extends Scene {
  /** What did not come in time. */
  readonly timeouts: readonly string[]
  readonly notes: readonly string[]
  removeNodes(): Promise<void>
}

export async function resourcesOf(client: Client): Promise<Resources> {
  const { resources } = await client.discover()
  const named = new Map<string, DiscoveredResource>()
  for (const one of resources)
    if (!one.group.endsWith('metrics.k8s.io') && (one.group === '' || !named.has(one.resource)))
      named.set(one.resource, one)
  return named
}

export function createScene(ns: string, user: Client, resources: Resources, clock: Clock): PlayedScene {
  const timeouts: string[] = []
  const notes: string[] = []
  let added = 0
  const pause = (ms: number) => sleep(clock, ms)
  const now = () => formatTime(clock.now())
  const api = (name: string, namespace = ns) => {
    const found = resources.get(name)
    if (found === undefined) throw new Error(`no resource ${name}`)
    const all = user.resource(found)
    return found.namespaced ? all.namespace(namespace) : all
  }
  const patch = async (resource: string, name: string, body: object, subresource?: string) =>
    (await api(resource).patch(
      name,
      'merge',
      body as JsonObject,
      subresource === undefined ? {} : { subresource },
    )) as Seen
  const status: Scene['status'] = (resource, name, value) => patch(resource, name, { status: value }, 'status')
  const list: Scene['list'] = async (resource, options) =>
    (await api(resource).list(options)).items as readonly unknown[] as Several<Seen>
  const get: Scene['get'] = async (resource, name) => (await api(resource).get(name)) as Seen
  const until: Scene['until'] = async (what, look, ms = PATIENCE_MS) => {
    for (const end = clock.now() + ms; ; ) {
      const found = await look().catch(() => undefined)
      if (found) return found
      if (clock.now() > end) {
        timeouts.push(what)
        return undefined
      }
      await pause(LOOK_MS)
    }
  }
  const ownNodes = async () =>
    (await api('nodes').list({ labelSelector: `scenario=${ns}` })).items as readonly unknown[] as readonly Seen[]
  const containerStatus = (restarts: number, ready: boolean, state: Fields) => [
    { name: 'c', image: 'i', imageID: '', ready, restartCount: restarts, state },
  ]

  return {
    ns,
    api,
    pause,
    now,
    timeouts,
    notes,
    create: async (resource, object) => (await api(resource).create(asKubeObject(object as Fields))) as Seen,
    get,
    list,
    patch,
    del: (resource, name, options) => api(resource).delete(name, options),
    status,
    raw: (method, path, body) => user.raw(method, path, body as JsonObject | undefined),
    until,
    untilObj: (resource, name, holds, ms) =>
      until(
        `${resource}/${name}: ${holds}`,
        async () => {
          const object = await get(resource, name)
          return holds(object) ? object : undefined
        },
        ms,
      ),
    async untilPods(count, holds = () => true, ms = PATIENCE_MS) {
      const look = async () => {
        const found = (await list('pods')).filter(holds)
        return found.length === count ? found.toSorted((a, b) => (rank(a) < rank(b) ? -1 : 1)) : undefined
      }
      return ((await until(`${count} pods ${holds}`, look, ms)) ?? []) as readonly Seen[] as Several<Seen>
    },
    gone: (resource, name, ms) =>
      until(
        `${resource}/${name} gone`,
        () =>
          get(resource, name).then(
            () => false,
            (error) => isNotFound(error),
          ),
        ms,
      ),
    running: ({ metadata: { name } }, { ip, restarts = 0 }: PodRuns = {}) =>
      status('pods', name, {
        phase: 'Running',
        conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: now() }],
        ...(ip === undefined ? {} : { podIP: ip, podIPs: [{ ip }] }),
        startTime: now(),
        containerStatuses: containerStatus(restarts, true, { running: { startedAt: now() } }),
      }),
    ended: ({ metadata: { name } }, exitCode, conditions, reason) =>
      status('pods', name, {
        phase: exitCode === 0 ? 'Succeeded' : 'Failed',
        ...(reason === undefined ? {} : { reason }),
        ...(conditions === undefined ? {} : { conditions }),
        containerStatuses: containerStatus(0, false, {
          terminated: {
            exitCode,
            reason: exitCode === 0 ? 'Completed' : 'Error',
            finishedAt: now(),
            startedAt: now(),
          },
        }),
      }),
    note: (text) => void notes.push(text),
    async addNodes(nodes) {
      for (const given of nodes) {
        const node: StoryNode = typeof given === 'string' ? { name: given } : given
        const name = `${ns}-${node.name}`
        await api('nodes').create(
          asKubeObject({
            apiVersion: 'v1',
            kind: 'Node',
            metadata: {
              name,
              annotations: { 'kwok.x-k8s.io/node': 'fake' },
              labels: { 'kubernetes.io/hostname': name, 'kubernetes.io/os': 'linux', scenario: ns, ...node.labels },
            },
            spec: { ...node.spec },
            status: node.status ?? { allocatable: NODE_SIZE, capacity: NODE_SIZE },
          }),
        )
      }
      added += nodes.length
      const isReady = ({ spec, status: { conditions = [] } }: Seen) =>
        conditions.some(({ type, status: is }: Fields) => type === 'Ready' && is === 'True') &&
        !(spec.taints ?? []).some(({ key }: Fields) => key.startsWith('node.kubernetes.io/not-ready'))
      await until('nodes ready', async () => (await ownNodes()).filter(isReady).length === added)
    },
    async removeNodes() {
      for (const { metadata } of await ownNodes()) await api('nodes').delete(metadata.name)
    },
  }
}

const rank = ({ metadata }: Seen): string =>
  `${metadata.annotations?.['batch.kubernetes.io/job-completion-index'] ?? ''} ${metadata.name}`
