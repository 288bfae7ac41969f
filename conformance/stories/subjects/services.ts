/** Services, their Endpoints and EndpointSlices. */

import { force, pod, ready, rs, running, sts, svc } from '../objects.ts'
import type { Story } from '../story.ts'

export const servicesStories = {
  'svc-selector-changed': {
    async act(s) {
      for (const n of ['a', 'b']) await s.create('pods', pod(n, {}, { labels: { app: n } }))
      await s.create('services', svc('a'))
      await s.untilPods(2, running)
      await s.pause(1500)
      await s.patch('services', 'a', { spec: { selector: { app: 'b' } } })
      await s.pause(1500)
      await s.patch('services', 'a', { spec: { selector: null } })
      await s.pause(1500)
      await s.patch('services', 'a', { spec: { selector: { app: 'a' } } })
      await s.pause(1500)
    },
  },
  'svc-not-ready': {
    async act(s) {
      await s.create('pods', pod('a', { nodeName: 'idle' }, { labels: { app: 'a' } }))
      await s.create('pods', pod('b', { nodeName: 'idle' }, { labels: { app: 'a' } }))
      await s.running({ metadata: { name: 'a' } }, { ip: '10.9.0.1' })
      await s.status('pods', 'b', {
        phase: 'Running',
        podIP: '10.9.0.2',
        podIPs: [{ ip: '10.9.0.2' }],
        conditions: [{ type: 'Ready', status: 'False' }],
      })
      await s.create('services', svc('a'))
      await s.create('services', svc('p', { selector: { app: 'a' }, publishNotReadyAddresses: true }))
      await s.pause(2000)
      await s.del('pods', 'a')
      await s.pause(1500)
      await s.patch('services', 'a', { spec: { publishNotReadyAddresses: true } })
      await s.pause(1500)
    },
  },
  'svc-named-ports': {
    async act(s) {
      const c = (p: number) => ({
        containers: [
          {
            name: 'c',
            image: 'i',
            ports: [
              { name: 'web', containerPort: p },
              ...(p === 81 ? [{ name: 'udp', containerPort: 53, protocol: 'UDP' }] : []),
            ],
          },
        ],
      })
      await s.create('pods', pod('a', c(80), { labels: { app: 'a' } }))
      await s.create('pods', pod('b', c(81), { labels: { app: 'a' } }))
      await s.create(
        'services',
        svc('a', {
          ports: [
            { name: 'web', port: 80, targetPort: 'web', appProtocol: 'http' },
            { name: 'd', port: 53, protocol: 'UDP', targetPort: 'udp' },
            { name: 'n', port: 9, targetPort: 'none' },
          ],
        }),
      )
      await s.untilPods(2, running)
      await s.pause(2000)
    },
  },
  'svc-headless': {
    async act(s) {
      await s.create('statefulsets', sts('a', { replicas: 2 }))
      await s.create('services', svc('a', { clusterIP: 'None', ports: undefined }))
      await s.untilObj('statefulsets', 'a', ready)
      await s.pause(1500)
      await s.patch('services', 'a', { metadata: { labels: { l: 'x', 'service.kubernetes.io/headless': 'q' } } })
      await s.pause(1500)
    },
  },
  'svc-120-endpoints': {
    async act(s) {
      await s.create('services', svc('a'))
      await s.create('replicasets', rs('a', { replicas: 120 }))
      await s.untilObj('replicasets', 'a', ready, 60000)
      await s.pause(3000)
      await s.patch('replicasets', 'a', { spec: { replicas: 90 } })
      await s.untilObj('replicasets', 'a', ready)
      await s.pause(3000)
    },
  },
  'svc-manual-endpoints': {
    async act(s) {
      await s.create('services', svc('a', { selector: undefined, ports: [{ name: 'x', port: 80 }] }))
      await s.create('endpoints', {
        apiVersion: 'v1',
        kind: 'Endpoints',
        metadata: { name: 'a', labels: { l: 'm' }, annotations: { an: 'n' } },
        subsets: [
          {
            addresses: [{ ip: '10.8.0.1' }, { ip: '10.8.0.2', hostname: 'h', nodeName: 'kwok-1' }],
            notReadyAddresses: [{ ip: '10.8.0.3' }],
            ports: [{ name: 'x', port: 80 }],
          },
        ],
      })
      await s.pause(2000)
      await s.patch('endpoints', 'a', { metadata: { labels: { 'endpointslice.kubernetes.io/skip-mirror': 'true' } } })
      await s.pause(1500)
      await s.patch('endpoints', 'a', { metadata: { labels: { 'endpointslice.kubernetes.io/skip-mirror': null } } })
      await s.pause(1500)
      await s.del('endpoints', 'a')
      await s.pause(1500)
    },
  },
  'svc-over-capacity': {
    async act(s) {
      await s.create('services', svc('a', { selector: undefined }))
      await s.create('endpoints', {
        apiVersion: 'v1',
        kind: 'Endpoints',
        metadata: { name: 'a' },
        subsets: [
          {
            addresses: Array.from({ length: 1005 }, (_, i) => ({ ip: `10.7.${i >> 8}.${i & 255 || 1}` })).filter(
              (x, i, l) => l.findIndex((y) => y.ip === x.ip) === i,
            ),
            ports: [{ port: 80 }],
          },
        ],
      })
      await s.pause(3000)
    },
  },
  'svc-external-name': {
    async act(s) {
      await s.create('services', {
        apiVersion: 'v1',
        kind: 'Service',
        metadata: { name: 'a' },
        spec: { type: 'ExternalName', externalName: 'x.y', selector: { app: 'a' } },
      })
      await s.create('pods', pod('a', {}, { labels: { app: 'a' } }))
      await s.untilPods(1, running)
      await s.pause(1500)
      await s.patch('services', 'a', { spec: { type: 'ClusterIP', externalName: null, ports: [{ port: 80 }] } })
      await s.pause(1500)
    },
  },
  'svc-deleted-slices': {
    async act(s) {
      await s.create('pods', pod('a', {}, { labels: { app: 'a' } }))
      await s.create('services', svc('a'))
      await s.untilPods(1, running)
      await s.pause(1500)
      const [sl] = await s.list('endpointslices')
      await s.del('endpointslices', sl.metadata.name)
      await s.pause(1500)
      const [s2] = await s.list('endpointslices')
      await s.patch('endpointslices', s2.metadata.name, { endpoints: [], metadata: { labels: { mine: 'x' } } })
      await s.pause(1500)
      await s.del('endpoints', 'a')
      await s.pause(1500)
      await s.del('services', 'a', { propagationPolicy: 'Orphan' })
      await s.pause(2000)
    },
  },
  'svc-pod-hostnetwork-multi': {
    async act(s) {
      await s.create(
        'pods',
        pod(
          'a',
          {
            hostNetwork: true,
            hostname: 'h',
            subdomain: 'a',
            containers: [{ name: 'c', image: 'i', ports: [{ containerPort: 80 }] }],
          },
          { labels: { app: 'a' } },
        ),
      )
      await s.create(
        'services',
        svc('a', {
          ports: [
            { name: 'one', port: 80 },
            { name: 'two', port: 81, targetPort: 80 },
          ],
          sessionAffinity: 'ClientIP',
        }),
      )
      await s.untilPods(1, running)
      await s.pause(1500)
    },
  },
  'svc-lb-class-protection': {
    async act(s) {
      await s.create(
        'services',
        svc('a', { type: 'LoadBalancer', loadBalancerClass: 'x.y/z', externalTrafficPolicy: 'Local' }),
      )
      await s.pause(1500)
      await s.status('services', 'a', { loadBalancer: { ingress: [{ ip: '1.2.3.4' }] } })
      await s
        .patch('services', 'a', {
          spec: {
            type: 'ClusterIP',
            loadBalancerClass: null,
            externalTrafficPolicy: null,
            allocateLoadBalancerNodePorts: null,
          },
        })
        .catch((e) => s.note(e.message))
      await s.pause(1500)
    },
  },
  'svc-slice-meta': {
    async act(s) {
      await s.create('pods', pod('a', {}, { labels: { app: 'a' } }))
      await s.create('services', svc('a'))
      await s.untilPods(1, running)
      await s.pause(2000)
      const [x] = await s.list('endpointslices')
      await s.patch('endpointslices', x.metadata.name, { metadata: { labels: { mine: 'x' } } })
      await s.pause(2000)
      s.note(`label kept ${(await s.list('endpointslices'))[0].metadata.labels['mine']}`)
      await s.patch('endpointslices', x.metadata.name, { metadata: { ownerReferences: null } })
      await s.pause(2000)
      s.note(
        `owners ${(await s.list('endpointslices')).map((q) => `${(q.metadata.ownerReferences ?? []).length} ${q.metadata.name === x.metadata.name}`)}`,
      )
      await s.patch('services', 'a', { metadata: { annotations: { n: 'm' } } })
      await s.pause(2000)
      s.note(
        `owners ${(await s.list('endpointslices')).map((q) => `${(q.metadata.ownerReferences ?? []).length} ${q.metadata.labels['mine']}${q.metadata.name === x.metadata.name}`)}`,
      )
    },
  },
  'svc-orphaned': {
    async act(s) {
      await s.create('pods', pod('a', {}, { labels: { app: 'a' } }))
      await s.create('services', svc('a'))
      await s.untilPods(1, running)
      await s.pause(2000)
      await s.del('services', 'a', { propagationPolicy: 'Orphan' })
      await s.pause(2500)
    },
  },
  'svc-two-named-ports': {
    async act(s) {
      const c = (port: number) => ({
        containers: [
          {
            name: 'c',
            image: 'i',
            ports: [
              { name: 'web', containerPort: port },
              { name: 'dns', containerPort: 53, protocol: 'UDP' },
            ],
          },
        ],
      })
      await s.create('pods', pod('a', c(8080), { labels: { app: 'a' } }))
      await s.untilPods(1, ({ status }) => status.phase === 'Running')
      await s.create('pods', pod('b', c(9090), { labels: { app: 'a' } }))
      await s.untilPods(2, ({ status }) => status.phase === 'Running')
      await s.create(
        'services',
        svc('a', {
          ports: [
            { name: 'x', port: 80, targetPort: 'web' },
            { name: 'y', port: 53, targetPort: 'dns', protocol: 'UDP' },
          ],
        }),
      )
      await s.pause(2500)
    },
  },
  'svc-publish-not-ready': {
    async act(s) {
      await s.create('services', svc('a', { clusterIP: 'None', publishNotReadyAddresses: true }))
      const p = await s.create(
        'pods',
        pod('a', { nodeName: 'idle', hostname: 'h', subdomain: 'a' }, { labels: { app: 'a' } }),
      )
      await s.status('pods', p.metadata.name, {
        phase: 'Running',
        podIP: '10.9.0.1',
        podIPs: [{ ip: '10.9.0.1' }],
        conditions: [{ type: 'Ready', status: 'False', lastTransitionTime: s.now() }],
      })
      await s.pause(2500)
      await s.patch('services', 'a', { spec: { publishNotReadyAddresses: false } })
      await s.pause(2500)
    },
  },
  'svc-terminating-pod': {
    async act(s) {
      await s.create('services', svc('a'))
      const p = await s.create('pods', pod('a', { nodeName: 'idle' }, { labels: { app: 'a' } }))
      await s.running(p, { ip: '10.9.0.1' })
      await s.pause(2500)
      await s.del('pods', 'a')
      await s.pause(2500)
      await force(s, p)
      await s.pause(2000)
    },
  },
  'svc-type-changes': {
    async act(s) {
      await s.create('pods', pod('a', {}, { labels: { app: 'a' } }))
      await s.untilPods(1, ({ status }) => status.phase === 'Running')
      await s.create('services', svc('a'))
      await s.pause(2000)
      await s.patch('services', 'a', { spec: { type: 'NodePort' } })
      await s.pause(1000)
      await s
        .patch('services', 'a', {
          spec: {
            type: 'ExternalName',
            externalName: 'x.y',
            clusterIP: null,
            clusterIPs: null,
            selector: null,
            ports: null,
          },
        })
        .catch((e) => s.note(e.message))
      await s.pause(2500)
    },
  },
  'svc-slice-deleted': {
    async act(s) {
      await s.create('pods', pod('a', {}, { labels: { app: 'a' } }))
      await s.untilPods(1, ({ status }) => status.phase === 'Running')
      await s.create('services', svc('a'))
      await s.pause(2000)
      const [slice] = await s.list('endpointslices')
      await s.del('endpointslices', slice.metadata.name)
      await s.pause(2500)
      await s.del('endpoints', 'a')
      await s.pause(2500)
    },
  },
  'svc-traffic-distribution': {
    async act(s) {
      await s.create('services', svc('a', { trafficDistribution: 'PreferSameNode' }))
      await s.create('pods', pod('a', {}, { labels: { app: 'a' } }))
      await s.untilPods(1, ({ status }) => status.phase === 'Running')
      await s.pause(2500)
      await s.patch('services', 'a', { spec: { trafficDistribution: null } })
      await s.pause(2000)
    },
  },
} satisfies Readonly<Record<string, Story>>
