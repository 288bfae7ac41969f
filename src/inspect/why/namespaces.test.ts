/** A namespace that is being deleted: pods first, then all that is left, then what its controller could not do. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Fields, KubeObject } from '../../api/object.ts'
import { type Link, lastLink, waitingLink } from './finding.ts'
import { refOf } from './look.ts'
import { givenResource, lookAt } from './look-fixture.test.ts'
import { namespaceLinks } from './namespaces.ts'
import type { Examine } from './what-holds-an-object.ts'
import { sentenceOf } from './words.ts'

const NOW = Date.parse('2026-01-01T01:00:00Z')
const MARK = { deletionTimestamp: '2026-01-01T00:59:00Z' }
const SERVED = [
  ['v1', 'Pod'],
  ['v1', 'Secret'],
] as const

const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default', namespace: 'default' } }
const object = (kind: string, name: string, more: Fields = {}): Fields => ({
  apiVersion: 'v1',
  kind,
  metadata: { name, namespace: 'ns', uid: name, ...more },
})
const condition = (type: string, message: string, status = 'True') => ({ type, status, reason: 'R', message })

const examine: Examine = async (_, resource, { metadata }) =>
  lastLink('nobody', { kind: 'more', what: `${resource.resource}/${metadata.name}` })

const told = (link: Link): string => {
  const { cause } = link
  const own =
    cause.kind === 'namespace-content'
      ? `${cause.count} ${cause.resource}${cause.turn === 'now' ? '' : ` ${cause.turn}`}${cause.finalizers.length > 0 ? ` with ${cause.finalizers.join(' ')}` : ''}`
      : cause.kind === 'more'
        ? cause.what
        : cause.kind === 'api-unavailable'
          ? `${cause.kind} ${cause.apiService}`
          : cause.kind
  return `${own}${'verdict' in link ? ` ${link.verdict}${link.inferred ? '?' : ''}` : ''}${link.next.length === 0 ? '' : ` [${link.next.map(told).join(', ')}]`}`
}

async function asked(
  objects: readonly Fields[],
  conditions: readonly object[] = [],
  more: {
    readonly refused?: readonly string[]
    readonly withoutController?: true
    readonly examine?: Examine
    readonly budget?: number
    readonly dryRun?: boolean
  } = {},
): Promise<readonly string[]> {
  const namespace = {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: 'ns', uid: 'ns', ...MARK },
    spec: { finalizers: ['kubernetes'] },
    status: { phase: 'Terminating', conditions },
  } as KubeObject
  const { refused = [], withoutController, budget = 200 } = more
  const given = withoutController ? objects : [account, ...objects]
  const look = {
    ...lookAt({ objects: given, now: NOW, served: SERVED, refused, budget }),
    dryRun: more.dryRun === true,
  }
  return (
    await namespaceLinks(look, refOf(givenResource('v1', 'Namespace'), namespace), namespace, more.examine ?? examine)
  ).map(told)
}

test('while there are pods nothing else is looked at', async () => {
  const objects = [object('Pod', 'a', MARK), object('Pod', 'b', { ...MARK, finalizers: ['f'] }), object('Secret', 's')]
  assert.deepEqual(await asked(objects), ['2 pods first with f [pods/a nobody, pods/b nobody]'])
})

test('what none would take the finalizers of once the pods are gone is told with them; nothing of it is tried but of what is marked', async () => {
  const objects = [
    object('Pod', 'a', MARK),
    object('Secret', 'free'),
    object('Secret', 'held', { finalizers: ['f'] }),
    object('Secret', 'ends', { ...MARK, finalizers: ['e'] }),
    object('Secret', 'marked', { ...MARK, finalizers: ['m'] }),
    object('Secret', 'served', { finalizers: ['g'] }),
    object('Secret', 'helped', { finalizers: ['h'] }),
    object('Secret', 'mounted', { finalizers: ['i'] }),
  ]
  const asHeld: Examine = async (look, resource, { metadata }) => {
    if (resource.resource === 'pods') return lastLink('will-end', { kind: 'more', what: 'the pod ends' })
    const isMarked = ['ends', 'marked'].includes(metadata.name ?? '')
    assert.equal(metadata.deletionTimestamp, isMarked ? MARK.deletionTimestamp : '2026-01-01T01:00:00Z')
    assert.equal(look.dryRun, isMarked)
    const workload = (namespace: string) => ({
      ...refOf(givenResource('v1', 'Pod'), object('Pod', 'c') as KubeObject),
      namespace,
    })
    const at = (namespace: string) =>
      lastLink('slow', {
        kind: 'controller-at-work',
        controller: { name: 'c', as: 'workload', workload: workload(namespace), evidence: '' },
        on: '',
      })
    const held = lastLink('nobody', { kind: 'more', what: 'nothing takes it away' })
    const deleted = {
      kind: 'marked',
      object: refOf(resource, object('Secret', 's') as KubeObject),
      since: '',
      graceSeconds: 0,
      finalizers: [],
    } as const
    // The pod would never end by itself; but behind the pods it is gone.
    const by = refOf(givenResource('v1', 'Pod'), object('Pod', 'a') as KubeObject)
    const mounted = waitingLink({ kind: 'in-use', by, how: 'it mounts the claim', isDeleted: true }, [held], () => held)
    const links = { held, marked: held, ends: at('elsewhere'), served: at('elsewhere'), helped: at('ns'), mounted }
    const next = links[metadata.name as keyof typeof links]
    return waitingLink(deleted, [next], () => next)
  }
  // What may still be asked is kept for what holds it now.
  assert.deepEqual(await asked(objects, [], { examine: asHeld, budget: 30, dryRun: true }), [
    '1 pods first [the pod ends will-end]',
    'unseen slow?',
  ])
  assert.deepEqual(await asked(objects, [], { examine: asHeld, dryRun: true }), [
    '1 pods first [the pod ends will-end]',
    '1 secrets next with m [marked [nothing takes it away nobody]]',
    '1 secrets next with f [nothing takes it away nobody]',
    '1 secrets next with h [controller-not-running nobody?]',
  ])
})

test('then what is left, by resource and by finalizers; what is not marked yet is the next work of its controller', async () => {
  const objects = [
    object('Secret', 'a', { ...MARK, finalizers: ['f'] }),
    object('Secret', 'b', { ...MARK, finalizers: ['f'] }),
    object('Secret', 'c'),
    object('ConfigMap', 'd', MARK),
  ]
  assert.deepEqual((await asked(objects)).toSorted(), [
    '1 configmaps [configmaps/d nobody]',
    '1 secrets [controller-at-work slow?]',
    '2 secrets with f [secrets/a nobody, secrets/b nobody]',
  ])
})

test('of many alike three are looked at', async () => {
  const many = ['a', 'b', 'c', 'd'].map((name) => object('Secret', name, MARK))
  assert.deepEqual(await asked(many), ['4 secrets [secrets/a nobody, secrets/b nobody, secrets/c nobody]'])
})

test("an empty one is its controller's, which is at work or is not there", async () => {
  assert.deepEqual(await asked([]), ['controller-at-work slow?'])
  assert.deepEqual(await asked([], [], { withoutController: true }), ['controller-missing nobody?'])
  const held = [object('Secret', 'a', MARK)]
  assert.deepEqual(await asked(held), ['1 secrets [secrets/a nobody]'])
  assert.deepEqual(await asked(held, [], { withoutController: true }), [
    '1 secrets [secrets/a nobody]',
    'controller-missing nobody?',
  ])
  const pods = [object('Pod', 'a', MARK)]
  assert.deepEqual(await asked(pods, [], { withoutController: true }), [
    '1 pods first [pods/a nobody]',
    'controller-missing nobody?',
  ])
})

test('what its controller failed at is told in its words, and is what unmarked content waits for', async () => {
  const failed = condition('NamespaceDeletionContentFailure', 'cannot delete widgets')
  assert.deepEqual(await asked([], [failed]), ['controller-failing refused'])
  assert.deepEqual(await asked([object('Secret', 'c')], [failed]), ['1 secrets [controller-failing refused]'])
  assert.deepEqual(await asked([object('Secret', 'a', MARK)], [failed]), ['1 secrets [secrets/a nobody]'])
  const parsing = condition('NamespaceDeletionGroupVersionParsingFailure', 'v1beta/x')
  assert.deepEqual(await asked([], [parsing]), ['controller-failing refused'])
  const past = condition('NamespaceDeletionContentFailure', 'all is deleted', 'False')
  assert.deepEqual(await asked([], [past]), ['controller-at-work slow?'])
})

test('a webhook that the failure names is what refuses', async () => {
  const message = 'admission webhook "keep.acme.test" denied the request: no'
  assert.deepEqual(await asked([], [condition('NamespaceDeletionContentFailure', message)]), [
    'admission-refuses refused',
  ])
})

test('aggregated APIs that are down by their APIServices, else by what the namespace says', async () => {
  const down = {
    apiVersion: 'apiregistration.k8s.io/v1',
    kind: 'APIService',
    metadata: { name: 'v1.metrics.test' },
    spec: { service: { namespace: 'gone', name: 'gone' } },
    status: { conditions: [{ type: 'Available', status: 'False', reason: 'R', message: 'm' }] },
  }
  const discovery = condition(
    'NamespaceDeletionDiscoveryFailure',
    'unable to retrieve: a.test/v1: no, b.test/v1beta1: no, a.test/v1: again',
  )
  assert.deepEqual(await asked([down]), ['api-unavailable v1.metrics.test nobody'])
  assert.deepEqual(await asked([down], [discovery]), ['api-unavailable v1.metrics.test nobody'])
  assert.deepEqual(await asked([], [discovery]), [
    'api-unavailable v1.a.test nobody?',
    'api-unavailable v1beta1.b.test nobody?',
  ])
  assert.deepEqual(await asked([], [{ ...discovery, status: 'False' }]), ['controller-at-work slow?'])
  assert.deepEqual(await asked([object('Pod', 'a', MARK)], [discovery]), [
    '1 pods first [pods/a nobody]',
    'api-unavailable v1.a.test nobody?',
    'api-unavailable v1beta1.b.test nobody?',
  ])
})

test('what may not be listed is told by what its controller has seen, and only then', async () => {
  const refused = ['/api/v1/namespaces/ns/secrets']
  const remaining = condition('NamespaceContentRemaining', 'secrets. has 2 resource instances')
  const finalizers = condition('NamespaceFinalizersRemaining', 'f in 2 resource instances')
  assert.deepEqual(await asked([], [remaining, finalizers], { refused }), ['unseen slow?'])
  assert.deepEqual(await asked([], [remaining]), ['controller-at-work slow?'])
  assert.deepEqual(await asked([], [], { refused }), ['controller-at-work slow?'])
  for (const other of [{ ...remaining, status: 'False' }, condition('Other', 'x')])
    assert.deepEqual(await asked([], [other], { refused }), ['controller-at-work slow?'])
  const known = [object('ConfigMap', 'd', MARK)]
  assert.deepEqual(await asked(known, [remaining], { refused }), ['1 configmaps [configmaps/d nobody]'])
})

test('kinds of the whole cluster, and Events by their second group, are not asked for', async () => {
  const requests = async (served: readonly (readonly [string, string])[]) => {
    const one = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'ns', uid: 'ns', ...MARK } } as KubeObject
    const look = lookAt({ objects: [account], now: NOW, served: [...SERVED, ...served] })
    await namespaceLinks(look, refOf(givenResource('v1', 'Namespace'), one), one, examine)
    return look.reader.requests
  }
  const before = await requests([])
  assert.equal(await requests([['v1', 'Node']]), before)
  assert.equal(await requests([['events.k8s.io/v1', 'Event']]), before)
  assert.equal(await requests([['v1', 'ConfigMap']]), before + 1)
})

test('what is left of a namespace is counted in words', () => {
  const left = (count: number, turn: 'first' | 'next' | 'now', finalizers: readonly string[] = []) =>
    sentenceOf({
      kind: 'namespace-content',
      namespace: 'ns',
      resource: 'pods',
      singular: 'pod',
      count,
      finalizers,
      turn,
    })
  assert.match(left(1, 'first'), /^1 pod left in namespace ns: pods go first/)
  assert.equal(left(2, 'now', ['a.test/f']), '2 pods left in namespace ns with a.test/f')
  assert.equal(left(1, 'next'), 'once the pods are gone, 1 pod of namespace ns would be left')
})
