/** Played for the times in objects alone: something changes, and some seconds later something else. */
import { brief, create, deployment, image, patch, pause, pod, type RecordablePlay, remove } from './acts.ts'
import type { Scene } from './stage.ts'

const aWhile = (scene: Scene): Promise<void> => pause(scene, 5000)

/** By name: one step a while after the other. */
const stepwise = (...steps: readonly ((scene: Scene) => Promise<unknown>)[]): RecordablePlay => ({
  nodes: 1,
  async act(scene) {
    for (const step of steps) {
      await step(scene)
      await aWhile(scene)
    }
  },
})
const scaled = (replicas: number) => (scene: Scene) => patch(scene, 'deployments', 'a', { spec: { replicas } }, 'scale')
const none = { none: 'such' }

export const timePlays: Readonly<Record<string, RecordablePlay>> = brief({
  'times-deployment': stepwise(
    (scene) => create(scene, 'deployments', deployment()),
    (scene) => patch(scene, 'deployments', 'a', image('i:2')),
    scaled(3),
    (scene) => patch(scene, 'deployments', 'a', { spec: { paused: true } }),
    (scene) => patch(scene, 'deployments', 'a', { spec: { paused: false } }),
    scaled(0),
    (scene) => patch(scene, 'deployments', 'a', { spec: { template: { spec: { nodeSelector: none } } } }),
    scaled(1),
    (scene) => patch(scene, 'deployments', 'a', { metadata: { labels: { x: 'y' } } }),
  ),
  'times-replica-failure': stepwise(
    (scene) =>
      create(scene, 'resourcequotas', {
        apiVersion: 'v1',
        kind: 'ResourceQuota',
        metadata: { name: 'q' },
        spec: { hard: { pods: '1' } },
      }),
    (scene) => create(scene, 'deployments', deployment({ replicas: 2 })),
    scaled(3),
    (scene) => patch(scene, 'resourcequotas', 'q', { spec: { hard: { pods: '2' } } }),
    scaled(2),
    scaled(1),
    (scene) => remove(scene, 'resourcequotas', 'q'),
    scaled(4),
  ),
  'times-budget': stepwise(
    (scene) =>
      create(scene, 'poddisruptionbudgets', {
        apiVersion: 'policy/v1',
        kind: 'PodDisruptionBudget',
        metadata: { name: 'b' },
        spec: { maxUnavailable: 0, selector: { matchLabels: { app: 'a' } } },
      }),
    (scene) => create(scene, 'deployments', deployment({ replicas: 2 })),
    (scene) => patch(scene, 'poddisruptionbudgets', 'b', { spec: { maxUnavailable: 1 } }),
    scaled(3),
    (scene) => patch(scene, 'poddisruptionbudgets', 'b', { spec: { maxUnavailable: 0 } }),
    scaled(2),
  ),
  'times-unschedulable': stepwise(
    (scene) => create(scene, 'pods', pod('p', { nodeSelector: none })),
    (scene) => patch(scene, 'pods', 'p', { metadata: { labels: { x: 'y' } } }),
    (scene) => create(scene, 'pods', pod('q')),
    (scene) => remove(scene, 'pods', 'q'),
    (scene) => remove(scene, 'pods', 'p'),
  ),
})
