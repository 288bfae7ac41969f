import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Fields, KubeObject } from '../../api/object.ts'
import { createScheme } from '../../api/scheme/scheme.ts'
import { StatusError } from '../../api/status.ts'
import { serviceNetwork } from '../registry/allocators/service-network.ts'
import { type BootstrapOptions, ensureBootstrapObjects, keepTrust } from './bootstrap.ts'
import { startStandIn } from './test-stand-in.ts'

const RBAC = 'rbac.authorization.k8s.io'
const TRUST = 'extension-apiserver-authentication'

async function started(more: Partial<BootstrapOptions> = {}) {
  const it = startStandIn()
  const { runtime, handler, reads } = it.options
  const options: BootstrapOptions = {
    runtime,
    handler,
    reads,
    scheme: createScheme(),
    port: 6443,
    network: serviceNetwork('10.1.0.0/16'),
    trust: { 'client-ca-file': 'ours' },
    ...more,
  }
  const start = () => it.runtime.complete(ensureBootstrapObjects(options))
  await start()
  const first = it.taken()
  /** Changes a stored object, as a user would. */
  const change = (resource: string, name: string, fields: Fields, namespace = '') =>
    it.put(resource, { ...at(resource, name, namespace), ...fields } as KubeObject)
  const at = (resource: string, name: string, namespace = ''): KubeObject =>
    it.get(resource === 'configmaps' || resource === 'services' ? '' : RBAC, resource, namespace, name) as KubeObject
  return { ...it, standIn: it.options, options, start, first, at, change }
}

test('a fresh cluster gets its namespaces before what lives in them, and another start writes nothing', async () => {
  const it = await started()
  const namespaces = it.first.filter((what) => what === 'POST /api/v1/namespaces')
  assert.equal(namespaces.length, 4)
  assert.deepEqual(it.first.slice(0, 4), namespaces)
  const service = it.at('services', 'kubernetes', 'default')
  assert.deepEqual([service['spec'].clusterIP, service['spec'].ports[0].targetPort], ['10.1.0.1', 6443])
  assert.deepEqual(it.get('networking.k8s.io', 'servicecidrs', '', 'kubernetes')?.['spec'].cidrs, ['10.1.0.0/16'])
  await it.start()
  assert.deepEqual(it.taken(), [])
})

test('a cluster gains a second range, and of ranges that are others than before an Event tells', async () => {
  const it = await started()
  const cidrs = () => it.get('networking.k8s.io', 'servicecidrs', '', 'kubernetes')?.['spec'].cidrs
  const startWith = (ranges: string) =>
    it.runtime.complete(ensureBootstrapObjects({ ...it.options, network: serviceNetwork(ranges) }))
  await startWith('10.1.0.0/16,fd00::/112')
  assert.deepEqual(it.taken(), ['PUT /apis/networking.k8s.io/v1/servicecidrs/kubernetes'])
  assert.deepEqual(cidrs(), ['10.1.0.0/16', 'fd00::/112'])
  await startWith('10.1.0.0/16,fd00::/112')
  assert.deepEqual(it.taken(), [])
  for (const other of ['10.1.0.0/16', '10.2.0.0/16', 'fd00::/112,10.1.0.0/16']) {
    await it.runtime.advance(1000.25)
    await startWith(other)
    assert.deepEqual(it.taken(), ['POST /api/v1/namespaces/default/events'])
    assert.deepEqual(cidrs(), ['10.1.0.0/16', 'fd00::/112'])
  }
})

test('what a slow store did not take is written again, as long as its patience is, and with it what follows', async () => {
  const slow = () =>
    new StatusError(500, 'InternalError', 'Internal error occurred: etcd: whether it was done is not known')
  const status = 'PATCH /apis/networking.k8s.io/v1/servicecidrs/kubernetes/status kubernetes-service-cidr-controller'
  const it = startStandIn()
  const { runtime, handler, reads } = it.options
  const network = serviceNetwork('10.1.0.0/16')
  const options = { runtime, handler, reads, scheme: createScheme(), port: 6443, network }
  it.refuse('POST /api/v1/namespaces', slow())
  await assert.rejects(it.runtime.complete(ensureBootstrapObjects(options)), /not known/)
  it.refuse('POST /api/v1/namespaces', slow())
  await it.runtime.complete(ensureBootstrapObjects({ ...options, patienceMs: 30_000 }))
  const { status: _, ...made } = it.get('networking.k8s.io', 'servicecidrs', '', 'kubernetes') as KubeObject
  it.put('servicecidrs', made)
  it.taken()
  await it.runtime.complete(ensureBootstrapObjects(options))
  assert.deepEqual(it.taken(), [status])
  it.refuse('POST /api/v1/namespaces', new StatusError(403, 'Forbidden', 'no'))
  it.remove('', 'namespaces', '', 'default')
  await assert.rejects(it.runtime.complete(ensureBootstrapObjects({ ...options, patienceMs: 30_000 })), /no/)
})

test('a role regains rules it has lost, a binding subjects, and both keep what was added', async () => {
  const it = await started()
  const own = { verbs: ['get'], apiGroups: [''], resources: ['things'] }
  const rules: readonly Fields[] = it.at('clusterroles', 'system:discovery')['rules']
  it.change('clusterroles', 'system:discovery', { rules: [own] })
  const viewers = 'system:public-info-viewer'
  const subjects: readonly Fields[] = it.at('clusterrolebindings', viewers)['subjects']
  it.change('clusterrolebindings', viewers, { subjects: [subjects[1]] })
  it.remove(RBAC, 'clusterroles', '', 'view')
  it.taken()
  await it.start()
  assert.deepEqual(it.at('clusterroles', 'system:discovery')['rules'], [own, ...rules])
  assert.deepEqual(it.at('clusterrolebindings', viewers)['subjects'], [subjects[1], subjects[0]])
  assert.deepEqual(it.taken().sort(), [
    `POST /apis/${RBAC}/v1/clusterroles`,
    `PUT /apis/${RBAC}/v1/clusterrolebindings/${viewers}`,
    `PUT /apis/${RBAC}/v1/clusterroles/system:discovery`,
  ])
})

test('a rule whose fields stand in another order is not lost', async () => {
  const it = await started()
  const rules: readonly Fields[] = it.at('clusterroles', 'system:discovery')['rules']
  it.change('clusterroles', 'system:discovery', {
    rules: rules.map((rule) => Object.fromEntries(Object.entries(rule).reverse())),
  })
  await it.start()
  assert.deepEqual(it.taken(), [])
})

test('a role that opts out by autoupdate "false" stays as it was left, and one that says "true" does not', async () => {
  const it = await started()
  for (const [name, autoupdate] of [
    ['system:discovery', 'false'],
    ['system:basic-user', 'true'],
  ] as const) {
    const { metadata } = it.at('clusterroles', name)
    const annotations = { 'rbac.authorization.kubernetes.io/autoupdate': autoupdate }
    it.change('clusterroles', name, { metadata: { ...metadata, annotations }, rules: [] })
  }
  await it.start()
  assert.deepEqual(it.at('clusterroles', 'system:discovery')['rules'], [])
  assert.deepEqual(it.taken(), [`PUT /apis/${RBAC}/v1/clusterroles/system:basic-user`])
})

test('rules of aggregated roles are those of the controller that gathers them', async () => {
  const it = await started()
  const rules = [{ verbs: ['get'], apiGroups: [''], resources: ['gathered'] }]
  it.change('clusterroles', 'admin', { rules })
  it.change('clusterroles', 'view', { rules: [] })
  await it.start()
  assert.deepEqual(it.taken(), [])
  assert.deepEqual(it.at('clusterroles', 'admin')['rules'], rules)
})

test('the user who asks kubelets is bound to what that takes, where there is one', async () => {
  const name = 'skiff:apiserver-kubelet-client'
  assert.equal((await started()).at('clusterrolebindings', name), undefined)
  const binding = (await started({ kubeletClient: 'kube-apiserver' })).at('clusterrolebindings', name)
  assert.deepEqual(
    [binding['roleRef'].name, binding['subjects'][0].name],
    ['system:kubelet-api-admin', 'kube-apiserver'],
  )
})

test('whom extension servers trust is restored within a second of being changed or deleted, what was added stays', async () => {
  const it = await started()
  const { follow, signal } = it.standIn
  keepTrust(it.options, (listener) => follow([], listener), signal)
  it.change('configmaps', TRUST, { data: { 'client-ca-file': 'theirs', more: 'added' } }, 'kube-system')
  await it.runtime.advance(1000)
  assert.deepEqual(it.taken(), [`PUT /api/v1/namespaces/kube-system/configmaps/${TRUST}`])
  assert.deepEqual(it.at('configmaps', TRUST, 'kube-system')['data'], { 'client-ca-file': 'ours', more: 'added' })
  it.remove('', 'configmaps', 'kube-system', TRUST)
  await it.runtime.advance(1000)
  assert.deepEqual(it.at('configmaps', TRUST, 'kube-system')['data'], { 'client-ca-file': 'ours' })
  it.taken()
  await it.runtime.advance(120_000)
  assert.deepEqual(it.taken(), [])
  it.stop()
})
