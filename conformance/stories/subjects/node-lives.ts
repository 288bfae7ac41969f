/** Nodes that fall silent, are tainted, given up and taken away, and what becomes of their pods. */
import type { Fields } from '../../../src/api/object.ts'
import {
  beat,
  claim,
  dep,
  done,
  ds,
  dsReady,
  evict,
  going,
  job,
  on,
  ownNode,
  pdb,
  pod,
  rm,
  running,
} from '../objects.ts'
import type { Scene, Story } from '../story.ts'

const taint = (s: Scene, taints: readonly Fields[] | null, name = 'n1') =>
  s.patch('nodes', `${s.ns}-${name}`, { spec: { taints } })
const at = (s: Scene, name: string, spec: Fields = {}, metadata: Fields = {}) =>
  s.create('pods', pod(name, { nodeName: `${s.ns}-n1`, ...spec }, metadata))
const taints = async (s: Scene, name = 'n1') =>
  s.note(
    ((await s.get('nodes', `${s.ns}-${name}`)).spec.taints ?? [])
      .map(({ key, value, effect, timeAdded }: Fields) => `${key}=${value}:${effect} ${timeAdded !== undefined}`)
      .toSorted()
      .join(),
  )
const condition = (type: string, status: string, s: Scene) => ({
  type,
  status,
  reason: 'r',
  message: 'm',
  lastHeartbeatTime: s.now(),
  lastTransitionTime: s.now(),
})
const all = ['Ready', 'MemoryPressure', 'DiskPressure', 'PIDPressure', 'NetworkUnavailable']

export const nodeLivesStories = {
  'node-taint-effects-and-daemon': {
    nodes: ['n1'],
    async act(s) {
      await s.create('daemonsets', ds('a', {}, on(s)))
      await s.untilObj('daemonsets', 'a', dsReady(1))
      await at(s, 'p')
      await at(s, 'q', { tolerations: [{ operator: 'Exists' }] })
      await at(s, 'r', { tolerations: [{ key: 'k', operator: 'Equal', value: 'w', effect: 'NoExecute' }] })
      await s.untilPods(4, running)
      await taint(s, [{ key: 'k', value: 'v', effect: 'PreferNoSchedule' }])
      await s.pause(1500)
      await taint(s, [{ key: 'k', value: 'v', effect: 'NoSchedule' }])
      await s.pause(1500)
      await taint(s, [{ key: 'k', value: 'v', effect: 'NoExecute' }])
      await s.pause(4000)
      await taints(s)
    },
  },
  'node-toleration-of-zero-and-negative': {
    nodes: ['n1'],
    async act(s) {
      const tolerate = (tolerationSeconds: number) => ({
        tolerations: [{ key: 'k', operator: 'Exists', effect: 'NoExecute', tolerationSeconds }],
      })
      await at(s, 'zero', tolerate(0))
      await at(s, 'less', tolerate(-5))
      await at(s, 'three', tolerate(3))
      await s.untilPods(3, running)
      await taint(s, [{ key: 'k', effect: 'NoExecute' }])
      await s.pause(1500)
      s.note(String((await s.list('pods')).length))
      await s.pause(4000)
    },
  },
  'node-unreachable-with-conditions-lost': {
    exclusive: true,
    async act(s) {
      await s.create('nodes', ownNode(s, 'n1'))
      await beat(s, 'n1')
      await s.untilObj('nodes', `${s.ns}-n1`, ({ spec }) => (spec.taints ?? []).length === 0)
      await at(s, 'p', {
        tolerations: [
          { key: 'node.kubernetes.io/unreachable', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 3 },
        ],
      })
      await s.running({ metadata: { name: 'p' } })
      await s.until(
        'silent',
        async () => {
          const { spec } = await s.get('nodes', `${s.ns}-n1`)
          return (spec.taints ?? []).some(({ key }: Fields) => key === 'node.kubernetes.io/unreachable')
        },
        80_000,
      )
      await s.pause(6000)
      await taints(s)
      s.note(String((await s.list('pods')).filter(going).length))
      await beat(s, 'n1')
      await s.pause(8000)
      await taints(s)
    },
    clean: rm(['nodes', 'n1']),
    restMs: 20_000,
  },
  'node-pressures-of-all-kinds': {
    exclusive: true,
    async act(s) {
      await s.create('nodes', ownNode(s, 'n1'))
      await s.pause(1000)
      await taints(s)
      for (const bad of ['MemoryPressure', 'PIDPressure', 'NetworkUnavailable']) {
        await s.status('nodes', `${s.ns}-n1`, {
          conditions: all.map((type) => condition(type, type === bad || type === 'Ready' ? 'True' : 'False', s)),
        })
        await s.pause(6000)
        await taints(s)
      }
      await s.patch('nodes', `${s.ns}-n1`, { spec: { unschedulable: true } })
      await s.status('nodes', `${s.ns}-n1`, { conditions: all.map((type) => condition(type, 'False', s)) })
      await s.pause(6000)
      await taints(s)
      await s.status('nodes', `${s.ns}-n1`, {
        conditions: all.map((type) =>
          condition(type, type === 'DiskPressure' ? 'Unknown' : type === 'Ready' ? 'Unknown' : 'False', s),
        ),
      })
      await s.pause(6000)
      await taints(s)
    },
    clean: rm(['nodes', 'n1']),
  },
  'node-out-of-service-with-held-pods': {
    nodes: ['n1'],
    async act(s) {
      await at(s, 'held', {}, { finalizers: ['x.y/stay'] })
      await at(s, 'set', { terminationGracePeriodSeconds: 300 })
      await s.untilPods(2, running)
      await taint(s, [{ key: 'node.kubernetes.io/out-of-service', value: 'nodeshutdown', effect: 'NoExecute' }])
      await s.pause(3000)
      await taints(s)
    },
    restMs: 30_000,
  },
  'node-deleted-under-a-deployment': {
    nodes: ['n1', 'n2'],
    async act(s) {
      await s.create('poddisruptionbudgets', pdb('b', { minAvailable: 2, selector: { matchLabels: { app: 'a' } } }))
      await s.create('deployments', dep('a', { replicas: 2 }, on(s)))
      await s.untilObj('deployments', 'a', done)
      const [one] = await s.list('pods')
      await s.pause(1500)
      await evict(s, one.metadata.name)
      await s.del('nodes', one.spec.nodeName)
      await s.pause(35_000)
      await s.untilObj('deployments', 'a', done)
      await s.pause(2500)
    },
    restMs: 40_000,
  },
  'podgc-unscheduled-going-and-ended': {
    exclusive: true,
    async act(s) {
      await s.create('pods', pod('waits', { nodeSelector: { none: 'such' } }, { finalizers: ['x.y/stay'] }))
      await s.pause(1500)
      await s.del('pods', 'waits')
      await s.create('pods', pod('lost', { nodeName: `${s.ns}-none` }))
      await s.create('pods', pod('ended', { nodeName: `${s.ns}-none`, restartPolicy: 'Never' }))
      await s.ended({ metadata: { name: 'ended' } }, 0)
      await s.create('jobs', job('j', {}, { nodeName: `${s.ns}-none` }))
      await s.pause(70_000)
      s.note(
        (await s.list('pods'))
          .map(
            ({ metadata, status }) => `${metadata.name.replace(/-[a-z0-9]{5}$/, '')} ${status.phase} ${status.reason}`,
          )
          .join(),
      )
    },
    restMs: 25_000,
  },
  'node-renamed-labels-and-zones': {
    nodes: [
      { name: 'n1', labels: { 'failure-domain.beta.kubernetes.io/zone': 'old', 'beta.kubernetes.io/os': 'linux' } },
    ],
    async act(s) {
      await s.pause(1500)
      await s.patch('nodes', `${s.ns}-n1`, {
        metadata: { labels: { 'topology.kubernetes.io/zone': 'new', 'kubernetes.io/arch': 'arm64' } },
      })
      await s.pause(1500)
      await s.patch('nodes', `${s.ns}-n1`, {
        metadata: { labels: { 'beta.kubernetes.io/os': null, 'kubernetes.io/os': 'windows' } },
      })
      await s.pause(2500)
      s.note(JSON.stringify((await s.get('nodes', `${s.ns}-n1`)).metadata.labels).replaceAll(s.ns, ''))
      await s.create('persistentvolumeclaims', claim('c'))
    },
  },
} satisfies Readonly<Record<string, Story>>
