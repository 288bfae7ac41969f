/** Autoscalers over time: behaviour, several metrics, pods without metrics, and what users do meanwhile. */
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
import { cond, crd, done, hpa, img, running, sts } from '../objects.ts'
import type { Story } from '../story.ts'

export const autoscalingPaceStories = {
  'hpa-up-policies-max': {
    async act(s) {
      await podMetrics(s)
      await deployed(s, 2)
      await allUse(s, { cpu: '900m' })
      await autoscale(s, {
        maxReplicas: 30,
        metrics: [utilization(50)],
        behavior: {
          scaleUp: {
            selectPolicy: 'Max',
            policies: [
              { type: 'Percent', value: 50, periodSeconds: 30 },
              { type: 'Pods', value: 2, periodSeconds: 15 },
            ],
          },
        },
      })
      await scaled(s, 4)
      await scaled(s, 6)
      await s.pause(2000)
    },
  },
  'hpa-down-percent': {
    async act(s) {
      await podMetrics(s)
      await deployed(s, 10)
      await allUse(s, { cpu: '1m' })
      await autoscale(s, {
        minReplicas: 1,
        maxReplicas: 12,
        metrics: [utilization(50)],
        behavior: {
          scaleDown: { stabilizationWindowSeconds: 0, policies: [{ type: 'Percent', value: 35, periodSeconds: 15 }] },
        },
      })
      await scaled(s, 6)
      await scaled(s, 3)
      await s.pause(2000)
    },
  },
  'hpa-down-policies-min': {
    async act(s) {
      await podMetrics(s)
      await deployed(s, 9)
      await allUse(s, { cpu: '1m' })
      await autoscale(s, {
        minReplicas: 1,
        maxReplicas: 12,
        metrics: [utilization(50)],
        behavior: {
          scaleDown: {
            stabilizationWindowSeconds: 0,
            selectPolicy: 'Min',
            policies: [
              { type: 'Percent', value: 50, periodSeconds: 15 },
              { type: 'Pods', value: 2, periodSeconds: 30 },
            ],
          },
        },
      })
      await scaled(s, 7)
      await s.pause(18_000)
    },
  },
  'hpa-default-limit-from-one': {
    async act(s) {
      await podMetrics(s)
      await deployed(s, 1)
      await allUse(s, { cpu: '2000m' })
      await autoscale(s, { minReplicas: 1, maxReplicas: 18, metrics: [utilization(50)] })
      await s.untilObj('deployments', 'a', ({ spec }) => spec.replicas > 1, 30_000)
      await s.untilObj('deployments', 'a', done)
      await allUse(s, { cpu: '2000m' })
      await s.pause(17_000)
      await s.untilObj('deployments', 'a', done)
      await allUse(s, { cpu: '2000m' })
      await scaled(s, 18)
      await s.pause(2000)
    },
  },
  'hpa-max-lowered': {
    async act(s) {
      await podMetrics(s)
      await deployed(s, 6)
      await allUse(s, { cpu: '50m' })
      await autoscale(s, { maxReplicas: 8, metrics: [utilization(50)] })
      await s.pause(3000)
      await s.patch('horizontalpodautoscalers', 'h', { spec: { maxReplicas: 3 } })
      await scaled(s, 3)
      await s.pause(17_000)
    },
  },
  'hpa-highest-of-two': {
    async act(s) {
      await podMetrics(s)
      await deployed(s, 2)
      await allUse(s, { cpu: '75m', memory: '250Mi' })
      await autoscale(s, { maxReplicas: 9, metrics: [utilization(50), average('100Mi')] })
      await scaled(s, 5)
      await s.pause(2000)
      await allUse(s, { cpu: '180m', memory: '100Mi' })
      await s.pause(17_000)
    },
  },
  'hpa-off-and-on': {
    async act(s) {
      await podMetrics(s)
      await deployed(s, 3)
      await allUse(s, { cpu: '50m' })
      await autoscale(s, { metrics: [utilization(50)] })
      await s.pause(2000)
      await s.patch('deployments', 'a', { spec: { replicas: 0 } })
      await s.untilObj('horizontalpodautoscalers', 'h', cond('ScalingActive', 'False'))
      await s.pause(16_000)
      await s.patch('deployments', 'a', { spec: { replicas: 1 } })
      await s.untilObj('horizontalpodautoscalers', 'h', cond('ScalingLimited', 'True'), 30_000)
      await s.pause(3000)
    },
  },
  'hpa-scaled-by-hand': {
    async act(s) {
      await podMetrics(s)
      await deployed(s, 3)
      await allUse(s, { cpu: '50m' })
      await autoscale(s, { metrics: [average('10Mi', 'cpu')], behavior: QUICK_DOWN })
      await s.pause(2000)
      await s.patch('horizontalpodautoscalers', 'h', { spec: { maxReplicas: 9, metrics: [utilization(50)] } })
      await s.patch('deployments', 'a', { spec: { replicas: 6 } })
      await s.untilObj('deployments', 'a', done)
      await scaled(s, 3)
      await s.pause(2000)
    },
  },
  'hpa-one-without-metrics-up': {
    async act(s) {
      await podMetrics(s)
      await deployed(s, 3)
      const [one, two] = await s.list('pods')
      await uses(s, one.metadata.name, { cpu: '100m' })
      await uses(s, two.metadata.name, { cpu: '100m' })
      await autoscale(s, { maxReplicas: 9, metrics: [utilization(50)] })
      await scaled(s, 4)
      await s.pause(2000)
    },
  },
  'hpa-one-without-metrics-down': {
    async act(s) {
      await podMetrics(s)
      await deployed(s, 4)
      const all = await s.list('pods')
      for (const { metadata } of all.slice(0, 3)) await uses(s, metadata.name, { cpu: '10m' })
      await autoscale(s, { minReplicas: 1, maxReplicas: 9, metrics: [utilization(50)], behavior: QUICK_DOWN })
      await s.pause(18_000)
      s.note(`replicas ${(await s.get('deployments', 'a')).spec.replicas}`)
    },
  },
  'hpa-external-value-down': {
    async act(s) {
      await external(s)
      await valued(s, 'x', '5', { q: 'one' })
      await valued(s, 'y', '15', { q: 'one' })
      await deployed(s, 4)
      await autoscale(s, {
        minReplicas: 1,
        maxReplicas: 9,
        metrics: [externally({ type: 'Value', value: '40' }, { q: 'one' })],
        behavior: QUICK_DOWN,
      })
      await scaled(s, 2)
      await valued(s, 'x', '65', { q: 'one' })
      await scaled(s, 4)
      await s.pause(2000)
    },
  },
  'hpa-external-without-items': {
    async act(s) {
      await external(s)
      await valued(s, 'x', '30', { q: 'other' })
      await deployed(s, 2)
      await autoscale(s, {
        metrics: [externally({ type: 'AverageValue', averageValue: '10' }, { q: 'none' })],
        behavior: QUICK_DOWN,
      })
      await s.untilObj('horizontalpodautoscalers', 'h', cond('ScalingActive', 'False'))
      await s.pause(2000)
      await s.patch('horizontalpodautoscalers', 'h', {
        spec: { metrics: [externally({ type: 'AverageValue', averageValue: '10' }, { q: 'other' })] },
      })
      await scaled(s, 3)
      await s.pause(2000)
    },
  },
  'hpa-amid-a-rollout': {
    async act(s) {
      await podMetrics(s)
      await deployed(s, 3)
      await allUse(s, { cpu: '100m' })
      await s.patch('deployments', 'a', img(2))
      await s.untilObj('deployments', 'a', done)
      await autoscale(s, { maxReplicas: 9, metrics: [utilization(50)] })
      await s.untilObj('horizontalpodautoscalers', 'h', cond('ScalingActive', 'False'), 25_000)
      await allUse(s, { cpu: '100m' })
      await scaled(s, 6)
      await s.pause(2000)
    },
  },
  'hpa-by-the-older-version': {
    async act(s) {
      await podMetrics(s)
      await deployed(s, 2)
      await allUse(s, { cpu: '200m' })
      await s.raw('POST', `/apis/autoscaling/v1/namespaces/${s.ns}/horizontalpodautoscalers`, {
        apiVersion: 'autoscaling/v1',
        kind: 'HorizontalPodAutoscaler',
        metadata: { name: 'h' },
        spec: { scaleTargetRef: hpa({}).spec.scaleTargetRef, maxReplicas: 5, targetCPUUtilizationPercentage: 80 },
      })
      await scaled(s, 5)
      await s.pause(2000)
    },
  },
  'hpa-of-a-statefulset': {
    async act(s) {
      await podMetrics(s)
      await s.create('statefulsets', sts('a', { replicas: 2 }, requesting({ cpu: '100m' })))
      await s.untilPods(2, running)
      await allUse(s, { cpu: '100m' })
      await autoscale(s, {
        scaleTargetRef: { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'a' },
        metrics: [utilization(50)],
      })
      await s.untilPods(4, running)
      await s.pause(2000)
    },
  },
  'hpa-of-a-custom-resource': {
    async act(s) {
      await podMetrics(s)
      const definition = crd(s)
      const [version] = definition.spec.versions
      await s.create('customresourcedefinitions', {
        ...definition,
        spec: {
          ...definition.spec,
          versions: [
            {
              ...version,
              subresources: { scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' } },
            },
          ],
        },
      })
      const path = `/apis/${s.ns}.example.com/v1/namespaces/${s.ns}/ws`
      await s.until('ws', async () => (await s.raw('GET', path)).status === 200)
      await s.raw('POST', path, {
        apiVersion: `${s.ns}.example.com/v1`,
        kind: 'W',
        metadata: { name: 'a' },
        spec: { replicas: 3 },
      })
      await s.pause(1000)
      await autoscale(s, {
        scaleTargetRef: { apiVersion: `${s.ns}.example.com/v1`, kind: 'W', name: 'a' },
        metrics: [utilization(50)],
      })
      await s.untilObj('horizontalpodautoscalers', 'h', cond('ScalingActive', 'False'))
      await s.pause(16_000)
    },
    clean: (s) => s.del('customresourcedefinitions', `ws.${s.ns}.example.com`),
  },
  'hpa-one-container-without-request': {
    async act(s) {
      await podMetrics(s)
      const containers = [
        { name: 'c', image: 'i:1', resources: { requests: { cpu: '100m' } } },
        { name: 'd', image: 'i:1' },
      ]
      await deployed(s, 2, { cpu: '100m' })
      await s.patch('deployments', 'a', { spec: { template: { spec: { containers } } } })
      await s.untilObj('deployments', 'a', done)
      await allUse(s, { cpu: '100m' })
      await autoscale(s, { metrics: [utilization(50)] })
      await s.untilObj('horizontalpodautoscalers', 'h', cond('ScalingActive', 'False'))
      await s.pause(2000)
    },
  },
  'hpa-metric-exchanged': {
    async act(s) {
      await podMetrics(s)
      await external(s)
      await deployed(s, 2)
      await allUse(s, { cpu: '60m', memory: '100Mi' })
      await autoscale(s, { metrics: [utilization(60)] })
      await s.untilObj('horizontalpodautoscalers', 'h', cond('ScalingActive', 'True'))
      await valued(s, 'x', '7')
      await s.patch('horizontalpodautoscalers', 'h', {
        spec: { metrics: [externally({ type: 'AverageValue', averageValue: '3500m' }), utilization(100, 'memory')] },
      })
      await s.pause(17_000)
      await s.raw('DELETE', `${pathOf(s, 'external.metrics.k8s.io', DEPTH)}/x`)
      await s.pause(17_000)
    },
  },
  'hpa-made-anew-forgets': {
    async act(s) {
      await podMetrics(s)
      await deployed(s, 4)
      await allUse(s, { cpu: '50m' })
      const spec = { minReplicas: 1, metrics: [utilization(50)] }
      await autoscale(s, spec)
      await s.pause(2000)
      await allUse(s, { cpu: '10m' })
      await s.pause(16_000)
      await s.del('horizontalpodautoscalers', 'h')
      await s.pause(1000)
      await autoscale(s, { ...spec, behavior: { scaleDown: { stabilizationWindowSeconds: 30 } } })
      await scaled(s, 1)
      await s.pause(2000)
    },
  },
  'hpa-two-of-one-target': {
    async act(s) {
      await podMetrics(s)
      await external(s)
      await deployed(s, 2)
      await valued(s, 'x', '60')
      await autoscale(s, { maxReplicas: 9, metrics: [externally({ type: 'AverageValue', averageValue: '10' })] })
      await scaled(s, 6)
      await s.create('horizontalpodautoscalers', {
        ...hpa({ maxReplicas: 9, metrics: [average('1', 'cpu')] }),
        metadata: { name: 'i' },
      })
      await s.untilObj('horizontalpodautoscalers', 'i', cond('ScalingActive', 'False'))
      await s.pause(17_000)
      await s.del('horizontalpodautoscalers', 'i')
      await s.pause(17_000)
    },
  },
} satisfies Readonly<Record<string, Story>>
