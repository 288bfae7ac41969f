/** What the scheduler says and does. */

import {
  aff,
  anti,
  claim,
  on,
  pc,
  pdb,
  pod,
  pv,
  pvcPod,
  ready,
  res,
  rm,
  rs,
  running,
  spread,
  waitUnsched,
  wffc,
  zones,
} from '../objects.ts'
import type { Story } from '../story.ts'

export const schedulingStories = {
  'sch-insufficient': {
    exclusive: true,
    async act(s) {
      await s.create('pods', pod('cpu', res('100')))
      await s.create('pods', pod('both', res('100', '1000Gi')))
      await s.create(
        'pods',
        pod('ext', {
          containers: [{ name: 'c', image: 'i', resources: { requests: { 'x.y/z': '1' }, limits: { 'x.y/z': '1' } } }],
        }),
      )
      await s.create('pods', pod('sel', { nodeSelector: { none: 'such' } }))
      await s.create(
        'pods',
        pod('eph', {
          containers: [{ name: 'c', image: 'i', resources: { requests: { 'ephemeral-storage': '1Gi' } } }],
        }),
      )
      await s.pause(3000)
    },
  },
  'sch-anti-affinity': {
    nodes: zones,
    async act(s) {
      for (const n of ['a', 'b', 'c']) {
        await s.create('pods', pod(n, on(s, { affinity: anti('zone', { app: 'x' }) }), { labels: { app: 'x' } }))
        await s.pause(500)
      }
      await s.pause(2000)
      await s.del('pods', 'a')
      await s.untilObj('pods', 'c', running)
    },
  },
  'sch-existing-anti': {
    nodes: ['n1'],
    async act(s) {
      await s.create('pods', pod('a', on(s, { affinity: anti('kubernetes.io/hostname', { app: 'y' }) })))
      await s.untilObj('pods', 'a', running)
      await s.create('pods', pod('y', on(s), { labels: { app: 'y' } }))
      await waitUnsched(s, 'y')
      await s.pause(1000)
    },
  },
  'sch-affinity': {
    nodes: zones,
    async act(s) {
      await s.create('pods', pod('b', on(s, { affinity: aff('zone', { app: 'x' }) })))
      await waitUnsched(s, 'b')
      await s.create('pods', pod('x', on(s, { nodeSelector: { zone: 'a', scenario: s.ns } }), { labels: { app: 'x' } }))
      await s.untilObj('pods', 'b', running)
    },
  },
  'sch-spread': {
    nodes: zones,
    async act(s) {
      await s.create('pods', pod('a', on(s, { nodeSelector: { scenario: s.ns, zone: 'a' } }), { labels: { app: 'x' } }))
      await s.untilObj('pods', 'a', running)
      await s.create(
        'pods',
        pod(
          'c',
          on(s, {
            nodeSelector: { scenario: s.ns },
            affinity: {
              nodeAffinity: {
                requiredDuringSchedulingIgnoredDuringExecution: {
                  nodeSelectorTerms: [{ matchExpressions: [{ key: 'zone', operator: 'NotIn', values: ['b'] }] }],
                },
              },
            },
            ...spread('zone', { app: 'x' }, { nodeAffinityPolicy: 'Ignore' }),
          }),
          { labels: { app: 'x' } },
        ),
      )
      await waitUnsched(s, 'c')
      await s.create('pods', pod('d', on(s, spread('rack', { app: 'x' })), { labels: { app: 'x' } }))
      await waitUnsched(s, 'd')
      await s.pause(1000)
    },
  },
  'sch-spread-min-domains': {
    nodes: zones,
    async act(s) {
      for (const n of ['a', 'b', 'c']) {
        await s.create('pods', pod(n, on(s, spread('zone', { app: 'x' }, { minDomains: 3 })), { labels: { app: 'x' } }))
        await s.pause(1000)
      }
      await s.pause(1000)
    },
  },
  'sch-preempt-pdb': {
    nodes: ['n1', 'n2'],
    async act(s) {
      await pc(s, 'low', 10)
      await pc(s, 'hi', 1000)
      await s.create('poddisruptionbudgets', pdb('b', { minAvailable: 1, selector: { matchLabels: { app: 'kept' } } }))
      await s.create(
        'pods',
        pod('kept', on(s, { ...res('3'), priorityClassName: `${s.ns}-low`, nodeName: `${s.ns}-n1` }), {
          labels: { app: 'kept' },
        }),
      )
      await s.create(
        'pods',
        pod('other', on(s, { ...res('3'), priorityClassName: `${s.ns}-low`, nodeName: `${s.ns}-n2` })),
      )
      await s.untilPods(2, running)
      await s.untilObj('poddisruptionbudgets', 'b', (b) => b.status?.currentHealthy === 1)
      await s.create('pods', pod('hi', on(s, { ...res('2'), priorityClassName: `${s.ns}-hi` })))
      await s.untilObj('pods', 'hi', running)
      await s.pause(1000)
    },
    clean: rm(['priorityclasses', 'low'], ['priorityclasses', 'hi']),
  },
  'sch-preempt-never': {
    nodes: ['n1'],
    async act(s) {
      await pc(s, 'hi', 1000, { preemptionPolicy: 'Never' })
      await s.create('pods', pod('low', on(s, res('3'))))
      await s.untilObj('pods', 'low', running)
      await s.create('pods', pod('hi', on(s, { ...res('2'), priorityClassName: `${s.ns}-hi` })))
      await waitUnsched(s, 'hi')
      await s.pause(1500)
    },
    clean: rm(['priorityclasses', 'hi']),
  },
  'sch-preempt-several': {
    nodes: ['n1'],
    async act(s) {
      await pc(s, 'hi', 1000)
      for (const n of ['a', 'b', 'c']) await s.create('pods', pod(n, on(s, res('1'))))
      await s.untilPods(3, running)
      await s.create('pods', pod('hi', on(s, { ...res('3'), priorityClassName: `${s.ns}-hi` })))
      await s.untilObj('pods', 'hi', running)
      await s.pause(1000)
    },
    clean: rm(['priorityclasses', 'hi']),
  },
  'sch-gates': {
    async act(s) {
      await s.create('pods', pod('g', { schedulingGates: [{ name: 'a.b/c' }, { name: 'd.e/f' }] }))
      await s.pause(2000)
      await s.patch('pods', 'g', { spec: { schedulingGates: [{ name: 'd.e/f' }] } })
      await s.pause(1000)
      await s.patch('pods', 'g', { spec: { schedulingGates: null, nodeSelector: { 'kubernetes.io/os': 'linux' } } })
      await s.untilObj('pods', 'g', running)
    },
  },
  'sch-gated-deleted': {
    async act(s) {
      await s.create('pods', pod('g', { schedulingGates: [{ name: 'a.b/c' }] }))
      await s.pause(1500)
      await s.del('pods', 'g')
      await s.pause(1000)
    },
  },
  'sch-nodename-missing': {
    async act(s) {
      await s.create('pods', pod('g', { nodeName: 'none-such' }))
      await s.pause(3000)
    },
  },
  'sch-other-scheduler': {
    async act(s) {
      await s.create('pods', pod('g', { schedulerName: 'mine' }))
      await s.pause(2000)
    },
  },
  'sch-taints': {
    nodes: [
      { name: 'n1', spec: { taints: [{ key: 'a', value: 'b', effect: 'NoSchedule' }] } },
      { name: 'n2', spec: { taints: [{ key: 'c', effect: 'NoExecute' }] } },
    ],
    async act(s) {
      await s.create('pods', pod('p', on(s)))
      await waitUnsched(s, 'p')
      await s.create(
        'pods',
        pod('q', on(s, { tolerations: [{ key: 'a', operator: 'Equal', value: 'x', effect: 'NoSchedule' }] })),
      )
      await waitUnsched(s, 'q')
      await s.create('pods', pod('r', on(s, { tolerations: [{ key: 'c', operator: 'Exists' }] })))
      await s.untilObj('pods', 'r', running)
    },
  },
  'sch-cordoned': {
    nodes: ['n1'],
    async act(s) {
      await s.patch('nodes', `${s.ns}-n1`, { spec: { unschedulable: true } })
      await s.pause(700)
      await s.create('pods', pod('p', on(s)))
      await waitUnsched(s, 'p')
      await s.create(
        'pods',
        pod('t', on(s, { tolerations: [{ key: 'node.kubernetes.io/unschedulable', operator: 'Exists' }] })),
      )
      await s.untilObj('pods', 't', running)
      await s.patch('nodes', `${s.ns}-n1`, { spec: { unschedulable: null } })
      await s.untilObj('pods', 'p', running)
    },
  },
  'sch-hostport': {
    nodes: ['n1'],
    async act(s) {
      const c = (p: number) => ({
        containers: [{ name: 'c', image: 'i', ports: [{ containerPort: 80, hostPort: p }] }],
      })
      await s.create('pods', pod('a', on(s, c(8080))))
      await s.untilObj('pods', 'a', running)
      await s.create('pods', pod('b', on(s, c(8080))))
      await waitUnsched(s, 'b')
      await s.del('pods', 'a')
      await s.untilObj('pods', 'b', running)
    },
  },
  'sch-too-many-pods': {
    nodes: [
      {
        name: 'n1',
        status: {
          allocatable: { cpu: '4', memory: '8Gi', pods: '1' },
          capacity: { cpu: '4', memory: '8Gi', pods: '1' },
        },
      },
    ],
    async act(s) {
      await s.create('pods', pod('a', on(s)))
      await s.untilObj('pods', 'a', running)
      await s.create('pods', pod('b', on(s)))
      await waitUnsched(s, 'b')
      await s.pause(1000)
    },
  },
  'sch-claim-missing': {
    exclusive: true,
    async act(s) {
      await s.create('pods', pvcPod('p', 'none'))
      await waitUnsched(s, 'p')
      await s.create('persistentvolumeclaims', claim('none'))
      await s.pause(2500)
      await s.create('persistentvolumes', pv(s, 'v', { claimRef: { namespace: s.ns, name: 'none' } }))
      await s.untilObj('pods', 'p', running)
    },
    clean: rm(['persistentvolumes', 'v']),
  },
  'sch-wffc-local': {
    nodes: ['n1', 'n2'],
    async act(s) {
      await wffc(s)
      const na = (n: string) => ({
        nodeAffinity: {
          required: {
            nodeSelectorTerms: [
              { matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: [`${s.ns}-${n}`] }] },
            ],
          },
        },
      })
      await s.create('persistentvolumes', pv(s, 'v', { storageClassName: `${s.ns}-sc`, ...na('n2') }))
      await s.create('persistentvolumeclaims', claim('c', { storageClassName: `${s.ns}-sc` }))
      await s.pause(1500)
      await s.create('pods', pvcPod('p', 'c', on(s)))
      await s.untilObj('pods', 'p', running)
      await s.create('pods', pvcPod('q', 'c', on(s, { nodeSelector: { 'kubernetes.io/hostname': `${s.ns}-n1` } })))
      await waitUnsched(s, 'q')
      await s.pause(1000)
    },
    clean: rm(['persistentvolumes', 'v'], ['storageclasses', 'sc']),
  },
  'sch-rwop': {
    exclusive: true,
    async act(s) {
      await s.create('persistentvolumes', pv(s, 'v', { accessModes: ['ReadWriteOncePod'], storageClassName: s.ns }))
      await s.create(
        'persistentvolumeclaims',
        claim('c', { accessModes: ['ReadWriteOncePod'], storageClassName: s.ns }),
      )
      await s.create('pods', pvcPod('p', 'c'))
      await s.untilObj('pods', 'p', running)
      await s.create('pods', pvcPod('q', 'c'))
      await waitUnsched(s, 'q')
      await s.del('pods', 'p')
      await s.untilObj('pods', 'q', running)
    },
    clean: rm(['persistentvolumes', 'v']),
  },
  'sch-pod-overhead-init': {
    nodes: ['n1'],
    async act(s) {
      await s.create(
        'pods',
        pod('p', on(s, { initContainers: [{ name: 'i', image: 'i', resources: { requests: { cpu: '5' } } }] })),
      )
      await waitUnsched(s, 'p')
      await s.create(
        'pods',
        pod(
          'q',
          on(s, {
            initContainers: [{ name: 'i', image: 'i', restartPolicy: 'Always', resources: { requests: { cpu: '2' } } }],
            containers: [{ name: 'c', image: 'i', resources: { requests: { cpu: '3' } } }],
          }),
        ),
      )
      await waitUnsched(s, 'q')
      await s.pause(800)
    },
  },
  'sch-matchfields': {
    nodes: ['n1', 'n2'],
    async act(s) {
      const f = (n: readonly string[]) => ({
        affinity: {
          nodeAffinity: {
            requiredDuringSchedulingIgnoredDuringExecution: {
              nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: n }] }],
            },
          },
        },
      })
      await s.create('pods', pod('a', { ...f([`${s.ns}-n1`]), ...res('10') }))
      await waitUnsched(s, 'a')
      await s.create('pods', pod('b', f(['none-such'])))
      await waitUnsched(s, 'b')
      await s.create('pods', pod('c', { ...f([`${s.ns}-n1`]), nodeSelector: { none: 'such' } }))
      await waitUnsched(s, 'c')
      await s.create(
        'pods',
        pod('d', {
          affinity: {
            nodeAffinity: {
              requiredDuringSchedulingIgnoredDuringExecution: {
                nodeSelectorTerms: [
                  { matchFields: [{ key: 'metadata.name', operator: 'In', values: [`${s.ns}-n1`] }] },
                  { matchFields: [{ key: 'metadata.name', operator: 'In', values: [`${s.ns}-n2`] }] },
                ],
              },
            },
          },
          ...res('10'),
        }),
      )
      await waitUnsched(s, 'd')
      await s.create(
        'pods',
        pod('e', {
          affinity: {
            nodeAffinity: {
              requiredDuringSchedulingIgnoredDuringExecution: {
                nodeSelectorTerms: [
                  { matchFields: [{ key: 'metadata.name', operator: 'In', values: [`${s.ns}-n1`] }] },
                  { matchExpressions: [{ key: 'zz', operator: 'Exists' }] },
                ],
              },
            },
          },
          ...res('10'),
        }),
      )
      await waitUnsched(s, 'e')
      await s.create(
        'pods',
        pod('f', {
          affinity: {
            nodeAffinity: {
              requiredDuringSchedulingIgnoredDuringExecution: {
                nodeSelectorTerms: [
                  { matchFields: [{ key: 'metadata.name', operator: 'NotIn', values: [`${s.ns}-n1`] }] },
                ],
              },
            },
          },
          ...res('40'),
        }),
      )
      await waitUnsched(s, 'f')
      await s.create(
        'pods',
        pod('g', {
          affinity: {
            nodeAffinity: {
              requiredDuringSchedulingIgnoredDuringExecution: {
                nodeSelectorTerms: [
                  {
                    matchFields: [
                      { key: 'metadata.name', operator: 'In', values: [`${s.ns}-n1`] },
                      { key: 'metadata.name', operator: 'In', values: [`${s.ns}-n2`] },
                    ],
                  },
                ],
              },
            },
          },
        }),
      )
      await s.pause(1500)
    },
  },
  'sch-spread-soft-and-default': {
    nodes: zones,
    async act(s) {
      await s.create(
        'replicasets',
        rs('a', { replicas: 4 }, on(s, spread('zone', { app: 'a' }, { whenUnsatisfiable: 'ScheduleAnyway' }))),
      )
      await s.untilObj('replicasets', 'a', ready)
      await s.pause(1000)
    },
  },
  'sch-preferred-affinity': {
    nodes: zones,
    async act(s) {
      await s.create(
        'pods',
        pod(
          'a',
          on(s, {
            affinity: {
              nodeAffinity: {
                preferredDuringSchedulingIgnoredDuringExecution: [
                  { weight: 100, preference: { matchExpressions: [{ key: 'zone', operator: 'In', values: ['b'] }] } },
                ],
              },
            },
          }),
        ),
      )
      await s.untilObj('pods', 'a', running)
      await s.pause(800)
    },
  },
} satisfies Readonly<Record<string, Story>>
