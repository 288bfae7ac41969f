/** What led to what, by the rules of each writer, on records as an API server keeps them. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Holds, KeptRecord } from '../../api/journal.ts'
import type { OwnerReference } from '../../api/object.ts'
import { withCauses } from './causes.ts'
import { stepsOf } from './steps.ts'

const GC = 'system:serviceaccount:kube-system:generic-garbage-collector'
const NAMESPACES = 'system:serviceaccount:kube-system:namespace-controller'
const KUBELET = 'system:node:n1'

const marked = (holds: Holds = {}, gracePeriodSeconds = 0): Holds => ({
  deletionTimestamp: '2026-01-01T00:00:00Z',
  deletionGracePeriodSeconds: gracePeriodSeconds,
  ...holds,
})

const owner = (name: string, blockOwnerDeletion = true): OwnerReference => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  name,
  uid: name,
  blockOwnerDeletion,
})

type Given = Partial<KeptRecord> & Pick<KeptRecord, 'name' | 'before'>

/** Writes of one second each; what is not said is a delete of a ConfigMap by the collector. */
function causesOf(given: readonly Given[]): string[] {
  const records = given.map(
    (record, at): KeptRecord => ({
      revision: at + 1,
      time: 1000 * (at + 1),
      group: '',
      resource: 'configmaps',
      kind: 'ConfigMap',
      namespace: 'default',
      uid: record.name,
      verb: 'delete',
      subresource: '',
      user: GC,
      userAgent: 'kube-controller-manager',
      ...record,
    }),
  )
  return withCauses(stepsOf(records)).map(({ id, cause }) => `${id} <- ${cause.step ?? 'begins'} ${cause.certainty}`)
}

const user = { user: 'kubernetes-admin', userAgent: 'kubectl/v1.37.1' }

test('a dependent of several owners goes when the last of them has ended, whichever way', () => {
  const child = { ownerReferences: [owner('a'), owner('b')] }
  assert.deepEqual(
    causesOf([
      { ...user, name: 'a', before: {} },
      { ...user, name: 'b', before: {}, after: marked({ finalizers: ['foregroundDeletion'] }) },
      { name: 'child', before: child },
    ]),
    ['1 <- begins known', '2 <- begins known', '3 <- 2 known'],
  )
  // Of one of them the journal tells nothing.
  assert.deepEqual(
    causesOf([
      { ...user, name: 'a', before: {} },
      { name: 'child', before: child },
    ]),
    ['1 <- begins known', '2 <- 1 inferred'],
  )
  assert.deepEqual(causesOf([{ name: 'child', before: child }]), ['1 <- begins inferred'])
})

test('a dependent that lost its living owner goes because of that', () => {
  assert.deepEqual(
    causesOf([
      { ...user, name: 'a', before: {} },
      {
        ...user,
        verb: 'patch',
        name: 'child',
        before: { ownerReferences: [owner('a'), owner('living')] },
        after: { ownerReferences: [owner('a')] },
      },
      { name: 'child', before: { ownerReferences: [owner('a')] } },
    ]),
    ['1 <- begins known', '2 <- begins known', '3 <- 2 known'],
  )
})

test('foreground: the owner waits for the last blocking dependent, and for no other', () => {
  const foreground = marked({ finalizers: ['foregroundDeletion'] })
  const records: Given[] = [
    { ...user, name: 'a', before: {}, after: foreground },
    { name: 'blocks', before: { ownerReferences: [owner('a')] } },
    { name: 'beside', before: { ownerReferences: [owner('a', false)] } },
    { name: 'a', verb: 'patch', before: foreground },
  ]
  assert.equal(causesOf(records).at(-1), '4 <- 2 known')
  assert.equal(causesOf(records.filter(({ name }) => name === 'a')).at(-1), '2 <- 1 known')
  assert.equal(causesOf([{ name: 'a', verb: 'patch', before: foreground }]).at(-1), '1 <- begins inferred')
})

test('foreground: an owner that was marked and is gone before its dependent goes may have been seen either way', () => {
  const foreground = marked({ finalizers: ['foregroundDeletion'] })
  assert.deepEqual(
    causesOf([
      { ...user, name: 'a', before: {}, after: foreground },
      { name: 'a', verb: 'patch', before: foreground },
      { name: 'beside', before: { ownerReferences: [owner('a', false)] } },
    ]).at(-1),
    '3 <- 2 inferred',
  )
})

test('a cycle: each step of breaking it', () => {
  const foreground = marked({ finalizers: ['foregroundDeletion'] })
  assert.deepEqual(
    causesOf([
      {
        ...user,
        name: 'a',
        before: { ownerReferences: [owner('b')] },
        after: { ...foreground, ownerReferences: [owner('b')] },
      },
      {
        name: 'b',
        verb: 'patch',
        before: { ownerReferences: [owner('a')] },
        after: { ownerReferences: [owner('a', false)] },
      },
      { name: 'a', verb: 'patch', before: { ...foreground, ownerReferences: [owner('b')] } },
      { name: 'b', before: { ownerReferences: [owner('a', false)] } },
    ]),
    ['1 <- begins known', '2 <- 1 inferred', '3 <- 2 known', '4 <- 3 inferred'],
  )
})

test('a pod: the kubelet ends what was marked last, and the two writes of its request belong together', () => {
  const pod = { name: 'p', resource: 'pods', kind: 'Pod' }
  assert.deepEqual(
    causesOf([
      { ...user, ...pod, before: {}, after: marked({}, 30) },
      { ...user, ...pod, before: marked({}, 30), after: marked({}, 5) },
      { ...pod, user: KUBELET, before: marked({}, 5), between: marked() },
    ]),
    ['1 <- begins known', '2 <- begins known', '3-marked <- 2 known', '3 <- 3-marked known'],
  )
  assert.deepEqual(causesOf([{ ...pod, user: KUBELET, before: marked({}, 5) }]), ['1 <- begins inferred'])
})

test('a namespace: pods because of it, the rest because of the last pod, itself because of the last of all', () => {
  const space = { resource: 'namespaces', kind: 'Namespace', namespace: '', name: 'n' }
  const inside = { user: NAMESPACES, namespace: 'n' }
  const terminating = marked({ finalizers: ['kubernetes'] })
  const records: Given[] = [
    { ...user, ...space, before: { finalizers: ['kubernetes'] }, after: terminating },
    { ...inside, resource: 'pods', kind: 'Pod', name: 'p', before: {}, after: marked({}, 30) },
    { ...inside, resource: 'pods', kind: 'Pod', name: 'p', user: KUBELET, before: marked({}, 30) },
    { ...inside, verb: 'deletecollection', name: 'c', before: {} },
    { ...space, user: NAMESPACES, verb: 'update', subresource: 'finalize', before: terminating },
  ]
  assert.deepEqual(causesOf(records), [
    '1 <- begins known',
    '2 <- 1 known',
    '3 <- 2 known',
    '4 <- 3 inferred',
    '5 <- 4 inferred',
  ])
})

test('a finalizer: an operator acts on the mark, a user by hand by himself; what is no deletion begins by itself', () => {
  const held = marked({ finalizers: ['example.com/x'] })
  const operator = { user: 'system:serviceaccount:operators:x', userAgent: 'manager/v1', verb: 'patch' }
  const mark: Given = { ...user, name: 'a', before: { finalizers: ['example.com/x'] }, after: held }
  assert.deepEqual(causesOf([mark, { ...operator, name: 'a', before: held }]), ['1 <- begins known', '2 <- 1 inferred'])
  assert.deepEqual(causesOf([mark, { ...user, verb: 'patch', name: 'a', before: held }]), [
    '1 <- begins known',
    '2 <- begins known',
  ])
  const free: Given = { ...operator, name: 'a', before: { finalizers: ['example.com/x'] }, after: {} }
  assert.deepEqual(causesOf([free]), ['1 <- begins known'])
})

test('a definition goes when its last object has', () => {
  const definition = {
    group: 'apiextensions.k8s.io',
    resource: 'customresourcedefinitions',
    kind: 'CustomResourceDefinition',
    namespace: '',
    name: 'widgets.example.com',
  }
  const held = marked({ finalizers: ['customresourcecleanup.apiextensions.k8s.io'] })
  const api = { user: 'system:apiserver', userAgent: 'kube-apiserver' }
  assert.deepEqual(
    causesOf([
      { ...user, ...definition, before: { finalizers: held.finalizers ?? [] }, after: held },
      { ...api, group: 'example.com', resource: 'widgets', kind: 'Widget', name: 'w', before: {} },
      { ...api, ...definition, verb: 'update', before: held },
    ]),
    ['1 <- begins known', '2 <- 1 known', '3 <- 2 inferred'],
  )
})

test('what a controller decides by what is no deletion is said to have no cause in the journal', () => {
  const replicas = { user: 'system:serviceaccount:kube-system:replicaset-controller', resource: 'pods', kind: 'Pod' }
  assert.deepEqual(
    causesOf([{ ...replicas, name: 'p', before: { ownerReferences: [owner('rs')] }, after: marked({}, 30) }]),
    ['1 <- begins inferred'],
  )
})

test('a controller manager whose controllers share a user names them in its user agent', () => {
  const shared = {
    user: 'system:kube-controller-manager',
    userAgent: 'kube-controller-manager/v1.37.1 (linux/amd64) kubernetes/abc/generic-garbage-collector',
  }
  assert.deepEqual(
    causesOf([
      { ...user, name: 'a', before: {} },
      { ...shared, name: 'child', before: { ownerReferences: [owner('a')] } },
    ]).at(-1),
    '2 <- 1 known',
  )
})

test('that a reference no longer blocks its owner ends no ownership: a dependent of a cycle goes because its owner waits', () => {
  const foreground = { finalizers: ['foregroundDeletion'] }
  const unblocked = { ownerReferences: [owner('a', false)] }
  assert.deepEqual(
    causesOf([
      { ...user, name: 'a', before: {}, after: marked(foreground) },
      { name: 'b', verb: 'patch', before: { ownerReferences: [owner('a')] }, after: unblocked },
      { name: 'b', before: unblocked, after: marked({ ...foreground, ...unblocked }) },
    ]),
    ['1 <- begins known', '2 <- 1 inferred', '3 <- 1 known'],
  )
})

test('a delete by an unknown writer does not come of an owner that the object was given before', () => {
  const owned = { ownerReferences: [owner('alive')] }
  const unknown = { user: '', userAgent: '' }
  assert.deepEqual(
    causesOf([
      { ...user, name: 'a', verb: 'patch', before: {}, after: owned },
      { ...unknown, name: 'a', before: owned },
    ]),
    ['1 <- begins known', '2 <- begins inferred'],
  )
})

const SYSTEM = { user: 'system:apiserver', userAgent: 'kube-apiserver' }
const account = (name: string) => ({ user: `system:serviceaccount:kube-system:${name}` })
const volume = (name: string) => ({ resource: 'persistentvolumes', kind: 'PersistentVolume', namespace: '', name })
const DEFINITION = { group: 'apiextensions.k8s.io', resource: 'customresourcedefinitions', namespace: '' }
const API = { group: 'apiregistration.k8s.io', resource: 'apiservices', namespace: '' }

test('what the API server makes of a definition and for a Service goes after that', () => {
  assert.deepEqual(
    causesOf([
      { ...user, ...DEFINITION, name: 'shops.acme.test', before: {} },
      { ...SYSTEM, ...API, name: 'v1.acme.test', before: {} },
      { ...SYSTEM, ...API, name: 'v1.other.test', before: {} },
      { ...user, resource: 'services', name: 's', before: {} },
      { ...SYSTEM, group: 'networking.k8s.io', resource: 'ipaddresses', namespace: '', name: '10.0.0.1', before: {} },
    ]),
    ['1 <- begins known', '2 <- 1 inferred', '3 <- begins inferred', '4 <- begins known', '5 <- 4 inferred'],
  )
})

test('a volume goes after the claim in its name, by its provisioner or a controller, but not by hand', () => {
  const claim = { ...user, resource: 'persistentvolumeclaims', name: 'c', uid: 'u-1', before: {} }
  const by = (writer: Partial<KeptRecord>, name = 'pvc-u-1') =>
    causesOf([claim, { ...writer, ...volume(name), before: {} }]).at(-1)
  assert.equal(by(account('some-provisioner')), '2 <- 1 inferred')
  assert.equal(by(account('persistent-volume-binder')), '2 <- 1 inferred')
  assert.equal(by(account('persistent-volume-binder'), 'pvc-u-2'), '2 <- begins inferred')
  assert.equal(by(user), '2 <- begins known')
})

test('an empty namespace that waits for an API which does not answer goes when that is taken away', () => {
  const namespace = { resource: 'namespaces', kind: 'Namespace', namespace: '', name: 'n' }
  const holds = { finalizers: ['kubernetes'] }
  const ends = (...between: readonly Given[]) =>
    causesOf([
      { ...user, ...namespace, before: holds, after: marked(holds) },
      { user: NAMESPACES, namespace: 'n', name: 'in', before: {} },
      ...between,
      { user: NAMESPACES, ...namespace, verb: 'update', before: marked(holds) },
    ]).at(-1)
  assert.equal(ends(), '3 <- 2 inferred')
  assert.equal(ends({ ...user, ...API, name: 'v1.dead.test', before: {} }), '4 <- 3 inferred')
  // One of a definition: the API server has answered for that.
  assert.equal(ends({ ...SYSTEM, ...API, name: 'v1.acme.test', before: {} }), '4 <- 2 inferred')
})

test('what a controller decides by is said where no write led to it', () => {
  const why = (user: string, more: Partial<KeptRecord> = {}) => {
    const record = { ...base, user, ...more }
    return withCauses(stepsOf([record])).map(({ cause }) => cause.why)[0]
  }
  const base: KeptRecord = {
    ...{ revision: 1, time: 1000, group: '', resource: 'pods', kind: 'Pod', namespace: 'default', name: 'p', uid: 'p' },
    ...{ verb: 'delete', subresource: '', userAgent: '', user: '', before: {}, after: marked() },
  }
  assert.match(why(account('node-controller').user) ?? '', /a taint/)
  assert.match(why('system:kube-scheduler') ?? '', /higher priority/)
  assert.match(why(account('replicaset-controller').user) ?? '', /more pods than are wanted/)
  const tracked = { finalizers: ['batch.kubernetes.io/job-tracking'] }
  const counted = { verb: 'patch', before: tracked, after: {} }
  assert.match(why(account('job-controller').user, counted) ?? '', /its Job has counted it/)
  assert.equal(
    why('kubernetes-admin', { verb: 'create', subresource: 'eviction' }),
    'kubernetes-admin asked for its eviction',
  )
})

test('users may be named as what every object of JavaScript has', () => {
  const told = causesOf(['constructor', 'toString', '__proto__'].map((name) => ({ name, user: name, before: {} })))
  assert.deepEqual(told, ['1 <- begins known', '2 <- begins known', '3 <- begins known'])
})

test('a claim goes by the pod that it is of, as claims of StatefulSets and ephemeral volumes do, and else by the last one since its mark', () => {
  const controller = 'system:serviceaccount:kube-system:pvc-protection-controller'
  const finalizers = ['kubernetes.io/pvc-protection']
  const ownedBy = (name: string) => ({ finalizers, ownerReferences: [{ ...owner(name), kind: 'Pod' }] })
  const claim = (name: string) => ({ resource: 'persistentvolumeclaims', kind: 'PersistentVolumeClaim', name })
  const pod = (name: string) => ({ resource: 'pods', kind: 'Pod', name, user: KUBELET, before: marked() })
  /** Of each claim the pod that it went by. */
  function podsOf(claims: readonly (readonly [name: string, held: Holds])[], pods: string[], past: string[] = []) {
    const given = [
      ...past.map(pod),
      ...claims.map(([name, held]) => ({ ...claim(name), before: held, after: marked(held) })),
      ...pods.map(pod),
      ...claims.map(([name, held]) => ({ ...claim(name), user: controller, verb: 'update', before: marked(held) })),
    ]
    return causesOf(given)
      .slice(-claims.length)
      .map((line) => given[Number(/<- (\d+) inferred/.exec(line)?.[1]) - 1]?.name)
  }
  const held = { finalizers }
  const claims: [string, Holds][] = [
    ['data-db-0', held],
    ['data-db-1', held],
    ['job-x-scratch', ownedBy('job-x')],
    ['shared', held],
  ]
  assert.deepEqual(podsOf(claims, ['db-1', 'db-0', 'job-x', 'last']), ['db-0', 'db-1', 'job-x', 'last'])
  // Of the same names there were pods before.
  const past = ['db-0', 'db-1', 'job-x']
  assert.deepEqual(podsOf(claims, ['x', 'last'], past), ['last', 'last', 'last', 'last'])
  assert.deepEqual(podsOf([['web-data', held]], ['web', 'data', 'user']), ['user'])
  assert.deepEqual(podsOf([['data-my-db-0', held]], ['my-db-0', 'db-0', '0', 'user']), ['my-db-0'])
  // Nothing has used it since.
  assert.deepEqual(podsOf([['data-db-0', held]], [], ['db-0']), ['data-db-0'])
})
