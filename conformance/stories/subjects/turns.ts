/** Workloads, Jobs and Services, where something comes midway that their controllers rarely meet. */
import type { Fields } from '../../../src/api/object.ts'
import { ds, dsReady, img, job, on, pdb, pod, running, sts, svc } from '../objects.ts'
import type { Scene, Seen, Story } from '../story.ts'

const taint = (s: Scene, node: string, taints: readonly object[] | null) =>
  s.patch('nodes', `${s.ns}-${node}`, { spec: { taints } })
const app = (name: string, spec: Fields = {}) => pod(name, { nodeName: 'idle', ...spec }, { labels: { app: 'a' } })
const status = (s: Scene, name: string, ip: string, isReady: string) =>
  s.status('pods', name, {
    phase: 'Running',
    podIP: ip,
    podIPs: [{ ip }],
    conditions: [{ type: 'Ready', status: isReady }],
  })
const slices = async (s: Scene) =>
  s.note(
    (await s.list('endpointslices'))
      .map((one) => {
        const { endpoints, ports, metadata } = one as Fields
        const each = (endpoints ?? []).map(
          ({ targetRef, conditions }: Fields) =>
            `${targetRef?.name} ${conditions?.ready} ${conditions?.serving} ${conditions?.terminating}`,
        )
        const ofPorts = (ports ?? []).map(({ name, port }: Fields) => `${name}:${port}`)
        return `${metadata.labels['kubernetes.io/service-name']} [${ofPorts}] ${each.toSorted()}`
      })
      .toSorted()
      .join(' | '),
  )

export const turnsStories = {
  'ds-surge-and-taint-comes': {
    nodes: ['n1', 'n2'],
    async act(s) {
      await s.create(
        'daemonsets',
        ds('a', { updateStrategy: { rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } } }, on(s)),
      )
      await s.untilObj('daemonsets', 'a', dsReady(2))
      await taint(s, 'n1', [{ key: 'k', effect: 'NoSchedule' }])
      await s.pause(1500)
      await s.patch('daemonsets', 'a', img(2))
      await s.pause(6000)
      await taint(s, 'n1', null)
      await s.untilObj('daemonsets', 'a', dsReady(2))
      await s.pause(2000)
    },
  },
  'ds-surge-where-it-may-not-run': {
    nodes: ['n1', 'n2', 'n3'],
    async act(s) {
      await s.create(
        'daemonsets',
        ds('a', { updateStrategy: { rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } } }, on(s)),
      )
      await s.untilObj('daemonsets', 'a', dsReady(3))
      const at = async (node: string) =>
        [...(await s.list('pods'))].find((p) => p.spec.nodeName === `${s.ns}-${node}`) as Seen
      const sick = await at('n1')
      await s.status('pods', sick.metadata.name, { conditions: [{ type: 'Ready', status: 'False' }] })
      for (const node of ['n1', 'n2']) await taint(s, node, [{ key: 'k', effect: 'NoSchedule' }])
      await s.pause(1500)
      await s.patch('daemonsets', 'a', {
        spec: {
          template: { spec: { containers: [{ name: 'c', image: 'i:2', resources: { requests: { cpu: '900' } } }] } },
        },
      })
      await s.pause(6000)
      await s.patch('daemonsets', 'a', img(3))
      await s.pause(4000)
    },
  },
  'sts-adopts-pod-of-its-name': {
    async act(s) {
      await s.create('pods', pod('a-0', {}, { labels: { app: 'a' } }))
      await s.create('pods', pod('a-1', {}, { labels: { app: 'b' } }))
      await s.untilPods(2, running)
      await s.create('statefulsets', sts('a', { replicas: 2 }))
      await s.pause(6000)
      await s.del('pods', 'a-1')
      await s.pause(15_000)
    },
    restMs: 60_000,
  },
  'job-managed-by-then-deleted-foreground': {
    async act(s) {
      await s.create('jobs', job('j', { managedBy: 'x.y/z', suspend: true }))
      await s.create('pods', {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: {
          name: 'p',
          finalizers: ['batch.kubernetes.io/job-tracking'],
          labels: { x: 'y' },
          ownerReferences: [
            {
              apiVersion: 'batch/v1',
              kind: 'Job',
              name: 'j',
              uid: (await s.get('jobs', 'j')).metadata.uid,
              controller: true,
              blockOwnerDeletion: true,
            },
          ],
        },
        spec: { nodeName: 'idle', containers: [{ name: 'c', image: 'i' }], automountServiceAccountToken: false },
      })
      await s.pause(1500)
      await s.del('jobs', 'j', { propagationPolicy: 'Foreground' })
      await s.pause(2500)
      await s.del('pods', 'p', { gracePeriodSeconds: 0 })
      await s.pause(4000)
    },
  },
  'job-finalizer-of-other-owners': {
    async act(s) {
      const tracked = (name: string, reference: Fields) =>
        s.create('pods', {
          apiVersion: 'v1',
          kind: 'Pod',
          metadata: {
            name,
            finalizers: ['batch.kubernetes.io/job-tracking'],
            ownerReferences: [{ name: 'j', controller: true, ...reference }],
          },
          spec: { nodeName: 'idle', containers: [{ name: 'c', image: 'i' }], automountServiceAccountToken: false },
        })
      const owner = await s.create('configmaps', { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'o' } })
      const { uid } = await s
        .create('jobs', job('j', { suspend: true, managedBy: 'x.y/z' }))
        .then(({ metadata }) => metadata)
      await tracked('elsewhere', { apiVersion: 'batch.example.com/v1', kind: 'Job', uid: owner.metadata.uid })
      await tracked('map', { apiVersion: 'v1', kind: 'ConfigMap', name: 'o', uid: owner.metadata.uid })
      await tracked('managed', { apiVersion: 'batch/v1', kind: 'Job', uid })
      await s.pause(2500)
      await s.status('jobs', 'j', {
        startTime: s.now(),
        conditions: [
          { type: 'FailureTarget', status: 'True', lastTransitionTime: s.now() },
          { type: 'Failed', status: 'True', lastTransitionTime: s.now() },
        ],
      })
      await s.pause(2000)
      await s.patch('pods', 'managed', { metadata: { labels: { x: 'z' } } })
      await s.pause(1500)
      s.note((await s.list('pods')).map((p) => `${p.metadata.name} ${p.metadata.finalizers ?? ''}`).join(', '))
      await s.del('jobs', 'j', { propagationPolicy: 'Orphan' })
      await s.pause(2500)
      s.note((await s.list('pods')).map((p) => `${p.metadata.name} ${p.metadata.finalizers ?? ''}`).join(', '))
    },
  },
  'svc-pod-moves-between-services': {
    async act(s) {
      await s.create('services', svc('a'))
      await s.create('services', svc('b', { publishNotReadyAddresses: true }))
      await s.create('pods', app('x'))
      await status(s, 'x', '10.9.0.1', 'False')
      await s.pause(2000)
      await slices(s)
      await s.patch('pods', 'x', { metadata: { labels: { app: 'b' } } })
      await s.pause(2000)
      await slices(s)
      await status(s, 'x', '10.9.0.7', 'True')
      await s.pause(1500)
      await s.patch('services', 'b', { spec: { publishNotReadyAddresses: false } })
      await s.pause(1500)
      await s.status('pods', 'x', { phase: 'Succeeded' })
      await s.pause(2000)
      await slices(s)
    },
  },
  'svc-host-aliases-and-subdomain-changes': {
    async act(s) {
      await s.create('services', svc('a', { clusterIP: 'None' }))
      await s.create('pods', app('x', { hostname: 'h', subdomain: 'a' }))
      await s.create('pods', app('y', { hostname: 'h', subdomain: 'other' }))
      await s.create('pods', app('w', { hostNetwork: true }))
      for (const [i, name] of ['x', 'y', 'w'].entries()) await status(s, name, `10.9.0.${i + 1}`, 'True')
      await s.pause(2000)
      await s.status('pods', 'x', { podIPs: [{ ip: '10.9.0.1' }, { ip: 'fd00::1' }] })
      await s.pause(2000)
      await s.status('pods', 'w', { phase: 'Failed', reason: 'Evicted' })
      await s.pause(2000)
      await slices(s)
    },
  },
  'pdb-pod-relabelled-away': {
    async act(s) {
      for (const name of ['x', 'y']) await s.create('pods', pod(name, {}, { labels: { app: 'a' } }))
      await s.untilPods(2, running)
      await s.create('poddisruptionbudgets', pdb('b', { minAvailable: 1, selector: { matchLabels: { app: 'a' } } }))
      await s.untilObj('poddisruptionbudgets', 'b', (b) => b.status?.currentHealthy === 2)
      const healthy = async () =>
        s.note(JSON.stringify((await s.get('poddisruptionbudgets', 'b')).status.currentHealthy))
      await s.pause(1500)
      await s.patch('pods', 'x', { metadata: { labels: { app: 'b' } } })
      await s.pause(20_000)
      await healthy()
      await s.patch('pods', 'y', { metadata: { labels: { more: 'z' } } })
      await s.pause(3000)
      await healthy()
      await s.del('pods', 'x')
      await s.pause(1500)
      await s.patch('pods', 'y', { metadata: { labels: { app: 'c' } } })
      await s.pause(1500)
      await healthy()
      await s.del('pods', 'y')
      await s.pause(3000)
      await healthy()
    },
  },
} satisfies Readonly<Record<string, Story>>
