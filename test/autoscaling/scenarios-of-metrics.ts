/** What each kind of metric asks for, of pods that are missing, not ready or not there, and how failures are told. */
import {
  atOnce,
  average,
  cpu,
  external,
  failed,
  half,
  hits,
  inContainer,
  ofObject,
  ofPods,
  onCpu,
  queue,
  service,
  twoContainers,
  usage,
  use,
  utilization,
  value,
} from './forms.ts'
import type { Scenario } from './scenario.ts'

export const metricScenarios: Readonly<Record<string, Scenario>> = {
  'pods-without-metrics': {
    replicas: 4,
    spec: onCpu({ behavior: { scaleDown: atOnce } }),
    metrics: cpu('10m', '10m', null, null),
    looks: 5,
    after: {
      1: { metrics: cpu('200m', '200m', null, null) },
      2: { metrics: cpu('60m', '60m', '60m', '60m', null) },
      3: { metrics: cpu('5m', '5m', null) },
    },
  },
  'usage-of-pods-without-metrics': {
    replicas: 4,
    spec: { maxReplicas: 10, metrics: [usage('20Mi')], behavior: { scaleDown: atOnce } },
    metrics: { pods: [use({ memory: '40Mi' }), use({ memory: '30Mi' }), null] },
    looks: 3,
    after: { 1: { metrics: { pods: [use({ memory: '1Mi' }), use({ memory: '1Mi' }), null] } } },
  },
  'pods-not-ready': {
    replicas: 4,
    pods: [
      {},
      // Within the time in which a pod may still be beginning: ready for less than a window, ready for longer, not ready.
      { startedSecondsAgo: 100, changedSecondsAgo: 5 },
      { startedSecondsAgo: 100, changedSecondsAgo: 60 },
      { startedSecondsAgo: 100, changedSecondsAgo: 90, ready: false },
    ],
    spec: onCpu({ behavior: { scaleDown: atOnce } }),
    metrics: cpu('200m'),
    follows: false,
    looks: 4,
    after: { 2: { metrics: cpu('10m') } },
  },
  'pods-never-ready': {
    replicas: 5,
    pods: [
      {},
      // After that time: never ready; no longer ready.
      { startedSecondsAgo: 1000, changedSecondsAgo: 990, ready: false },
      { startedSecondsAgo: 1000, changedSecondsAgo: 500, ready: false },
      { readiness: false },
      { phase: 'Pending', ready: false },
    ],
    spec: onCpu({ behavior: { scaleDown: atOnce } }),
    metrics: cpu('200m'),
    follows: false,
    looks: 3,
    after: { 1: { metrics: cpu('20m') } },
  },
  'pods-that-do-not-count': {
    replicas: 4,
    pods: [{}, { phase: 'Failed', ready: false }, { deleted: true }, {}],
    spec: onCpu(),
    metrics: cpu('90m'),
    follows: false,
    looks: 2,
  },
  'nothing-but-unready': {
    replicas: 2,
    pods: [{ startedSecondsAgo: 10, ready: false }],
    spec: onCpu(),
    metrics: cpu('90m'),
    follows: false,
    looks: 2,
  },
  'no-pods': {
    replicas: 2,
    pods: [],
    spec: onCpu({ metrics: [utilization(50), external(value('5')), ofPods('1')] }),
    follows: false,
    metrics: { ...cpu('1m'), ...queue('20'), custom: { 'pods/packets': ['1'] } },
    looks: 2,
  },
  memory: {
    replicas: 2,
    pods: [{ startedSecondsAgo: 20, ready: false }, {}],
    spec: { maxReplicas: 10, metrics: [usage('20Mi'), utilization(60, 'memory')], behavior: { scaleDown: atOnce } },
    metrics: { pods: [use({ memory: '30Mi' }), use({ memory: '41943041' })] },
    looks: 3,
    after: { 2: { metrics: { pods: [use({ memory: '9Mi' })] } } },
  },
  'usage-of-cpu': {
    replicas: 2,
    spec: { maxReplicas: 10, metrics: [usage('100m', 'cpu')] },
    metrics: cpu('333333333n', '1250m'),
    looks: 3,
  },
  container: {
    replicas: 2,
    pods: [{ spec: twoContainers() }],
    spec: { maxReplicas: 10, metrics: [inContainer('d', half), inContainer('d', average('50m'))] },
    metrics: { pods: [{ containers: { c: { cpu: '500m' }, d: { cpu: '80m' } } }] },
    looks: 3,
    after: { 1: { metrics: { pods: [{ containers: { c: { cpu: '500m' } } }] } } },
  },
  'usage-of-a-container': {
    replicas: 2,
    pods: [{ spec: twoContainers() }],
    spec: { maxReplicas: 10, metrics: [inContainer('d', average('50m'))] },
    metrics: { pods: [{ containers: { c: { cpu: '500m' }, d: { cpu: '80m' } } }] },
    looks: 1,
  },
  'amounts-in-other-forms': {
    replicas: 2,
    spec: {
      maxReplicas: 10,
      metrics: [
        usage('10M'),
        utilization(20, 'memory'),
        usage('10Mi', 'ephemeral-storage'),
        usage('1Ki', 'cpu'),
        ofPods('1Ki'),
        external(average('1Mi')),
      ],
    },
    metrics: {
      pods: [use({ memory: '9437184', 'ephemeral-storage': '5Mi', cpu: '1Ki' })],
      custom: { 'pods/packets': ['2Ki'] },
      external: { queue: ['2Mi'] },
    },
    looks: 1,
  },
  'container-that-is-not-there': {
    replicas: 2,
    spec: { maxReplicas: 10, metrics: [inContainer('x', half)] },
    metrics: cpu('80m'),
    looks: 1,
  },
  'no-requests': {
    replicas: 2,
    pods: [{}, { spec: { containers: [{ name: 'c', image: 'i' }] } }],
    spec: onCpu(),
    metrics: cpu('80m'),
    looks: 2,
  },
  'requests-of-sidecars': {
    replicas: 2,
    pods: [
      {
        spec: twoContainers({
          initContainers: [
            { name: 'once', image: 'i', resources: { requests: { cpu: '5' } } },
            { name: 'side', image: 'i', restartPolicy: 'Always', resources: { requests: { cpu: '200m' } } },
          ],
        }),
      },
    ],
    spec: { maxReplicas: 10, metrics: [utilization(50), inContainer('side', half)] },
    metrics: {
      pods: [{ containers: { c: { cpu: '100m' }, d: { cpu: '100m' }, side: { cpu: '140m' } } }],
    },
    looks: 2,
  },
  'requests-of-pods': {
    replicas: 2,
    pods: [{ spec: twoContainers({ resources: { requests: { cpu: '400m' } } }) }],
    spec: { maxReplicas: 10, metrics: [utilization(50)] },
    metrics: { pods: [{ containers: { c: { cpu: '100m' }, d: { cpu: '200m' } } }] },
    looks: 2,
  },
  'packets-of-pods': {
    replicas: 2,
    spec: {
      maxReplicas: 10,
      metrics: [ofPods('1k', { name: 'packets', selector: { matchLabels: { verb: 'GET' } } })],
      behavior: { scaleDown: atOnce },
    },
    metrics: { custom: { 'pods/packets': ['1500', '2501'] } },
    looks: 5,
    after: {
      1: { metrics: { custom: { 'pods/packets': ['1000500m'] } } },
      2: { metrics: { custom: { 'pods/packets': ['100'] } } },
      3: { metrics: { custom: { 'pods/packets': [] } } },
      4: { metrics: {} },
    },
  },
  'packets-of-unready-pods': {
    replicas: 3,
    pods: [{}, { startedSecondsAgo: 20, ready: false }, { phase: 'Pending', ready: false }],
    spec: { maxReplicas: 10, metrics: [ofPods('10')] },
    metrics: { custom: { 'pods/packets': ['30', '20', '90'] } },
    follows: false,
    looks: 2,
  },
  'hits-of-a-service': {
    replicas: 3,
    pods: [{}, { ready: false, startedSecondsAgo: 20 }, {}],
    spec: { maxReplicas: 10, metrics: [ofObject(value('100'), service)], behavior: { scaleDown: atOnce } },
    metrics: hits('240'),
    looks: 4,
    after: { 1: { metrics: hits('105') }, 2: { metrics: hits('10500m') }, 3: { metrics: {} } },
  },
  'hits-for-each-pod': {
    replicas: 3,
    spec: {
      maxReplicas: 10,
      metrics: [
        ofObject(average('100'), service, {
          name: 'hits',
          selector: { matchExpressions: [{ key: 'a', operator: 'In', values: ['b', 'c'] }] },
        }),
      ],
      behavior: { scaleDown: atOnce },
    },
    metrics: hits('700'),
    looks: 4,
    after: { 1: { metrics: hits('650') }, 2: { metrics: hits('90') } },
  },
  'metrics-of-other-objects': {
    replicas: 2,
    spec: {
      maxReplicas: 10,
      metrics: [
        ofObject(value('10'), { apiVersion: 'v1', kind: 'Namespace', name: 'any' }, { name: 'load' }),
        ofObject(value('10'), { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' }),
        ofObject(value('10'), { apiVersion: 'v1', kind: 'Node', name: 'n' }),
        ofObject(value('10'), { apiVersion: 'example.com/v1', kind: 'Gone', name: 'n' }),
      ],
    },
    metrics: { custom: { 'namespace/load': ['12'], 'deployments.apps/hits': ['23'] } },
    looks: 2,
  },
  queue: {
    replicas: 2,
    spec: {
      maxReplicas: 10,
      metrics: [external(value('30'), { name: 'queue', selector: { matchLabels: { of: 'mail', at: 'x' } } })],
      behavior: { scaleDown: atOnce },
    },
    metrics: queue('20', '25500m', '10'),
    looks: 5,
    after: { 1: { metrics: queue('31') }, 2: { metrics: queue('3') }, 3: { metrics: queue() }, 4: { metrics: {} } },
  },
  'queue-for-each-pod': {
    replicas: 2,
    spec: { maxReplicas: 10, metrics: [external(average('30'))], behavior: { scaleDown: atOnce } },
    metrics: queue('100', '50'),
    looks: 4,
    after: { 1: { metrics: queue('160') }, 2: { metrics: queue('20') } },
  },
  'several-metrics': {
    replicas: 2,
    spec: {
      maxReplicas: 20,
      metrics: [utilization(50), ofPods('10'), external(average('10')), ofObject(value('10'), service)],
      behavior: { scaleDown: atOnce },
    },
    metrics: { ...cpu('60m'), ...queue('70'), custom: { 'pods/packets': ['15'], 'services/hits': ['8'] } },
    looks: 4,
    after: {
      1: { metrics: { ...cpu('10m'), ...queue('20'), custom: { 'pods/packets': ['1'], 'services/hits': ['1'] } } },
      2: { metrics: { ...cpu('50m'), ...queue('10'), custom: { 'pods/packets': ['1'], 'services/hits': ['9'] } } },
    },
  },
  'some-metrics-fail': {
    replicas: 3,
    spec: {
      maxReplicas: 20,
      metrics: [ofPods('10'), utilization(50), external(value('10'))],
      behavior: { scaleDown: atOnce },
    },
    // What asks for more is done all the same, what asks for fewer is not.
    metrics: cpu('60m'),
    looks: 5,
    after: { 1: { metrics: cpu('10m') }, 2: { metrics: cpu('50m') }, 3: { metrics: {} } },
  },
  'answers-that-fail': {
    replicas: 2,
    spec: { maxReplicas: 10, metrics: [utilization(50)] },
    metrics: {},
    looks: 7,
    after: {
      1: { metrics: { pods: { code: 500 } } },
      2: { metrics: { pods: { code: 503 } } },
      3: { metrics: { pods: failed(403, 'Forbidden', 'pods.metrics.k8s.io is forbidden: not for you') } },
      4: { metrics: { pods: failed(500, 'InternalError', 'Internal error occurred: out of order') } },
      5: { metrics: { pods: { code: 404 } } },
      6: { metrics: cpu('70m') },
    },
  },
  'external-answers-that-fail': {
    replicas: 2,
    spec: {
      maxReplicas: 10,
      metrics: [
        external(value('5'), {
          name: 'queue',
          selector: { matchLabels: { a: 'b' }, matchExpressions: [{ key: 'c', operator: 'Exists' }] },
        }),
        ofObject(value('5'), service),
      ],
    },
    metrics: { external: { queue: { code: 500 } }, custom: { 'services/hits': { code: 503 } } },
    looks: 2,
    after: {
      1: {
        metrics: {
          external: { queue: failed(404, 'NotFound', 'no such queue') },
          custom: { 'services/hits': failed(500, 'InternalError', 'Internal error occurred: odd') },
        },
      },
    },
  },
  'metrics-that-are-empty': {
    replicas: 2,
    spec: {
      maxReplicas: 10,
      metrics: [external(average('5')), ofObject(average('5'), service), ofObject(value('5'), service)],
    },
    metrics: { external: { queue: [] }, custom: { 'services/hits': [] } },
    looks: 1,
  },
  'average-that-fails': {
    replicas: 2,
    spec: { maxReplicas: 10, metrics: [ofObject(average('5'), service), ofPods('5')] },
    metrics: {},
    looks: 1,
  },
  'more-invalid-selectors-of-metrics': {
    replicas: 2,
    spec: {
      maxReplicas: 10,
      metrics: [
        ofPods('5', {
          name: 'packets',
          selector: { matchExpressions: [{ key: 'c', operator: 'Exists', values: ['d'] }] },
        }),
        ofPods('5', { name: 'packets', selector: { matchLabels: { 'a b': 'c d' } } }),
      ],
    },
    metrics: {},
    looks: 1,
  },
  'invalid-selectors-of-metrics': {
    replicas: 2,
    spec: {
      maxReplicas: 10,
      metrics: [
        external(value('5'), { name: 'queue', selector: { matchExpressions: [{ key: 'c', operator: 'Near' }] } }),
        ofPods('5', { name: 'packets', selector: { matchLabels: { 'a b': 'c' } } }),
        ofObject(value('5'), service, { name: 'hits', selector: { matchExpressions: [{ key: 'c', operator: 'In' }] } }),
      ],
    },
    metrics: {},
    looks: 1,
  },
}
