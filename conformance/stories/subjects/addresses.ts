/** Services that change while their pods do; addresses and ports that are taken. */
import type { Fields } from '../../../src/api/object.ts'
import { dep, done, pod, ready, rm, running, sts, svc } from '../objects.ts'
import type { Scene, Story } from '../story.ts'

const backend = (name: string, spec: Fields = {}) => pod(name, { nodeName: 'idle', ...spec }, { labels: { app: 'a' } })
const up = (s: Scene, name: string, ip: string) => s.running({ metadata: { name } }, { ip })
const noted = (s: Scene, promise: Promise<unknown>) =>
  promise.then(
    () => s.note('made'),
    (error) => s.note(error.message),
  )
const endpointSlice = (name: string, more: Fields) => ({
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  metadata: { name, labels: { 'kubernetes.io/service-name': 'a' } },
  addressType: 'IPv4',
  ...more,
})

export const addressesStories = {
  'svc-publish-and-terminate': {
    async act(s) {
      await s.create('services', svc('a', { publishNotReadyAddresses: true, clusterIP: 'None' }))
      for (const [name, ip] of [
        ['p', '10.9.0.1'],
        ['q', '10.9.0.2'],
        ['r', '10.9.0.3'],
      ] as const) {
        await s.create('pods', {
          ...backend(name, { hostname: name, subdomain: 'a' }),
          metadata: { name, labels: { app: 'a' }, finalizers: ['x.y/stay'] },
        })
        await up(s, name, ip)
      }
      await s.pause(1500)
      await s.status('pods', 'q', { conditions: [{ type: 'Ready', status: 'False', lastTransitionTime: s.now() }] })
      await s.del('pods', 'p')
      await s.pause(1500)
      await s.ended({ metadata: { name: 'r' } }, 0)
      await s.pause(1500)
      await s.patch('services', 'a', { spec: { publishNotReadyAddresses: false } })
      await s.pause(2000)
      for (const name of ['p', 'q', 'r']) await s.patch('pods', name, { metadata: { finalizers: null } })
    },
  },
  'svc-ports-change': {
    async act(s) {
      const ports = [
        { name: 'web', containerPort: 8080 },
        { name: 'dns', containerPort: 53, protocol: 'UDP' },
      ]
      await s.create('pods', backend('p', { containers: [{ name: 'c', image: 'i', ports }] }))
      await up(s, 'p', '10.9.0.1')
      await s.create(
        'services',
        svc('a', {
          ports: [
            { name: 'x', port: 80, targetPort: 'web' },
            { name: 'y', port: 53, targetPort: 'dns', protocol: 'UDP' },
          ],
        }),
      )
      await s.pause(1500)
      await s.patch('services', 'a', {
        spec: {
          ports: [
            { name: 'x', port: 80, targetPort: 'none' },
            { name: 'z', port: 90, targetPort: 90, appProtocol: 'kubernetes.io/h2c' },
          ],
        },
      })
      await s.pause(1500)
      await s.patch('services', 'a', { spec: { ports: [{ port: 80, targetPort: 'web' }] } })
      await s.pause(1500)
    },
  },
  'svc-slice-edited-by-user': {
    async act(s) {
      await s.create('pods', backend('p'))
      await up(s, 'p', '10.9.0.1')
      await s.create('services', svc('a'))
      await s.pause(1500)
      const [slice] = await s.list('endpointslices')
      await s.patch('endpointslices', slice.metadata.name, {
        endpoints: [{ addresses: ['10.9.0.9'] }],
        metadata: { labels: { mine: 'x', 'endpointslice.kubernetes.io/managed-by': 'me' } },
      })
      await s.pause(2500)
      await s.create(
        'endpointslices',
        endpointSlice('own', { endpoints: [{ addresses: ['10.9.0.8'] }], ports: [{ port: 80 }] }),
      )
      await s.pause(1500)
      await s.patch('services', 'a', { metadata: { labels: { on: 'service' } } })
      await s.pause(2000)
      await s.del('services', 'a')
      await s.pause(2000)
    },
  },
  'svc-slice-of-another-service': {
    async act(s) {
      await s.create('pods', backend('p'))
      await up(s, 'p', '10.9.0.1')
      await s.create('services', svc('a'))
      await s.create('services', svc('b', { selector: { app: 'a' } }))
      await s.pause(1500)
      const [slice] = (await s.list('endpointslices')).filter(
        ({ metadata }) => metadata.labels['kubernetes.io/service-name'] === 'a',
      )
      if (slice === undefined) return
      await s.patch('endpointslices', slice.metadata.name, {
        metadata: { labels: { 'kubernetes.io/service-name': 'b' } },
      })
      await s.pause(2500)
      await s.patch('services', 'a', { metadata: { labels: { on: 'service' } } })
      await s.pause(2500)
      await s.create('pods', backend('q'))
      await up(s, 'q', '10.9.0.2')
      await s.pause(2500)
    },
  },
  'svc-endpoints-mirrored-and-changed': {
    async act(s) {
      const endpoints = (subsets: readonly Fields[], labels: Fields = {}) => ({
        apiVersion: 'v1',
        kind: 'Endpoints',
        metadata: { name: 'a', labels, annotations: { note: 'n' } },
        subsets,
      })
      await s.create(
        'endpoints',
        endpoints(
          [
            {
              addresses: [
                { ip: '10.9.0.1', hostname: 'h' },
                { ip: '10.9.0.2', nodeName: 'idle' },
              ],
              notReadyAddresses: [{ ip: '10.9.0.3' }],
              ports: [{ port: 80, name: 'w' }],
            },
          ],
          { l: 'm' },
        ),
      )
      await s.pause(1000)
      await s.create('services', svc('a', { selector: null, ports: [{ port: 80, name: 'w' }] }))
      await s.pause(2500)
      await s.patch('endpoints', 'a', {
        subsets: [
          { addresses: [{ ip: '10.9.0.1' }], ports: [{ port: 81, name: 'v' }] },
          { addresses: [{ ip: '10.9.0.4' }], ports: [{ port: 82, name: 'u' }] },
        ],
      })
      await s.pause(2000)
      await s.patch('endpoints', 'a', { metadata: { labels: { 'endpointslice.kubernetes.io/skip-mirror': 'true' } } })
      await s.pause(2000)
      await s.patch('endpoints', 'a', { metadata: { labels: { 'endpointslice.kubernetes.io/skip-mirror': null } } })
      await s.pause(2000)
      await s.patch('services', 'a', { spec: { selector: { app: 'a' } } })
      await s.pause(2500)
    },
  },
  'svc-addresses-taken': {
    async act(s) {
      const first = await s.create('services', svc('a', { type: 'NodePort' }))
      await noted(s, s.create('services', svc('b', { clusterIP: '10.200.0.1' })))
      await noted(s, s.create('services', svc('c', { type: 'NodePort', ports: [{ port: 80, nodePort: 20 }] })))
      const error = await s
        .create(
          'services',
          svc('d', { type: 'NodePort', ports: [{ port: 80, nodePort: first.spec.ports[0].nodePort }] }),
        )
        .then(
          () => 'made',
          ({ message }: Error) => message.replaceAll(String(first.spec.ports[0].nodePort), '<port>'),
        )
      s.note(error)
      await noted(s, s.patch('services', 'a', { spec: { clusterIP: '10.96.77.77' } }))
      await noted(s, s.patch('services', 'a', { spec: { type: 'ClusterIP' } }))
      await noted(s, s.patch('services', 'a', { spec: { clusterIP: 'None' } }))
      await noted(
        s,
        s.patch('services', 'a', {
          spec: { type: 'ExternalName', externalName: 'x.example.com', clusterIP: null, clusterIPs: null },
        }),
      )
      await s.pause(1500)
      await noted(s, s.patch('services', 'a', { spec: { type: 'ClusterIP', externalName: null } }))
      await noted(s, s.patch('services', 'a', { spec: { ipFamilyPolicy: 'RequireDualStack' } }))
      await noted(
        s,
        s.patch('services', 'a', { spec: { ipFamilyPolicy: 'PreferDualStack', sessionAffinity: 'ClientIP' } }),
      )
      await s.pause(1500)
    },
  },
  'svc-local-traffic': {
    async act(s) {
      await s.create(
        'services',
        svc('a', {
          type: 'LoadBalancer',
          loadBalancerClass: 'x.y/z',
          externalTrafficPolicy: 'Local',
          internalTrafficPolicy: 'Local',
        }),
      )
      await s.status('services', 'a', {
        loadBalancer: { ingress: [{ ip: '192.0.2.1', ports: [{ port: 80, protocol: 'TCP' }] }] },
      })
      await s.pause(1000)
      await noted(s, s.patch('services', 'a', { spec: { loadBalancerClass: 'other/z' } }))
      await noted(s, s.patch('services', 'a', { spec: { externalTrafficPolicy: 'Cluster' } }))
      await noted(
        s,
        s.patch('services', 'a', {
          spec: { allocateLoadBalancerNodePorts: false, ports: [{ port: 80, nodePort: 0 }] },
        }),
      )
      await s.pause(1000)
      await noted(
        s,
        s.patch('services', 'a', {
          spec: { type: 'NodePort', loadBalancerClass: null, allocateLoadBalancerNodePorts: null },
        }),
      )
      await s.pause(1500)
    },
  },
  'svc-of-a-rollout': {
    async act(s) {
      await s.create('services', svc('a', { trafficDistribution: 'PreferSameNode' }))
      await s.create(
        'deployments',
        dep('a', {
          replicas: 3,
          template: {
            metadata: { labels: { app: 'a' } },
            spec: { automountServiceAccountToken: false, nodeName: 'idle', containers: [{ name: 'c', image: 'i:1' }] },
          },
        }),
      )
      let last = 0
      for (const one of await s.untilPods(3)) await s.running(one, { ip: `10.9.0.${++last}` })
      await s.untilObj('deployments', 'a', done)
      await s.pause(1500)
      await s.patch('deployments', 'a', { spec: { template: { metadata: { labels: { v: '2' } } } } })
      const [fresh] = await s.untilPods(1, ({ metadata }) => metadata.labels['v'] === '2')
      await s.running(fresh, { ip: '10.9.0.20' })
      await s.pause(2500)
    },
  },
  'svc-headless-set': {
    async act(s) {
      await s.create('services', svc('a', { clusterIP: 'None', ports: [] }))
      await s.create('statefulsets', sts('a', { replicas: 2 }))
      await s.untilObj('statefulsets', 'a', ready)
      await s.pause(1500)
      await s.patch('services', 'a', { spec: { ports: [{ port: 80 }] } })
      await s.del('pods', 'a-0')
      await s.pause(1500)
      await s.untilObj('statefulsets', 'a', ready)
      await s.untilPods(2, running)
      await s.pause(2000)
    },
  },
  'svc-range-added': {
    exclusive: true,
    async act(s) {
      const name = `${s.ns}-range`
      await s.create('servicecidrs', {
        apiVersion: 'networking.k8s.io/v1',
        kind: 'ServiceCIDR',
        metadata: { name },
        spec: { cidrs: ['10.201.0.0/28'] },
      })
      await s.untilObj('servicecidrs', name, ({ status }) => status?.conditions?.length)
      await s.pause(1000)
      await s.create('services', svc('a', { clusterIP: '10.201.0.5' }))
      await noted(s, s.create('services', svc('b', { clusterIP: '10.201.0.5' })))
      await s.del('servicecidrs', name)
      await s.pause(2500)
      await noted(s, s.create('services', svc('c', { clusterIP: '10.201.0.6' })))
      await s.del('services', 'a')
      await s.gone('servicecidrs', name, 20_000)
      await s.pause(1000)
    },
    clean: rm(['servicecidrs', 'range']),
  },
} satisfies Readonly<Record<string, Story>>
