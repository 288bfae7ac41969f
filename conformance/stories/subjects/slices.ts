/** EndpointSlices and Endpoints of Services that are written in ways that are rarely met: ports, families, readiness, zones, what users mirror. */
import type { Fields } from '../../../src/api/object.ts'
import { pod, running, svc } from '../objects.ts'
import type { Scene, Story } from '../story.ts'

const MIRROR = 'endpointslice.kubernetes.io/skip-mirror'
const on = { nodeName: 'idle' }
const app = (name: string, spec: Fields = {}, metadata: Fields = {}) =>
  pod(name, { ...on, ...spec }, { labels: { app: 'a' }, ...metadata })
const ports = (...list: readonly Fields[]) => ({ containers: [{ name: 'c', image: 'i', ports: list }] })
const status = (s: Scene, name: string, ips: readonly string[], ready = 'True', more: Fields = {}) =>
  s.status('pods', name, {
    phase: 'Running',
    ...(ips.length > 0 ? { podIP: ips[0], podIPs: ips.map((ip) => ({ ip })) } : {}),
    conditions: [{ type: 'Ready', status: ready }],
    ...more,
  })
const endpoints = (name: string, subsets: readonly object[] | undefined, metadata: Fields = {}) => ({
  apiVersion: 'v1',
  kind: 'Endpoints',
  metadata: { name, ...metadata },
  ...(subsets === undefined ? {} : { subsets }),
})
const free = (name: string, spec: Fields = {}) => svc(name, { selector: undefined, ...spec })

export const slicesStories = {
  'svc-same-port-of-two-protocols': {
    async act(s) {
      await s.create(
        'pods',
        app('p', ports({ containerPort: 53, name: 'dns', protocol: 'UDP' }, { containerPort: 53, name: 'dns-tcp' })),
      )
      await status(s, 'p', ['10.9.0.1'])
      await s.create(
        'services',
        svc('a', {
          ports: [
            { name: 'u', port: 53, protocol: 'UDP', targetPort: 'dns' },
            { name: 't', port: 53, protocol: 'TCP', targetPort: 'dns-tcp', appProtocol: 'kubernetes.io/h2c' },
            { name: 's', port: 53, protocol: 'SCTP' },
            { name: 'none', port: 54, targetPort: 'no-such' },
            { name: 'wrong', port: 55, targetPort: 'dns' },
          ],
        }),
      )
      await s.pause(2500)
    },
  },
  'svc-twelve-ports': {
    async act(s) {
      for (const n of ['p', 'q']) {
        await s.create('pods', app(n))
        await status(s, n, [n === 'p' ? '10.9.0.1' : '10.9.0.2'])
      }
      await s.create(
        'services',
        svc('a', {
          ports: Array.from({ length: 12 }, (_, i) => ({ name: `x${11 - i}`, port: 100 + i, targetPort: 200 - i })),
        }),
      )
      await s.pause(2500)
      await s.patch('services', 'a', { spec: { ports: [{ name: 'only', port: 80 }] } })
      await s.pause(2500)
    },
  },
  'svc-init-container-port': {
    async act(s) {
      const spec = {
        ...ports({ containerPort: 81, name: 'main' }),
        initContainers: [
          { name: 'side', image: 'i', restartPolicy: 'Always', ports: [{ containerPort: 82, name: 'side' }] },
          { name: 'init', image: 'i', ports: [{ containerPort: 83, name: 'init' }] },
        ],
      }
      await s.create('pods', app('p', spec))
      await status(s, 'p', ['10.9.0.1'])
      await s.create(
        'services',
        svc('a', {
          ports: ['main', 'side', 'init'].map((targetPort, i) => ({ name: targetPort, port: 80 + i, targetPort })),
        }),
      )
      await s.pause(2500)
    },
  },
  'svc-two-families-of-a-pod': {
    async act(s) {
      await s.create('pods', app('p'))
      await status(s, 'p', ['10.9.0.1', 'fd00::1'])
      await s.create('pods', app('six'))
      await status(s, 'six', ['fd00::2'])
      await s.create('services', svc('a'))
      await s.create('services', svc('h', { selector: { app: 'a' }, clusterIP: 'None' }))
      await s.pause(2500)
    },
  },
  'svc-addresses-come-and-change': {
    async act(s) {
      await s.create('services', svc('a'))
      await s.create('pods', app('p'))
      await status(s, 'p', [])
      await s.pause(1500)
      await status(s, 'p', ['10.9.0.1'], 'False')
      await s.pause(1500)
      await status(s, 'p', ['10.9.0.1'])
      await s.pause(1500)
      await status(s, 'p', ['10.9.0.9'])
      await s.pause(1500)
      await status(s, 'p', ['10.9.0.9'], 'Unknown')
      await s.pause(1500)
      await s.status('pods', 'p', { conditions: [] })
      await s.pause(1500)
    },
  },
  'svc-ended-pods-leave': {
    async act(s) {
      await s.create('services', svc('a', { publishNotReadyAddresses: true }))
      for (const [i, restartPolicy] of ['Never', 'OnFailure', 'Always'].entries()) {
        const name = restartPolicy.toLowerCase()
        await s.create('pods', app(name, { restartPolicy }))
        await status(s, name, [`10.9.0.${i + 1}`])
      }
      await s.pause(1500)
      await s.status('pods', 'never', { phase: 'Failed', conditions: [{ type: 'Ready', status: 'False' }] })
      await s.status('pods', 'onfailure', { phase: 'Succeeded', conditions: [{ type: 'Ready', status: 'False' }] })
      await s.status('pods', 'always', { phase: 'Unknown' })
      await s.pause(2500)
    },
  },
  'svc-hostname-and-set-identity': {
    async act(s) {
      await s.create('services', svc('a', { clusterIP: 'None' }))
      await s.create('services', svc('b', { selector: { app: 'a' } }))
      await s.create('pods', app('p', { hostname: 'h', subdomain: 'a' }))
      await s.create('pods', app('q', { hostname: 'h', subdomain: 'other' }))
      await s.create('pods', app('r', { subdomain: 'a' }))
      for (const [i, n] of ['p', 'q', 'r'].entries()) await status(s, n, [`10.9.0.${i + 1}`])
      await s.pause(2500)
    },
  },
  'svc-labels-of-service-carried': {
    async act(s) {
      const service = svc('a', { clusterIP: 'None' })
      await s.create('services', {
        ...service,
        metadata: {
          name: 'a',
          labels: { team: 'x', 'endpointslice.kubernetes.io/managed-by': 'me', 'kubernetes.io/service-name': 'zzz' },
          annotations: { n: 'o' },
        },
      })
      await s.create('pods', app('p'))
      await status(s, 'p', ['10.9.0.1'])
      await s.pause(2000)
      await s.patch('services', 'a', { metadata: { labels: { team: null, other: 'y' }, annotations: { n: 'm' } } })
      await s.pause(2000)
      await s.patch('services', 'a', { metadata: { labels: { 'service.kubernetes.io/headless': 'no' } } })
      await s.pause(2000)
    },
  },
  'svc-selector-taken-and-given': {
    async act(s) {
      await s.create('pods', app('p'))
      await status(s, 'p', ['10.9.0.1'])
      await s.create('services', svc('a'))
      await s.pause(2000)
      await s.patch('services', 'a', { spec: { selector: null } })
      await s.pause(2000)
      await s.patch('endpoints', 'a', { subsets: [{ addresses: [{ ip: '10.9.0.7' }], ports: [{ port: 81 }] }] })
      await s.pause(2000)
      await s.patch('services', 'a', { spec: { selector: { app: 'a' } } })
      await s.pause(2500)
    },
  },
  'svc-mirror-two-families-and-subsets': {
    async act(s) {
      await s.create(
        'services',
        free('a', {
          ports: [
            { name: 'x', port: 80 },
            { name: 'y', port: 81 },
          ],
        }),
      )
      await s.create(
        'endpoints',
        endpoints(
          'a',
          [
            {
              addresses: [{ ip: '10.9.0.1' }, { ip: 'fd00::1' }],
              notReadyAddresses: [{ ip: '10.9.0.2' }],
              ports: [{ name: 'x', port: 80 }],
            },
            {
              addresses: [{ ip: '10.9.0.3', targetRef: { kind: 'Pod', name: 'none', namespace: s.ns } }],
              ports: [
                { name: 'x', port: 8080 },
                { name: 'y', port: 81, appProtocol: 'http' },
              ],
            },
            { addresses: [{ ip: '10.9.0.4' }] },
          ],
          { labels: { a: 'b' }, annotations: { c: 'd' } },
        ),
      )
      await s.pause(2500)
      await s.patch('endpoints', 'a', {
        subsets: [{ addresses: [{ ip: 'fd00::1' }], ports: [{ name: 'x', port: 80 }] }],
        metadata: { labels: { a: null, e: 'f' }, annotations: { c: null } },
      })
      await s.pause(2500)
      await s.patch('endpoints', 'a', { subsets: null })
      await s.pause(2500)
    },
  },
  'svc-mirror-leader-election-and-back': {
    async act(s) {
      const leader = 'control-plane.alpha.kubernetes.io/leader'
      await s.create('services', free('a'))
      await s.create(
        'endpoints',
        endpoints('a', [{ addresses: [{ ip: '10.9.0.1' }], ports: [{ port: 80 }] }], {
          annotations: { [leader]: '{}' },
        }),
      )
      await s.pause(2000)
      await s.patch('endpoints', 'a', { metadata: { annotations: { [leader]: null } } })
      await s.pause(2000)
      await s.patch('endpoints', 'a', { metadata: { labels: { [MIRROR]: 'true' } } })
      await s.pause(2000)
    },
  },
  'svc-mirror-more-than-a-thousand': {
    async act(s) {
      await s.create('services', free('a'))
      const addresses = Array.from({ length: 1003 }, (_, i) => ({ ip: `10.8.${Math.floor(i / 250)}.${(i % 250) + 1}` }))
      await s.create('endpoints', endpoints('a', [{ addresses, ports: [{ port: 80 }] }]))
      await s.pause(4000)
      s.note((await s.list('endpointslices')).map((slice) => (slice as Fields)['endpoints'].length).join())
      await s.patch('endpoints', 'a', { subsets: [{ addresses: addresses.slice(0, 3), ports: [{ port: 80 }] }] })
      await s.pause(3000)
    },
  },
  'svc-mirror-without-service': {
    async act(s) {
      await s.create('endpoints', endpoints('a', [{ addresses: [{ ip: '10.9.0.1' }], ports: [{ port: 80 }] }]))
      await s.pause(1500)
      await s.create('services', free('a'))
      await s.pause(2000)
      await s.del('services', 'a')
      await s.pause(2500)
    },
  },
  'svc-external-name-turns': {
    async act(s) {
      await s.create('pods', app('p'))
      await status(s, 'p', ['10.9.0.1'])
      await s.create('services', svc('a', { type: 'ExternalName', externalName: 'x.example.com' }))
      await s.pause(1500)
      await s.patch('services', 'a', { spec: { type: 'ClusterIP', externalName: null } })
      await s.pause(2000)
      await s.patch('services', 'a', {
        spec: { type: 'ExternalName', externalName: 'x.example.com', clusterIP: null, clusterIPs: null },
      })
      await s.pause(2500)
    },
  },
  'svc-preferred-zones-without-zones': {
    async act(s) {
      for (const n of ['p', 'q']) {
        await s.create('pods', app(n))
        await status(s, n, [n === 'p' ? '10.9.0.1' : '10.9.0.2'])
      }
      await s.create('services', {
        ...svc('a'),
        metadata: { name: 'a', annotations: { 'service.kubernetes.io/topology-mode': 'Auto' } },
      })
      await s.create('services', svc('b', { selector: { app: 'a' }, trafficDistribution: 'PreferSameZone' }))
      await s.create('services', svc('c', { selector: { app: 'a' }, trafficDistribution: 'PreferSameNode' }))
      await s.pause(2500)
      await s.patch('services', 'a', {
        metadata: { annotations: { 'service.kubernetes.io/topology-mode': null } },
        spec: { trafficDistribution: 'PreferClose' },
      })
      await s.pause(2500)
    },
  },
  'svc-zones-hints-by-mode': {
    nodes: [
      { name: 'n1', labels: { 'topology.kubernetes.io/zone': 'a' } },
      { name: 'n2', labels: { 'topology.kubernetes.io/zone': 'b' } },
    ],
    async act(s) {
      await s.create('services', {
        ...svc('a'),
        metadata: { name: 'a', annotations: { 'service.kubernetes.io/topology-mode': 'Auto' } },
      })
      for (const [i, n] of ['n1', 'n2', 'n1', 'n2', 'n1', 'n2'].entries())
        await s.create('pods', pod(`p${i}`, { nodeName: `${s.ns}-${n}` }, { labels: { app: 'a' } }))
      await s.untilPods(6, running)
      await s.pause(3000)
      await s.patch('services', 'a', {
        spec: { trafficDistribution: 'PreferSameZone' },
        metadata: { annotations: { 'service.kubernetes.io/topology-mode': null } },
      })
      await s.pause(2500)
      await s.patch('nodes', `${s.ns}-n2`, { metadata: { labels: { 'topology.kubernetes.io/zone': 'c' } } })
      await s.pause(2500)
      await s.patch('services', 'a', { spec: { trafficDistribution: 'PreferSameNode' } })
      await s.pause(2500)
    },
  },
  'svc-shrinks-from-110': {
    async act(s) {
      await s.create('services', svc('a'))
      for (let i = 0; i < 110; i++) {
        await s.create('pods', app(`p${i}`))
        await status(s, `p${i}`, [`10.9.1.${i + 1}`])
      }
      await s.pause(4000)
      for (let i = 0; i < 95; i++) await s.del('pods', `p${i}`, { gracePeriodSeconds: 0 })
      await s.pause(3000)
      s.note(
        (await s.list('endpointslices'))
          .map((slice) => ((slice as Fields)['endpoints'] ?? []).length)
          .reduce((a, b) => a + b, 0)
          .toString(),
      )
    },
  },
} satisfies Readonly<Record<string, Story>>
