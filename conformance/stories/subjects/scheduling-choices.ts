/** Where pods are put: odd operators, spread with its policies, ports, classes, gates, profiles, what is preempted and for what. */
import type { Fields } from '../../../src/api/object.ts'
import {
  aff,
  anti,
  dep,
  done,
  labelled,
  on,
  pc,
  pdb,
  pod,
  res,
  rm,
  running,
  spread,
  tried,
  waitUnsched,
  zones,
} from '../objects.ts'
import type { Scene, Seen, Story } from '../story.ts'

const settled = (s: Scene, ms = 1500) => s.pause(ms)
const node = (s: Scene, name = 'n1') => `${s.ns}-${name}`
const expressions = (...matchExpressions: readonly Fields[]) => ({
  affinity: {
    nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchExpressions }] } },
  },
})
const places = async (s: Scene) =>
  s.note(
    (await s.list('pods'))
      .map(
        ({ metadata, spec }) =>
          `${metadata.name.replace(/-[a-z0-9]{5}$/, '')} ${spec.nodeName?.replace(s.ns, '') ?? 'none'}`,
      )
      .toSorted()
      .join(),
  )

export const schedulingChoicesStories = {
  'sch-operators-of-node-affinity': {
    nodes: [
      { name: 'n1', labels: { size: '8', disk: 'ssd' } },
      { name: 'n2', labels: { size: '16' } },
      { name: 'n3', labels: { size: 'huge', disk: '' } },
    ],
    async act(s) {
      const own = { key: 'scenario', operator: 'In', values: [s.ns] }
      const ask = (name: string, ...more: readonly Fields[]) => s.create('pods', pod(name, expressions(own, ...more)))
      await ask('gt', { key: 'size', operator: 'Gt', values: ['8'] })
      await ask('lt', { key: 'size', operator: 'Lt', values: ['9'] })
      await ask('gt-none', { key: 'size', operator: 'Gt', values: ['16'] })
      await ask('absent', { key: 'disk', operator: 'DoesNotExist' })
      await ask('empty', { key: 'disk', operator: 'In', values: [''] })
      await ask('notin', { key: 'disk', operator: 'NotIn', values: ['ssd', ''] })
      await ask('exists-notin', { key: 'disk', operator: 'Exists' }, { key: 'disk', operator: 'NotIn', values: [''] })
      await tried(s, 'two values', ask('bad', { key: 'size', operator: 'Gt', values: ['1', '2'] }))
      await tried(s, 'no number', ask('bad', { key: 'size', operator: 'Lt', values: ['x'] }))
      await settled(s, 3000)
      await places(s)
    },
  },
  'sch-affinity-terms-empty': {
    nodes: ['n1'],
    async act(s) {
      const terms = (...nodeSelectorTerms: readonly Fields[]) => ({
        affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } },
      })
      await tried(s, 'no terms', s.create('pods', pod('none', terms())))
      await tried(s, 'empty term', s.create('pods', pod('empty', terms({}))))
      await s.create(
        'pods',
        pod('or', terms({}, { matchExpressions: [{ key: 'scenario', operator: 'In', values: [s.ns] }] })),
      )
      const named = (...values: readonly string[]) =>
        terms({ matchFields: [{ key: 'metadata.name', operator: 'In', values }] })
      await tried(s, 'two names', s.create('pods', pod('two', named(node(s), 'kwok-1'))))
      await s.create('pods', pod('field', named(node(s))))
      await s.create('pods', pod('no-field', named(`${s.ns}-none`)))
      await settled(s, 2500)
      await places(s)
    },
  },
  'sch-spread-min-domains-met-later': {
    nodes: zones,
    async act(s) {
      const spec = on(s, spread('zone', { app: 'a' }, { minDomains: 3 }))
      for (const n of [1, 2, 3]) await s.create('pods', labelled(`p${n}`, spec))
      await settled(s, 3000)
      await places(s)
      await s.patch('nodes', node(s, 'n2'), { metadata: { labels: { zone: 'c' } } })
      await settled(s, 2500)
      await places(s)
    },
  },
  'sch-spread-counts-by-node-policies': {
    nodes: [
      { name: 'n1', labels: { zone: 'a', good: 'yes' } },
      { name: 'n2', labels: { zone: 'b', good: 'yes' } },
      { name: 'n3', labels: { zone: 'c' } },
    ],
    async act(s) {
      const own = (more: Fields) => ({
        nodeSelector: { scenario: s.ns, good: 'yes' },
        ...spread('zone', { app: 'a' }, more),
      })
      for (const n of [1, 2, 3]) await s.create('pods', labelled(`i${n}`, own({ nodeAffinityPolicy: 'Ignore' })))
      await settled(s, 2500)
      await places(s)
      for (const n of [1, 2]) await s.create('pods', labelled(`h${n}`, own({ nodeAffinityPolicy: 'Honor' })))
      await settled(s, 2500)
      await places(s)
    },
  },
  'sch-spread-by-template-hash': {
    nodes: ['n1', 'n2'],
    async act(s) {
      await s.create(
        'deployments',
        dep(
          'a',
          { replicas: 4, strategy: { rollingUpdate: { maxSurge: 4, maxUnavailable: 0 } } },
          on(s, spread('kubernetes.io/hostname', { app: 'a' }, { matchLabelKeys: ['pod-template-hash'] })),
        ),
      )
      await s.untilObj('deployments', 'a', done)
      await s.patch('deployments', 'a', { spec: { template: { metadata: { annotations: { n: '2' } } } } })
      await s.untilObj('deployments', 'a', done)
      await s.untilPods(4)
      await settled(s)
      await places(s)
    },
  },
  'sch-two-constraints-at-odds': {
    nodes: [
      { name: 'n1', labels: { zone: 'a' } },
      { name: 'n2', labels: { zone: 'a' } },
      { name: 'n3', labels: { zone: 'b' } },
    ],
    async act(s) {
      const constraint = (topologyKey: string, maxSkew: number) => ({
        maxSkew,
        topologyKey,
        whenUnsatisfiable: 'DoNotSchedule',
        labelSelector: { matchLabels: { app: 'a' } },
      })
      const spec = on(s, {
        topologySpreadConstraints: [constraint('zone', 1), constraint('kubernetes.io/hostname', 1)],
      })
      for (const n of [1, 2, 3, 4, 5]) {
        await s.create('pods', labelled(`p${n}`, spec))
        await settled(s, 700)
      }
      await settled(s)
      s.note(String((await s.list('pods')).filter(running).length))
      await s.create('pods', labelled('nokey', on(s, spread('no-such-key', { app: 'a' }))))
      await waitUnsched(s, 'nokey')
      await settled(s)
    },
  },
  'sch-affinity-to-itself-and-to-none': {
    nodes: zones,
    async act(s) {
      await s.create('pods', labelled('first', on(s, { affinity: aff('zone', { app: 'a' }) })))
      await s.create('pods', labelled('lonely', on(s, { affinity: aff('zone', { app: 'zz' }) })))
      await s.untilObj('pods', 'first', running)
      await waitUnsched(s, 'lonely')
      await s.create(
        'pods',
        labelled(
          'second',
          on(s, { affinity: { ...aff('zone', { app: 'a' }), ...anti('kubernetes.io/hostname', { app: 'a' }) } }),
        ),
      )
      await waitUnsched(s, 'second')
      await settled(s)
      await s.create('pods', labelled('friend', on(s), { app: 'zz' }))
      await s.untilObj('pods', 'lonely', running)
      await settled(s)
    },
  },
  'sch-affinity-mismatch-label-keys': {
    nodes: zones,
    async act(s) {
      const keys = (more: Fields) => ({
        affinity: {
          podAntiAffinity: {
            requiredDuringSchedulingIgnoredDuringExecution: [
              {
                topologyKey: 'zone',
                labelSelector: { matchExpressions: [{ key: 'tenant', operator: 'Exists' }] },
                ...more,
              },
            ],
          },
        },
      })
      for (const [name, tenant] of [
        ['a1', 'a'],
        ['b1', 'b'],
        ['a2', 'a'],
        ['c1', 'c'],
      ] as const) {
        await s.create('pods', labelled(name, on(s, keys({ mismatchLabelKeys: ['tenant'] })), { tenant }))
        await settled(s, 1000)
      }
      await s.pause(1500)
      s.note(JSON.stringify((await s.get('pods', 'a1')).spec.affinity))
      s.note(String((await s.list('pods')).filter(running).length))
    },
  },
  'sch-host-ports-of-addresses': {
    nodes: ['n1'],
    async act(s) {
      const port = (name: string, more: Fields) =>
        s.create(
          'pods',
          pod(
            name,
            on(s, { containers: [{ name: 'c', image: 'i', ports: [{ containerPort: 80, hostPort: 8080, ...more }] }] }),
          ),
        )
      await port('one', { hostIP: '10.0.0.1' })
      await port('two', { hostIP: '10.0.0.2' })
      await port('udp', { protocol: 'UDP' })
      await s.untilPods(3, running)
      await port('all', {})
      await port('same', { hostIP: '10.0.0.1' })
      await waitUnsched(s, 'all')
      await waitUnsched(s, 'same')
      await settled(s)
      await s.del('pods', 'one')
      await s.untilObj('pods', 'same', running)
      await settled(s, 7000)
    },
  },
  'sch-preempts-by-ports-and-affinity': {
    nodes: ['n1'],
    async act(s) {
      await pc(s, 'low', 1)
      await pc(s, 'high', 100)
      const port = { containers: [{ name: 'c', image: 'i', ports: [{ containerPort: 80, hostPort: 8081 }] }] }
      await s.create('pods', pod('low', on(s, { priorityClassName: `${s.ns}-low`, ...port })))
      await s.untilObj('pods', 'low', running)
      await s.create('pods', pod('high', on(s, { priorityClassName: `${s.ns}-high`, ...port })))
      await s.untilObj('pods', 'high', running)
      await settled(s)
    },
    clean: rm(['priorityclasses', 'low'], ['priorityclasses', 'high']),
  },
  'sch-preempts-the-fewest-and-lowest': {
    nodes: ['n1', 'n2', 'n3'],
    async act(s) {
      for (const [name, value] of [
        ['one', 1],
        ['two', 2],
        ['nine', 9],
      ] as const)
        await pc(s, name, value)
      const at = (name: string, where: string, of: string, cpu: string) =>
        s.create(
          'pods',
          pod(name, {
            nodeSelector: { 'kubernetes.io/hostname': node(s, where) },
            priorityClassName: `${s.ns}-${of}`,
            ...res(cpu),
          }),
        )
      await at('a1', 'n1', 'one', '2')
      await at('a2', 'n1', 'one', '2')
      await at('b1', 'n2', 'two', '4')
      await at('c1', 'n3', 'one', '1')
      await at('c2', 'n3', 'two', '3')
      await s.untilPods(5, running)
      await s.create('pods', pod('big', on(s, { priorityClassName: `${s.ns}-nine`, ...res('4') })))
      await s.untilObj('pods', 'big', running)
      await settled(s)
      await places(s)
    },
    clean: rm(['priorityclasses', 'one'], ['priorityclasses', 'two'], ['priorityclasses', 'nine']),
  },
  'sch-preempts-past-a-budget-last': {
    nodes: ['n1', 'n2'],
    async act(s) {
      await pc(s, 'nine', 9)
      await s.create('poddisruptionbudgets', pdb('b', { minAvailable: 1, selector: { matchLabels: { app: 'held' } } }))
      const at = (name: string, where: string, app: string) =>
        s.create(
          'pods',
          labelled(name, { nodeSelector: { 'kubernetes.io/hostname': node(s, where) }, ...res('4') }, { app }),
        )
      await at('held', 'n1', 'held')
      await at('free', 'n2', 'free')
      await s.untilPods(2, running)
      await settled(s)
      await s.create('pods', pod('one', on(s, { priorityClassName: `${s.ns}-nine`, ...res('3') })))
      await s.untilObj('pods', 'one', running)
      await s.create('pods', pod('two', on(s, { priorityClassName: `${s.ns}-nine`, ...res('3') })))
      await s.untilObj('pods', 'two', running)
      await settled(s)
      await places(s)
    },
    clean: rm(['priorityclasses', 'nine']),
  },
  'sch-gates-taken-in-turn-and-added': {
    async act(s) {
      await s.create('pods', pod('p', { schedulingGates: [{ name: 'a.b/one' }, { name: 'a.b/two' }] }))
      await settled(s)
      await tried(
        s,
        'added',
        s.patch('pods', 'p', { spec: { schedulingGates: [{ name: 'a.b/one' }, { name: 'a.b/three' }] } }),
      )
      await tried(s, 'image', s.patch('pods', 'p', { spec: { containers: [{ name: 'c', image: 'i:9' }] } }))
      await tried(s, 'selector', s.patch('pods', 'p', { spec: { nodeSelector: { 'kubernetes.io/os': 'linux' } } }))
      await tried(
        s,
        'other selector',
        s.patch('pods', 'p', { spec: { nodeSelector: { 'kubernetes.io/os': 'plan9' } } }),
      )
      await s
        .raw('POST', `/api/v1/namespaces/${s.ns}/pods/p/binding`, {
          apiVersion: 'v1',
          kind: 'Binding',
          metadata: { name: 'p' },
          target: { apiVersion: 'v1', kind: 'Node', name: 'idle' },
        })
        .then(({ status, body }) => s.note(`${status} ${status === 201 ? '' : body}`))
      await s.patch('pods', 'p', { spec: { schedulingGates: [{ name: 'a.b/two' }] } })
      await settled(s)
      await s.patch('pods', 'p', { spec: { schedulingGates: null } })
      await s.untilObj('pods', 'p', running)
      await settled(s)
    },
  },
  'sch-bound-by-the-user': {
    nodes: ['n1'],
    async act(s) {
      await s.create('pods', pod('p', on(s, { schedulerName: 'other', ...res('9') })))
      const bind = (name: string, to: string, metadata: Fields = {}) =>
        s
          .raw('POST', `/api/v1/namespaces/${s.ns}/pods/${name}/binding`, {
            apiVersion: 'v1',
            kind: 'Binding',
            metadata: { name, ...metadata },
            target: { apiVersion: 'v1', kind: 'Node', name: to },
          })
          .then(({ status, body }) => s.note(`${status} ${status === 201 ? '' : body}`))
      await bind('p', node(s), { annotations: { told: 'yes' }, labels: { also: 'this' } })
      await s.untilObj('pods', 'p', running)
      await bind('p', node(s))
      await bind('absent', node(s))
      await s.create('pods', pod('q', on(s, res('1'))))
      await waitUnsched(s, 'q')
      await settled(s)
    },
  },
  'sch-unscheduled-by-many-reasons': {
    nodes: [
      { name: 'n1', spec: { taints: [{ key: 'k', effect: 'NoSchedule' }] } },
      { name: 'n2', spec: { unschedulable: true } },
      { name: 'n3', labels: { zone: 'a' } },
    ],
    async act(s) {
      await s.create('pods', pod('p', on(s, { ...res('5', '9Gi'), priority: undefined })))
      await s.create('pods', pod('q', on(s, { nodeSelector: { scenario: s.ns, zone: 'b' } })))
      await s.create('pods', pod('r', on(s, { tolerations: [{ key: 'k', operator: 'Exists' }], ...res('5') })))
      for (const name of ['p', 'q', 'r']) await waitUnsched(s, name)
      await settled(s)
      await s.patch('nodes', node(s, 'n2'), { spec: { unschedulable: null } })
      await settled(s)
      await s.patch('nodes', node(s, 'n3'), { metadata: { labels: { zone: 'b' } } })
      await s.untilObj('pods', 'q', running)
      await settled(s)
    },
  },
  'sch-extended-and-ephemeral-storage': {
    nodes: [
      {
        name: 'n1',
        status: {
          allocatable: { cpu: '4', memory: '8Gi', pods: '10', 'x.y/gpu': '2', 'ephemeral-storage': '10Gi' },
          capacity: { cpu: '4', memory: '8Gi', pods: '10', 'x.y/gpu': '2', 'ephemeral-storage': '10Gi' },
        },
      },
    ],
    async act(s) {
      const wants = (name: string, resources: Fields) =>
        s.create(
          'pods',
          pod(
            name,
            on(s, { containers: [{ name: 'c', image: 'i', resources: { requests: resources, limits: resources } }] }),
          ),
        )
      await wants('a', { 'x.y/gpu': '2' })
      await wants('b', { 'ephemeral-storage': '8Gi' })
      await s.untilPods(2, running)
      await wants('c', { 'x.y/gpu': '1' })
      await wants('d', { 'ephemeral-storage': '4Gi' })
      await wants('e', { 'x.y/other': '1' })
      for (const name of ['c', 'd', 'e']) await waitUnsched(s, name)
      await settled(s)
      await s.del('pods', 'a')
      await s.untilObj('pods', 'c', running)
      await settled(s)
    },
  },
  'sch-resized-pod-frees-room': {
    nodes: ['n1'],
    async act(s) {
      await s.create('pods', pod('big', on(s, res('3'))))
      await s.untilObj('pods', 'big', running)
      await s.create('pods', pod('next', on(s, res('2'))))
      await waitUnsched(s, 'next')
      await settled(s)
      await tried(
        s,
        'resize',
        s.patch(
          'pods',
          'big',
          { spec: { containers: [{ name: 'c', image: 'i', resources: { requests: { cpu: '1' } } }] } },
          'resize',
        ),
      )
      await settled(s, 3000)
      await s.note(String(((await s.get('pods', 'next')) as Seen).spec.nodeName))
    },
  },
} satisfies Readonly<Record<string, Story>>
