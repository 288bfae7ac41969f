/** Uninstalls that take away what the API server itself needs for the rest: servers of webhooks and of aggregated APIs, and roles. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { KubeObject } from '../../src/api/object.ts'
import { uninstallDeed } from '../../src/inspect/plan/manifest-deeds.ts'
import { type Plan, planIn, readModel } from '../../src/inspect/plan/plan.ts'
import { planAs } from '../../src/inspect/plan/report.ts'
import { core, DEFINITIONS, DEPLOYMENTS, definition, deployment, NAMESPACES, type Stage, startStage } from './stage.ts'

const ADMISSION = 'admissionregistration.k8s.io'
const RBAC = 'rbac.authorization.k8s.io'
const HOOKS = { group: ADMISSION, version: 'v1', resource: 'validatingwebhookconfigurations' }
const API_SERVICES = { group: 'apiregistration.k8s.io', version: 'v1', resource: 'apiservices' }
const shops = (group: string) => ({ group, version: 'v1', resource: 'shops' })

const namespaceOf = (name: string) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
const service = (name: string, namespace: string) => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name, namespace },
  spec: { selector: { app: name }, ports: [{ port: 443 }] },
})
const shop = (group: string, finalizers: readonly string[] = [], namespace = 'default') => ({
  apiVersion: `${group}/v1`,
  kind: 'Shop',
  metadata: { name: 'shop', namespace, finalizers },
})
const hook = (name: string, group: string, operation: string) => ({
  apiVersion: `${ADMISSION}/v1`,
  kind: 'ValidatingWebhookConfiguration',
  metadata: { name },
  webhooks: [
    {
      name: `${name}.acme.test`,
      clientConfig: { service: { namespace: name, name } },
      rules: [{ apiGroups: [group], apiVersions: ['*'], operations: [operation], resources: ['*'] }],
      sideEffects: 'None',
      admissionReviewVersions: ['v1'],
    },
  ],
})

let stage: Stage
/** A Deployment and its Service, in a namespace of their name. */
async function server(name: string, spec: object = {}) {
  await stage.make(NAMESPACES, namespaceOf(name))
  await stage.cluster.clock.advance('2s')
  await stage.make(DEPLOYMENTS, deployment(name, 1, spec, name))
  await stage.make(core('services'), service(name, name))
}

before(async () => {
  stage = await startStage(1)
  for (const name of ['guard', 'keeper', 'converter', 'agg']) await server(name)
  const conversion = {
    strategy: 'Webhook',
    webhook: {
      clientConfig: { service: { namespace: 'converter', name: 'converter' } },
      conversionReviewVersions: ['v1'],
    },
  }
  for (const group of ['guarded.test', 'kept.test']) await stage.make(DEFINITIONS, definition(undefined, group))
  await stage.make(DEFINITIONS, definition(conversion, 'converted.test'))
  await stage.cluster.clock.advance('5s')
  await stage.make(shops('guarded.test'), shop('guarded.test'))
  await stage.make(shops('kept.test'), shop('kept.test', ['kept.test/cleanup']))
  await stage.make(shops('converted.test'), shop('converted.test'))
  await stage.make(HOOKS, hook('guard', 'guarded.test', 'DELETE'))
  await stage.make(HOOKS, hook('keeper', 'kept.test', 'UPDATE'))
  await stage.make(API_SERVICES, {
    apiVersion: 'apiregistration.k8s.io/v1',
    kind: 'APIService',
    metadata: { name: 'v1.agg.test' },
    spec: {
      group: 'agg.test',
      version: 'v1',
      groupPriorityMinimum: 100,
      versionPriority: 10,
      insecureSkipTLSVerify: true,
      service: { namespace: 'agg', name: 'agg' },
    },
  })
  await stage.make(NAMESPACES, namespaceOf('other'))
  await stage.cluster.clock.advance('10s')
})
after(() => stage?.stop())

/** Each file is one object. */
async function uninstall(...objects: readonly object[]): Promise<Plan> {
  const model = await readModel(stage.source)
  const files = objects.map((object) => ({ name: (object as KubeObject).kind, objects: [object as KubeObject] }))
  return planIn(stage.source, model, uninstallDeed(model.read, files, { namespace: 'default' }, {}), { orders: 0 })
}
const ends = ({ stages }: Plan) => stages.map(({ ended }) => ended !== undefined)

test("a webhook's server that goes before what the webhook is asked about is a deadlock; not so its configuration first", async () => {
  const parts = [
    deployment('guard', 1, {}, 'guard'),
    shop('guarded.test'),
    hook('guard', 'guarded.test', 'DELETE'),
  ] as const
  const [server, guarded, configuration] = parts
  const wrong = await uninstall(server, guarded, configuration)
  assert.deepEqual(ends(wrong), [true, false, true])
  assert.match(
    planAs('tree', wrong),
    /a deadlock:\n {2}delete -f Shop is refused: shops\/shop: .*failed calling webhook "guard\.acme\.test".*no endpoints available for service "guard"/,
  )
  const right = await uninstall(configuration, guarded, server)
  assert.deepEqual([ends(right), right.refused], [[true, true, true], []])
})

test("a namespace that takes a webhook's server with it leaves what the webhook is asked about", async () => {
  const wrong = await uninstall(namespaceOf('guard'), shop('guarded.test'))
  assert.deepEqual(ends(wrong), [true, false])
  assert.match(wrong.stages[1]?.refused[0]?.message ?? '', /service "guard" not found/)
})

test('a finalizer that its controller may not take off any more, since a webhook of updates has no server, stays', async () => {
  const wrong = await uninstall(service('keeper', 'keeper'), shop('kept.test'))
  assert.deepEqual(ends(wrong), [true, false])
  assert.deepEqual(
    wrong.stays.map(({ object, verdict, responsible, goesIfOthersAct }) => [
      object.kind,
      verdict,
      responsible,
      goesIfOthersAct,
    ]),
    [['Shop', 'refused', 'webhook keeper.acme.test of keeper', false]],
  )
})

test('what has to be converted by a server that is gone cannot be deleted in that version', async () => {
  const converted = { ...shop('converted.test'), apiVersion: 'converted.test/v2' }
  const wrong = await uninstall(deployment('converter', 1, {}, 'converter'), converted)
  assert.deepEqual(ends(wrong), [true, false])
  assert.match(
    wrong.stages[1]?.refused[0]?.message ?? '',
    /conversion webhook .* no endpoints available for service "converter"/,
  )
  const right = await uninstall(converted, deployment('converter', 1, {}, 'converter'))
  assert.deepEqual(ends(right), [true, true])
})

test('no namespace ends while an aggregated API that is still registered has no server', async () => {
  const wrong = await uninstall(deployment('agg', 1, {}, 'agg'), namespaceOf('other'))
  assert.deepEqual(ends(wrong), [true, false])
  assert.match(wrong.stages[1]?.heldBy[0] ?? '', /namespaces\/other: the aggregated API v1\.agg\.test does not answer/)
  const registration = {
    apiVersion: 'apiregistration.k8s.io/v1',
    kind: 'APIService',
    metadata: { name: 'v1.agg.test' },
  }
  assert.deepEqual(ends(await uninstall(registration, deployment('agg', 1, {}, 'agg'), namespaceOf('other'))), [
    true,
    true,
    true,
  ])
})

test('a controller that runs on without its account, or its role, takes no finalizer off', async () => {
  const metadata = { name: 'kept-operator' }
  const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { ...metadata, namespace: 'kept' } }
  const role = { apiVersion: `${RBAC}/v1`, kind: 'ClusterRole', metadata }
  await stage.make(NAMESPACES, namespaceOf('kept'))
  await stage.make(core('serviceaccounts'), account)
  await stage.make(
    { group: RBAC, version: 'v1', resource: 'clusterroles' },
    { ...role, rules: [{ apiGroups: ['kept.test'], resources: ['*'], verbs: ['*'] }] },
  )
  await stage.make(
    { group: RBAC, version: 'v1', resource: 'clusterrolebindings' },
    {
      apiVersion: `${RBAC}/v1`,
      kind: 'ClusterRoleBinding',
      metadata,
      roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name: metadata.name },
      subjects: [{ kind: 'ServiceAccount', name: metadata.name, namespace: 'kept' }],
    },
  )
  await stage.make(DEPLOYMENTS, deployment('kept-operator', 1, { serviceAccountName: metadata.name }, 'kept'))
  await stage.cluster.clock.advance('10s')
  const configuration = hook('keeper', 'kept.test', 'UPDATE')
  for (const first of [account, role]) {
    const wrong = await uninstall(configuration, first, shop('kept.test'))
    assert.deepEqual(ends(wrong), [true, true, false], first.kind)
    assert.match(wrong.stages[2]?.heldBy[0] ?? '', /kept-operator/)
  }
  assert.deepEqual(ends(await uninstall(configuration, shop('kept.test'), account)), [true, true, true])
})
