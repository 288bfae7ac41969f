/** API versions that are served where --runtime-config asks for them, as a Kubernetes v1.37.1 was heard to serve them (2026-11-26). */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { JsonObject } from '../src/api/object.ts'
import { chosenResources } from '../src/api/scheme/runtime-config.ts'
import { asList, asObject } from '../src/api/unchecked.ts'
import { type Cluster, startCluster } from '../src/cluster/index.ts'

let cluster: Cluster
before(async () => {
  cluster = await startCluster({
    storage: 'memory',
    components: ['apiserver'],
    security: { runtimeConfig: ['api/all=true'] },
  })
})
after(async () => cluster?.stop())

async function ask(method: string, path: string, object?: JsonObject) {
  const { status, body } = await cluster.client.raw(method, path, object)
  return { status, body: JSON.parse(body) as JsonObject }
}

test('a version is asked for by its name, by its kind, or resource by resource', () => {
  const served = (settings: readonly string[], apiVersion: string, resource: string, usual = false) =>
    chosenResources(settings)?.(apiVersion, resource, usual)
  const BETA1 = 'resource.k8s.io/v1beta1'
  assert.equal(served([], BETA1, 'deviceclasses'), undefined)
  assert.equal(served(['resource.k8s.io/v1beta2=true'], 'resource.k8s.io/v1beta2', 'deviceclasses'), true)
  assert.equal(served(['resource.k8s.io/v1beta2=true'], BETA1, 'deviceclasses'), false)
  assert.equal(served([`${BETA1}/deviceclasses=true`], BETA1, 'deviceclasses'), true)
  assert.equal(served([`${BETA1}/deviceclasses=true`], BETA1, 'resourceslices'), false)
  const beta = ['api/beta=true', 'certificates.k8s.io/v1beta1=false']
  assert.equal(served(beta, BETA1, 'deviceclasses'), true)
  assert.equal(served(beta, 'certificates.k8s.io/v1beta1', 'clustertrustbundles'), false)
  assert.equal(served(beta, 'resource.k8s.io/v1alpha3', 'devicetaintrules'), false)
  const all = ['api/all=true', 'api/beta=false']
  assert.equal(served(all, 'resource.k8s.io/v1alpha3', 'devicetaintrules'), true)
  assert.equal(served(all, BETA1, 'deviceclasses'), false)
  assert.equal(served(['apps/v1=false', 'apps/v1/deployments=true'], 'apps/v1', 'deployments', true), true)
  assert.equal(served(['api/all=false', 'api/ga=true'], 'apps/v1', 'daemonsets', true), true)
  assert.equal(served(['api/ga=false'], 'v1', 'pods', true), false)
})

test('discovery lists them behind those that always are', async () => {
  const { body } = await ask('GET', '/apis')
  const versions = new Map(
    asList(body['groups'])
      .map(asObject)
      .map((group) => [group['name'], asList(group['versions']).map((one) => asObject(one)['version'])]),
  )
  assert.deepEqual(versions.get('resource.k8s.io'), ['v1', 'v1beta2', 'v1beta1', 'v1alpha3'])
  assert.deepEqual(versions.get('admissionregistration.k8s.io'), ['v1', 'v1beta1', 'v1alpha1'])
  assert.deepEqual(versions.get('certificates.k8s.io'), ['v1', 'v1beta1'])
  assert.deepEqual(versions.get('storagemigration.k8s.io'), ['v1', 'v1beta1'])
  const resources = asList((await ask('GET', '/apis/resource.k8s.io/v1beta2')).body['resources']).map(asObject)
  assert.deepEqual(
    resources.map(({ name }) => name),
    [
      ...['deviceclasses', 'devicetaintrules', 'devicetaintrules/status', 'resourceclaims', 'resourceclaims/status'],
      ...['resourceclaimtemplates', 'resourceslices'],
    ],
  )
  assert.equal(resources[0]?.['storageVersionHash'], 'Yk2PTc1Ybxk=')
})

const CLAIMS = (version: string) => `/apis/resource.k8s.io/${version}/namespaces/default/resourceclaims`
const claim = (version: string, name: string, requests: readonly JsonObject[]) => ({
  apiVersion: `resource.k8s.io/${version}`,
  kind: 'ResourceClaim',
  metadata: { name },
  spec: { devices: { requests } },
})
const requestsOf = (body: JsonObject) => asObject(asObject(body['spec'])['devices'])['requests']

test('a claim is made and read in each of the versions', async () => {
  const selectors = [{ cel: { expression: 'true' } }]
  const counted = { allocationMode: 'ExactCount', count: 1 }
  const flat = [
    { name: 'r', deviceClassName: 'c', selectors },
    { name: 'f', firstAvailable: [{ name: 'x', deviceClassName: 'c' }] },
  ]
  const alternatives = [{ name: 'x', deviceClassName: 'c', ...counted }]
  const made = await ask('POST', CLAIMS('v1beta1'), claim('v1beta1', 'b1', flat))
  assert.equal(made.status, 201)
  const asBeta1 = [
    { name: 'r', deviceClassName: 'c', selectors, ...counted },
    { name: 'f', deviceClassName: '', firstAvailable: alternatives },
  ]
  assert.deepEqual(requestsOf(made.body), asBeta1)
  const since = [
    { name: 'r', exactly: { deviceClassName: 'c', selectors, ...counted } },
    { name: 'f', firstAvailable: alternatives },
  ]
  for (const [version, requests] of [
    ['v1', since],
    ['v1beta2', since],
    ['v1beta1', asBeta1],
  ] as const) {
    const { body } = await ask('GET', `${CLAIMS(version)}/b1`)
    assert.deepEqual([body['apiVersion'], requestsOf(body)], [`resource.k8s.io/${version}`, requests])
  }

  const exactly = { deviceClassName: 'c', tolerations: [{ key: 'a' }] }
  await ask('POST', CLAIMS('v1beta2'), claim('v1beta2', 'b2', [{ name: 'r', exactly }]))
  const { body } = await ask('GET', `${CLAIMS('v1beta1')}/b2`)
  const tolerations = [{ key: 'a', operator: 'Equal' }]
  assert.deepEqual(requestsOf(body), [{ name: 'r', deviceClassName: 'c', ...counted, tolerations }])
  const list = await ask('GET', CLAIMS('v1beta1'))
  assert.deepEqual([list.body['apiVersion'], asList(list.body['items']).length], ['resource.k8s.io/v1beta1', 2])

  const empty = await ask('POST', CLAIMS('v1beta1'), claim('v1beta1', 'bad', [{ name: 'r' }]))
  assert.equal(empty.status, 422)
  assert.match(
    String(empty.body['message']),
    /spec\.devices\.requests\[0\]: Required value: exactly one of `exactly` or/,
  )
  // What is given of the one kind of device makes it a request of that, as a Kubernetes v1.37.1 was heard to judge (2026-11-26).
  const refused = async (request: JsonObject) =>
    String((await ask('POST', CLAIMS('v1beta1'), claim('v1beta1', 'z', [{ name: 'r', ...request }]))).body['message'])
  const path = 'spec.devices.requests[0]'
  const lacking = `ResourceClaim.resource.k8s.io "z" is invalid: [${path}.exactly.deviceClassName: Required value, ${path}.exactly.allocationMode: Unsupported value: "": supported values: "All", "ExactCount"]`
  for (const request of [{ count: 1 }, { adminAccess: false }, { tolerations: [{ key: 'a' }] }])
    assert.equal(await refused(request), lacking, JSON.stringify(request))
  assert.equal(
    await refused({ count: 1, firstAvailable: alternatives }),
    `ResourceClaim.resource.k8s.io "z" is invalid: ${path}: Invalid value: null: exactly one of \`exactly\` or \`firstAvailable\` is required, but multiple fields are set`,
  )
  const other = await ask('POST', CLAIMS('v1'), claim('v1beta2', 'w', []))
  assert.equal(
    other.body['message'],
    'the API version in the data (resource.k8s.io/v1beta2) does not match the expected API version (resource.k8s.io/v1)',
  )
})

test('a patch, an apply and a watch are of the version that they name', async () => {
  const path = `${CLAIMS('v1beta1')}/b2`
  const resource = (version: string) =>
    cluster.client.resource({ group: 'resource.k8s.io', version, resource: 'resourceclaims' }).namespace('default')
  const { metadata } = await resource('v1beta2').list()
  const events = await resource('v1beta1').watch(
    { resourceVersion: metadata.resourceVersion },
    AbortSignal.timeout(9000),
  )
  await resource('v1beta1').patch('b2', 'merge', { metadata: { labels: { a: 'b' } } })
  const seen = (await events.next())?.object as unknown as JsonObject
  assert.deepEqual([seen['apiVersion'], asList(requestsOf(seen)).length], ['resource.k8s.io/v1beta1', 1])
  assert.deepEqual(asObject((await ask('GET', path)).body['metadata'])['labels'], { a: 'b' })
})

test('a device of v1beta1 has in `basic` what is its own since', async () => {
  const attributes = { x: { bool: true } }
  const capacity = { m: { value: '1Gi' } }
  const spec = {
    driver: 'd.example.com',
    pool: { name: 'p', generation: 1, resourceSliceCount: 1 },
    nodeName: 'n',
    devices: [{ name: 'a', basic: { attributes, capacity } }],
  }
  const slice = { apiVersion: 'resource.k8s.io/v1beta1', kind: 'ResourceSlice', metadata: { name: 's' }, spec }
  const made = await ask('POST', '/apis/resource.k8s.io/v1beta1/resourceslices', slice)
  assert.deepEqual(asObject(made.body['spec'])['devices'], spec.devices)
  const { body } = await ask('GET', '/apis/resource.k8s.io/v1/resourceslices/s')
  assert.deepEqual(asObject(body['spec'])['devices'], [{ name: 'a', attributes, capacity }])
})

test('kinds that are the same but for their version have the defaults of it', async () => {
  const group = 'admissionregistration.k8s.io'
  const rule = { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }
  const policy = {
    apiVersion: `${group}/v1alpha1`,
    kind: 'MutatingAdmissionPolicy',
    metadata: { name: 'm' },
    spec: {
      matchConstraints: { resourceRules: [rule] },
      reinvocationPolicy: 'Never',
      mutations: [{ patchType: 'ApplyConfiguration', applyConfiguration: { expression: 'Object{}' } }],
    },
  }
  assert.equal((await ask('POST', `/apis/${group}/v1alpha1/mutatingadmissionpolicies`, policy)).status, 201)
  const { body } = await ask('GET', `/apis/${group}/v1/mutatingadmissionpolicies/m`)
  const spec = asObject(body['spec'])
  assert.deepEqual(
    [spec['failurePolicy'], asObject(spec['matchConstraints'])],
    [
      'Fail',
      {
        namespaceSelector: {},
        objectSelector: {},
        resourceRules: [{ ...rule, scope: '*' }],
        matchPolicy: 'Equivalent',
      },
    ],
  )
  const migration = {
    apiVersion: 'storagemigration.k8s.io/v1beta1',
    kind: 'StorageVersionMigration',
    metadata: { name: 'm' },
    spec: { resource: { group: 'apps', resource: 'deployments' } },
  }
  const path = '/apis/storagemigration.k8s.io/v1beta1/storageversionmigrations'
  assert.equal((await ask('POST', path, migration)).status, 201)
})

test('OpenAPI knows them, and without being asked for they are not there', async () => {
  const { body } = await ask('GET', '/openapi/v3/apis/resource.k8s.io/v1beta1')
  assert.ok('io.k8s.api.resource.v1beta1.BasicDevice' in asObject(asObject(body['components'])['schemas']))
  const usual = await startCluster({ storage: 'memory', components: ['apiserver'] })
  try {
    const { status } = await usual.client.raw('GET', '/apis/resource.k8s.io/v1beta1')
    assert.equal(status, 404)
  } finally {
    await usual.stop()
  }
})

test('what is switched off is not there: not in discovery, not in OpenAPI, and a request finds nothing', async () => {
  const without = await startCluster({
    storage: 'memory',
    components: ['apiserver'],
    security: { runtimeConfig: ['apps/v1=false', 'batch/v1/cronjobs=false'] },
  })
  try {
    const get = (path: string) => without.client.raw('GET', path)
    const groups = asList((JSON.parse((await get('/apis')).body) as JsonObject)['groups']).map(asObject)
    assert.deepEqual(groups.map(({ name }) => name).slice(0, 6), [
      'apiregistration.k8s.io',
      'events.k8s.io',
      'authentication.k8s.io',
      'authorization.k8s.io',
      'autoscaling',
      'batch',
    ])
    for (const path of ['/apis/apps', '/apis/apps/v1', '/apis/apps/v1/namespaces/default/deployments/x']) {
      const { status, body } = await get(path)
      assert.deepEqual([status, body], [404, '404 page not found\n'], path)
    }
    for (const path of ['/apis/batch/v1/cronjobs', '/apis/batch/v1/namespaces/default/cronjobs/x/status']) {
      const { status, body } = await get(path)
      const { message, details } = JSON.parse(body) as JsonObject
      assert.deepEqual([status, message, details], [404, 'the server could not find the requested resource', {}], path)
    }
    const resources = asList((JSON.parse((await get('/apis/batch/v1')).body) as JsonObject)['resources']).map(asObject)
    assert.deepEqual(
      resources.map(({ name }) => name),
      ['jobs', 'jobs/status'],
    )
    assert.equal((await get('/openapi/v3/apis/apps/v1')).status, 404)
    const v2 = JSON.parse((await get('/openapi/v2')).body) as JsonObject
    const names = [...Object.keys(asObject(v2['paths'])), ...Object.keys(asObject(v2['definitions']))]
    assert.deepEqual(
      names.filter((name) => /\/apps|cronjob|apps\.v1|CronJob/.test(name)),
      [],
    )
    assert.equal((await get('/apis/apiregistration.k8s.io/v1/apiservices/v1.apps')).status, 404)
    assert.equal((await get('/apis/apiregistration.k8s.io/v1/apiservices/v1.batch')).status, 200)
  } finally {
    await without.stop()
  }
})

test('controllers and nodes are not started without what they use', async () => {
  const security = { runtimeConfig: ['apps/v1/daemonsets=false'] }
  await assert.rejects(
    startCluster({ storage: 'memory', security }),
    /daemonsets of apps\/v1 can be switched off in an API/,
  )
})

test('an API server serves no more than what it needs itself', async () => {
  const needed = ['v1', 'apiregistration', 'admissionregistration', 'apiextensions', 'discovery', 'rbac.authorization']
  const versions = needed.map((group) => (group === 'v1' ? group : `${group}.k8s.io/v1`))
  const resources = ['networking.k8s.io/v1/ingressclasses', 'networking.k8s.io/v1/ipaddresses']
  const others = ['networking.k8s.io/v1/servicecidrs', 'scheduling.k8s.io/v1', 'storage.k8s.io/v1/storageclasses']
  const on = [...versions, ...resources, ...others].map((key) => `${key}=true`)
  const least = await startCluster({
    storage: 'memory',
    components: ['apiserver'],
    security: { enablePriorityAndFairness: false, runtimeConfig: ['api/all=false', ...on] },
  })
  try {
    assert.equal((await least.client.raw('GET', '/readyz')).status, 200)
    assert.equal((await least.client.raw('GET', '/apis/flowcontrol.apiserver.k8s.io/v1')).status, 404)
    const map = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'p' } }
    const { status, body } = await least.client.raw('POST', '/api/v1/namespaces/default/configmaps', map)
    assert.equal(status, 201, body)
  } finally {
    await least.stop()
  }
})
