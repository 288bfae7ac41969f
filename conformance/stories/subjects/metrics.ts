/** Autoscalers with metrics. */
import {
  allUse,
  autoscale,
  average,
  DEPTH,
  deployed,
  external,
  externally,
  pathOf,
  podMetrics,
  QUICK_DOWN,
  requesting,
  scaled,
  uses,
  utilization,
  valued,
} from '../metric-objects.ts'
import { cond, dep, done, pod, rs, running } from '../objects.ts'
import type { Story } from '../story.ts'

export const metricsStories = {
  'hpa-cpu-up': {
    async act(s) {
      await podMetrics(s)
      await deployed(s, 2)
      await allUse(s, { cpu: '200m', memory: '10Mi' })
      await autoscale(s, { maxReplicas: 10, metrics: [utilization(50)] })
      await scaled(s, 6)
      await scaled(s, 8)
      await s.pause(18_000)
    },
  },
  'hpa-memory-down-by-one': {
    async act(s) {
      await podMetrics(s)
      await deployed(s, 4)
      await allUse(s, { cpu: '1m', memory: '30Mi' })
      await autoscale(s, {
        minReplicas: 1,
        metrics: [average('100Mi')],
        behavior: {
          scaleDown: { stabilizationWindowSeconds: 0, policies: [{ type: 'Pods', value: 1, periodSeconds: 20 }] },
        },
      })
      await scaled(s, 3)
      await scaled(s, 2)
      await s.pause(20_000)
    },
  },
  'hpa-up-policies-min': {
    async act(s) {
      await podMetrics(s)
      await deployed(s, 3)
      await allUse(s, { cpu: '500m' })
      await autoscale(s, {
        maxReplicas: 20,
        metrics: [utilization(50)],
        behavior: {
          scaleUp: {
            selectPolicy: 'Min',
            policies: [
              { type: 'Percent', value: 100, periodSeconds: 60 },
              { type: 'Pods', value: 2, periodSeconds: 40 },
            ],
          },
        },
      })
      await scaled(s, 5)
      await s.pause(32_000)
    },
  },
  'hpa-up-stabilized': {
    async act(s) {
      await podMetrics(s)
      await deployed(s, 2)
      await allUse(s, { cpu: '50m' })
      await autoscale(s, {
        maxReplicas: 10,
        metrics: [utilization(50)],
        behavior: { scaleUp: { stabilizationWindowSeconds: 25 }, ...QUICK_DOWN },
      })
      await s.pause(3000)
      await allUse(s, { cpu: '150m' })
      await scaled(s, 6)
      await s.pause(18_000)
    },
  },
  'hpa-down-stabilized': {
    async act(s) {
      await podMetrics(s)
      await deployed(s, 4)
      await allUse(s, { cpu: '50m' })
      await autoscale(s, {
        minReplicas: 1,
        metrics: [utilization(50)],
        behavior: { scaleDown: { stabilizationWindowSeconds: 40 } },
      })
      await s.pause(3000)
      await allUse(s, { cpu: '10m' })
      await s.pause(16_000)
      s.note(`after a turn ${(await s.get('deployments', 'a')).spec.replicas}`)
      await scaled(s, 1)
    },
  },
  'hpa-disabled-down': {
    async act(s) {
      await podMetrics(s)
      await deployed(s, 4)
      await allUse(s, { cpu: '10m' })
      await autoscale(s, {
        minReplicas: 1,
        metrics: [utilization(50)],
        behavior: { scaleDown: { selectPolicy: 'Disabled', stabilizationWindowSeconds: 0 } },
      })
      await s.pause(20_000)
      await s.patch('horizontalpodautoscalers', 'h', { spec: { behavior: { scaleDown: { selectPolicy: 'Max' } } } })
      await scaled(s, 1)
    },
  },
  'hpa-tolerance-own': {
    async act(s) {
      await podMetrics(s)
      await deployed(s, 10)
      await allUse(s, { cpu: '52m' })
      await autoscale(s, {
        maxReplicas: 20,
        metrics: [utilization(50)],
        behavior: {
          scaleUp: { tolerance: '0.01' },
          scaleDown: { tolerance: '500m', stabilizationWindowSeconds: 0 },
        },
      })
      await scaled(s, 11)
      await s.pause(2000)
      await allUse(s, { cpu: '30m' })
      await s.pause(17_000)
      await allUse(s, { cpu: '20m' })
      await scaled(s, 5)
    },
  },
  'hpa-external-sum': {
    async act(s) {
      await external(s)
      await valued(s, 'x', '30', { q: 'one' })
      await valued(s, 'y', '10500m', { q: 'one' })
      await valued(s, 'z', '1000', { q: 'two' })
      await deployed(s, 2)
      await autoscale(s, {
        maxReplicas: 9,
        metrics: [externally({ type: 'AverageValue', averageValue: '10' }, { q: 'one' })],
      })
      await scaled(s, 5)
      await s.pause(17_000)
      await s.patch('horizontalpodautoscalers', 'h', {
        spec: { metrics: [externally({ type: 'Value', value: '1k' }, { q: 'two' })] },
      })
      await s.pause(17_000)
    },
  },
  'hpa-external-comes-and-goes': {
    async act(s) {
      await external(s)
      await deployed(s, 2)
      await autoscale(s, {
        maxReplicas: 9,
        metrics: [externally({ type: 'AverageValue', averageValue: '10' })],
        behavior: QUICK_DOWN,
      })
      await s.untilObj('horizontalpodautoscalers', 'h', cond('ScalingActive', 'False'))
      await valued(s, 'x', '40')
      await scaled(s, 4)
      await s.raw('DELETE', `${pathOf(s, 'external.metrics.k8s.io', DEPTH)}/x`)
      await s.untilObj('horizontalpodautoscalers', 'h', cond('ScalingActive', 'False'))
    },
  },
  'hpa-zero-and-back': {
    async act(s) {
      await external(s)
      await valued(s, 'x', '0')
      await deployed(s, 2)
      await autoscale(s, {
        minReplicas: 0,
        maxReplicas: 9,
        metrics: [externally({ type: 'AverageValue', averageValue: '10' })],
        behavior: QUICK_DOWN,
      })
      await scaled(s, 0)
      await s.pause(17_000)
      await valued(s, 'x', '25')
      await scaled(s, 3)
      await s.pause(17_000)
    },
  },
  'hpa-several-metrics-one-missing': {
    async act(s) {
      await podMetrics(s)
      await external(s)
      await deployed(s, 3)
      await allUse(s, { cpu: '10m' })
      await autoscale(s, {
        minReplicas: 1,
        maxReplicas: 9,
        metrics: [utilization(50), externally({ type: 'AverageValue', averageValue: '10' })],
        behavior: QUICK_DOWN,
      })
      await s.pause(17_000)
      await valued(s, 'x', '20')
      await scaled(s, 2)
      await allUse(s, { cpu: '100m' })
      await scaled(s, 4)
    },
  },
  'hpa-container-resource': {
    async act(s) {
      await podMetrics(s)
      await deployed(s, 2)
      await allUse(s, { cpu: '100m' })
      const of = (container: string) => ({
        type: 'ContainerResource',
        containerResource: { name: 'cpu', container, target: { type: 'Utilization', averageUtilization: 50 } },
      })
      await autoscale(s, { metrics: [of('none')] })
      await s.untilObj('horizontalpodautoscalers', 'h', cond('ScalingActive', 'False'))
      await s.patch('horizontalpodautoscalers', 'h', { spec: { metrics: [of('c')] } })
      await scaled(s, 4)
      await s.pause(2000)
    },
  },
  'hpa-no-request': {
    async act(s) {
      await podMetrics(s)
      await s.create('deployments', dep('a', { replicas: 2 }))
      await s.untilObj('deployments', 'a', done)
      await allUse(s, { cpu: '200m' })
      await autoscale(s, { metrics: [utilization(50)] })
      await s.untilObj('horizontalpodautoscalers', 'h', cond('ScalingActive', 'False'))
      await s.pause(16_000)
    },
  },
  'hpa-unready-and-failed-pods': {
    async act(s) {
      await podMetrics(s)
      await s.create('replicasets', rs('a', { replicas: 4 }, { nodeName: 'idle', ...requesting({ cpu: '100m' }) }))
      const ps = await s.untilPods(4)
      await s.running(ps[0])
      await s.running(ps[1])
      await s.status('pods', ps[2].metadata.name, {
        phase: 'Running',
        startTime: s.now(),
        conditions: [{ type: 'Ready', status: 'False', lastTransitionTime: s.now() }],
      })
      for (const p of ps.slice(0, 3)) await uses(s, p.metadata.name, { cpu: '100m' })
      await autoscale(s, {
        maxReplicas: 10,
        scaleTargetRef: { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'a' },
        metrics: [utilization(25)],
      })
      await s.untilObj('replicasets', 'a', ({ spec }) => spec.replicas > 4)
      await s.pause(2000)
    },
  },
  'hpa-target-comes': {
    async act(s) {
      await podMetrics(s)
      await autoscale(s, { metrics: [average('10Mi')] })
      await s.untilObj('horizontalpodautoscalers', 'h', cond('AbleToScale', 'False'))
      await deployed(s, 2)
      await allUse(s, { memory: '20Mi' })
      await scaled(s, 4)
      await s.del('deployments', 'a')
      await s.untilObj('horizontalpodautoscalers', 'h', cond('AbleToScale', 'False'))
    },
  },
  'hpa-no-scale': {
    async act(s) {
      await podMetrics(s)
      await autoscale(s, {
        scaleTargetRef: { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'a' },
        metrics: [average('10Mi')],
      })
      await s.pause(2000)
      await s.patch('horizontalpodautoscalers', 'h', {
        spec: { scaleTargetRef: { apiVersion: 'none.example.com/v1', kind: 'None', name: 'a' } },
      })
      await s.pause(17_000)
    },
  },
  'hpa-pods-of-another': {
    async act(s) {
      await podMetrics(s)
      await deployed(s, 2)
      await s.create('pods', pod('stray', requesting({ cpu: '100m' }), { labels: { app: 'a' } }))
      await s.untilPods(3, running)
      await allUse(s, { cpu: '100m' })
      await autoscale(s, { maxReplicas: 10, metrics: [utilization(50)] })
      await s.untilObj('deployments', 'a', ({ spec }) => spec.replicas > 2)
      await s.pause(2000)
    },
  },
} satisfies Readonly<Record<string, Story>>
