/** Endpoints of Services whose pods, ports and selectors change while they are looked at; what users write into them, and what they mirror. */
import type { Fields } from '../../../src/api/object.ts'
import { dep, done, fresh, img, pod, rs, running, svc } from '../objects.ts'
import type { Scene, Seen, Story } from '../story.ts'

const on = { nodeName: 'idle' }
const app = (name: string, spec: Fields = {}, metadata: Fields = {}) =>
  pod(name, { ...on, ...spec }, { labels: { app: 'a' }, ...metadata })
const container = (...ports: readonly Fields[]) => ({ containers: [{ name: 'c', image: 'i', ports }] })
const up = (s: Scene, name: string, ip: string, ready = 'True') =>
  s.status('pods', name, {
    phase: 'Running',
    podIP: ip,
    podIPs: [{ ip }],
    conditions: [{ type: 'Ready', status: ready }],
  })
const endpoints = (name: string, subsets: readonly object[], metadata: Fields = {}) => ({
  apiVersion: 'v1',
  kind: 'Endpoints',
  metadata: { name, ...metadata },
  subsets,
})
const address = (ip: string, more: Fields = {}) => ({ addresses: [{ ip, ...more }], ports: [{ port: 80 }] })
/** Of each slice, its ports and endpoints. */
const slices = async (s: Scene) => {
  const port = ({ name, port: number, protocol }: Fields) => `${name || '-'}:${number ?? '-'}/${protocol}`
  const endpoint = ({ addresses, conditions, targetRef }: Fields) =>
    `${targetRef?.name ?? addresses} ${JSON.stringify(conditions)}`
  s.note(
    ((await s.list('endpointslices')) as readonly Fields[])
      .map(
        (one) =>
          `${one['metadata'].labels?.['kubernetes.io/service-name']} [${(one['ports'] ?? []).map(port)}] ${(
            one['endpoints'] ?? []
          )
            .map(endpoint)
            .toSorted()
            .join('; ')}`,
      )
      .toSorted()
      .join(' | '),
  )
}
const seen = async (s: Scene, ms = 1800) => {
  await s.pause(ms)
  await slices(s)
}

export const endpointTurnsStories = {
  'svc-named-port-moves-in-a-rollout': {
    async act(s) {
      const containers = (containerPort: number) => container({ name: 'web', containerPort })
      await s.create('services', svc('a', { ports: [{ port: 80, targetPort: 'web' }] }))
      await s.create(
        'deployments',
        dep(
          'a',
          { replicas: 2, strategy: { rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } } },
          { ...on, ...containers(8080) },
        ),
      )
      let last = 0
      const start = async (count: number) => {
        for (const one of await s.untilPods(count, fresh)) await s.running(one, { ip: `10.9.0.${++last}` })
      }
      await start(2)
      await s.untilObj('deployments', 'a', done)
      await seen(s)
      await s.patch('deployments', 'a', { spec: { template: { spec: containers(9090) } } })
      await start(1)
      await seen(s)
    },
  },
  'svc-named-port-in-some-pods-only': {
    async act(s) {
      await s.create(
        'services',
        svc('a', {
          ports: [
            { name: 'x', port: 80, targetPort: 'web' },
            { name: 'y', port: 81, targetPort: 81 },
          ],
        }),
      )
      await s.create('pods', app('p', container({ name: 'web', containerPort: 8080 })))
      await s.create('pods', app('q', container({ name: 'other', containerPort: 8080 })))
      await s.create('pods', app('r', container({ name: 'web', containerPort: 9090 })))
      for (const [i, n] of ['p', 'q', 'r'].entries()) await up(s, n, `10.9.0.${i + 1}`)
      await seen(s)
      await s.patch('services', 'a', { spec: { ports: [{ name: 'x', port: 80, targetPort: 'other' }] } })
      await seen(s)
    },
  },
  'svc-two-of-one-selector-and-other-ports': {
    async act(s) {
      await s.create('services', svc('a', { ports: [{ name: 'h', port: 80 }] }))
      await s.create(
        'services',
        svc('b', { selector: { app: 'a' }, clusterIP: 'None', publishNotReadyAddresses: true }),
      )
      await s.create('pods', app('p', { hostname: 'h', subdomain: 'b' }))
      await up(s, 'p', '10.9.0.1', 'False')
      await seen(s)
      await up(s, 'p', '10.9.0.1')
      await seen(s)
      await s.del('services', 'a')
      await seen(s)
    },
  },
  'svc-readiness-flaps': {
    async act(s) {
      await s.create('services', svc('a'))
      await s.create('pods', app('p'))
      await up(s, 'p', '10.9.0.1')
      await seen(s)
      for (let i = 0; i < 3; i++) {
        await up(s, 'p', '10.9.0.1', 'False')
        await s.pause(1500)
        await up(s, 'p', '10.9.0.1')
        await s.pause(1500)
      }
      await slices(s)
    },
  },
  'svc-labels-and-annotations-follow': {
    async act(s) {
      await s.create('services', {
        ...svc('a'),
        metadata: { name: 'a', labels: { l: 'm', 'kubernetes.io/service-name': 'z' }, annotations: { n: 'o' } },
      })
      await s.create('pods', app('p'))
      await up(s, 'p', '10.9.0.1')
      await s.pause(1800)
      await s.patch('services', 'a', {
        metadata: { labels: { l: 'changed', 'service.kubernetes.io/headless': '' }, annotations: { n: 'changed' } },
      })
      await s.pause(1800)
      await s.patch('services', 'a', {
        metadata: { labels: { l: null }, annotations: { 'endpoints.kubernetes.io/last-change-trigger-time': 'x' } },
      })
      await s.pause(1800)
    },
  },
  'svc-slice-labels-taken-by-user': {
    async act(s) {
      await s.create('services', svc('a'))
      await s.create('pods', app('p'))
      await up(s, 'p', '10.9.0.1')
      await seen(s)
      const [slice] = await s.list('endpointslices')
      await s.patch('endpointslices', slice.metadata.name, {
        metadata: { labels: { 'endpointslice.kubernetes.io/managed-by': 'me' } },
      })
      await seen(s)
      const [first] = (await s.list('endpointslices')).filter(
        ({ metadata }) => metadata.labels['endpointslice.kubernetes.io/managed-by'] !== 'me',
      )
      if (first !== undefined)
        await s.patch('endpointslices', first.metadata.name, {
          metadata: { labels: { 'kubernetes.io/service-name': null } },
        })
      await seen(s)
    },
  },
  'svc-endpoints-deleted-and-edited': {
    async act(s) {
      await s.create('services', svc('a'))
      await s.create('pods', app('p'))
      await up(s, 'p', '10.9.0.1')
      await s.pause(1800)
      await s.patch('endpoints', 'a', { subsets: [address('10.9.0.7')], metadata: { labels: { mine: 'x' } } })
      await seen(s)
      await s.del('endpoints', 'a')
      await seen(s)
      await up(s, 'p', '10.9.0.2')
      await seen(s)
    },
  },
  'svc-mirror-skipped-and-taken-up': {
    async act(s) {
      await s.create('services', svc('a', { selector: undefined }))
      await s.create(
        'endpoints',
        endpoints('a', [address('10.9.0.1')], { labels: { 'endpointslice.kubernetes.io/skip-mirror': 'true' } }),
      )
      await seen(s)
      await s.patch('endpoints', 'a', { metadata: { labels: { 'endpointslice.kubernetes.io/skip-mirror': 'false' } } })
      await seen(s)
      await s.patch('endpoints', 'a', {
        subsets: [address('10.9.0.1', { nodeName: 'idle', hostname: 'h' }), address('10.9.0.2')],
      })
      await seen(s)
      await s.patch('endpoints', 'a', { metadata: { labels: { 'endpointslice.kubernetes.io/skip-mirror': 'true' } } })
      await seen(s)
    },
  },
  'svc-mirror-not-ready-and-target-refs': {
    async act(s) {
      await s.create(
        'services',
        svc('a', {
          selector: undefined,
          ports: [
            { name: 'x', port: 80 },
            { name: 'y', port: 81 },
          ],
        }),
      )
      await s.create(
        'endpoints',
        endpoints('a', [
          {
            addresses: [{ ip: '10.9.0.1', targetRef: { kind: 'Pod', name: 'p', namespace: s.ns } }],
            notReadyAddresses: [{ ip: '10.9.0.2' }],
            ports: [
              { name: 'x', port: 8080 },
              { name: 'y', port: 8081, appProtocol: 'http' },
            ],
          },
        ]),
      )
      await seen(s)
      await s.patch('endpoints', 'a', {
        metadata: { annotations: { k: 'v' }, labels: { l: 'm' } },
        subsets: [{ notReadyAddresses: [{ ip: '10.9.0.1' }, { ip: '10.9.0.2' }], ports: [{ name: 'x', port: 8080 }] }],
      })
      await seen(s)
      await s.patch('endpoints', 'a', { subsets: null })
      await seen(s)
    },
  },
  'svc-mirror-service-deleted-and-made-again': {
    async act(s) {
      await s.create('services', svc('a', { selector: undefined }))
      await s.create('endpoints', endpoints('a', [address('10.9.0.1')]))
      await seen(s)
      await s.del('services', 'a')
      await seen(s)
      await s.create('endpoints', endpoints('a', [address('10.9.0.3')]))
      await seen(s)
      await s.create('services', svc('a', { selector: undefined, ports: [{ port: 80 }] }))
      await seen(s)
      await s.patch('services', 'a', { spec: { selector: { app: 'a' } } })
      await seen(s)
    },
  },
  'svc-terminating-pods-of-headless': {
    async act(s) {
      await s.create('services', svc('a', { clusterIP: 'None' }))
      await s.create('services', svc('b', { selector: { app: 'a' }, publishNotReadyAddresses: true }))
      for (const [i, n] of ['p', 'q'].entries()) {
        await s.create('pods', app(n, { terminationGracePeriodSeconds: 60 }))
        await up(s, n, `10.9.0.${i + 1}`)
      }
      await seen(s)
      await s.del('pods', 'p')
      await seen(s)
      await up(s, 'p', '10.9.0.1', 'False')
      await seen(s)
      await s.patch('services', 'a', { spec: { publishNotReadyAddresses: true } })
      await seen(s)
      await s.del('pods', 'p', { gracePeriodSeconds: 0 })
      await seen(s)
    },
  },
  'svc-selector-emptied-and-given': {
    async act(s) {
      await s.create('services', svc('a'))
      await s.create('pods', app('p'))
      await up(s, 'p', '10.9.0.1')
      await seen(s)
      await s.patch('services', 'a', { spec: { selector: null } })
      await seen(s)
      await up(s, 'p', '10.9.0.2')
      await seen(s)
      await s.patch('services', 'a', { spec: { selector: { app: 'a', tier: 'x' } } })
      await seen(s)
      await s.patch('pods', 'p', { metadata: { labels: { tier: 'x' } } })
      await seen(s)
    },
  },
  'svc-pod-replaced-by-its-name': {
    async act(s) {
      await s.create('services', svc('a'))
      await s.create('pods', app('p'))
      await up(s, 'p', '10.9.0.1')
      await seen(s)
      await s.del('pods', 'p', { gracePeriodSeconds: 0 })
      await s.create('pods', app('p'))
      await up(s, 'p', '10.9.0.1')
      await seen(s)
      await s.del('pods', 'p', { gracePeriodSeconds: 0 })
      await s.create('pods', app('p'))
      await up(s, 'p', '10.9.0.5')
      await seen(s)
    },
  },
  'svc-two-pods-of-one-address': {
    async act(s) {
      await s.create('services', svc('a'))
      for (const n of ['p', 'q']) {
        await s.create('pods', app(n, { hostNetwork: true }))
        await up(s, n, '10.9.0.1')
      }
      await seen(s)
      await s.del('pods', 'p', { gracePeriodSeconds: 0 })
      await seen(s)
      await s.ended({ metadata: { name: 'q' } }, 1)
      await seen(s)
    },
  },
  'svc-session-affinity-and-policies': {
    async act(s) {
      await s.create(
        'services',
        svc('a', { type: 'LoadBalancer', externalTrafficPolicy: 'Local', sessionAffinity: 'ClientIP' }),
      )
      await s.create('pods', app('p'))
      await up(s, 'p', '10.9.0.1')
      await seen(s)
      await s.status('services', 'a', { loadBalancer: { ingress: [{ ip: '10.8.0.1' }] } })
      await s.patch('services', 'a', {
        spec: { internalTrafficPolicy: 'Local', trafficDistribution: 'PreferSameNode' },
      })
      await seen(s)
      await s.patch('services', 'a', {
        spec: { type: 'ClusterIP', externalTrafficPolicy: null, trafficDistribution: null },
      })
      await seen(s)
    },
  },
  'svc-of-a-replicaset-scaled-up-and-down': {
    async act(s) {
      await s.create('services', svc('a'))
      await s.create('replicasets', rs('a', { replicas: 4 }))
      await s.untilPods(4, running)
      await s.pause(2500)
      await s.patch('replicasets', 'a', { spec: { replicas: 1 } })
      await s.untilObj('replicasets', 'a', ({ status }: Seen) => status.replicas === 1)
      await s.pause(2500)
      await s.patch('replicasets', 'a', { spec: { replicas: 0 } })
      await s.pause(2500)
      await s.patch('replicasets', 'a', { ...img(2) })
      await s.del('replicasets', 'a')
      await seen(s)
    },
  },
} satisfies Readonly<Record<string, Story>>
