/** What users do in the recorded scenarios, and the objects they do it with. */
import type { Fields, JsonObject, KubeObject } from '../../src/api/object.ts'
import { sleep } from '../../src/base/clock.ts'
import type { ClientDeleteOptions, ResourceClient } from '../../src/client/client.ts'
import type { SeenEvent, Write } from './recording.ts'
import type { Scene, Stage } from './stage.ts'

export interface Play {
  readonly nodes: number
  /** There is one more node, `idle`, on which only the user brings pods on. */
  readonly idleNode?: boolean
  /** Writes to nodes were recorded too. */
  readonly nodesRecorded?: boolean
  /** Generated names of which the recording knows nothing any more: the first ones. */
  readonly namesBefore?: number
  /** Writes of the recording that need not have happened. */
  readonly isChance?: (write: Write) => boolean
  /** Events of the recording that came of what was before it, or beside it. */
  readonly isForeign?: (event: SeenEvent) => boolean
  /** How long the recording went on after its last write. */
  readonly lingerMs?: number
  /** How long it takes at most until nothing changes any more; two minutes. */
  readonly restMs?: number
  /** Before the recording begins; what it makes comes to rest. */
  prepare?(stage: Stage): Promise<void>
  /** The user's writes, each of which waits for its turn in the recording. */
  act(stage: Stage): Promise<void>
  /** What others did to the nodes at that time, when the write is answered that this is asked about. */
  meanwhile?(stage: Stage, answered: Write): Promise<void> | undefined
}

/** A play that `record.ts` can play to a real cluster. */
export interface RecordablePlay extends Omit<Play, 'prepare' | 'act' | 'meanwhile'> {
  prepare?(scene: Scene): Promise<void>
  act(scene: Scene): Promise<void>
}

const groups: Readonly<Record<string, string>> = {
  deployments: 'apps',
  replicasets: 'apps',
  daemonsets: 'apps',
  statefulsets: 'apps',
  jobs: 'batch',
  storageclasses: 'storage.k8s.io',
  cronjobs: 'batch',
  poddisruptionbudgets: 'policy',
}
const clusterWide = new Set(['namespaces', 'nodes', 'persistentvolumes', 'storageclasses'])

export function resource({ user, namespace }: Scene, name: string): ResourceClient {
  const client = user.resource({ group: groups[name] ?? '', version: 'v1', resource: name })
  return clusterWide.has(name) ? client : client.namespace(namespace)
}
/** The user waits, in the cluster's time. */
export const pause = ({ runtime }: Scene, ms: number): Promise<void> => sleep(runtime.clock, ms)
export const create = (stage: Scene, resourceName: string, object: unknown) =>
  resource(stage, resourceName).create(object as KubeObject)
export const remove = (stage: Scene, resourceName: string, name: string, options?: ClientDeleteOptions) =>
  resource(stage, resourceName).delete(name, options)
export const patch = (stage: Scene, resourceName: string, name: string, body: JsonObject, subresource?: string) =>
  resource(stage, resourceName).patch(name, 'merge', body, subresource === undefined ? {} : { subresource })

const container = { name: 'c', image: 'i:1' }
export const template = (labels: Fields, spec: Fields = {}) => ({
  metadata: { labels },
  spec: { containers: [container], ...spec },
})
export const deployment = (spec: Fields = {}) => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'a' },
  spec: { replicas: 1, selector: { matchLabels: { app: 'a' } }, template: template({ app: 'a' }), ...spec },
})
export const pod = (name: string, spec: Fields = {}, metadata: Fields = {}) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, ...metadata },
  spec: { containers: [{ name: 'c', image: 'i' }], ...spec },
})
export const job = (spec: Fields) => ({
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: { name: 'j' },
  spec: { ...spec, template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] } } },
})
export const image = (tag: string) => ({ spec: { template: { spec: { containers: [{ name: 'c', image: tag }] } } } })

export async function taintNodeOf(stage: Scene, name: string): Promise<void> {
  const { nodeName } = (await resource(stage, 'pods').get(name))['spec']
  await patch(stage, 'nodes', nodeName, { spec: { taints: [{ key: 'x', effect: 'NoExecute' }] } })
}

/** Plays that are over within half a minute. */
export const brief = <P extends Play>(plays: Readonly<Record<string, P>>): Readonly<Record<string, P>> =>
  Object.fromEntries(Object.entries(plays).map(([name, play]) => [name, { restMs: 30_000, ...play }]))
