/** Nodes and the sets that stand on them: DaemonSets, StatefulSets and taints that change while pods are placed, evicted and replaced. */
import type { Fields } from '../../../src/api/object.ts'
import {
  beat,
  cond,
  dep,
  done,
  ds,
  dsReady,
  evict,
  fresh,
  going,
  img,
  kjob,
  on,
  ownNode,
  pdb,
  pod,
  rm,
  running,
  sts,
  taintKey,
} from '../objects.ts'
import type { Scene, Story } from '../story.ts'

const node = (s: Scene, name = 'n1') => `${s.ns}-${name}`
const taint = (s: Scene, taints: readonly Fields[] | null, name = 'n1') =>
  s.patch('nodes', node(s, name), { spec: { taints } })
const places = async (s: Scene, ms = 1500) => {
  await s.pause(ms)
  s.note(
    (await s.list('pods'))
      .map(
        (one) =>
          `${one.metadata.name.replace(/-[a-z0-9]{5}$/, '')} ${one.spec.nodeName?.replace(s.ns, '') ?? 'none'} ${one.status.phase}${going(one) ? ' going' : ''} ${one.spec.containers[0].image}`,
      )
      .toSorted()
      .join(),
  )
}
const counts = async (s: Scene, resource = 'daemonsets') => {
  const { conditions: _, currentRevision: __, updateRevision: ___, ...rest } = (await s.get(resource, 'a')).status
  s.note(JSON.stringify(rest))
}
const TOLERATES = { tolerations: [{ operator: 'Exists' }] }
const rolling = (spec: Fields) => ({ updateStrategy: { type: 'RollingUpdate', rollingUpdate: spec } })

export const nodeTurnsStories = {
  'ds-node-cordoned-and-labelled-away': {
    nodes: [
      { name: 'n1', labels: { role: 'x' } },
      { name: 'n2', labels: { role: 'x' } },
    ],
    async act(s) {
      await s.create('daemonsets', ds('a', {}, on(s, { nodeSelector: { scenario: s.ns, role: 'x' } })))
      await s.untilObj('daemonsets', 'a', dsReady(2))
      await s.patch('nodes', node(s), { spec: { unschedulable: true } })
      await places(s)
      await s.patch('nodes', node(s, 'n2'), { metadata: { labels: { role: null } } })
      await places(s, 2500)
      await s.patch('nodes', node(s, 'n2'), { metadata: { labels: { role: 'x' } } })
      await s.untilObj('daemonsets', 'a', dsReady(2))
      await counts(s)
    },
  },
  'ds-deleted-and-node-gone-at-once': {
    nodes: ['n1', 'n2'],
    async act(s) {
      await s.create('daemonsets', ds('a', {}, on(s)))
      await s.untilObj('daemonsets', 'a', dsReady(2))
      await s.del('nodes', node(s))
      await s.pause(3000)
      await s.patch('daemonsets', 'a', img(2))
      await s.pause(2000)
      await s.untilObj('daemonsets', 'a', dsReady(1))
      await places(s)
      await s.del('daemonsets', 'a', { propagationPolicy: 'Foreground' })
      await s.gone('daemonsets', 'a')
    },
  },
  'ds-template-changed-twice-midway': {
    nodes: ['n1', 'n2'],
    async act(s) {
      await s.create('daemonsets', ds('a', {}, on(s)))
      await s.untilObj('daemonsets', 'a', dsReady(2))
      await s.patch('daemonsets', 'a', {
        spec: { template: { spec: { readinessGates: [{ conditionType: 'x.y/never' }] } } },
      })
      await s.pause(2000)
      await s.patch('daemonsets', 'a', img(3))
      await s.pause(1000)
      await s.patch('daemonsets', 'a', {
        spec: { template: { spec: { readinessGates: null, containers: [{ name: 'c', image: 'i:1' }] } } },
      })
      await s.untilObj('daemonsets', 'a', dsReady(2))
      await s.pause(2000)
      s.note(`revisions ${(await s.list('controllerrevisions')).map((one) => (one as Fields)['revision']).toSorted()}`)
      await counts(s)
    },
  },
  'ds-surge-and-pod-deleted-by-hand': {
    nodes: ['n1'],
    async act(s) {
      await s.create(
        'daemonsets',
        ds('a', rolling({ maxSurge: 1, maxUnavailable: 0 }), on(s, { terminationGracePeriodSeconds: 5 })),
      )
      await s.untilObj('daemonsets', 'a', dsReady(1))
      const [old] = await s.list('pods')
      await s.patch('pods', old.metadata.name, { metadata: { finalizers: ['x.y/z'] } })
      await s.patch('daemonsets', 'a', img(2))
      await s.untilPods(2)
      await places(s, 2500)
      await s.patch('pods', old.metadata.name, { metadata: { finalizers: null } })
      await places(s, 2500)
      const [now] = await s.list('pods')
      await s.del('pods', now.metadata.name)
      await places(s, 2500)
      await counts(s)
    },
  },
  'ds-ondelete-with-partial-nodes': {
    nodes: ['n1', 'n2', 'n3'],
    async act(s) {
      await s.create('daemonsets', ds('a', { updateStrategy: { type: 'OnDelete' } }, on(s)))
      await s.untilObj('daemonsets', 'a', dsReady(3))
      await s.patch('daemonsets', 'a', img(2))
      await s.pause(1500)
      const first = (await s.list('pods')).find(({ spec }) => spec.nodeName === node(s))
      await s.del('pods', first?.metadata.name ?? '')
      await s.untilPods(3, running)
      await places(s)
      await counts(s)
      await s.patch('daemonsets', 'a', { spec: rolling({ maxUnavailable: 3 }) })
      await s.untilObj('daemonsets', 'a', dsReady(3))
      await places(s)
    },
  },
  'ds-tolerations-added-for-a-tainted-node': {
    nodes: ['n1', 'n2'],
    async act(s) {
      await taint(s, [taintKey(s)])
      await s.create('daemonsets', ds('a', {}, on(s)))
      await s.untilObj('daemonsets', 'a', dsReady(1))
      await counts(s)
      await s.patch('daemonsets', 'a', {
        spec: { template: { spec: { tolerations: [{ key: 'only', operator: 'Exists' }] } } },
      })
      await s.untilObj('daemonsets', 'a', dsReady(2))
      await taint(s, [{ ...taintKey(s), effect: 'NoExecute' }])
      await places(s, 2500)
      await s.patch('daemonsets', 'a', { spec: { template: { spec: { tolerations: null } } } })
      await s.pause(3500)
      await places(s)
      await counts(s)
    },
  },
  'ds-pod-evicted-under-a-budget': {
    nodes: ['n1', 'n2'],
    async act(s) {
      await s.create('poddisruptionbudgets', pdb('b', { minAvailable: 1, selector: { matchLabels: { app: 'a' } } }))
      await s.create('daemonsets', ds('a', {}, on(s)))
      await s.untilObj('daemonsets', 'a', dsReady(2))
      await s.pause(2000)
      const [first] = await s.list('pods')
      await s.patch('pods', first.metadata.name, { metadata: { finalizers: ['x.y/z'] } })
      await evict(s, first.metadata.name)
      await s.pause(2000)
      await s.patch('pods', first.metadata.name, { metadata: { finalizers: null } })
      await s.pause(3000)
      await counts(s)
      const { currentHealthy, desiredHealthy, expectedPods } = (await s.get('poddisruptionbudgets', 'b')).status
      s.note(`${currentHealthy} of ${desiredHealthy}, ${expectedPods} expected`)
    },
  },
  'sts-on-a-node-that-goes': {
    nodes: ['n1', 'n2'],
    async act(s) {
      await s.create('statefulsets', sts('a', { replicas: 2 }, { nodeSelector: { 'kubernetes.io/hostname': node(s) } }))
      await s.untilObj('statefulsets', 'a', done)
      await s.del('nodes', node(s))
      await s.until('gone', async () => (await s.list('pods')).every((one) => one.spec.nodeName === undefined), 60_000)
      await places(s, 2500)
      await counts(s, 'statefulsets')
      await s.patch('statefulsets', 'a', {
        spec: { template: { spec: { nodeSelector: { 'kubernetes.io/hostname': node(s, 'n2') } } } },
      })
      await s.pause(4000)
      await places(s)
      await s.del('pods', 'a-0')
      await s.untilObj('statefulsets', 'a', done)
      await places(s)
    },
    restMs: 60_000,
  },
  'taint-seconds-changed-while-they-run': {
    nodes: ['n1'],
    async act(s) {
      const toleration = (tolerationSeconds: number) => ({
        tolerations: [{ key: 'k', operator: 'Exists', effect: 'NoExecute', tolerationSeconds }],
      })
      const at = (name: string, spec: Fields) => s.create('pods', pod(name, { nodeName: node(s), ...spec }))
      await at('short', toleration(3))
      await at('long', toleration(100))
      await at('always', TOLERATES)
      await s.untilPods(3, running)
      await taint(s, [{ key: 'k', effect: 'NoExecute' }])
      await s.pause(1500)
      await taint(s, [
        { key: 'k', effect: 'NoExecute' },
        { key: 'l', effect: 'NoSchedule' },
      ])
      await s.pause(4000)
      await places(s)
      await taint(s, [
        { key: 'k', effect: 'NoExecute' },
        { key: 'm', effect: 'NoExecute' },
      ])
      await places(s, 2500)
      await taint(s, null)
      await places(s)
    },
  },
  'taint-evicts-pods-of-every-owner': {
    nodes: ['n1'],
    async act(s) {
      await s.create('deployments', dep('a', { replicas: 1 }, on(s)))
      await s.create('statefulsets', sts('b', { replicas: 1 }, on(s)))
      await s.create('daemonsets', ds('c', {}, on(s)))
      await s.create('jobs', kjob('j', {}, { nodeName: 'idle' }))
      await s.create('pods', pod('p', { nodeName: node(s) }))
      await s.untilPods(4, running)
      await s.pause(2000)
      await taint(s, [{ key: 'k', effect: 'NoExecute' }])
      await places(s, 5000)
      await taint(s, null)
      await places(s, 5000)
    },
  },
  'node-tainted-by-its-own-conditions-and-back': {
    async act(s) {
      await s.create('nodes', ownNode(s, 'n1'))
      await beat(s, 'n1')
      await s.untilObj('nodes', node(s), ({ spec }) => (spec.taints ?? []).length === 0)
      await s.create('pods', pod('p', { nodeName: node(s) }))
      await s.running({ metadata: { name: 'p' } })
      const condition = (type: string, status: string) => ({
        type,
        status,
        reason: 'r',
        message: 'm',
        lastHeartbeatTime: s.now(),
        lastTransitionTime: s.now(),
      })
      const conditions = (ready: string, disk: string) =>
        s.status('nodes', node(s), {
          conditions: [
            condition('Ready', ready),
            condition('DiskPressure', disk),
            condition('MemoryPressure', 'Unknown'),
            condition('PIDPressure', 'False'),
          ],
        })
      const taints = async () =>
        s.note(
          ((await s.get('nodes', node(s))).spec.taints ?? [])
            .map(({ key, effect }: Fields) => `${key}:${effect}`)
            .toSorted()
            .join(),
        )
      await conditions('False', 'True')
      await s.pause(7000)
      await taints()
      await conditions('True', 'True')
      await s.pause(7000)
      await taints()
      await conditions('True', 'False')
      await s.pause(7000)
      await taints()
      s.note(`pod ready ${cond('Ready')(await s.get('pods', 'p'))}`)
    },
    clean: rm(['nodes', 'n1']),
    exclusive: true,
  },
  'node-made-again-with-pods-of-the-old': {
    nodes: ['n1'],
    async act(s) {
      await s.create('pods', pod('p', { nodeName: node(s) }))
      await s.create('daemonsets', ds('a', {}, on(s)))
      await s.untilPods(2, running)
      await s.del('nodes', node(s))
      await s.addNodes(['n1']).catch(() => {})
      await places(s, 5000)
      await s.del('nodes', node(s))
      await places(s, 30_000)
    },
    restMs: 60_000,
  },
  'sts-parallel-partition-and-pods-gone': {
    async act(s) {
      await s.create('statefulsets', sts('a', { replicas: 4, podManagementPolicy: 'Parallel', ordinals: { start: 3 } }))
      await s.untilObj('statefulsets', 'a', done)
      await s.patch('statefulsets', 'a', {
        spec: { updateStrategy: { rollingUpdate: { partition: 5 } }, ...img(2).spec },
      })
      await s.untilObj('statefulsets', 'a', ({ status }) => status.updatedReplicas === 2 && status.readyReplicas === 4)
      await s.del('pods', 'a-3')
      await s.del('pods', 'a-6')
      await s.pause(3000)
      await places(s)
      await s.patch('statefulsets', 'a', { spec: { ordinals: { start: 0 } } })
      await s.pause(4000)
      await places(s)
      await s.patch('statefulsets', 'a', { spec: { updateStrategy: { rollingUpdate: { partition: 0 } } } })
      await s.untilObj('statefulsets', 'a', done)
      await places(s)
      await counts(s, 'statefulsets')
    },
  },
  'sts-rolled-while-held-and-scaled-to-zero': {
    async act(s) {
      await s.create('statefulsets', sts('a', { replicas: 2 }, { nodeName: 'idle' }))
      await s.running((await s.untilPods(1, fresh))[0])
      await s.running((await s.untilPods(1, fresh))[0])
      await s.untilObj('statefulsets', 'a', done)
      await s.patch('statefulsets', 'a', img(2))
      await s.until('going', async () => going(await s.get('pods', 'a-1')))
      await s.patch('statefulsets', 'a', { spec: { replicas: 0 } })
      await places(s, 2500)
      await s.del('pods', 'a-1', { gracePeriodSeconds: 0 })
      await places(s, 2500)
      await s.del('pods', 'a-0', { gracePeriodSeconds: 0 })
      await s.pause(2000)
      await s.patch('statefulsets', 'a', { spec: { replicas: 1 } })
      await places(s, 2500)
      await counts(s, 'statefulsets')
    },
  },
  'sts-min-ready-and-unready-midway': {
    async act(s) {
      await s.create('statefulsets', sts('a', { replicas: 3, minReadySeconds: 3 }))
      await s.untilObj('statefulsets', 'a', ({ status }) => status.availableReplicas === 3, 60_000)
      await s.status('pods', 'a-1', { conditions: [{ type: 'Ready', status: 'False' }] })
      await s.pause(1500)
      await s.patch('statefulsets', 'a', img(2))
      await places(s, 4000)
      await s.del('pods', 'a-1')
      await s.untilObj(
        'statefulsets',
        'a',
        ({ status }) => status.availableReplicas === 3 && status.updatedReplicas === 3,
        60_000,
      )
      await places(s)
    },
  },
  'sts-revision-history-of-two-and-undo': {
    async act(s) {
      await s.create('statefulsets', sts('a', { replicas: 1, revisionHistoryLimit: 1 }))
      await s.untilObj('statefulsets', 'a', done)
      for (const tag of [2, 3, 4, 2]) {
        await s.patch('statefulsets', 'a', img(tag))
        await s.untilObj('statefulsets', 'a', done)
        await s.pause(2000)
      }
      s.note(`revisions ${(await s.list('controllerrevisions')).map((one) => (one as Fields)['revision']).toSorted()}`)
      await s.patch('statefulsets', 'a', { spec: { revisionHistoryLimit: 0 } })
      await s.pause(2000)
      s.note(`revisions ${(await s.list('controllerrevisions')).map((one) => (one as Fields)['revision']).toSorted()}`)
    },
  },
} satisfies Readonly<Record<string, Story>>
