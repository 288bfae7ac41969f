/** DaemonSets on nodes of their own. */

import { ds, dsReady, img, N3, on, pod, res, rm } from '../objects.ts'
import type { Seen, Story } from '../story.ts'

export const daemonsetsStories = {
  'ds-surge-percent': {
    nodes: N3,
    async act(s) {
      await s.create(
        'daemonsets',
        ds('a', { updateStrategy: { rollingUpdate: { maxSurge: '34%', maxUnavailable: 0 } } }, on(s)),
      )
      await s.untilObj('daemonsets', 'a', dsReady(3))
      await s.patch('daemonsets', 'a', img(2))
      await s.untilObj('daemonsets', 'a', dsReady(3))
    },
  },
  'ds-unavailable-50': {
    nodes: N3,
    async act(s) {
      await s.create(
        'daemonsets',
        ds('a', { minReadySeconds: 1, updateStrategy: { rollingUpdate: { maxUnavailable: '50%' } } }, on(s)),
      )
      await s.untilObj('daemonsets', 'a', dsReady(3))
      await s.patch('daemonsets', 'a', img(2))
      await s.untilObj('daemonsets', 'a', dsReady(3))
    },
  },
  'ds-labels-come-and-go': {
    nodes: N3,
    async act(s) {
      await s.create('daemonsets', ds('a', {}, on(s, { nodeSelector: { scenario: s.ns, role: 'x' } })))
      await s.pause(1500)
      await s.patch('nodes', `${s.ns}-n1`, { metadata: { labels: { role: 'x' } } })
      await s.untilObj('daemonsets', 'a', dsReady(1))
      await s.patch('nodes', `${s.ns}-n2`, { metadata: { labels: { role: 'x' } } })
      await s.untilObj('daemonsets', 'a', dsReady(2))
      await s.patch('nodes', `${s.ns}-n1`, { metadata: { labels: { role: null } } })
      await s.untilObj('daemonsets', 'a', dsReady(1))
    },
  },
  'ds-cordon-taint': {
    nodes: N3,
    async act(s) {
      await s.patch('nodes', `${s.ns}-n1`, { spec: { unschedulable: true } })
      await s.patch('nodes', `${s.ns}-n2`, { spec: { taints: [{ key: 'k', effect: 'NoSchedule' }] } })
      await s.pause(800)
      await s.create('daemonsets', ds('a', {}, on(s)))
      await s.untilObj('daemonsets', 'a', dsReady(2))
      await s.patch('nodes', `${s.ns}-n2`, { spec: { taints: null } })
      await s.untilObj('daemonsets', 'a', dsReady(3))
      await s.patch('nodes', `${s.ns}-n3`, { spec: { taints: [{ key: 'k', effect: 'NoExecute' }] } })
      await s.pause(3000)
    },
  },
  'ds-node-added-removed': {
    quietMs: 45000,
    restMs: 100000,
    nodes: ['n1'],
    async act(s) {
      await s.create('daemonsets', ds('a', {}, on(s)))
      await s.untilObj('daemonsets', 'a', dsReady(1))
      await s.addNodes(['n2'])
      await s.untilObj('daemonsets', 'a', dsReady(2))
      await s.del('nodes', `${s.ns}-n1`)
      await s.untilObj('daemonsets', 'a', dsReady(1))
      await s.pause(2000)
    },
  },
  'ds-no-room': {
    nodes: ['n1'],
    async act(s) {
      await s.create('pods', pod('big', on(s, res('3500m'))))
      await s.untilPods(1, (p) => p.status.phase === 'Running')
      await s.create('daemonsets', ds('a', {}, on(s, res('1'))))
      await s.pause(2500)
      await s.del('pods', 'big')
      await s.untilObj('daemonsets', 'a', dsReady(1))
    },
  },
  'ds-preempts': {
    nodes: ['n1'],
    async act(s) {
      await s.create('pods', pod('big', on(s, res('3500m'))))
      await s.untilPods(1, (p) => p.status.phase === 'Running')
      await s.create('priorityclasses', {
        apiVersion: 'scheduling.k8s.io/v1',
        kind: 'PriorityClass',
        metadata: { name: `${s.ns}-hi` },
        value: 1000,
      })
      await s.create('daemonsets', ds('a', {}, on(s, { ...res('1'), priorityClassName: `${s.ns}-hi` })))
      await s.untilObj('daemonsets', 'a', dsReady(1))
    },
    clean: rm(['priorityclasses', 'hi']),
  },
  'ds-ondelete-rollback': {
    nodes: ['n1', 'n2'],
    async act(s) {
      await s.create('daemonsets', ds('a', { updateStrategy: { type: 'OnDelete' }, revisionHistoryLimit: 1 }, on(s)))
      await s.untilObj('daemonsets', 'a', dsReady(2))
      await s.patch('daemonsets', 'a', img(2))
      await s.pause(1500)
      const p = (await s.list('pods')).find(({ spec }) => spec.nodeName === `${s.ns}-n1`) as Seen
      await s.del('pods', p.metadata.name)
      await s.pause(1500)
      await s.patch('daemonsets', 'a', img(1))
      await s.pause(2000)
    },
  },
  'ds-node-selector-mismatch-affinity': {
    nodes: ['n1', 'n2'],
    async act(s) {
      await s.create(
        'daemonsets',
        ds(
          'a',
          {},
          {
            affinity: {
              nodeAffinity: {
                requiredDuringSchedulingIgnoredDuringExecution: {
                  nodeSelectorTerms: [
                    { matchFields: [{ key: 'metadata.name', operator: 'In', values: [`${s.ns}-n1`] }] },
                  ],
                },
              },
            },
          },
        ),
      )
      await s.untilObj('daemonsets', 'a', dsReady(1))
    },
  },
  'ds-pod-failed': {
    nodes: ['n1'],
    async act(s) {
      await s.create('daemonsets', ds('a', {}, on(s)))
      await s.untilObj('daemonsets', 'a', dsReady(1))
      const [p] = await s.list('pods')
      await s.status('pods', p.metadata.name, { phase: 'Failed', reason: 'Evicted' })
      await s.pause(3000)
    },
  },
  'ds-surge-broken': {
    nodes: N3,
    async act(s) {
      await s.create(
        'daemonsets',
        ds('a', { updateStrategy: { rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } } }, on(s)),
      )
      await s.untilObj('daemonsets', 'a', dsReady(3))
      await s.patch('daemonsets', 'a', {
        spec: {
          template: { spec: { containers: [{ name: 'c', image: 'i:2', resources: { requests: { cpu: '100' } } }] } },
        },
      })
      await s.pause(3000)
      await s.patch('daemonsets', 'a', { spec: { template: { spec: { containers: [{ name: 'c', image: 'i:1' }] } } } })
      await s.pause(3000)
    },
  },
  'ds-noexecute': {
    nodes: ['n1', 'n2'],
    async act(s) {
      await s.create('daemonsets', ds('a', {}, on(s)))
      await s.untilObj('daemonsets', 'a', dsReady(2))
      await s.patch('nodes', `${s.ns}-n1`, { spec: { taints: [{ key: 'k', effect: 'NoExecute' }] } })
      await s.untilObj('daemonsets', 'a', dsReady(1))
      await s.patch('nodes', `${s.ns}-n1`, { spec: { taints: null } })
      await s.untilObj('daemonsets', 'a', dsReady(2))
      await s.pause(1500)
    },
  },
  'ds-orphaned': {
    nodes: ['n1'],
    async act(s) {
      await s.create('daemonsets', ds('a', {}, on(s)))
      await s.untilObj('daemonsets', 'a', dsReady(1))
      await s.del('daemonsets', 'a', { propagationPolicy: 'Orphan' })
      await s.gone('daemonsets', 'a')
      await s.pause(1000)
      await s.create('daemonsets', ds('a', {}, on(s)))
      await s.untilObj('daemonsets', 'a', dsReady(1))
      await s.pause(1500)
    },
  },
} satisfies Readonly<Record<string, Story>>
