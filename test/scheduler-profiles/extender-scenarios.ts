/** What extenders are asked, and what comes of their answers. */
import type { Fields, Json } from '../../src/api/object.ts'
import { change, make, type Step, step, wait } from '../devices/scenario.ts'
import { cpu, node, pod, present, urgent } from '../scheduler-queue/forms.ts'
import type { ProfileScenario } from './scenarios.ts'
import { STUB, type StubRules } from './stub-extender.ts'

const nodes = make(
  ...[
    ['n1', '2', '4Gi'],
    ['n2', '4', '6Gi'],
    ['n3', '16', '16Gi'],
  ].map(([name = '', cpus = '', memory = '']) => node(name, {}, { allocatable: { cpu: cpus, memory } })),
)
const extender = (name: string, more: Fields): Fields => ({ urlPrefix: `${STUB}/${name}`, httpTimeout: '1s', ...more })
const filtering = (more: Fields = {}) => extender('a', { filterVerb: 'filter', ...more })
const extended = (extenders: readonly Fields[], rules: StubRules, ...steps: readonly Step[]): ProfileScenario => ({
  config: { extenders },
  rules,
  steps: [wait(1000, nodes), ...steps.map(({ acts, ms = 700 }) => ({ acts, ms }))],
})

const namesIn = ({ Nodes, NodeNames }: Fields): readonly string[] =>
  NodeNames ?? Nodes.items.map(({ metadata }: Fields) => metadata.name)
/** The nodes for which that holds, in the form of the question. */
const keep = (args: Fields, holds: (name: string) => boolean, more: Fields = {}): Json =>
  args['NodeNames'] === null
    ? { Nodes: { items: args['Nodes'].items.filter(({ metadata }: Fields) => holds(metadata.name)) }, ...more }
    : { NodeNames: namesIn(args).filter(holds), ...more }
const none = () => false
const all = () => true
const eachIs = (args: Fields, why: string) => Object.fromEntries(namesIn(args).map((name) => [name, why]))
const p = pod('p', {}, cpu('100m'))
const one = make(p)
const gpu = (name: string) => ({ requests: { [`example.com/${name}`]: '1' }, limits: { [`example.com/${name}`]: '1' } })
const metaOf = (args: Fields, holds: (name: string) => boolean): Json => ({
  NodeNameToMetaVictims: Object.fromEntries(
    Object.entries((args['NodeNameToMetaVictims'] ?? args['NodeNameToVictims']) as Fields).flatMap(
      ([name, { Pods }]) =>
        holds(name) ? [[name, { Pods: Pods.map(({ UID, metadata }: Fields) => ({ UID: UID ?? metadata.uid })) }]] : [],
    ),
  ),
})
const LOW: Fields = { n1: '3Gi', n2: '5Gi', n3: '15Gi' }
const full = make(
  urgent,
  ...['n1', 'n2', 'n3'].map((name) => present(`low-${name}`, name, { requests: { memory: LOW[name] } })),
)
const high = make(pod('high', { priorityClassName: 'queue-high' }, { requests: { memory: '3Gi' } }))
const preempting = (more: Fields, rule: (args: Fields) => Json | number) =>
  extended([extender('a', { preemptVerb: 'preempt', ...more })], { 'a/preempt': rule }, full, high)

export const extenderScenarios: Readonly<Record<string, ProfileScenario>> = {
  'extender-takes-all': extended([filtering()], { 'a/filter': (args) => keep(args, all) }, one),
  'extender-leaves-one': extended(
    [filtering({ prioritizeVerb: 'prioritize', weight: 1 })],
    {
      'a/filter': (args) => keep(args, (name) => name === 'n1', { FailedNodes: { n2: 'not here', n3: 'nor here' } }),
      'a/prioritize': () => [],
    },
    one,
  ),
  'extender-leaves-none': extended([filtering()], { 'a/filter': (args) => keep(args, none) }, one),
  'extender-leaves-none-and-a-change-comes': extended(
    [filtering()],
    { 'a/filter': (args) => keep(args, none) },
    one,
    step(change('nodes', 'n1', { metadata: { labels: { irrelevant: 'yes' } } })),
    make(pod('q', {}, cpu('100m'))),
  ),
  'extender-says-why': extended(
    [filtering()],
    { 'a/filter': (args) => keep(args, none, { FailedNodes: eachIs(args, 'no room') }) },
    one,
  ),
  'extender-says-never': extended(
    [filtering()],
    { 'a/filter': (args) => keep(args, none, { FailedAndUnresolvableNodes: eachIs(args, 'never') }) },
    one,
  ),
  'extender-says-both': extended(
    [filtering()],
    {
      'a/filter': (args) =>
        keep(args, none, { FailedNodes: { n1: 'soft' }, FailedAndUnresolvableNodes: { n1: 'hard', n2: 'harder' } }),
    },
    one,
  ),
  'extender-answers-nothing': extended([filtering()], { 'a/filter': () => ({}) }, one),
  'extender-answers-in-small-letters': extended(
    [filtering()],
    { 'a/filter': () => ({ nodes: { items: [{ metadata: { name: 'n2' } }] } }) },
    one,
  ),
  'extender-tells-an-error': extended([filtering()], { 'a/filter': () => ({ Error: 'it broke' }) }, one),
  'extender-fails': extended([filtering()], { 'a/filter': () => 500 }, one),
  'extender-answers-no-json': extended([filtering()], { 'a/filter': () => 'no json' }, one),
  'extender-answers-an-empty-body': extended([filtering()], { 'a/filter': () => '' }, one),
  'extender-is-ignorable': extended(
    [
      filtering({ ignorable: true }),
      extender('b', { filterVerb: 'f', ignorable: true }),
      extender('c', { filterVerb: 'f' }),
    ],
    {
      'a/filter': () => 500,
      'b/f': () => ({ Error: 'x' }),
      'c/f': (args) => keep(args, (name) => name === 'n2'),
    },
    one,
  ),
  'extender-knows-nodes': extended(
    [filtering({ nodeCacheCapable: true }), extender('b/', { filterVerb: 'f', nodeCacheCapable: true })],
    { 'a/filter': (args) => keep(args, (name) => name !== 'n3'), 'b/f': (args) => keep(args, (name) => name !== 'n2') },
    one,
  ),
  'extender-names-an-unknown-node': extended(
    [filtering({ nodeCacheCapable: true })],
    { 'a/filter': () => ({ NodeNames: ['n9'] }) },
    one,
  ),
  'extender-prefers': extended(
    [
      extender('a', { prioritizeVerb: 'p', weight: 1, nodeCacheCapable: true }),
      extender('b', { prioritizeVerb: 'p', weight: 2 }),
      extender('c', { prioritizeVerb: 'p', weight: 9 }),
    ],
    {
      'a/p': () => [
        { Host: 'n1', Score: 10 },
        { Host: 'n2', Score: 1 },
        { Host: 'n9', Score: 10 },
      ],
      'b/p': () => [{ host: 'n2', score: 7 }],
      'c/p': () => 500,
    },
    one,
    make(pod('q', { nodeName: 'n2' }, cpu('3900m'))),
    make(pod('r', {}, cpu('200m'))),
  ),
  'extender-manages-resources': extended(
    [
      filtering({
        bindVerb: 'bind',
        managedResources: [{ name: 'example.com/foo', ignoredByScheduler: true }, { name: 'example.com/bar' }],
      }),
    ],
    { 'a/filter': (args) => keep(args, (name) => name === 'n1'), 'a/bind': () => ({}) },
    one,
    make(pod('foo', {}, gpu('foo'))),
    make(pod('bar', {}, gpu('bar'))),
  ),
  'extender-binds': extended([extender('a', { bindVerb: 'bind' })], { 'a/bind': () => ({}) }, one),
  'extender-refuses-to-bind': extended(
    [extender('a', { bindVerb: 'bind' })],
    { 'a/bind': () => ({ Error: 'bind broke' }) },
    one,
  ),
  'extender-fails-to-bind': extended([extender('a', { bindVerb: 'bind' })], { 'a/bind': () => 503 }, one),
  'extender-fails-to-bind-and-is-ignorable': extended(
    [extender('a', { bindVerb: 'bind', ignorable: true })],
    { 'a/bind': () => 503 },
    one,
  ),
  'extender-lets-preempt': preempting({}, (args) => metaOf(args, (name) => name === 'n1')),
  'extender-lets-preempt-by-names': preempting({ nodeCacheCapable: true }, (args) =>
    metaOf(args, (name) => name === 'n2'),
  ),
  'extender-lets-none-preempt': preempting({}, (args) => metaOf(args, none)),
  'extender-fails-at-preemption': preempting({}, () => 500),
  'extender-names-unknown-victims': preempting({}, () => ({
    NodeNameToMetaVictims: { n1: { Pods: [{ UID: 'zz' }] } },
  })),
  'extender-names-no-victims': preempting({}, () => ({ NodeNameToMetaVictims: { n1: { Pods: [] } } })),
  'extender-names-an-unknown-node-of-victims': preempting({}, () => ({
    NodeNameToMetaVictims: { n9: { Pods: [{ UID: 'z' }] } },
  })),
  'extender-refuses-and-others-make-room': extended(
    [filtering({ preemptVerb: 'preempt' })],
    {
      'a/filter': (args) => keep(args, none, { FailedNodes: eachIs(args, 'no room') }),
      'a/preempt': (args) => metaOf(args, (name) => name === 'n3'),
    },
    make(urgent, ...['n2', 'n3'].map((name) => present(`low-${name}`, name, cpu('100m')))),
    make(pod('high', { priorityClassName: 'queue-high' }, cpu('100m'))),
  ),
}
