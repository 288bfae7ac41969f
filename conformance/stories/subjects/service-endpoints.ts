/** Services and their endpoints: readiness, termination, families, hints, what users write beside the controllers. */
import type { Fields } from '../../../src/api/object.ts'
import { pod, ready, sts, svc, tried } from '../objects.ts'
import type { Scene, Story } from '../story.ts'

const app = (name: string, spec: Fields = {}, metadata: Fields = {}) =>
  pod(name, { nodeName: 'idle', ...spec }, { labels: { app: 'a' }, ...metadata })
const status = (s: Scene, name: string, ip: string, isReady = 'True', more: Fields = {}) =>
  s.status('pods', name, {
    phase: 'Running',
    podIP: ip,
    podIPs: [{ ip }],
    conditions: [{ type: 'Ready', status: isReady }],
    ...more,
  })
const slices = async (s: Scene) =>
  s.note(
    (await s.list('endpointslices'))
      .map((one) => {
        const { endpoints, ports, metadata, addressType } = one as Fields
        const each = (endpoints ?? []).map(
          ({ targetRef, addresses, conditions, hints, zone }: Fields) =>
            `${targetRef?.name ?? addresses} ${conditions?.ready} ${conditions?.serving} ${conditions?.terminating} ${zone} ${JSON.stringify(hints)}`,
        )
        const ofPorts = (ports ?? []).map(({ name, port }: Fields) => `${name}:${port}`)
        return `${addressType} ${metadata.labels['endpointslice.kubernetes.io/managed-by']} ${metadata.labels['kubernetes.io/service-name']} [${ofPorts}] ${each.toSorted()}`
      })
      .toSorted()
      .join(' | '),
  )
const settled = (s: Scene) => s.pause(2500)

export const serviceEndpointsStories = {
  'svc-terminating-and-serving-by-publish': {
    async act(s) {
      await s.create('services', svc('a'))
      await s.create('services', svc('p', { selector: { app: 'a' }, publishNotReadyAddresses: true }))
      await s.create('services', svc('h', { selector: { app: 'a' }, clusterIP: 'None' }))
      for (const [name, ip, isReady] of [
        ['x', '10.9.0.1', 'True'],
        ['y', '10.9.0.2', 'False'],
      ] as const) {
        await s.create('pods', app(name, {}, { finalizers: ['x.y/stay'] }))
        await status(s, name, ip, isReady)
      }
      await settled(s)
      await slices(s)
      for (const name of ['x', 'y']) await s.del('pods', name, { gracePeriodSeconds: 30 })
      await settled(s)
      await slices(s)
      await s.status('pods', 'x', { conditions: [{ type: 'Ready', status: 'False' }] })
      await settled(s)
      await slices(s)
      await s.ended({ metadata: { name: 'x' } }, 0)
      await settled(s)
      await slices(s)
    },
  },
  'svc-unready-by-annotation': {
    async act(s) {
      await s.create('services', {
        ...svc('a'),
        metadata: { name: 'a', annotations: { 'service.alpha.kubernetes.io/tolerate-unready-endpoints': 'true' } },
      })
      await s.create('pods', app('x'))
      await status(s, 'x', '10.9.0.1', 'False')
      await settled(s)
      await slices(s)
      await s.patch('services', 'a', {
        metadata: { annotations: { 'service.alpha.kubernetes.io/tolerate-unready-endpoints': null } },
      })
      await settled(s)
      await slices(s)
    },
  },
  'svc-pod-of-six-alone': {
    async act(s) {
      await s.create('services', svc('a', { ipFamilyPolicy: 'PreferDualStack' }))
      await s
        .create(
          'services',
          svc('h', { selector: { app: 'a' }, clusterIP: 'None', ipFamilies: ['IPv6'], ipFamilyPolicy: 'SingleStack' }),
        )
        .catch((error) => s.note(error.message))
      await s.create('services', svc('n', { selector: undefined, clusterIP: 'None' }))
      await s.create('pods', app('x'))
      await status(s, 'x', 'fd00::1')
      await s.create('pods', app('y'))
      await status(s, 'y', '10.9.0.2', 'True', { podIPs: [{ ip: '10.9.0.2' }, { ip: 'fd00::2' }] })
      await settled(s)
      await slices(s)
    },
  },
  'svc-headless-without-ports-and-selector': {
    async act(s) {
      await s.create('services', svc('a', { clusterIP: 'None', ports: undefined }))
      await s.create('services', svc('b', { clusterIP: 'None', selector: undefined }))
      await s.create('pods', app('x', { hostname: 'one', subdomain: 'a' }))
      await status(s, 'x', '10.9.0.1')
      await s.create('endpoints', {
        apiVersion: 'v1',
        kind: 'Endpoints',
        metadata: { name: 'b' },
        subsets: [
          {
            addresses: [{ ip: '10.9.0.9', hostname: 'two' }],
            notReadyAddresses: [{ ip: '10.9.0.8' }],
            ports: [{ port: 80 }],
          },
        ],
      })
      await settled(s)
      await slices(s)
      await s.patch('endpoints', 'b', {
        subsets: [{ addresses: [{ ip: '10.9.0.8' }], ports: [{ port: 81, name: 'n', appProtocol: 'http' }] }],
      })
      await settled(s)
      await slices(s)
      await s.del('endpoints', 'b')
      await settled(s)
      await slices(s)
    },
  },
  'svc-endpoints-taken-over-by-selector': {
    async act(s) {
      await s.create('services', svc('a', { selector: undefined }))
      await s.create('endpoints', {
        apiVersion: 'v1',
        kind: 'Endpoints',
        metadata: { name: 'a', labels: { mine: 'yes' }, annotations: { note: 'n' } },
        subsets: [{ addresses: [{ ip: '10.9.0.9' }], ports: [{ port: 80 }] }],
      })
      await settled(s)
      await slices(s)
      await s.create('pods', app('x'))
      await status(s, 'x', '10.9.0.1')
      await s.patch('services', 'a', { spec: { selector: { app: 'a' } } })
      await settled(s)
      await slices(s)
      await s.patch('services', 'a', { spec: { selector: null } })
      await settled(s)
      await slices(s)
    },
  },
  'svc-slice-of-the-users-own': {
    async act(s) {
      await s.create('services', svc('a', { selector: undefined }))
      const own = (name: string, labels: Fields, more: Fields = {}) => ({
        apiVersion: 'discovery.k8s.io/v1',
        kind: 'EndpointSlice',
        metadata: { name, labels },
        addressType: 'IPv4',
        endpoints: [{ addresses: ['10.9.0.1'], conditions: {} }],
        ports: [{ port: 80, name: '' }],
        ...more,
      })
      await s.create('endpointslices', own('mine', { 'kubernetes.io/service-name': 'a' }))
      await s.create(
        'endpointslices',
        own('theirs', {
          'kubernetes.io/service-name': 'a',
          'endpointslice.kubernetes.io/managed-by': 'endpointslice-controller.k8s.io',
        }),
      )
      await settled(s)
      await slices(s)
      await s.patch('services', 'a', { spec: { selector: { app: 'a' } } })
      await settled(s)
      await slices(s)
      await s.del('services', 'a')
      await settled(s)
      await slices(s)
    },
  },
  'svc-hints-turned-on-and-off': {
    nodes: [
      { name: 'n1', labels: { 'topology.kubernetes.io/zone': 'a' } },
      { name: 'n2', labels: { 'topology.kubernetes.io/zone': 'b' } },
    ],
    async act(s) {
      await s.create('services', svc('a'))
      for (const n of [1, 2, 3, 4]) {
        await s.create('pods', app(`p${n}`, { nodeName: `${s.ns}-n${n === 4 ? 2 : 1}` }))
        await s.untilObj('pods', `p${n}`, ({ status: is }) => is.phase === 'Running')
      }
      await settled(s)
      await s.patch('services', 'a', { spec: { trafficDistribution: 'PreferSameZone' } })
      await settled(s)
      await slices(s)
      await s.patch('services', 'a', { spec: { trafficDistribution: 'PreferSameNode' } })
      await settled(s)
      await slices(s)
      await s.patch('nodes', `${s.ns}-n1`, { metadata: { labels: { 'topology.kubernetes.io/zone': 'c' } } })
      await settled(s)
      await slices(s)
      await s.patch('services', 'a', {
        spec: { trafficDistribution: null },
        metadata: { annotations: { 'service.kubernetes.io/topology-mode': 'Auto' } },
      })
      await settled(s)
      await slices(s)
      await s.patch('services', 'a', { metadata: { annotations: { 'service.kubernetes.io/topology-mode': null } } })
      await settled(s)
      await slices(s)
    },
  },
  'svc-node-goes-and-comes-with-zone': {
    nodes: [{ name: 'n1', labels: { 'topology.kubernetes.io/zone': 'a' } }],
    async act(s) {
      await s.create('services', svc('a'))
      await s.create('pods', app('x', { nodeName: `${s.ns}-n1` }))
      await s.untilObj('pods', 'x', ({ status: is }) => is.phase === 'Running')
      await settled(s)
      await s.patch('nodes', `${s.ns}-n1`, { metadata: { labels: { 'topology.kubernetes.io/zone': 'z' } } })
      await settled(s)
      await slices(s)
      await s.create('pods', app('y', { nodeName: 'nowhere' }, { finalizers: ['x.y/stay'] }))
      await status(s, 'y', '10.9.0.7')
      await settled(s)
      await slices(s)
    },
  },
  'svc-set-with-hostnames-renamed': {
    async act(s) {
      await s.create('services', svc('a', { clusterIP: 'None' }))
      await s.create('statefulsets', sts('a', { replicas: 2 }))
      await s.untilObj('statefulsets', 'a', ready)
      await s.create('services', svc('other', { selector: { app: 'a' }, clusterIP: 'None' }))
      await settled(s)
      s.note(
        (await s.list('endpointslices'))
          .flatMap((one) =>
            ((one as Fields)['endpoints'] ?? []).map(
              ({ hostname }: Fields) => `${one.metadata.labels['kubernetes.io/service-name']} ${hostname}`,
            ),
          )
          .toSorted()
          .join(),
      )
    },
  },
  'svc-types-and-ports-turned': {
    async act(s) {
      await s.create('services', svc('a', { type: 'NodePort', ports: [{ port: 80, nodePort: 31777 }] }))
      await tried(
        s,
        'same port',
        s.create('services', svc('b', { type: 'NodePort', ports: [{ port: 80, nodePort: 31777 }] })),
      )
      await tried(s, 'to cluster', s.patch('services', 'a', { spec: { type: 'ClusterIP' } }))
      await tried(
        s,
        'freed',
        s.create('services', svc('b', { type: 'NodePort', ports: [{ port: 80, nodePort: 31777 }] })),
      )
      await tried(s, 'headless', s.patch('services', 'a', { spec: { clusterIP: 'None', clusterIPs: ['None'] } }))
      await tried(
        s,
        'to name',
        s.patch('services', 'a', {
          spec: { type: 'ExternalName', externalName: 'x.y', clusterIP: null, clusterIPs: null, ports: null },
        }),
      )
      await settled(s)
      await slices(s)
      await tried(
        s,
        'and back',
        s.patch('services', 'a', { spec: { type: 'ClusterIP', externalName: null, ports: [{ port: 81 }] } }),
      )
      await settled(s)
      await slices(s)
    },
  },
  'svc-pods-of-every-phase': {
    async act(s) {
      await s.create('services', svc('a'))
      await s.create('services', svc('p', { selector: { app: 'a' }, publishNotReadyAddresses: true }))
      for (const [name, phase, restartPolicy] of [
        ['done', 'Succeeded', 'Never'],
        ['failed', 'Failed', 'Never'],
        ['pending', 'Pending', 'Always'],
        ['unknown', 'Unknown', 'Always'],
        ['again', 'Failed', 'Always'],
      ] as const) {
        await s.create('pods', app(name, { restartPolicy }))
        await s.status('pods', name, {
          phase,
          podIP: '10.9.0.5',
          podIPs: [{ ip: '10.9.0.5' }],
          conditions: [{ type: 'Ready', status: 'False' }],
        })
      }
      await settled(s)
      await slices(s)
    },
  },
} satisfies Readonly<Record<string, Story>>
