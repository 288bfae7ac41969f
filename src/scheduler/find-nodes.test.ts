import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Fields } from '../api/object.ts'
import { labelSelectorOf } from '../api/objects/label-selector.ts'
import { countedSelector, type SpreadSelector } from './default-spread.ts'
import { type FilterState, prefilter } from './filters.ts'
import { createNodeSearch, enoughOf } from './find-nodes.ts'
import { namedNodes } from './node-affinity.ts'
import { createCluster } from './node-info.ts'
import { podInfoOf } from './pod-info.ts'
import { defaultProfile } from './profile.ts'
import { type GivenParts, node, pod } from './test-objects.ts'

const named = (name: string) => ({
  affinity: {
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: [name] }] }],
      },
    },
  },
})

function fixture(count: number, zones = 1) {
  const cluster = createCluster()
  for (let i = 0; i < count; i++)
    cluster.setNode(node(`n${i}`, { labels: { 'topology.kubernetes.io/zone': `z${Math.floor((i * zones) / count)}` } }))
  const search = createNodeSearch(cluster)
  const infoOf = (name: string, spec: Fields = {}, given: GivenParts = {}) => podInfoOf(pod(name, spec, given))
  const find = (info: ReturnType<typeof infoOf>, more: Partial<FilterState> = {}, together?: SpreadSelector) => {
    const state = {
      ...prefilter(
        info,
        cluster,
        () => ({}),
        defaultProfile(),
        () => together,
      ),
      ...more,
    }
    const { fitting, refusals } = search.find(info, state)
    return {
      fitting: fitting.map(({ name }) => name),
      refused: [...refusals().keys()].map(({ name }) => name),
      best: () => search.best(info, fitting, state).map(({ name }) => name),
    }
  }
  return { cluster, infoOf, find }
}

test('all of a hundred nodes are looked at, half less one percent for each 125 of more, a twentieth at least', () => {
  assert.deepEqual(
    [1, 99, 100, 150, 250, 1000, 5000, 5500, 10_000].map((count) => enoughOf(count)),
    [1, 99, 100, 100, 120, 420, 500, 330, 500],
  )
})

test('percentageOfNodesToScore is asked for: no less than a hundred nodes, and all of them at a hundred', () => {
  assert.deepEqual(
    (
      [
        [1000, 5],
        [1000, 30],
        [5000, 1],
        [5000, 100],
        [99, 1],
      ] as const
    ).map(([count, asked]) => enoughOf(count, asked)),
    [100, 300, 100, 5000, 99],
  )
})

test('each search begins where the one before stopped', () => {
  const { infoOf, find } = fixture(150)
  const first = find(infoOf('a')).fitting
  assert.deepEqual([first.length, first[0], first.at(-1)], [100, 'n0', 'n99'])
  const second = find(infoOf('b')).fitting
  assert.deepEqual([second.length, second[0], second.at(-1)], [100, 'n100', 'n49'])
  assert.equal(find(infoOf('c')).fitting[0], 'n50')
})

test('any stretch of nodes is of all zones', () => {
  const { find, infoOf } = fixture(300, 3)
  assert.deepEqual(find(infoOf('a')).fitting.slice(0, 4), ['n0', 'n100', 'n200', 'n1'])
})

test('a node that changed zone, went or came is looked at where it is now', () => {
  const { cluster, find, infoOf } = fixture(4, 2)
  const order = () => find(infoOf('a')).fitting.toSorted((a, b) => all.indexOf(a) - all.indexOf(b))
  const all = cluster.ready().map(({ name }) => name)
  assert.deepEqual(all, ['n0', 'n2', 'n1', 'n3'])
  assert.deepEqual(order(), all)
  cluster.setNode(node('n1', { labels: { 'topology.kubernetes.io/zone': 'z1' } }))
  assert.deepEqual(
    cluster.ready().map(({ name }) => name),
    ['n0', 'n1', 'n2', 'n3'],
  )
  cluster.removeNode('n2')
  assert.deepEqual(
    cluster.ready().map(({ name }) => name),
    ['n0', 'n1', 'n3'],
  )
})

test('what was found of a node holds until it changes: by its pods, or by itself', () => {
  const { cluster, find, infoOf } = fixture(2)
  const big = { requests: { cpu: '1500m' } }
  assert.deepEqual(find(infoOf('a', {}, big)).fitting.sort(), ['n0', 'n1'])
  cluster.setPod(infoOf('a', {}, big), 'n0')
  const { fitting, refused } = find(infoOf('b', {}, big))
  assert.deepEqual([fitting, refused], [['n1'], ['n0']])
  cluster.setNode(node('n1', { spec: { unschedulable: true } }))
  assert.deepEqual(find(infoOf('b', {}, big)).fitting, [])
  cluster.removePod('default/a')
  assert.deepEqual(find(infoOf('b', {}, big)).fitting, ['n0'])
  cluster.setNode(node('n1'))
  assert.deepEqual(find(infoOf('b', {}, big)).fitting.sort(), ['n0', 'n1'])
})

test('scores follow what is bound, for pods of one shape and of another', () => {
  const { cluster, find, infoOf } = fixture(3)
  const some = { requests: { cpu: '500m' } }
  assert.deepEqual(
    find(infoOf('a', {}, some))
      .best()
      .sort(),
    ['n0', 'n1', 'n2'],
  )
  cluster.setPod(infoOf('a', {}, some), 'n0')
  assert.deepEqual(
    find(infoOf('b', {}, some))
      .best()
      .sort(),
    ['n1', 'n2'],
  )
  cluster.setPod(infoOf('b', {}, some), 'n1')
  assert.deepEqual(find(infoOf('c', {}, some)).best(), ['n2'])
  assert.deepEqual(find(infoOf('d', {}, { requests: { cpu: '100m' } })).best(), ['n2'])
})

const preferring = (weights: Readonly<Record<string, number>>) => ({
  affinity: {
    nodeAffinity: {
      preferredDuringSchedulingIgnoredDuringExecution: Object.entries(weights).map(([name, weight]) => ({
        weight,
        preference: { matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: [name] }] },
      })),
    },
  },
})

for (const order of ['alone first', 'selected first', 'selected by two Services'])
  test(`pods of one shape are each scored for what their Services and images say: ${order}`, () => {
    const { cluster, find, infoOf } = fixture(3)
    const labelled = (name: string, app: string) => infoOf(name, preferring({ n1: 10, n0: 9 }), { labels: { app } })
    const serviceOf = (app: string) => countedSelector(labelSelectorOf({ matchLabels: { app } }), 'default')
    const [web, db] = [serviceOf('web'), serviceOf('db')]
    for (const [app, where] of [
      ['web', 'n1'],
      ['db', 'n2'],
      ['none', 'n0'],
    ] as const)
      cluster.setPod(labelled(`${app}-there`, app), where)
    const best = {
      alone: () => assert.deepEqual(find(labelled('a', 'other')).best(), ['n1']),
      // Its Service's pod on n1 outweighs that n1 is wished a little more than n0.
      web: () => assert.deepEqual(find(labelled('b', 'web'), {}, web).best(), ['n0']),
      db: () => assert.deepEqual(find(labelled('c', 'db'), {}, db).best(), ['n1']),
      image: () => {
        const imageScore = () => (node: { readonly name: string }) => (node.name === 'n2' ? 1000 : 0)
        assert.deepEqual(find(labelled('d', 'other'), { imageScore }).best(), ['n2'])
      },
    }
    const { alone, web: selected, db: other, image } = best
    const steps = {
      'alone first': [alone, selected],
      'selected first': [selected, alone],
      'selected by two Services': [other, selected],
    }
    for (const step of [...steps[order as keyof typeof steps], image, alone]) step()
  })

test('what a score says that is no number is told, and not passed over as if no node fitted', () => {
  const { find, infoOf } = fixture(3)
  const imageScore = () => () => Number.NaN
  assert.throws(() => find(infoOf('a'), { imageScore }).best(), /no score of 3 nodes is a number/)
})

test('another pod that must be alone is heeded though its kind of pods was looked for before', () => {
  const { cluster, find, infoOf } = fixture(4, 2)
  assert.equal(find(infoOf('a')).fitting.length, 4)
  const alone = {
    affinity: {
      podAntiAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: [
          { topologyKey: 'topology.kubernetes.io/zone', labelSelector: {} },
        ],
      },
    },
  }
  cluster.setPod(infoOf('hermit', alone), 'n0')
  assert.deepEqual(find(infoOf('b')).fitting.sort(), ['n2', 'n3'])
  cluster.removePod('default/hermit')
  assert.equal(find(infoOf('c')).fitting.length, 4)
})

test('a pod that names its node is looked for there alone; where it does not fit every node says why', () => {
  const { find, infoOf } = fixture(200)
  const fits = find(infoOf('a', named('n150')))
  assert.deepEqual([fits.fitting, fits.refused.length], [['n150'], 0])
  const large = find(infoOf('b', named('n150'), { requests: { cpu: '64' } }))
  assert.deepEqual([large.fitting, large.refused.length], [[], 200])
  assert.equal(find(infoOf('c', named('nowhere'))).refused.length, 200)
})

test('where a pod names its nodes, all others are refused alike, and a term that names different ones allows none', () => {
  const { cluster, infoOf } = fixture(4)
  const search = createNodeSearch(cluster)
  const terms = (...names: readonly (readonly string[])[]) => ({
    affinity: {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: names.map((term) => ({
            matchFields: term.map((name) => ({ key: 'metadata.name', operator: 'In', values: [name] })),
          })),
        },
      },
    },
  })
  const told = (spec: Fields) => {
    const info = infoOf('p', spec, { requests: { cpu: '99' } })
    const { refusals } = search.find(
      info,
      prefilter(info, cluster, () => ({})),
    )
    return [...refusals()].map(([{ name }, { reasons }]) => `${name}: ${reasons}`)
  }
  const other = (name: string) => `${name}: node(s) didn't satisfy plugin(s) [NodeAffinity]`
  const full = (name: string) => `${name}: Insufficient cpu`
  assert.deepEqual(told(terms(['n1'])), [other('n0'), full('n1'), other('n2'), other('n3')])
  assert.deepEqual(told(terms(['n1'], ['n3'])), [other('n0'), full('n1'), other('n2'), full('n3')])
  assert.deepEqual(told(terms(['missing'])), ['n0', 'n1', 'n2', 'n3'].map(other))
  assert.deepEqual([...(namedNodes(infoOf('p', terms(['n1', 'n2']))) ?? ['any'])], [])
  assert.equal(namedNodes(infoOf('p', terms(['n1'], []))), undefined)
})
