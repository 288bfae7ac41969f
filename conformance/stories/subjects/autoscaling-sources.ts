/** Autoscalers whose metrics come from several sources, are missing in part, or are of pods that come and go. */
import type { Fields } from '../../../src/api/object.ts'
import {
  allUse,
  autoscale,
  average,
  deployed,
  external,
  externally,
  measured,
  podMetrics,
  QUICK_DOWN,
  requesting,
  scaled,
  uses,
  utilization,
  valued,
} from '../metric-objects.ts'
import { cond, dep, done, rs, sts } from '../objects.ts'
import type { Scene, Story } from '../story.ts'

const conditions = async (s: Scene) => {
  const { status } = await s.get('horizontalpodautoscalers', 'h')
  const told = (status.conditions ?? []).map(
    ({ type, status: is, reason, message }: Fields) => `${type} ${is} ${reason} ${message}`,
  )
  s.note(JSON.stringify([told, status.currentReplicas, status.desiredReplicas, status.currentMetrics]))
}
const containerResource = (container: string, target: Fields, name = 'cpu') => ({
  type: 'ContainerResource',
  containerResource: { name, container, target },
})
const twoContainers = {
  containers: [
    { name: 'c', image: 'i:1', resources: { requests: { cpu: '100m', memory: '100Mi' } } },
    { name: 'side', image: 'i:1', resources: { requests: { cpu: '50m' } } },
  ],
}
const usesBoth = (s: Scene, name: string, c: Fields, side: Fields | undefined) =>
  measured(s, 'metrics.k8s.io', 'pods', name, {
    kind: 'PodMetrics',
    metadata: { name, labels: { app: 'a' } },
    window: '1s',
    containers: [{ name: 'c', usage: c }, ...(side === undefined ? [] : [{ name: 'side', usage: side }])],
  })
const turn = (s: Scene) => s.pause(17_000)

export const autoscalingSourcesStories = {
  'hpa-pods-metric-without-its-api': {
    async act(s) {
      await deployed(s, 2)
      await autoscale(s, {
        metrics: [
          { type: 'Pods', pods: { metric: { name: 'packets' }, target: { type: 'AverageValue', averageValue: '1k' } } },
        ],
      })
      await s.untilObj('horizontalpodautoscalers', 'h', cond('ScalingActive', 'False'))
      await conditions(s)
    },
  },
  'hpa-object-metric-without-its-api': {
    async act(s) {
      await deployed(s, 2)
      await autoscale(s, {
        metrics: [
          {
            type: 'Object',
            object: {
              describedObject: { apiVersion: 'v1', kind: 'Service', name: 'x' },
              metric: { name: 'requests', selector: { matchLabels: { verb: 'GET' } } },
              target: { type: 'Value', value: '2k' },
            },
          },
        ],
      })
      await s.untilObj('horizontalpodautoscalers', 'h', cond('ScalingActive', 'False'))
      await conditions(s)
    },
  },
  'hpa-container-resource-average': {
    async act(s) {
      await podMetrics(s)
      await s.create('deployments', dep('a', { replicas: 2 }, twoContainers))
      await s.untilObj('deployments', 'a', done)
      for (const { metadata } of await s.list('pods'))
        await usesBoth(s, metadata.name, { cpu: '10m' }, { cpu: '90m', memory: '1Mi' })
      await autoscale(s, {
        maxReplicas: 9,
        metrics: [containerResource('side', { type: 'AverageValue', averageValue: '30m' })],
      })
      await scaled(s, 6)
      await turn(s)
      await conditions(s)
    },
  },
  'hpa-container-resource-of-none': {
    async act(s) {
      await podMetrics(s)
      await s.create('deployments', dep('a', { replicas: 2 }, twoContainers))
      await s.untilObj('deployments', 'a', done)
      for (const { metadata } of await s.list('pods')) await usesBoth(s, metadata.name, { cpu: '10m' }, undefined)
      await autoscale(s, {
        metrics: [containerResource('side', { type: 'Utilization', averageUtilization: 50 })],
      })
      await s.untilObj('horizontalpodautoscalers', 'h', cond('ScalingActive', 'False'))
      await conditions(s)
      await s.patch('horizontalpodautoscalers', 'h', {
        spec: { metrics: [containerResource('absent', { type: 'Utilization', averageUtilization: 50 })] },
      })
      await turn(s)
      await conditions(s)
    },
  },
  'hpa-up-disabled': {
    async act(s) {
      await podMetrics(s)
      await deployed(s, 2)
      await allUse(s, { cpu: '200m' })
      await autoscale(s, {
        maxReplicas: 9,
        metrics: [utilization(50)],
        behavior: { scaleUp: { selectPolicy: 'Disabled' } },
      })
      await turn(s)
      await conditions(s)
      await s.patch('horizontalpodautoscalers', 'h', { spec: { minReplicas: 3 } })
      await scaled(s, 3)
      await turn(s)
      await conditions(s)
    },
  },
  'hpa-min-is-max': {
    async act(s) {
      await podMetrics(s)
      await deployed(s, 5)
      await allUse(s, { cpu: '50m' })
      await autoscale(s, { minReplicas: 3, maxReplicas: 3, metrics: [utilization(50)] })
      await scaled(s, 3)
      await turn(s)
      await conditions(s)
      await allUse(s, { cpu: '500m' })
      await turn(s)
      await conditions(s)
    },
  },
  'hpa-highest-of-three-one-missing': {
    async act(s) {
      await podMetrics(s)
      await external(s)
      await deployed(s, 2)
      await allUse(s, { cpu: '75m', memory: '300Mi' })
      await autoscale(s, {
        maxReplicas: 10,
        metrics: [utilization(50), externally({ type: 'Value', value: '3' }, { q: 'none' }), average('100Mi')],
      })
      await scaled(s, 6)
      await turn(s)
      await conditions(s)
      await valued(s, 'x', '9', { q: 'none' })
      await turn(s)
      await conditions(s)
    },
  },
  'hpa-down-held-by-missing-metric': {
    async act(s) {
      await podMetrics(s)
      await external(s)
      await deployed(s, 5)
      await allUse(s, { cpu: '10m' })
      await autoscale(s, {
        maxReplicas: 10,
        metrics: [utilization(50), externally({ type: 'AverageValue', averageValue: '1' }, { q: 'none' })],
        behavior: QUICK_DOWN,
      })
      await turn(s)
      await conditions(s)
      await valued(s, 'x', '3', { q: 'none' })
      await scaled(s, 3)
      await conditions(s)
    },
  },
  'hpa-half-of-pods-measured': {
    async act(s) {
      await podMetrics(s)
      await deployed(s, 4)
      const pods = await s.list('pods')
      for (const { metadata } of pods.slice(0, 2)) await uses(s, metadata.name, { cpu: '90m' })
      await autoscale(s, { maxReplicas: 10, metrics: [utilization(50)], behavior: QUICK_DOWN })
      await turn(s)
      await conditions(s)
      for (const { metadata } of pods.slice(0, 2)) await uses(s, metadata.name, { cpu: '1m' })
      await turn(s)
      await conditions(s)
      await uses(s, (pods[2] as { metadata: { name: string } }).metadata.name, { cpu: '10m' })
      await scaled(s, 3)
      await conditions(s)
    },
  },
  'hpa-pods-going-are-not-counted': {
    async act(s) {
      await podMetrics(s)
      await deployed(s, 3)
      await allUse(s, { cpu: '100m' })
      const [first] = await s.list('pods')
      await s.patch('pods', first.metadata.name, { metadata: { finalizers: ['x.y/stay'] } })
      await s.del('pods', first.metadata.name)
      await s.untilObj('deployments', 'a', done)
      for (const { metadata } of await s.list('pods'))
        await uses(s, metadata.name, { cpu: metadata.name === first.metadata.name ? '9' : '50m' })
      await autoscale(s, { maxReplicas: 10, metrics: [utilization(50)] })
      await turn(s)
      await conditions(s)
    },
  },
  'hpa-of-a-replicaset-and-zero': {
    async act(s) {
      await podMetrics(s)
      await s.create('replicasets', rs('a', { replicas: 2 }, requesting({ cpu: '100m' })))
      await s.untilPods(2, ({ status }) => status.phase === 'Running')
      await allUse(s, { cpu: '200m' })
      const scaleTargetRef = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'a' }
      await autoscale(s, { scaleTargetRef, metrics: [utilization(100)] })
      await s.untilObj('replicasets', 'a', ({ spec }) => spec.replicas === 4)
      await s.patch('replicasets', 'a', { spec: { replicas: 0 } })
      await turn(s)
      await conditions(s)
    },
  },
  'hpa-set-beyond-max-and-target-changed': {
    async act(s) {
      await podMetrics(s)
      await s.create(
        'statefulsets',
        sts('b', { replicas: 6, podManagementPolicy: 'Parallel' }, requesting({ cpu: '1' })),
      )
      await deployed(s, 2)
      await allUse(s, { cpu: '50m' })
      await autoscale(s, { metrics: [utilization(50)] })
      await turn(s)
      await conditions(s)
      await s.patch('horizontalpodautoscalers', 'h', { spec: { scaleTargetRef: { kind: 'StatefulSet', name: 'b' } } })
      await s.untilObj('statefulsets', 'b', ({ spec }) => spec.replicas === 4)
      await turn(s)
      await conditions(s)
    },
  },
  'hpa-stabilizes-to-the-lowest': {
    async act(s) {
      await podMetrics(s)
      await deployed(s, 2)
      await allUse(s, { cpu: '150m' })
      await autoscale(s, {
        maxReplicas: 10,
        metrics: [utilization(50)],
        behavior: {
          scaleUp: { stabilizationWindowSeconds: 40, policies: [{ type: 'Pods', value: 3, periodSeconds: 15 }] },
        },
      })
      await turn(s)
      await allUse(s, { cpu: '75m' })
      await scaled(s, 3)
      await conditions(s)
      await scaled(s, 6)
      await conditions(s)
    },
  },
} satisfies Readonly<Record<string, Story>>
