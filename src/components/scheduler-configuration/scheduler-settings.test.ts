/** What a KubeSchedulerConfiguration asks for, and what is refused of it. */
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
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
  const scoreless = only('{plugins: {score: {disabled: [{name: "*"}], enabled: [{name: ImageLocality, weight: 7}]}}}')
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
  assert.equal(args('DynamicResources', '{bindingTimeout: 90s}').deviceBindingTimeoutMs, 90_000)
  assert.equal(args('DefaultPreemption', '{minCandidateNodesAbsolute: 3}').minCandidateNodesAbsolute, 3)
})

test('extenders: those that may fail are asked last; resources that they look after are let pass; their files are looked at', () => {
  const { extenders, profiles } = read(
    'extenders: [{urlPrefix: "http://x", filterVerb: f, ignorable: true, managedResources: [{name: example.com/a, ignoredByScheduler: true}, {name: example.com/b}]}, {urlPrefix: "https://y", enableHTTPS: true, httpTimeout: 2s}]',
  )
  const [y, x] = extenders
  assert.deepEqual([y?.urlPrefix, y?.timeoutMs, y?.tls], ['https://y', 2000, { insecure: true }])
  assert.deepEqual([x?.filterVerb, x?.timeoutMs, x?.tls], ['f', 5000, { insecure: false }])
  assert.deepEqual([...(x?.managedResources ?? [])], ['example.com/a', 'example.com/b'])
  assert.deepEqual([...(profiles[0]?.args.ignoredResources ?? [])], ['example.com/a'])
  const said = (extender: string) => read(`extenders: [${extender}]`).extenders[0]
  assert.equal(said('null')?.timeoutMs, 5000)
  assert.equal(said('{urlPrefix: "http://x", httpTimeout: -1s}')?.timeoutMs, -1000)
  const nameless = 'extenders[0].managedResources[0].name: Invalid value: ""'
  const resources = refusal('extenders: [{urlPrefix: "http://x", managedResources: [null]}]')
  assert.ok(resources.includes(nameless), resources)
  const tls = (given: string) => refusal(`extenders: [{urlPrefix: "https://x", filterVerb: f, tlsConfig: ${given}}]`)
  const built = "couldn't build extenders: "
  assert.equal(tls('{caFile: /nope}'), `${built}open /nope: no such file or directory`)
  assert.equal(tls('{certFile: /nope, keyFile: /no}'), `${built}open /nope: no such file or directory`)
  assert.equal(tls('{caData: bm8=}'), `${built}unable to load root certificates: unable to parse bytes as PEM block`)
  assert.equal(tls('{certData: bm8=, keyData: bm8=}'), `${built}tls: failed to find any PEM data in certificate input`)
  assert.equal(tls('{nope: 1}'), 'strict decoding error: unknown field "extenders[0].tlsConfig.nope"')
})

test('a plugin that skiff cannot have at one point without another is refused, and what skiff does not do', () => {
  for (const [text, why] of [
    [
      'profiles: [{plugins: {preFilter: {disabled: [{name: NodeResourcesFit}]}}}]',
      /skiff cannot have it at filter without preFilter/,
    ],
    ['a: &a [*a, *a]', /./],
  ] as const) {
    const told = refusal(text)
    assert.match(told, why)
    assert.equal(told.includes('\n') || told === 'taken', false)
  }
})

/** Where skiff has words of its own: no YAML of this kind at all, types within types, and what it does not have. */
const OTHERWISE = new Set([
  'disabled all preFilter',
  'disabled all preScore',
  'disabled all reserve',
  'disabled all preBind',
  'prefilter off',
  'weight huge',
  'weights that overflow',
  // Another parser.
  'tab',
  'anchor',
  'args kind as file',
  'profiling text',
])

interface Answer {
  readonly 0: string
  readonly 1: string
  /** null: it starts. */
  readonly 2: string | null
}
const answers = JSON.parse(readFileSync(new URL('answers.json', import.meta.url), 'utf8')) as readonly Answer[]

test('a kube-scheduler v1.37.1 was asked the same, and refuses the same in the same words', () => {
  let same = 0
  for (const { 0: name, 1: config, 2: answer } of answers) {
    writeFileSync(file, config)
    let told: string | null = null
    try {
      profilesOfFile(file)
    } catch (error) {
      told = (error as Error).message.replace(`${file}: `, '')
    }
    // What is told here is told in one line.
    const wanted = answer?.replace(/\s*\n\s*/g, ' ') ?? null
    if (OTHERWISE.has(name)) {
      assert.notEqual(told, wanted, name)
      continue
    }
    assert.equal(told, wanted, name)
    same++
  }
  assert.equal(same, answers.length - OTHERWISE.size)
})
