/** Jobs whose pods the user brings on: policies for failures and successes, indexes, replacement, suspension, scaling. */
import type { Fields, JsonObject, KubeObject } from '../../src/api/object.ts'
import { formatTime } from '../../src/base/clock.ts'
import { brief, create, patch, pause, type RecordablePlay, remove, resource } from './acts.ts'
import type { Scene } from './stage.ts'

const indexLabel = 'batch.kubernetes.io/job-completion-index'
const podSpec = {
  nodeName: 'idle',
  restartPolicy: 'Never',
  automountServiceAccountToken: false,
  containers: [{ name: 'c', image: 'i' }],
}
const job = (spec: Fields, podChanges: Fields = {}) => ({
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: { name: 'j' },
  spec: { ...spec, template: { spec: { ...podSpec, ...podChanges } } },
})
const indexed = (completions: number, spec: Fields = {}) =>
  job({ completionMode: 'Indexed', completions, parallelism: completions, ...spec })
const rule = (action: string, match: Fields) => ({ podFailurePolicy: { rules: [{ action, ...match }] } })
const onExit = (...values: readonly number[]) => ({ onExitCodes: { operator: 'In', values } })
const onDisruption = { onPodConditions: [{ type: 'DisruptionTarget', status: 'True' }] }

/** Pods to bring on, once there are so many: by index, or by name. */
async function pending(scene: Scene, count: number): Promise<readonly KubeObject[]> {
  for (;;) {
    const { items } = await resource(scene, 'pods').list()
    const fresh = items.filter(
      (pod) => pod.metadata.deletionTimestamp === undefined && pod['status']?.phase === 'Pending',
    )
    if (fresh.length === count) return [...fresh].sort((a, b) => (rank(a) < rank(b) ? -1 : 1))
    await pause(scene, 200)
  }
}
const rank = ({ metadata }: KubeObject) => `${metadata.annotations?.[indexLabel] ?? ''} ${metadata.name}`

async function setStatus(scene: Scene, pod: KubeObject | undefined, status: JsonObject): Promise<void> {
  await patch(scene, 'pods', pod?.metadata.name ?? '', { status }, 'status')
}
const containers = (state: JsonObject, restartCount = 0, ready = false): JsonObject => ({
  containerStatuses: [{ name: 'c', image: 'i', imageID: '', ready, restartCount, state }],
})
const running = (scene: Scene, pod: KubeObject | undefined, restartCount = 0) =>
  setStatus(scene, pod, {
    phase: 'Running',
    conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: formatTime(scene.runtime.clock.now()) }],
    ...containers({ running: { startedAt: formatTime(scene.runtime.clock.now()) } }, restartCount, true),
  })
function ended(scene: Scene, pod: KubeObject | undefined, exitCode: number, conditions: readonly JsonObject[] = []) {
  const finishedAt = formatTime(scene.runtime.clock.now())
  return setStatus(scene, pod, {
    phase: exitCode === 0 ? 'Succeeded' : 'Failed',
    conditions: conditions as never,
    ...containers({
      terminated: { exitCode, finishedAt, startedAt: finishedAt, reason: exitCode ? 'Error' : 'Completed' },
    }),
  })
}
const disrupted = [{ type: 'DisruptionTarget', status: 'True', reason: 'EvictionByEvictionAPI', message: 'why' }]
const made = (scene: Scene, object: unknown) => create(scene, 'jobs', object)
const idle = { nodes: 1, idleNode: true } as const
const ends = async (scene: Scene, pods: readonly KubeObject[], ...codes: readonly number[]) => {
  for (const [at, code] of codes.entries()) await ended(scene, pods[at], code)
}
/** The node's part in a deletion. */
const gone = (scene: Scene, pod: KubeObject | undefined) =>
  remove(scene, 'pods', pod?.metadata.name ?? '', { gracePeriodSeconds: 0 })
async function terminating(scene: Scene, count: number): Promise<readonly KubeObject[]> {
  for (;;) {
    const { items } = await resource(scene, 'pods').list()
    const going = items.filter(({ metadata }) => metadata.deletionTimestamp !== undefined)
    if (going.length === count) return [...going].sort((a, b) => (rank(a) < rank(b) ? -1 : 1))
    await pause(scene, 200)
  }
}

export const jobPlays: Readonly<Record<string, RecordablePlay>> = brief<RecordablePlay>({
  'job-policy-fails-job': {
    ...idle,
    async act(scene) {
      await made(scene, job({ parallelism: 2, completions: 2, ...rule('FailJob', onExit(42)) }))
      const pods = await pending(scene, 2)
      await running(scene, pods[0])
      await pause(scene, 3000)
      await ended(scene, pods[1], 42)
      const [other] = await terminating(scene, 1)
      await pause(scene, 3000)
      await gone(scene, other)
    },
  },
  'job-policy-ignores': {
    ...idle,
    async act(scene) {
      await made(scene, job({ backoffLimit: 0, ...rule('Ignore', onDisruption) }))
      const [pod] = await pending(scene, 1)
      await ended(scene, pod, 137, disrupted)
      const [next] = await pending(scene, 1)
      await pause(scene, 3000)
      await ended(scene, next, 0)
    },
  },
  'job-policy-counts': {
    ...idle,
    async act(scene) {
      const rules = [
        { action: 'Count', onExitCodes: { operator: 'NotIn', values: [3, 4] } },
        { action: 'FailJob', ...onExit(3, 5) },
      ]
      await made(scene, job({ backoffLimit: 1, podFailurePolicy: { rules } }))
      const [pod] = await pending(scene, 1)
      await ended(scene, pod, 5)
      const [next] = await pending(scene, 1)
      await ended(scene, next, 3)
    },
  },
  'job-policy-fails-index': {
    ...idle,
    async act(scene) {
      await made(scene, indexed(3, { backoffLimitPerIndex: 1, ...rule('FailIndex', onExit(13)) }))
      const pods = await pending(scene, 3)
      await ends(scene, pods, 13, 0, 0)
    },
  },
  'job-index-backoff': {
    ...idle,
    async act(scene) {
      await made(scene, indexed(2, { backoffLimitPerIndex: 1, maxFailedIndexes: 1 }))
      const pods = await pending(scene, 2)
      await ended(scene, pods[0], 1)
      await pause(scene, 4000)
      await ended(scene, pods[1], 0)
      const [again] = await pending(scene, 1)
      await ended(scene, again, 1)
    },
  },
  'job-index-ignores': {
    ...idle,
    async act(scene) {
      await made(scene, indexed(2, { backoffLimitPerIndex: 0, ...rule('Ignore', onDisruption) }))
      const pods = await pending(scene, 2)
      await ended(scene, pods[0], 137, disrupted)
      await pause(scene, 3000)
      await ended(scene, pods[1], 0)
      const [again] = await pending(scene, 1)
      await ended(scene, again, 0)
    },
  },
  'job-too-many-failed-indexes': {
    ...idle,
    async act(scene) {
      await made(scene, indexed(4, { backoffLimitPerIndex: 0, maxFailedIndexes: 1 }))
      const pods = await pending(scene, 4)
      await running(scene, pods[3])
      await pause(scene, 2000)
      await ended(scene, pods[0], 1)
      await pause(scene, 3000)
      await ended(scene, pods[1], 1)
      for (const pod of await terminating(scene, 2)) await gone(scene, pod)
    },
  },
  'job-success-indexes': {
    ...idle,
    async act(scene) {
      const rules = [{ succeededIndexes: '0,2' }]
      await made(scene, indexed(4, { successPolicy: { rules } }))
      const pods = await pending(scene, 4)
      await ended(scene, pods[0], 0)
      await pause(scene, 3000)
      await ended(scene, pods[2], 0)
      const going = await terminating(scene, 2)
      await pause(scene, 3000)
      for (const pod of going) await gone(scene, pod)
    },
  },
  'job-success-count': {
    ...idle,
    async act(scene) {
      const rules = [
        { succeededIndexes: '0-1', succeededCount: 2 },
        { succeededIndexes: '1-3', succeededCount: 2 },
      ]
      await made(scene, indexed(4, { parallelism: 3, successPolicy: { rules } }))
      const pods = await pending(scene, 3)
      await ended(scene, pods[1], 0)
      const [, , third] = await pending(scene, 3)
      await ended(scene, third, 0)
      for (const pod of await terminating(scene, 2)) await gone(scene, pod)
    },
  },
  'job-success-any-count': {
    ...idle,
    async act(scene) {
      await made(scene, indexed(3, { successPolicy: { rules: [{ succeededCount: 1 }] } }))
      const pods = await pending(scene, 3)
      await ended(scene, pods[2], 0)
      for (const pod of await terminating(scene, 2)) await ended(scene, pod, 143)
    },
  },
  'job-replaces-failed': {
    ...idle,
    async act(scene) {
      await made(scene, job({ podReplacementPolicy: 'Failed', backoffLimit: 2 }))
      const [pod] = await pending(scene, 1)
      await running(scene, pod)
      await pause(scene, 3000)
      await remove(scene, 'pods', pod?.metadata.name ?? '')
      await pause(scene, 3000)
      await ended(scene, pod, 143)
      const [next] = await pending(scene, 1)
      await ended(scene, next, 0)
    },
  },
  'job-replaces-terminating': {
    ...idle,
    async act(scene) {
      await made(scene, job({}))
      const [pod] = await pending(scene, 1)
      await running(scene, pod)
      await pause(scene, 3000)
      await remove(scene, 'pods', pod?.metadata.name ?? '')
      const [next] = await pending(scene, 1)
      await gone(scene, pod)
      await pause(scene, 2000)
      await ended(scene, next, 0)
    },
  },
  'job-suspended-while-running': {
    ...idle,
    async act(scene) {
      await made(scene, job({ parallelism: 2, completions: 2 }))
      const pods = await pending(scene, 2)
      await running(scene, pods[0])
      await pause(scene, 3000)
      await patch(scene, 'jobs', 'j', { spec: { suspend: true } })
      for (const pod of await terminating(scene, 2)) await gone(scene, pod)
      await pause(scene, 3000)
      await patch(scene, 'jobs', 'j', { spec: { suspend: false } })
      await ends(scene, await pending(scene, 2), 0, 0)
    },
  },
  'job-backoff-limit': {
    ...idle,
    async act(scene) {
      await made(scene, job({ parallelism: 2, completions: 3, backoffLimit: 1 }))
      const pods = await pending(scene, 2)
      await running(scene, pods[1])
      await ended(scene, pods[0], 1)
      await pause(scene, 12_000)
      const rest = await pending(scene, 1)
      await ended(scene, rest[0], 1)
      const [other] = await terminating(scene, 1)
      await pause(scene, 2000)
      await gone(scene, other)
    },
  },
  'job-restarts-exceeded': {
    ...idle,
    async act(scene) {
      await made(scene, job({ backoffLimit: 2 }, { restartPolicy: 'OnFailure' }))
      const [pod] = await pending(scene, 1)
      await running(scene, pod, 1)
      await pause(scene, 2000)
      await running(scene, pod, 3)
      const [going] = await terminating(scene, 1)
      await gone(scene, going)
    },
  },
  'job-deadline': {
    ...idle,
    async act(scene) {
      await made(scene, job({ activeDeadlineSeconds: 3 }))
      await pending(scene, 1)
      const [going] = await terminating(scene, 1)
      await pause(scene, 2000)
      await gone(scene, going)
    },
  },
  'job-scales-indexes': {
    ...idle,
    async act(scene) {
      await made(scene, indexed(2))
      await pending(scene, 2)
      await patch(scene, 'jobs', 'j', { spec: { completions: 4, parallelism: 4 } })
      const pods = await pending(scene, 4)
      await ended(scene, pods[3], 0)
      await pause(scene, 3000)
      await patch(scene, 'jobs', 'j', { spec: { completions: 1, parallelism: 1 } })
      for (const pod of await terminating(scene, 2)) await gone(scene, pod)
      await pause(scene, 2000)
      await ended(scene, pods[0], 0)
    },
  },
  'job-parallelism': {
    ...idle,
    async act(scene) {
      await made(scene, job({ parallelism: 3, completions: 4 }))
      const [pod] = await pending(scene, 3)
      await running(scene, pod)
      await pause(scene, 3000)
      await patch(scene, 'jobs', 'j', { spec: { parallelism: 1 } })
      for (const going of await terminating(scene, 2)) await gone(scene, going)
      await pause(scene, 2000)
      await patch(scene, 'jobs', 'j', { spec: { parallelism: 0 } })
      await terminating(scene, 1)
      await gone(scene, pod)
    },
  },
  'job-work-queue': {
    ...idle,
    async act(scene) {
      await made(scene, job({ parallelism: 2 }))
      const pods = await pending(scene, 2)
      await ended(scene, pods[0], 0)
      await pause(scene, 3000)
      await ended(scene, pods[1], 1)
    },
  },
  'job-policy-fails-by-condition': {
    ...idle,
    async act(scene) {
      const rules = [
        { action: 'Ignore', ...onExit(1) },
        { action: 'FailJob', ...onDisruption },
      ]
      await made(scene, job({ podFailurePolicy: { rules } }))
      const [pod] = await pending(scene, 1)
      await ended(scene, pod, 137, disrupted)
    },
  },
  'job-managed-elsewhere': {
    ...idle,
    async act(scene) {
      await made(scene, job({ managedBy: 'example.com/other' }))
      await pause(scene, 3000)
      await remove(scene, 'jobs', 'j', { propagationPolicy: 'Foreground' })
    },
  },
  'job-goes-foreground': {
    ...idle,
    async act(scene) {
      await made(scene, job({ parallelism: 2, completions: 2 }))
      const pods = await pending(scene, 2)
      await running(scene, pods[0])
      await pause(scene, 2500)
      await remove(scene, 'jobs', 'j', { propagationPolicy: 'Foreground' })
      const going = await terminating(scene, 2)
      await pause(scene, 2000)
      for (const pod of going) await gone(scene, pod)
    },
  },
  'job-goes-background': {
    ...idle,
    async act(scene) {
      await made(scene, job({ parallelism: 2, completions: 2 }))
      const pods = await pending(scene, 2)
      await running(scene, pods[0])
      await pause(scene, 2500)
      await remove(scene, 'jobs', 'j', { propagationPolicy: 'Background' })
      const going = await terminating(scene, 2)
      await pause(scene, 2000)
      for (const pod of going) await gone(scene, pod)
    },
  },
  'job-goes-orphaning': {
    ...idle,
    async act(scene) {
      await made(scene, job({ parallelism: 2, completions: 2 }))
      await pending(scene, 2)
      await pause(scene, 1500)
      await remove(scene, 'jobs', 'j', { propagationPolicy: 'Orphan' })
    },
  },
})
