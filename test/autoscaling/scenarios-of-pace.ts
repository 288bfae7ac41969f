/** How far and how fast an autoscaler follows its metrics: bounds, tolerances, windows, policies, zero; targets that it cannot scale. */
import { atOnce, average, cpu, external, onCpu, queue, utilization, value } from './forms.ts'
import type { Scenario } from './scenario.ts'

export const paceScenarios: Readonly<Record<string, Scenario>> = {
  'up-and-down': {
    replicas: 2,
    spec: onCpu(),
    metrics: cpu('120m'),
    looks: 27,
    after: { 2: { metrics: cpu('50m') }, 4: { metrics: cpu('20m') } },
  },
  'faster-than-allowed': { replicas: 1, spec: onCpu({ maxReplicas: 100 }), metrics: cpu('900m'), looks: 4 },
  'more-than-the-maximum': {
    replicas: 2,
    spec: onCpu({ maxReplicas: 3 }),
    metrics: cpu('120m'),
    looks: 4,
    after: { 2: { spec: { maxReplicas: 4 } } },
  },
  'fewer-than-the-minimum': {
    replicas: 3,
    spec: onCpu({ minReplicas: 2, behavior: { scaleDown: atOnce } }),
    metrics: cpu('1m'),
    looks: 3,
  },
  tolerance: {
    replicas: 4,
    spec: onCpu({ behavior: { scaleDown: atOnce } }),
    metrics: cpu('54m'),
    looks: 5,
    after: {
      1: { metrics: cpu('46m') },
      2: { metrics: cpu('55m') },
      3: { metrics: cpu('56m') },
      4: { metrics: cpu('40m') },
    },
  },
  'tolerance-by-direction': {
    replicas: 4,
    spec: onCpu({ behavior: { scaleUp: { tolerance: '300m' }, scaleDown: { ...atOnce, tolerance: '0' } } }),
    metrics: cpu('60m'),
    looks: 4,
    after: { 1: { metrics: cpu('70m') }, 2: { metrics: cpu('47m') } },
  },
  'up-by-policies': {
    replicas: 4,
    spec: onCpu({
      maxReplicas: 60,
      behavior: {
        scaleUp: {
          policies: [
            { type: 'Pods', value: 3, periodSeconds: 30 },
            { type: 'Percent', value: 50, periodSeconds: 60 },
          ],
        },
      },
    }),
    metrics: cpu('500m'),
    looks: 8,
  },
  'up-by-the-least': {
    replicas: 2,
    spec: onCpu({
      maxReplicas: 60,
      behavior: {
        scaleUp: {
          selectPolicy: 'Min',
          policies: [
            { type: 'Pods', value: 3, periodSeconds: 30 },
            { type: 'Percent', value: 100, periodSeconds: 15 },
          ],
        },
      },
    }),
    metrics: cpu('500m'),
    looks: 6,
  },
  'up-after-a-window': {
    replicas: 2,
    spec: onCpu({ behavior: { scaleUp: { stabilizationWindowSeconds: 40 } } }),
    metrics: cpu('50m'),
    looks: 8,
    after: { 2: { metrics: cpu('80m') }, 3: { metrics: cpu('60m') } },
  },
  'down-by-policies': {
    replicas: 20,
    spec: onCpu({
      maxReplicas: 30,
      behavior: {
        scaleDown: {
          ...atOnce,
          policies: [
            { type: 'Pods', value: 3, periodSeconds: 30 },
            { type: 'Percent', value: 10, periodSeconds: 15 },
          ],
        },
      },
    }),
    metrics: cpu('5m'),
    looks: 6,
  },
  'down-by-the-least': {
    replicas: 9,
    spec: onCpu({
      behavior: {
        scaleDown: {
          ...atOnce,
          selectPolicy: 'Min',
          policies: [
            { type: 'Pods', value: 1, periodSeconds: 30 },
            { type: 'Percent', value: 20, periodSeconds: 30 },
          ],
        },
      },
    }),
    metrics: cpu('5m'),
    looks: 6,
  },
  'disabled-directions': {
    replicas: 3,
    spec: onCpu({
      behavior: { scaleUp: { selectPolicy: 'Disabled' }, scaleDown: { ...atOnce, selectPolicy: 'Disabled' } },
    }),
    metrics: cpu('5m'),
    looks: 3,
    after: { 1: { metrics: cpu('500m') } },
  },
  'down-after-a-window-of-its-own': {
    replicas: 6,
    spec: onCpu({ behavior: { scaleDown: { stabilizationWindowSeconds: 60 } } }),
    metrics: cpu('50m'),
    looks: 10,
    after: { 1: { metrics: cpu('10m') }, 2: { metrics: cpu('30m') }, 3: { metrics: cpu('10m') } },
  },
  'three-of-one-target': {
    replicas: 2,
    spec: onCpu(),
    others: [onCpu({ maxReplicas: 20 }), onCpu({ maxReplicas: 30 })],
    metrics: cpu('120m'),
    looks: 2,
  },
  'no-selector': {
    replicas: 2,
    selector: '',
    spec: onCpu(),
    metrics: cpu('120m'),
    looks: 4,
    after: { 1: { selector: 'app in (' }, 2: { selector: 'app=a' }, 3: { selector: 'app in (a,b),!c' } },
  },
  zero: {
    replicas: 2,
    spec: { minReplicas: 0, maxReplicas: 10, metrics: [external(value('10'))], behavior: { scaleDown: atOnce } },
    metrics: queue('0'),
    looks: 8,
    after: {
      2: { metrics: queue('25') },
      4: { metrics: queue('0') },
      5: { spec: { minReplicas: 1 } },
      7: { replicas: 2 },
    },
  },
  'zero-no-longer-allowed': {
    replicas: 2,
    spec: { minReplicas: 0, maxReplicas: 10, metrics: [external(value('10'))], behavior: { scaleDown: atOnce } },
    metrics: queue('0'),
    looks: 3,
    after: { 1: { metrics: queue('45'), spec: { minReplicas: 2 } } },
  },
  'zero-no-longer-allowed-without-behavior': {
    replicas: 2,
    spec: { minReplicas: 0, maxReplicas: 10, metrics: [external(value('10'))] },
    metrics: queue('0'),
    looks: 23,
    after: { 22: { spec: { minReplicas: 2 } } },
  },
  'zero-no-longer-allowed-far-above': {
    replicas: 2,
    spec: { minReplicas: 0, maxReplicas: 10, metrics: [external(value('10'))], behavior: { scaleDown: atOnce } },
    metrics: queue('0'),
    looks: 2,
    after: { 1: { metrics: queue('450'), spec: { minReplicas: 2 } } },
  },
  'zero-no-longer-allowed-nor-measured': {
    replicas: 2,
    spec: { minReplicas: 0, maxReplicas: 10, metrics: [external(value('10'))], behavior: { scaleDown: atOnce } },
    metrics: queue('0'),
    looks: 3,
    after: { 1: { metrics: {}, spec: { minReplicas: 2 } } },
  },
  'zero-and-far-above': {
    replicas: 2,
    spec: { minReplicas: 0, maxReplicas: 10, metrics: [external(value('10'))], behavior: { scaleDown: atOnce } },
    metrics: queue('0'),
    looks: 3,
    after: { 1: { metrics: queue('450') } },
  },
  'zero-that-metrics-leave': {
    replicas: 0,
    spec: { minReplicas: 0, maxReplicas: 10, metrics: [external(average('10'))], behavior: { scaleDown: atOnce } },
    metrics: queue('0'),
    looks: 4,
    after: { 1: { replicas: 1 }, 2: { metrics: queue('25') }, 3: { metrics: {} } },
  },
  'zero-by-the-user': {
    replicas: 2,
    spec: { minReplicas: 0, maxReplicas: 10, metrics: [external(average('10'))], behavior: { scaleDown: atOnce } },
    metrics: queue('20'),
    looks: 6,
    after: {
      1: { replicas: 0 },
      2: { metrics: queue('0') },
      3: { metrics: queue('5') },
      4: { spec: { minReplicas: 1 }, replicas: 0 },
    },
  },
  'out-of-bounds': {
    replicas: 2,
    spec: onCpu({ minReplicas: 2, maxReplicas: 4 }),
    metrics: cpu('50m'),
    looks: 7,
    after: {
      1: { replicas: 9 },
      3: { replicas: 1 },
      5: { spec: { minReplicas: 3, metrics: [utilization(80)] } },
    },
  },
  'target-that-refuses': {
    replicas: 4,
    spec: onCpu({ scaleTargetRef: { kind: 'Capped' } }),
    metrics: cpu('120m'),
    looks: 3,
    after: { 2: { metrics: cpu('60m') } },
  },
  'target-of-another-version': {
    replicas: 2,
    spec: onCpu({ scaleTargetRef: { kind: 'Widget', apiVersion: 'autoscaling.example.com/v1alpha1' } }),
    metrics: cpu('120m'),
    looks: 1,
  },
  'target-that-comes-later': { replicas: 2, late: true, spec: onCpu(), metrics: cpu('120m'), looks: 3 },
  'no-metrics-given': { replicas: 2, spec: { maxReplicas: 10 }, metrics: cpu('120m'), looks: 2 },
}
