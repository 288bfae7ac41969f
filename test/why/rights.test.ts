/** `why` changes nothing, keeps to its budget, and works with the rights that its caller has. */
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import type { Fields } from '../../src/api/object.ts'
import { CASES } from './cases.ts'
import { type Asked, configMap, type Stage, startStage } from './stage.ts'

const directory = mkdtempSync(join(tmpdir(), 'why-audit-'))
const path = (name: string) => join(directory, name)
let stage: Stage
let reader = ''
let nobody = ''

before(async () => {
  writeFileSync(
    path('audit.yaml'),
    'apiVersion: audit.k8s.io/v1\nkind: Policy\nomitStages: [RequestReceived]\nrules: [{level: Metadata}]\n',
  )
  stage = await startStage('--audit-policy-file', path('audit.yaml'), '--audit-log-path', path('audit.log'))
  reader = await account('reader', 'view-all', [
    { apiGroups: ['*'], resources: ['*'], verbs: ['get', 'list', 'watch'] },
  ])
  nobody = await account('nobody', 'discovers', [])
})
after(async () => {
  await stage?.stop()
  rmSync(directory, { recursive: true })
})

async function account(name: string, role: string, rules: readonly Fields[]): Promise<string> {
  const rbac = 'rbac.authorization.k8s.io/v1'
  await stage.make(
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name, namespace: 'default' } },
    { apiVersion: rbac, kind: 'ClusterRole', metadata: { name: role }, rules },
    {
      apiVersion: rbac,
      kind: 'ClusterRoleBinding',
      metadata: { name: role },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
      subjects: [{ kind: 'ServiceAccount', name, namespace: 'default' }],
    },
  )
  const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', metadata: {}, spec: {} }
  const accounts = stage.of({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { namespace: 'default' } })
  return (await accounts.create(review, { subresource: 'token', name }))['status'].token
}

const auditEvents = (): readonly Fields[] =>
  readFileSync(path('audit.log'), 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))

test('every write that it sends is a dry run, on what is being deleted already', async () => {
  for (const number of ['3', '7 role', '30', '8', 'delete pod', 'schema', 'policy account']) {
    const one = CASES[number]
    const namespace = await stage.namespace(`audited-${number.replaceAll(' ', '-')}`)
    const { kind, name, remove = [] } = (await one?.setUp(stage, namespace)) ?? { kind: '', name: '' }
    const tried = await stage.why(kind, name, namespace)
    const untried = await stage.why(kind, name, namespace, { dryRun: false })
    assert.equal(untried.said['asked'].dryRuns, 0, 'without dry runs there is no write verb at all')
    assert.deepEqual(
      [untried.said['verdict'], untried.said['cause'].kind],
      [tried.said['verdict'], tried.said['cause'].kind],
    )
    for (const object of remove) await stage.remove(object)
  }
  await stage.make(configMap('default', 'live', { finalizers: ['acme.test/f'] }))
  await stage.why('cm', 'live')
  await stage.survey()
  const end = configMap('default', 'end-of-the-log')
  await stage.make(end)
  const asked = auditEvents().filter(({ userAgent }) => userAgent === 'skiff why')
  const writes = asked.filter(({ verb }) => !['get', 'list', 'watch'].includes(verb))
  assert.ok(asked.length > 100)
  assert.ok(writes.length > 3, 'some dry runs were made')
  for (const { requestURI, verb, objectRef } of writes) {
    assert.match(requestURI, /[?&]dryRun=All(&|$)/)
    assert.ok(
      verb === 'patch' || verb === 'delete' || objectRef.resource === 'subjectaccessreviews',
      `${verb} ${requestURI}`,
    )
  }
  assert.ok(
    writes.some(({ verb, objectRef }) => verb === 'delete' && objectRef.resource === 'pods'),
    'a delete was tried',
  )
  assert.ok(!writes.some(({ objectRef }) => objectRef.name === 'live'), 'nothing that is not being deleted is tried')
  const secrets = asked.filter(({ objectRef }) => objectRef?.resource === 'secrets')
  assert.ok(secrets.every(({ verb }) => verb === 'list'))
})

test('without dry runs nothing is tried', async () => {
  const object = configMap('default', 'untried', { finalizers: ['acme.test/f'] })
  await stage.make(object)
  await stage.remove(object)
  const { said } = await stage.why('cm', 'untried', 'default', { dryRun: false })
  assert.equal(said['asked'].dryRuns, 0)
  assert.equal(said['verdict'], 'nobody')
})

test('who may only read gets the same verdicts, inferred', async () => {
  const one = CASES['3']
  const namespace = await stage.namespace('read-only')
  const { remove = [] } = (await one?.setUp(stage, namespace)) ?? {}
  const { said } = await stage.why('cm', 'a', namespace, { token: reader })
  assert.deepEqual([said['verdict'], said['cause'].kind, said['inferred']], ['refused', 'admission-refuses', true])
  assert.match(said['responsible'], /webhook guard\.acme\.test/)
  for (const object of remove) await stage.remove(object)
})

test('a policy is judged by who may only read, by its own expressions', async () => {
  const one = CASES['5']
  const namespace = await stage.namespace('case-5')
  const { remove = [] } = (await one?.setUp(stage, namespace)) ?? {}
  const { said } = await stage.why('pod', 'p', namespace, { token: reader })
  assert.deepEqual([said['verdict'], said['cause'].kind, said['inferred']], ['refused', 'admission-refuses', true])
  assert.match(said['sentence'], /pods here are frozen/)
  for (const object of remove) await stage.remove(object)
})

test('a policy that puts the finalizer back is found by who may only read, by what it says', async () => {
  const one = CASES['22']
  const namespace = await stage.namespace('case-22')
  const { remove = [] } = (await one?.setUp(stage, namespace)) ?? {}
  const { said } = await stage.why('cm', 'a', namespace, { token: reader })
  assert.deepEqual([said['verdict'], said['cause'].kind, said['inferred']], ['refused', 'put-back', true])
  assert.match(said['responsible'], /MutatingAdmissionPolicy keeper/)
  for (const object of remove) await stage.remove(object)
})

test('a role that went first is found by who may only read, from roles and bindings', async () => {
  const one = CASES['7 role']
  const namespace = await stage.namespace('read-only-role')
  await stage.remove({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'sprockets.role.acme.test' },
  })
  const leftover = {
    apiVersion: 'role.acme.test/v1',
    kind: 'Sprocket',
    metadata: { name: 's', namespace: 'audited-7-role' },
  }
  await stage
    .of(leftover)
    .patch('s', 'merge', { metadata: { finalizers: null } } as never)
    .catch(() => {})
  await stage.until(
    {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'sprockets.role.acme.test' },
    },
    undefined,
  )
  for (const kind of ['ClusterRoleBinding'] as const)
    await stage.remove({ apiVersion: 'rbac.authorization.k8s.io/v1', kind, metadata: { name: 'sprocket-operator' } })
  await stage.remove({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'sprocket-operator-system' } })
  await stage.until({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'sprocket-operator-system' } }, undefined)
  await one?.setUp(stage, namespace)
  const { said } = await stage.why('sprocket', 's', namespace, { token: reader })
  assert.deepEqual([said['verdict'], said['cause'].kind, said['inferred']], ['refused', 'controller-forbidden', true])
})

test('what is missing is told apart from what may not be seen', async () => {
  const seen = await stage.why('cm', 'not-there', 'default', { token: reader })
  assert.deepEqual([seen.said['state'], seen.exitCode], ['missing', 4])
  const unseen = await stage.why('cm', 'not-there', 'default', { token: nobody })
  assert.deepEqual([unseen.said['state'], unseen.exitCode], ['not-visible', 5])
  assert.match(unseen.said['sentence'], /cannot get resource "configmaps"/)
})

test('a kind that is not served, and one without a cluster to ask, are errors of one line', async () => {
  await assert.rejects(stage.why('nonsense', 'x'), /serves no kind "nonsense"/)
})

test('without a name, who may read one namespace is told what is going there; with -n nothing else is', async () => {
  const namespace = await stage.namespace('own-team')
  const going = ['own-team', 'default'].map((one) => configMap(one, 'going-on', { finalizers: ['acme.test/f'] }))
  await stage.make(...going)
  for (const object of going) await stage.remove(object)
  const token = await account('single', 'reads-nothing', [])
  await stage.make({
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'RoleBinding',
    metadata: { name: 'view', namespace },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' },
    subjects: [{ kind: 'ServiceAccount', name: 'single', namespace: 'default' }],
  })
  const placesOf = ({ said }: Asked) =>
    said['items']
      .filter(({ object }: Fields) => object.name === 'going-on')
      .map(({ object }: Fields) => object.namespace)
  const own = await stage.survey({ token, place: { namespace, isGiven: false } })
  assert.deepEqual(placesOf(own), ['own-team'])
  assert.ok(own.said['unseen'].length > 0)
  const given = await stage.survey({ token: reader, place: { namespace, isGiven: true } })
  assert.deepEqual(placesOf(given), ['own-team'])
  assert.deepEqual(placesOf(await stage.survey({ token: reader })).toSorted(), ['default', 'own-team'])
})
