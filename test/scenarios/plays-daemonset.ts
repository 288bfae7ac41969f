/** Daemon sets: on every node, or some; updated with and without a surge; repaired, left behind and adopted. */
import type { Fields } from '../../src/api/object.ts'
import { brief, create, image, patch, pause, remove, resource, template } from './acts.ts'
import type { Stage } from './stage.ts'

const onOne = { nodeSelector: { 'kubernetes.io/hostname': 'kwok-1' } }
const set = (spec: Fields, podSpec: Fields) => ({
  apiVersion: 'apps/v1',
  kind: 'DaemonSet',
  metadata: { name: 'd' },
  spec: { selector: { matchLabels: { app: 'd' } }, template: template({ app: 'd' }, podSpec), ...spec },
})
const made =
  (spec: Fields = {}, podSpec: Fields = {}) =>
  async (stage: Stage) =>
    void (await create(stage, 'daemonsets', set(spec, podSpec)))
const updated = (tag: string) => async (stage: Stage) => void (await patch(stage, 'daemonsets', 'd', image(tag)))
const gone = (propagationPolicy: 'Foreground' | 'Orphan') => async (stage: Stage) =>
  void (await remove(stage, 'daemonsets', 'd', { propagationPolicy }))
async function onlyPod(stage: Stage): Promise<string> {
  const { items } = await resource(stage, 'pods').list()
  return items[0]?.metadata.name ?? ''
}

export const daemonSetPlays = brief({
  'daemonset-create': { nodes: 2, act: made() },
  daemonset: { nodes: 2, prepare: made(), act: gone('Foreground') },
  'daemonset-orphan': { nodes: 2, prepare: made(), act: gone('Orphan') },
  'daemonset-rolling-update': { nodes: 2, prepare: made(), act: updated('i:2') },
  'daemonset-surge': {
    nodes: 2,
    prepare: made({ updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } } }),
    act: updated('i:2'),
  },
  'daemonset-on-delete': {
    nodes: 2,
    prepare: made({ updateStrategy: { type: 'OnDelete' } }, onOne),
    async act(stage) {
      await updated('i:2')(stage)
      await pause(stage, 2000)
      await remove(stage, 'pods', await onlyPod(stage))
    },
  },
  'daemonset-node-selector': {
    nodes: 2,
    prepare: made(),
    act: async (stage) => void (await patch(stage, 'daemonsets', 'd', { spec: { template: { spec: onOne } } })),
  },
  'daemonset-pod-fails': {
    nodes: 2,
    prepare: made({}, onOne),
    async act(stage) {
      await patch(stage, 'pods', await onlyPod(stage), { status: { phase: 'Failed' } }, 'status')
    },
  },
  'daemonset-rollback': {
    nodes: 2,
    namesBefore: 1,
    async prepare(stage) {
      await made({}, onOne)(stage)
      await pause(stage, 3000)
      await updated('i:2')(stage)
    },
    act: updated('i:1'),
  },
  'daemonset-adopts': {
    nodes: 2,
    async prepare(stage) {
      await made({ minReadySeconds: 2 }, onOne)(stage)
      await pause(stage, 5000)
      await gone('Orphan')(stage)
    },
    act: made({ minReadySeconds: 2 }, onOne),
  },
})
