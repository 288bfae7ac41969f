import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Fields } from '../../api/object.ts'
import { lastLink } from './finding.ts'
import { refOf } from './look.ts'
import { givenResource, lookAt } from './look-fixture.test.ts'
import { namedAsWaitedFor, needsNamedMissing } from './named-in-words.ts'

const now = Date.parse('2026-11-28T12:00:00Z')
const object = (apiVersion: string, kind: string, name: string, namespace?: string): Fields => ({
  apiVersion,
  kind,
  metadata: {
    name,
    uid: `${kind}-${name}`,
    deletionTimestamp: '2026-11-28T11:00:00Z',
    ...(namespace === undefined ? {} : { namespace }),
  },
})
const space = object('v1', 'Namespace', 's')
const bucket = (name: string) => object('s3.example.org/v1', 'Bucket', name, 'team')
const others = (): Fields[] => [space, bucket('zzz'), bucket('acme-logs')]

/** Of what is waited for: each object, and a question mark where that is inferred. */
async function waitedFor(words: string, objects: readonly Fields[] = others(), namespace = 'team') {
  const tenant = object('tenant.test/v1', 'Tenant', 'x', namespace === '' ? undefined : namespace)
  const look = lookAt({ objects: [...objects, tenant], now })
  const ref = refOf(givenResource('tenant.test/v1', 'Tenant'), tenant as never)
  const end = lastLink('nobody', { kind: 'unseen', what: '', why: '' })
  const links = await namedAsWaitedFor(look, ref, words, async () => end)
  return links.map(({ cause, inferred }) =>
    cause.kind === 'in-use' ? `${cause.by.kind}/${cause.by.name}${inferred ? '?' : ''}` : cause.kind,
  )
}

test('an object is named by the word before its name, however many words stand before that', async () => {
  for (const words of [
    'waiting for namespace "s" to be deleted',
    'still waiting for namespace "s" to be deleted',
    'the Tenant is waiting for namespace/s to be deleted',
    'waiting for namespace s to be deleted',
    `${'a word and another '.repeat(20)}, and so it is waiting for namespace "s" to be deleted`,
  ])
    assert.deepEqual(await waitedFor(words), ['Namespace/s'], words)
  assert.deepEqual(await waitedFor('waiting for namespaces "s" and "t", and for Bucket zzz, to be deleted'), [
    'Namespace/s',
    'Bucket/zzz',
  ])
  assert.deepEqual(await waitedFor('waiting for namespace "other" to be deleted'), [])
})

test('of a kind that is told with a name only the object of that name is meant; told alone, it is inferred', async () => {
  assert.deepEqual(await waitedFor('waiting for S3 Bucket acme-logs to be deleted'), ['Bucket/acme-logs'])
  for (const words of [
    'waiting for S3 Bucket acme-logs to be deleted',
    'waiting for S3 Bucket "logs" to be deleted',
    'waiting for Bucket: MyLogs to be deleted',
    'waiting for Bucket.s3.example.org/acme-logs to be deleted',
  ])
    assert.deepEqual(await waitedFor(words, [bucket('zzz')]), [], words)
  for (const words of ['waiting for the Bucket to be deleted', 'waiting for deletion of 2 Buckets: they still exist'])
    assert.deepEqual(await waitedFor(words, [bucket('zzz')]), ['Bucket/zzz?'], words)
})

test('what is in no namespace waits, by a kind alone, for objects of namespaces that are named as well', async () => {
  const word = 'waiting for the Bucket to be deleted'
  assert.deepEqual(await waitedFor(word, [bucket('zzz')], ''), [])
  assert.deepEqual(await waitedFor(`${word} in team`, [bucket('zzz')], ''), ['Bucket/zzz?'])
})

test('kinds and names are compared as they are written, whatever a server calls them', async () => {
  for (const kind of ['Widget(', 'Widget[', '.*.*.*', '(([A-Za-z ])+)+0'])
    assert.deepEqual(
      await waitedFor(`waiting for ${'an object '.repeat(20)} to be deleted`, [
        object('odd.test/v1', kind, 'zzz', 'team'),
      ]),
      [],
      kind,
    )
})

test('what was not found is looked for past words that are no kinds', async () => {
  const tenant = object('tenant.test/v1', 'Tenant', 'x', 'team')
  const look = lookAt({ objects: [tenant], now, served: [['v1', 'Secret']] })
  const ref = refOf(givenResource('tenant.test/v1', 'Tenant'), tenant as never)
  const words = `${'thing "a" not found, '.repeat(4)}secret "keys" not found`
  const links = await needsNamedMissing(look, ref, tenant as never, words, '')
  assert.deepEqual(
    links.map(({ cause }) => cause.kind === 'needs-missing' && cause.what),
    ['secrets/keys'],
  )
})

/** What complaints of a Tenant tell is missing. */
async function toldMissing(complaints: string, spec: Fields = {}, words = complaints) {
  const tenant = { ...object('tenant.test/v1', 'Tenant', 'x', 'team'), spec }
  const there = object('tenant.test/v1', 'TenantProject', 'team-b', 'other')
  const served = [
    ...(['Secret', 'Namespace', 'Service', 'ServiceAccount', 'Node'] as const).map((kind) => ['v1', kind] as const),
    ['rbac.authorization.k8s.io/v1', 'Role'],
    ['iam.test/v1', 'User'],
  ] as const
  const look = lookAt({ objects: [tenant, there], now, served })
  const ref = refOf(givenResource('tenant.test/v1', 'Tenant'), tenant as never)
  const links = await needsNamedMissing(look, ref, tenant as never, words, words === complaints ? complaints : '')
  return links.map(({ cause }) => cause.kind === 'needs-missing' && cause.what)
}

test('a complaint tells what does not exist without quotes, by the last word of a kind, and kinds that are not served', async () => {
  const told = toldMissing
  assert.deepEqual(await told('Tenant referencing project team-a which does not exist'), ['tenantprojects/team-a'])
  assert.deepEqual(await told("secret keys doesn't exist", { from: { secret: 'keys' } }), ['secrets/keys'])
  assert.deepEqual(await told('project team-b does not exist'), [])
  assert.deepEqual(await told('referencing a project which does not exist'), [])
  assert.deepEqual(await told('', {}, 'project team-a does not exist any more'), [])
  const noKind = (kind: string, version: string) => `no matches for kind "${kind}" in version "${version}"`
  assert.deepEqual(await told(noKind('Certificate', 'cert-manager.io/v1')), ['kind Certificate (cert-manager.io/v1)'])
  assert.deepEqual(await told(noKind('Tenant', 'tenant.test/v2')), [])
  // It cannot be made again.
  assert.deepEqual(await told(noKind('PodSecurityPolicy', 'policy/v1beta1')), [])
})

test('what does not exist is of the group of the object, or named by its spec; other names are of databases, clouds and other clusters', async () => {
  const spec = { role: 'app', users: [{ name: 'iam/alice' }], namespace: 'prod', secret: 'keys', account: 'account' }
  for (const words of [
    'cannot drop database: pq: role "app" does not exist',
    'cannot drop database: pq: secret "keys" does not exist',
    'ERROR: secret "keys" does not exist (SQLSTATE 42704)',
    'role "app" does not exist',
    'arn:aws:iam::1:user/alice does not exist',
    'service account does not exist',
    'Secret version does not exist',
    'Project quota does not exist',
    'namespace prod does not exist on the target cluster',
    'namespace prod does not exist in the remote cluster',
    'node ip-10-0-0-1 no longer exists',
    'secret other-keys does not exist',
  ])
    assert.deepEqual(await toldMissing(words, spec), [], words)
  assert.deepEqual(await toldMissing('namespace prod does not exist', spec), ['namespaces/prod'])
  assert.deepEqual(await toldMissing('secret "keys" does not exist', spec), ['secrets/keys'])
  assert.deepEqual(await toldMissing('user alice does not exist', spec), ['users/alice'])
  assert.deepEqual(await toldMissing('project "quota" does not exist', spec), ['tenantprojects/quota'])
})
