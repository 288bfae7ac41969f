/** Pods that a node's taints drive away, and nodes that come and go. */
import type { Fields } from '../../../src/api/object.ts'
import { beat, dep, done, ds, dsReady, on, ownNode, pdb, pod, rm, running } from '../objects.ts'
import type { Scene, Story } from '../story.ts'

const tolerate = (key: string, tolerationSeconds?: number) => ({
  key,
  operator: 'Exists',
  effect: 'NoExecute',
  ...(tolerationSeconds === undefined ? {} : { tolerationSeconds }),
})
const taint = (s: Scene, taints: readonly Fields[] | null) => s.patch('nodes', `${s.ns}-n1`, { spec: { taints } })
const noExecute = (key: string, value?: string) => ({
  key,
  effect: 'NoExecute',
  ...(value === undefined ? {} : { value }),
})
const at = (s: Scene, name: string, tolerations: readonly Fields[] = [], metadata: Fields = {}) =>
  s.create('pods', pod(name, { nodeName: `${s.ns}-n1`, tolerations }, metadata))

export const taintsStories = {
  'taint-two-with-own-times': {
    nodes: ['n1'],
    async act(s) {
      await at(s, 'both', [tolerate('a', 30), tolerate('b', 4)])
      await at(s, 'one', [tolerate('a', 4)])
      await at(s, 'ever', [tolerate('a'), tolerate('b', 5)])
      await s.untilPods(3, running)
      await taint(s, [noExecute('a')])
      await s.pause(1500)
      await taint(s, [noExecute('a'), noExecute('b', 'v')])
      await s.gone('pods', 'one', 20_000)
      await s.pause(1000)
      await taint(s, [noExecute('a')])
      await s.pause(7000)
      await taint(s, null)
      await s.pause(2000)
    },
  },
  'taint-lifted-in-time': {
    nodes: ['n1'],
    async act(s) {
      await at(s, 'p', [tolerate('a', 5)])
      await s.untilPods(1, running)
      await taint(s, [noExecute('a')])
      await s.pause(2000)
      await taint(s, null)
      await s.pause(1000)
      await taint(s, [noExecute('a')])
      await s.pause(3500)
      s.note(`left ${(await s.list('pods')).length}`)
      await s
        .patch('pods', 'p', {
          spec: {
            tolerations: [tolerate('a', 5), ...(await s.get('pods', 'p')).spec.tolerations.slice(1), tolerate('b')],
          },
        })
        .catch((error) => s.note(error.message))
      await s.gone('pods', 'p')
    },
  },
  'taint-of-a-deployment': {
    nodes: ['n1', 'n2'],
    async act(s) {
      await s.create('poddisruptionbudgets', pdb('b', { minAvailable: 2, selector: { matchLabels: { app: 'a' } } }))
      await s.create(
        'deployments',
        dep(
          'a',
          { replicas: 2 },
          {
            ...on(s),
            topologySpreadConstraints: [
              {
                maxSkew: 1,
                topologyKey: 'kubernetes.io/hostname',
                whenUnsatisfiable: 'ScheduleAnyway',
                labelSelector: { matchLabels: { app: 'a' } },
              },
            ],
          },
        ),
      )
      await s.create('daemonsets', ds('d', {}, on(s)))
      await s.untilObj('deployments', 'a', done)
      await s.untilObj('daemonsets', 'd', dsReady(2))
      await s.pause(1500)
      await taint(s, [noExecute('node.example.com/maintenance')])
      await s.pause(1500)
      await s.untilObj('deployments', 'a', done)
      await s.pause(3000)
      await taint(s, null)
      await s.untilObj('daemonsets', 'd', dsReady(2))
      await s.pause(1500)
    },
  },
  'node-made-again': {
    nodes: ['n1'],
    async act(s) {
      await at(s, 'p')
      await s.create('deployments', dep('a', { replicas: 2 }, on(s)))
      await s.untilObj('deployments', 'a', done)
      await s.untilObj('pods', 'p', running)
      await s.del('nodes', `${s.ns}-n1`)
      await s.pause(1500)
      const again = ownNode(s, 'n1')
      const metadata = { ...again.metadata, annotations: { 'kwok.x-k8s.io/node': 'fake' } }
      await s.create('nodes', { ...again, metadata })
      await s.pause(8000)
    },
    quietMs: 8000,
  },
  'node-silent-evicts': {
    exclusive: true,
    async act(s) {
      await s.create('nodes', ownNode(s, 'n1'))
      await beat(s, 'n1')
      await s.until('no taints', async () => (await s.get('nodes', `${s.ns}-n1`)).spec.taints === undefined)
      const quick = (key: string) => ({
        key: `node.kubernetes.io/${key}`,
        operator: 'Exists',
        effect: 'NoExecute',
        tolerationSeconds: 3,
      })
      await at(s, 'soon', [quick('unreachable'), quick('not-ready')])
      await at(s, 'default')
      await s.create('daemonsets', ds('d', {}, on(s)))
      for (const one of await s.untilPods(3)) await s.running(one)
      await s.untilObj('nodes', `${s.ns}-n1`, (n) => n.spec.taints?.length >= 2, 90_000)
      await s.pause(8000)
      await s.pause(1000)
    },
    clean: rm(['nodes', 'n1']),
  },
} satisfies Readonly<Record<string, Story>>
