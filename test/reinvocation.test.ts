/**
 * Which mutating webhooks are called again (API concept: reinvocation policy), against real calls. What is expected is what a
 * Kubernetes v1.37.1 did: the webhooks in the order in which it called them for one create.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import type { Json, JsonObject, KubeObject } from '../src/api/object.ts'
import { liveRuntime } from '../src/base/live-runtime.ts'
import { issue } from '../src/cluster/certificate.ts'
import { type Cluster, startCluster } from '../src/cluster/index.ts'

type Patch = readonly JsonObject[] | null | undefined
interface Hook {
  readonly policy: 'IfNeeded' | 'Never'
  readonly patch: (object: KubeObject) => Patch
}

const runtime = liveRuntime({ log: { write: () => {} } })
const ca = issue(runtime, { commonName: 'reinvocation', usage: 'ca', validDays: 1 })
const serving = issue(runtime, { commonName: 'x', usage: 'server', hosts: ['127.0.0.1'], validDays: 1 }, ca)

let hooks: Readonly<Record<string, Hook>> = {}
let calls = ''
const server = createServer({ cert: serving.cert, key: serving.key }, async (request, response) => {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part as Buffer)
  const review = JSON.parse(Buffer.concat(parts).toString()) as { request: { uid: string; object: KubeObject } }
  const name = new URL(request.url ?? '', 'https://x').pathname.slice(1)
  calls += name
  const patch = hooks[name]?.patch(review.request.object)
  const encoded =
    patch === undefined ? {} : { patchType: 'JSONPatch', patch: Buffer.from(JSON.stringify(patch)).toString('base64') }
  response.setHeader('content-type', 'application/json')
  response.end(
    JSON.stringify({
      apiVersion: 'admission.k8s.io/v1',
      kind: 'AdmissionReview',
      response: { uid: review.request.uid, allowed: true, ...encoded },
    }),
  )
})

const folder = mkdtempSync(join(tmpdir(), 'skiff-reinvocation-'))
const auditLog = join(folder, 'audit.log')

let cluster: Cluster
async function ask(method: string, path: string, object?: Json): Promise<number> {
  return (await cluster.client.raw(method, path, object as JsonObject)).status
}

before(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const widgets = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'widgets.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural: 'widgets', kind: 'Widget' },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
        },
      ],
    },
  }
  const auditPolicyFile = join(folder, 'policy.yaml')
  const rules = '[{level: Request, resources: [{group: "", resources: [configmaps]}]}, {level: Metadata}]'
  writeFileSync(
    auditPolicyFile,
    `apiVersion: audit.k8s.io/v1\nkind: Policy\nomitStages: [RequestReceived]\nrules: ${rules}`,
  )
  cluster = await startCluster({
    storage: 'memory',
    components: ['apiserver'],
    crds: [widgets as never],
    security: { auditPolicyFile, auditLogPath: auditLog },
  })
  const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default' } }
  await ask('POST', '/api/v1/namespaces/default/serviceaccounts', account)
})
after(async () => {
  await cluster?.stop()
  server.closeAllConnections()
  server.close()
  rmSync(folder, { recursive: true })
})

const metadata = (name: string) => ({ name, labels: { x: '1' } })
const container = { name: 'c', image: 'i' }
const kinds: Readonly<Record<string, { path: string; make: (name: string) => Json }>> = {
  pod: {
    path: '/api/v1/namespaces/default/pods',
    make: (name) => ({ apiVersion: 'v1', kind: 'Pod', metadata: metadata(name), spec: { containers: [container] } }),
  },
  'config map': {
    path: '/api/v1/namespaces/default/configmaps',
    make: (name) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: metadata(name) }),
  },
  widget: {
    path: '/apis/example.com/v1/namespaces/default/widgets',
    make: (name) => ({ apiVersion: 'example.com/v1', kind: 'Widget', metadata: metadata(name) }),
  },
}

const label = (name: string) => (): Patch => [{ op: 'add', path: `/metadata/labels/${name}`, value: '1' }]
const nothing = (): Patch => undefined
const emptyPatch = (): Patch => []
const nullPatch = (): Patch => null
const equal = (): Patch => [{ op: 'replace', path: '/metadata/labels/x', value: '1' }]
const onlyTest = (): Patch => [{ op: 'test', path: '/metadata/labels/x', value: '1' }]
const sidecar = ({ spec }: KubeObject): Patch =>
  spec.containers.length > 1
    ? undefined
    : [{ op: 'add', path: '/spec/containers/-', value: { ...container, name: 'd' } }]
const ifNeeded = (patch: Hook['patch']): Hook => ({ policy: 'IfNeeded', patch })
const never = (patch: Hook['patch']): Hook => ({ policy: 'Never', patch })

const cases: readonly (readonly [kind: string, hooks: Readonly<Record<string, Hook>>, called: string])[] = [
  ['pod', { a: ifNeeded(label('a')) }, 'a'],
  ['pod', { a: ifNeeded(label('a')), b: never(label('b')) }, 'aba'],
  ['pod', { a: ifNeeded(nothing), b: never(label('b')) }, 'aba'],
  ['pod', { a: ifNeeded(nothing), b: never(equal) }, 'aba'],
  ['pod', { a: ifNeeded(label('a')), b: ifNeeded(equal) }, 'ab'],
  ['pod', { a: ifNeeded(label('a')), b: ifNeeded(label('b')) }, 'aba'],
  // The ServiceAccount plugin mounts its token into the container that came, a change that both are told of.
  ['pod', { a: ifNeeded(sidecar) }, 'aa'],
  ['pod', { a: ifNeeded(sidecar), b: ifNeeded(sidecar) }, 'abab'],
  ['pod', { a: ifNeeded(label('a')), b: never(sidecar) }, 'aba'],
  ['pod', { a: never(label('a')), b: ifNeeded(nothing) }, 'ab'],
  ['pod', { a: ifNeeded(nothing), b: never(emptyPatch) }, 'ab'],
  ['pod', { a: ifNeeded(nothing), b: never(nullPatch) }, 'ab'],
  ['config map', { a: ifNeeded(label('a')) }, 'a'],
  ['config map', { a: ifNeeded(label('a')), b: never(label('b')) }, 'aba'],
  ['config map', { a: ifNeeded(nothing), b: never(equal) }, 'aba'],
  ['config map', { a: ifNeeded(nothing), b: never(onlyTest) }, 'aba'],
  ['config map', { a: ifNeeded(equal), b: ifNeeded(equal) }, 'ab'],
  ['config map', { a: ifNeeded(nothing), b: ifNeeded(equal), c: never(equal) }, 'abca'],
  ['widget', { a: ifNeeded(nothing), b: never(equal) }, 'ab'],
  ['widget', { a: ifNeeded(nothing), b: never(onlyTest) }, 'ab'],
  ['widget', { a: ifNeeded(nothing), b: never(label('b')) }, 'aba'],
]

for (const [at, [kind, of, called]] of cases.entries()) {
  const told = Object.entries(of).map(([name, { policy, patch }]) => `${name} ${policy} ${patch.name || 'label'}`)
  test(`${kind}: ${told.join(', ')}: called ${called}`, async () => {
    hooks = of
    calls = ''
    const { port } = server.address() as AddressInfo
    const rule = { apiGroups: ['', 'example.com'], apiVersions: ['v1'], operations: ['CREATE'] }
    const configuration = {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'MutatingWebhookConfiguration',
      metadata: { name: 'm' },
      webhooks: Object.entries(of).map(([name, { policy }]) => ({
        name: `${name}.example.com`,
        clientConfig: {
          url: `https://127.0.0.1:${port}/${name}`,
          caBundle: Buffer.from(ca.cert).toString('base64'),
        },
        rules: [{ ...rule, resources: ['pods', 'configmaps', 'widgets'] }],
        sideEffects: 'None',
        admissionReviewVersions: ['v1'],
        reinvocationPolicy: policy,
      })),
    }
    const path = '/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations'
    assert.equal(await ask('POST', path, configuration), 201)
    const { path: collection, make } = kinds[kind] as (typeof kinds)[string]
    assert.equal(await ask('POST', collection, make(`o${at}`)), 201)
    assert.equal(await ask('DELETE', `${path}/m`), 200)
    assert.equal(calls, called)
  })
}

/** What is said of webhooks in the event of the creation. */
function notesOf(name: string): Readonly<Record<string, unknown>> {
  const events = readFileSync(auditLog, 'utf8').trimEnd().split('\n')
  const created = events.map((line) => JSON.parse(line)).find((e) => e.verb === 'create' && e.objectRef?.name === name)
  const notes: [string, string][] = Object.entries(created?.annotations ?? {})
  return Object.fromEntries(
    notes
      .filter(([key]) => key.includes('webhook.admission.k8s.io/'))
      .map(([key, value]) => [key.replace('.webhook.admission.k8s.io/round_', ' '), value.replaceAll('"', '')]),
  )
}

test('the audit tells of each call whether it changed the object, by which patch only where it tells the object, and who was passed by', async () => {
  hooks = { a: ifNeeded(equal), b: never(label('b')), n: never(nullPatch) }
  const { port } = server.address() as AddressInfo
  const caBundle = Buffer.from(ca.cert).toString('base64')
  const resources = ['configmaps', 'secrets']
  const webhook = (name: string, reinvocationPolicy: string, url = `https://127.0.0.1:${port}/${name}`) => ({
    name: `${name}.example.com`,
    clientConfig: { url, caBundle },
    rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources }],
    failurePolicy: 'Ignore',
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
    ...(reinvocationPolicy === '' ? {} : { reinvocationPolicy }),
  })
  const nowhere = 'https://127.0.0.1:1/'
  const path = '/apis/admissionregistration.k8s.io/v1'
  const made = (kind: string, webhooks: readonly object[]) =>
    ({ apiVersion: 'admissionregistration.k8s.io/v1', kind, metadata: { name: 'm' }, webhooks }) as unknown as Json
  const mutating = [
    webhook('a', 'IfNeeded'),
    webhook('x', 'Never', nowhere),
    webhook('b', 'Never'),
    webhook('n', 'Never'),
  ]
  await ask('POST', `${path}/mutatingwebhookconfigurations`, made('MutatingWebhookConfiguration', mutating))
  const validating = made('ValidatingWebhookConfiguration', [webhook('y', '', nowhere)])
  await ask('POST', `${path}/validatingwebhookconfigurations`, validating)
  for (const kind of ['ConfigMap', 'Secret'])
    await ask('POST', `/api/v1/namespaces/default/${kind.toLowerCase()}s`, {
      apiVersion: 'v1',
      kind,
      metadata: metadata(`audited-${kind.toLowerCase()}`),
    })
  for (const kind of ['mutating', 'validating']) await ask('DELETE', `${path}/${kind}webhookconfigurations/m`)
  const said = {
    'mutation 0_index_0': '{configuration:m,webhook:a.example.com,mutated:true}',
    'mutation 0_index_1': '{configuration:m,webhook:x.example.com,mutated:false}',
    'failed-open.mutation 0_index_1': 'x.example.com',
    'mutation 0_index_2': '{configuration:m,webhook:b.example.com,mutated:true}',
    'mutation 0_index_3': '{configuration:m,webhook:n.example.com,mutated:false}',
    'mutation 1_index_0': '{configuration:m,webhook:a.example.com,mutated:false}',
    'failed-open.validating 0_index_0': 'y.example.com',
  }
  assert.deepEqual(notesOf('audited-secret'), said)
  const patch = (name: string, op: string, of: string) =>
    `{configuration:m,webhook:${name}.example.com,patch:[{op:${op},path:/metadata/labels/${of},value:1}],patchType:JSONPatch}`
  assert.deepEqual(notesOf('audited-configmap'), {
    ...said,
    'patch 0_index_0': patch('a', 'replace', 'x'),
    'patch 0_index_2': patch('b', 'add', 'b'),
    // Also where it changed nothing.
    'patch 1_index_0': patch('a', 'replace', 'x'),
  })
})

test('a patch of what is deleted is an error, whatever the failure policy says; one of nothing is none', async () => {
  const { port } = server.address() as AddressInfo
  const path = '/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations'
  const configuration = (failurePolicy: string): Json => ({
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'MutatingWebhookConfiguration',
    metadata: { name: 'm' },
    webhooks: [
      {
        name: 'a.example.com',
        clientConfig: { url: `https://127.0.0.1:${port}/a`, caBundle: Buffer.from(ca.cert).toString('base64') },
        rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['DELETE'], resources: ['configmaps'] }],
        failurePolicy,
        sideEffects: 'None',
        admissionReviewVersions: ['v1'],
      },
    ],
  })
  const maps = '/api/v1/namespaces/default/configmaps'
  for (const policy of ['Ignore', 'Fail']) {
    await ask('POST', path, configuration(policy))
    for (const patch of [label('a'), onlyTest, emptyPatch, nullPatch, nothing]) {
      hooks = { a: never(patch) }
      await ask('POST', maps, { apiVersion: 'v1', kind: 'ConfigMap', metadata: metadata('deleted') })
      const { status, body } = await cluster.client.raw('DELETE', `${maps}/deleted`)
      if (patch !== onlyTest && patch.name !== '') assert.equal(status, 200, `${policy} ${patch.name}`)
      else {
        assert.equal(status, 500, `${policy} ${patch.name}`)
        const what = 'attempted to modify the object, which is not supported for this operation'
        assert.equal(JSON.parse(body).message, `Internal error occurred: admission webhook "a.example.com" ${what}`)
      }
    }
    await ask('DELETE', `${path}/m`)
  }
})

test('a list that was sent empty is forgotten once a webhook changed the object: it makes no generation', async () => {
  hooks = { a: never(label('a')) }
  const { port } = server.address() as AddressInfo
  const path = '/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations'
  const configuration = {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'MutatingWebhookConfiguration',
    metadata: { name: 'm' },
    webhooks: [
      {
        name: 'a.example.com',
        clientConfig: { url: `https://127.0.0.1:${port}/a`, caBundle: Buffer.from(ca.cert).toString('base64') },
        rules: [
          {
            apiGroups: ['networking.k8s.io'],
            apiVersions: ['v1'],
            operations: ['CREATE', 'UPDATE'],
            resources: ['networkpolicies'],
          },
        ],
        sideEffects: 'None',
        admissionReviewVersions: ['v1'],
      },
    ],
  }
  const policies = '/apis/networking.k8s.io/v1/namespaces/default/networkpolicies'
  const sent = {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: metadata('x'),
    spec: { podSelector: {}, ingress: [] },
  }
  assert.equal(await ask('POST', path, configuration), 201)
  assert.equal(await ask('POST', policies, sent), 201)
  assert.equal(await ask('PUT', `${policies}/x`, sent as never), 200)
  const kept = JSON.parse((await cluster.client.raw('GET', `${policies}/x`)).body) as KubeObject
  assert.equal(await ask('DELETE', `${path}/m`), 200)
  assert.equal(kept.metadata.generation, 1)
})
