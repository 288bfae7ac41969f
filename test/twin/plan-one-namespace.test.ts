/** Plans by users with rights in one namespace alone, as commands against a cluster. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { endpointFromKubeconfig } from '../../src/client/read-kubeconfig.ts'
import type { Plan } from '../../src/inspect/plan/plan.ts'
import { planAs } from '../../src/inspect/plan/report.ts'
import {
  CONFIG_MAPS,
  configMap,
  core,
  DEFINITIONS,
  DEPLOYMENTS,
  definition,
  deployment,
  NAMESPACES,
  type Stage,
  startStage,
} from './stage.ts'

const skiff = fileURLToPath(new URL('../../bin/skiff.js', import.meta.url))
const RBAC = 'rbac.authorization.k8s.io'
const directory = mkdtempSync(join(tmpdir(), 'plan-one-namespace-'))
let stage: Stage
before(async () => {
  stage = await startStage()
  for (const name of ['team', 'others'])
    await stage.make(NAMESPACES, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
  await stage.make(DEPLOYMENTS, deployment('web', 2, {}, 'team'))
  const owner = await stage.make(CONFIG_MAPS, configMap('settings', {}, 'team'))
  for (const namespace of ['team', 'others']) await stage.make(CONFIG_MAPS, configMap('more', {}, namespace))
  const settings = { apiVersion: 'v1', kind: 'ConfigMap', name: 'settings', uid: owner.metadata.uid }
  await stage.make(core('serviceaccounts'), {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { name: 'owned', namespace: 'team', ownerReferences: [settings] },
  })
  await stage.make(DEFINITIONS, definition())
  await stage.cluster.clock.advance('10s')
  await user('chief', [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }])
  await user('hand', [
    { apiGroups: ['', 'apps'], resources: ['configmaps', 'pods', 'deployments', 'replicasets'], verbs: ['*'] },
  ])
  await user('scaler', [{ apiGroups: ['apps'], resources: ['deployments'], verbs: ['*'] }])
  await user('picker', [
    { apiGroups: [''], resources: ['configmaps'], resourceNames: ['settings', 'gone'], verbs: ['get', 'delete'] },
  ])
})
after(async () => {
  await stage?.stop()
  rmSync(directory, { recursive: true })
})

const kubeconfigOf = (name: string) => join(directory, name)

/** A service account with these rights in the namespace team, and its kubeconfig. */
async function user(name: string, rules: readonly object[]): Promise<void> {
  const metadata = { name, namespace: 'team' }
  await stage.make(core('serviceaccounts'), { apiVersion: 'v1', kind: 'ServiceAccount', metadata })
  const rbac = (resource: string) => ({ group: RBAC, version: 'v1', resource })
  await stage.make(rbac('roles'), { apiVersion: `${RBAC}/v1`, kind: 'Role', metadata, rules })
  await stage.make(rbac('rolebindings'), {
    apiVersion: `${RBAC}/v1`,
    kind: 'RoleBinding',
    metadata,
    roleRef: { apiGroup: RBAC, kind: 'Role', name },
    subjects: [{ kind: 'ServiceAccount', ...metadata }],
  })
  const accounts = stage.cluster.client.resource(core('serviceaccounts')).namespace('team')
  const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', metadata: {}, spec: {} }
  const { token } = (await accounts.create(review, { subresource: 'token', name }))['status']
  const read = (path: string) => readFileSync(path, 'utf8')
  const { server, ca = '' } = endpointFromKubeconfig(read(stage.cluster.kubeconfigFile), read)
  const data = Buffer.from(ca).toString('base64')
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'c',
    contexts: [{ name: 'c', context: { cluster: 'c', user: 'u', namespace: 'team' } }],
    clusters: [{ name: 'c', cluster: { server, 'certificate-authority-data': data } }],
    users: [{ name: 'u', user: { token } }],
  }
  writeFileSync(kubeconfigOf(name), JSON.stringify(config))
}

interface Ended {
  readonly code: number | null
  readonly err: string
  readonly plan: Plan
}

function planBy(user: string, ...args: readonly string[]): Promise<Ended> {
  const child = spawn(process.execPath, [skiff, 'plan', ...args, '-o', 'json', '--kubeconfig', kubeconfigOf(user)])
  let [out, err] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (text) => {
    out += text
  })
  child.stderr.setEncoding('utf8').on('data', (text) => {
    err += text
  })
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) => resolve({ code, err, plan: out === '' ? ({} as Plan) : JSON.parse(out) }))
  })
}

const going = ({ goes }: Plan) => goes.map(({ object }) => `${object.resource} ${object.namespace}`).sort()

test('who has rights in one namespace alone gets a plan of it, and is told what that leaves unknown', async () => {
  const { code, err, plan } = await planBy('chief', 'delete', 'deploy/web')
  assert.deepEqual([code, err, plan.refused, plan.forbidden], [0, '', [], []])
  assert.deepEqual(going(plan), ['deployments team', 'pods team', 'pods team', 'replicasets team'])
  assert.deepEqual(plan.appears, [])
  // They run on, on nodes that may not be read, until they are asked to end.
  const pods = plan.goes.filter(({ object }) => object.resource === 'pods')
  assert.deepEqual(
    pods.map(({ removed, certainty }) => [removed.most - removed.least, certainty]),
    [
      [30_000, 'goes'],
      [30_000, 'goes'],
    ],
  )
  const told = plan.unread.map(({ what, why }) => `${what}: ${why}`).join('\n')
  assert.match(
    told,
    /^all namespaces but team: .* kinds more may be listed in no other: what is there, .* is not known/m,
  )
  assert.match(told, /^nodes: nodes is forbidden: /m)
  assert.match(told, /^nodes\/skiff-\d.*: taken to be there and to be ready/m)
  // It may be read by its name.
  assert.doesNotMatch(told, /namespaces\/team/)
})

test('what goes with a deed is known in its namespace; a kind that may not be listed there closes the gates', async () => {
  const gates = ['--expect-none', 'cm', '--max', '4']
  for (const name of ['chief', 'hand']) {
    const { code, err, plan } = await planBy(name, 'delete', 'deploy', 'web', ...gates)
    assert.deepEqual(going(plan), ['deployments team', 'pods team', 'pods team', 'replicasets team'], name)
    assert.equal(code, name === 'chief' ? 0 : 20, err)
    if (name === 'hand')
      assert.match(
        err,
        /^skiff: at least 4 objects would go, how many is not known, and at most 4 may \(--max\): not listed: .*serviceaccounts/,
      )
  }
  const { code, err, plan } = await planBy('hand', 'delete', 'cm/settings', '--expect-none', 'sa')
  assert.deepEqual([code, going(plan), plan.refused], [20, ['configmaps team'], []])
  assert.match(err, /^skiff: whether any serviceaccounts would go is not known, .*: serviceaccounts is forbidden/)
  assert.match(JSON.stringify(plan.unread), /"namespaces\/team","why":"taken to be there/)
})

test('what is elsewhere is not taken for absent: a delete there, of all there are, or a drain is refused, and gates are closed', async () => {
  for (const args of [
    ['delete', 'cm', '-A', '--all'],
    ['drain', 'skiff-1'],
  ]) {
    const { code, err, plan } = await planBy('chief', ...args, '--max', '9', '--expect-none', 'pods')
    assert.equal(code, 20, err)
    assert.deepEqual(going(plan), [])
    assert.match(plan.refused[0]?.message ?? '', /^what there is could not be read: /)
    assert.match(err, /^skiff: whether any pods .*\nskiff: at least 0 objects would go, how many is not known.*\n$/)
  }
  const file = join(directory, 'both.json')
  const items = ['team', 'others'].map((namespace) => configMap('more', {}, namespace))
  writeFileSync(file, JSON.stringify({ apiVersion: 'v1', kind: 'List', items }))
  const { code, plan } = await planBy('chief', 'delete', '-f', file)
  assert.equal(code, 21)
  assert.deepEqual(going(plan), ['configmaps team'])
  assert.deepEqual(
    plan.refused.map(({ what, isUnread }) => [what, isUnread]),
    [['configmaps/more', true]],
  )
})

test('a namespace that may be read by its name is deleted with all that it holds', async () => {
  const { code, err, plan } = await planBy('chief', 'delete', 'ns', 'team', '--expect-none', 'deploy')
  assert.equal(code, 20)
  assert.equal(err, 'skiff: 1 deployments would go, and none may (--expect-none deploy)\n')
  assert.ok(plan.goes.some(({ object }) => object.resource === 'namespaces' && object.name === 'team'))
  assert.ok(plan.goes.filter(({ object }) => object.resource === 'pods').length >= 2)
  // A Role in a namespace is about that Namespace, too.
  assert.deepEqual(plan.forbidden, [])
})

test('of a kind whose definition may not be read a twin can have none: that is known where there are none', async () => {
  const sample = { apiVersion: 'acme.test/v1', kind: 'Shop', metadata: { name: 'corner', namespace: 'others' } }
  const shops = { group: 'acme.test', version: 'v1', resource: 'shops' }
  await stage.make(shops, sample)
  const gates = ['--expect-none', 'shops', '--max', '1']
  const none = await planBy('chief', 'delete', 'cm/more', ...gates)
  assert.deepEqual([none.code, none.err], [0, ''])
  await stage.make(shops, { ...sample, metadata: { name: 'mall', namespace: 'team' } })
  const some = await planBy('chief', 'delete', 'cm/more', ...gates)
  assert.equal(some.code, 20)
  assert.match(
    some.err,
    /^skiff: whether any shops would go is not known, .*: its definition could not be read: .*\n.*not listed: shops\.acme\.test\n$/,
  )
  const named = await planBy('chief', 'delete', 'shop/mall')
  assert.match(
    named.plan.refused[0]?.message ?? '',
    /^what there is could not be read: its definition could not be read: /,
  )
})

test('who may not read a namespace by its name may plan in it, and not its end; many lists refused alike are one line', async () => {
  const { code, plan } = await planBy('hand', 'delete', 'ns', 'team')
  assert.deepEqual([code, plan.goes, plan.refused[0]?.isUnread], [21, [], true])
  const told = planAs('tree', plan)
  assert.match(told, /^ {2}User "system:serviceaccount:team:hand" cannot list them at the cluster scope: .*, nodes, /m)
  assert.doesNotMatch(told, /^ {2}nodes: /m)
})

test('who may read single objects by their names alone gets a plan of those, and what else is of their kind is not known', async () => {
  const { code, plan } = await planBy('picker', 'delete', 'cm/settings', 'cm/gone', 'cm/more')
  assert.deepEqual(going(plan), ['configmaps team'])
  assert.deepEqual(
    plan.refused.map(({ what, message, isMissing }) => [what, message.split(':')[0], isMissing === true]),
    [
      ['configmaps/gone', 'configmaps "gone" not found', true],
      ['configmaps/more', 'what there is could not be read', false],
    ],
  )
  assert.deepEqual([code, plan.forbidden], [21, []])
  assert.ok(plan.unread.some(({ what }) => what === 'configmaps'))
  const gated = await planBy('picker', 'delete', 'cm/settings', '--expect-none', 'secrets')
  assert.equal(gated.code, 20, gated.err)
})

test('what an apply scales down is not known to be nothing where its pods may not be listed', async () => {
  const file = join(directory, 'scaled.json')
  writeFileSync(file, JSON.stringify(deployment('web', 1, {}, 'team')))
  const { code, err, plan } = await planBy('scaler', 'apply', '-f', file, '--max', '0')
  assert.deepEqual([code, plan.goes, plan.refused], [20, [], []])
  assert.match(
    err,
    /^skiff: at least 0 objects would go, .*: not listed: (pods|replicasets\.apps), (pods|replicasets\.apps)\n$/,
  )
  const known = await planBy('hand', 'apply', '-f', file, '--max', '1', '--expect-none', 'rs')
  assert.match(known.err, /not listed: /)
  assert.deepEqual(going(known.plan), ['pods team'])
  writeFileSync(file, JSON.stringify(configMap('settings', {}, 'team')))
  const nothing = await planBy('hand', 'apply', '-f', file, '--max', '0')
  assert.deepEqual([nothing.code, nothing.err], [0, ''])
})

test('a pod that uses a claim may take a VolumeAttachment along, which may not be listed', async () => {
  const metadata = { name: 'mounts', namespace: 'team' }
  const volumes = [{ name: 'v', persistentVolumeClaim: { claimName: 'c' } }]
  const spec = { containers: [{ name: 'c', image: 'i:1' }], volumes }
  await stage.make(core('pods'), { apiVersion: 'v1', kind: 'Pod', metadata, spec })
  const { code, err } = await planBy('chief', 'delete', 'pod', 'mounts', '--max', '1')
  assert.equal(code, 20)
  assert.match(err, /^skiff: at least 1 objects would go, .*: not listed: volumeattachments\.storage\.k8s\.io/)
})
