/** What a KubeSchedulerConfiguration asks for, and what is refused of it. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { DEFAULT_ARGS, DEFAULT_WEIGHTS, defaultProfile } from '../../scheduler/profile.ts'
import { profilesOfFile } from './scheduler-settings.ts'

const folder = mkdtempSync(join(tmpdir(), 'skiff-scheduler-'))
after(() => rmSync(folder, { recursive: true }))
const file = join(folder, 'config.yaml')
const HEAD = 'apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n'

const read = (text: string) => {
  writeFileSync(file, HEAD + text)
  return profilesOfFile(file)
}
const only = (profile: string) => {
  const [found] = read(`profiles: [${profile}]`).profiles
  assert.ok(found)
  return found
}
const args = (plugin: string, given: string) => only(`{pluginConfig: [{name: ${plugin}, args: ${given}}]}`).args
const refusal = (text: string): string => {
  try {
    read(text)
  } catch (error) {
    return (error as Error).message.replace(`${file}: `, '')
  }
  return 'taken'
}

test('nothing but a kind is the default scheduler', () => {
  const { profiles, queueTimes } = read('')
  assert.deepEqual(profiles, [defaultProfile()])
  assert.deepEqual(queueTimes, { initialBackoffMs: 1000, maxBackoffMs: 10_000, flushMs: 300_000 })
})

test('several profiles, each with its name, its plugins and its percentage; backoffs are shared', () => {
  const { profiles, queueTimes } = read(
    'percentageOfNodesToScore: 40\npodInitialBackoffSeconds: 2\npodMaxBackoffSeconds: 30\nprofiles:\n- {schedulerName: a}\n- {schedulerName: b, percentageOfNodesToScore: 70}\n',
  )
  assert.deepEqual(
    profiles.map(({ schedulerName, percentageOfNodesToScore }) => [schedulerName, percentageOfNodesToScore]),
    [
      ['a', 40],
      ['b', 70],
    ],
  )
  assert.deepEqual([queueTimes.initialBackoffMs, queueTimes.maxBackoffMs], [2000, 30_000])
})

test('plugins are switched off at a point, at all points, or all at once, and on again with another weight', () => {
  const scoreless = only(
    '{plugins: {score: {disabled: [{name: "*"}], enabled: [{name: ImageLocality, weight: 7}]}, preScore: {disabled: [{name: "*"}]}}}',
  )
  assert.deepEqual([...scoreless.weights], [['ImageLocality', 7]])
  assert.deepEqual(scoreless.filters, defaultProfile().filters)
  const blind = only(
    '{plugins: {multiPoint: {disabled: [{name: TaintToleration}, {name: NodeUnschedulable}, {name: SchedulingGates}]}}}',
  )
  assert.deepEqual(
    [blind.weights.has('TaintToleration'), blind.filters.includes('NodeUnschedulable'), blind.heedsGates],
    [false, false, false],
  )
  const calm = only('{plugins: {postFilter: {disabled: [{name: DefaultPreemption}]}}}')
  assert.deepEqual([calm.preempts, only('{}').preempts], [false, true])
  const heavy = only(
    '{plugins: {score: {disabled: [{name: NodeResourcesFit}], enabled: [{name: NodeResourcesFit, weight: 9}]}}}',
  )
  assert.deepEqual(
    new Map([...heavy.weights].sort()),
    new Map([...DEFAULT_WEIGHTS, ['NodeResourcesFit', 9]].sort() as [never, never][]),
  )
})

test('filters named at their point are asked before the others', () => {
  const { filters } = only('{plugins: {filter: {enabled: [{name: NodeResourcesFit}]}}}')
  assert.equal(filters[0], 'NodeResourcesFit')
  assert.equal(filters.length, defaultProfile().filters.length)
})

test('arguments of plugins, and what they are where nothing is said', () => {
  assert.deepEqual(args('NodeResourcesFit', '{}'), DEFAULT_ARGS)
  assert.deepEqual(
    args(
      'NodeResourcesFit',
      '{scoringStrategy: {type: MostAllocated, resources: [{name: cpu}, {name: memory, weight: 5}]}}',
    ).scoringStrategy,
    {
      type: 'MostAllocated',
      resources: [
        { name: 'cpu', weight: 1 },
        { name: 'memory', weight: 5 },
      ],
      shape: [],
    },
  )
  assert.deepEqual(
    [...args('NodeResourcesFit', '{ignoredResourceGroups: [example.com]}').ignoredResourceGroups],
    ['example.com'],
  )
  assert.equal(args('InterPodAffinity', '{hardPodAffinityWeight: 0}').hardPodAffinityWeight, 0)
  assert.equal(args('VolumeBinding', '{bindTimeoutSeconds: 5}').bindTimeoutMs, 5000)
  assert.deepEqual(args('NodeResourcesBalancedAllocation', '{resources: [{name: cpu, weight: 1}]}').balancedResources, [
    'cpu',
  ])
  const spread = args(
    'PodTopologySpread',
    '{defaultingType: List, defaultConstraints: [{maxSkew: 2, topologyKey: rack, whenUnsatisfiable: DoNotSchedule}]}',
  )
  assert.deepEqual(spread.defaultConstraints, [{ topologyKey: 'rack', maxSkew: 2, minDomains: 1, isHard: true }])
  assert.equal(spread.areSystemDefaults, false)
  assert.equal(args('DefaultPreemption', '{minCandidateNodesAbsolute: 3}').minCandidateNodesAbsolute, 3)
})

for (const [text, why] of Object.entries({
  'nonsense: 1': /unknown field "nonsense"/,
  'profiles: [{pluginConfig: [{name: NodeResourcesFit, args: {foo: 1}}]}]':
    /decoding args for plugin "NodeResourcesFit": .*unknown field "foo"/,
  'parallelism: many': /parallelism: "many" is not of type int32/,
  'profiles: many': /profiles: "many" is not a list/,
  'parallelism: 0\npercentageOfNodesToScore: 101':
    /^\[parallelism: .*, percentageOfNodesToScore: Invalid value: 101: not in valid range \[0-100\]\]$/,
  'podInitialBackoffSeconds: 20':
    /^podMaxBackoffSeconds: Invalid value: 10: must be greater than or equal to PodInitialBackoffSeconds$/,
  'profiles: [{schedulerName: a}, {schedulerName: a}]': /^profiles\[1\].schedulerName: Duplicate value: "a"$/,
  'profiles: [{plugins: {score: {enabled: [{name: Foo}]}}}]': /"Foo" does not exist/,
  'profiles: [{plugins: {bind: {disabled: [{name: DefaultBinder}]}}}]':
    /at least one bind plugin is needed for profile with scheduler name "default-scheduler"/,
  'profiles: [{plugins: {preFilter: {disabled: [{name: NodeResourcesFit}]}}}]':
    /skiff has it at filter and preFilter together/,
  'profiles: [{pluginConfig: [{name: InterPodAffinity, args: {hardPodAffinityWeight: 101}}]}]':
    /hardPodAffinityWeight: Invalid value: 101: not in valid range/,
  'profiles: [{pluginConfig: [{name: NodeAffinity, args: {addedAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: []}}}}]}]':
    /nodeSelectorTerms: Required value/,
  'extenders: [{urlPrefix: "http://x", filterVerb: f}]': /^extenders: skiff asks none/,
  'a: &a [*a, *a]': /./,
}))
  test(`refused: ${text.slice(0, 60)}`, () => {
    const told = refusal(text)
    assert.match(told, why)
    assert.notEqual(told, 'taken')
    assert.equal(told.includes('\n'), false)
  })
