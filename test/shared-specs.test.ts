/** What is made of a spec that recurs is made once all the way through the server, and nothing but it is kept (api/parts.ts). */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { decodeBody } from '../src/api/codec/decode.ts'
import { updateManagedFields } from '../src/api/fields/update.ts'
import type { KubeObject } from '../src/api/object.ts'
import { createParts, createPartTexts } from '../src/api/parts.ts'
import { partsForTest } from '../src/api/parts-fixture.test.ts'
import { schemaOf } from '../src/api/schema/builtin.ts'
import { builtinScheme } from '../src/api/scheme/scheme.ts'
import { startTestApi, type TestApi } from './harness.ts'

setFlagsFromString('--expose-gc')
const collect: () => void = runInNewContext('gc')

let api: TestApi
before(async () => {
  api = await startTestApi()
  await api.namespace('n')
})
after(() => api.stop())

const PODS = '/api/v1/namespaces/n/pods'
const pod = (name: string, image = 'nginx:1') => ({
  kind: 'Pod',
  apiVersion: 'v1',
  metadata: { name },
  spec: { containers: [{ name: 'c', image, ports: [{ containerPort: 80 }], env: [{ name: 'A', value: 'b' }] }] },
})
const cached = (name: string): KubeObject => api.server.caches.resource('pods').get(`/registry/pods/n/${name}`)!.object

const NAME = /^kube-api-access-[bcdfghjklmnpqrstvwxz2456789]{5}$/
const volumeName = (name: string): string => cached(name)['spec'].volumes.at(-1).name
const nameless = (name: string) => JSON.parse(JSON.stringify(cached(name)['spec']).replaceAll(volumeName(name), '?'))

test('pods of one spec are alike but for the name of their volume, through defaults, admission, the store and a patch', async () => {
  const names = ['a', 'b', 'c', 'd', 'e']
  for (const name of names) assert.equal((await api.request('POST', PODS, pod(name))).code, 201)
  for (const name of names) {
    assert.match(volumeName(name), NAME)
    assert.equal(cached(name)['spec'].containers[0].volumeMounts[0].name, volumeName(name))
    assert.deepEqual(nameless(name), nameless('a'), 'made of a spec that is known it is the same')
    assert.deepEqual((await api.request('GET', `${PODS}/${name}`)).body.spec, cached(name)['spec'])
  }
  assert.equal(new Set(names.map(volumeName)).size, names.length, 'each has a name of its own')
  assert.equal(cached('d')['spec'].tolerations, cached('e')['spec'].tolerations, 'the rest is one value')
  const patch = (name: string, body: object) =>
    api.request('PATCH', `${PODS}/${name}`, body, { 'content-type': 'application/merge-patch+json' })
  const before = cached('d')['spec']
  assert.equal((await patch('d', { metadata: { labels: { x: 'y' } } })).code, 200)
  assert.equal(cached('d')['spec'], before)
  assert.equal((await patch('d', { spec: { activeDeadlineSeconds: 5 } })).code, 200)
  assert.equal(cached('d')['spec'].activeDeadlineSeconds, 5)
  assert.deepEqual(nameless('e'), nameless('a'), 'what one of them becomes the others do not')
})

test('a volume that a pod brings for its token keeps its name, and so does what is called as a stand-in might be', async () => {
  const sources = [{ serviceAccountToken: { path: 'token' } }]
  const volumes = [{ name: 'kube-api-access-own', projected: { sources } }]
  for (const name of ['t1', 't2', 't3', 't4']) {
    const made = pod(name)
    await api.request('POST', PODS, { ...made, spec: { ...made.spec, volumes } })
    assert.equal(volumeName(name), 'kube-api-access-own')
    assert.equal(cached(name)['spec'].containers[0].volumeMounts[0].name, 'kube-api-access-own')
  }
  for (const name of ['s1', 's2', 's3', 's4']) {
    const made = pod(name)
    const own = { volumes: [{ name: 'kube-api-access-aaaaa', emptyDir: {} }] }
    await api.request('POST', PODS, { ...made, spec: { ...made.spec, ...own } })
    assert.equal(cached(name)['spec'].volumes[0].name, 'kube-api-access-aaaaa')
    assert.match(volumeName(name), NAME)
  }
})

test('a warning about a pod names its volume as the pod has it', async () => {
  const sources = [
    { configMap: { name: 'a', items: [{ key: 'k', path: 'token' }] } },
    { serviceAccountToken: { path: 'token' } },
  ]
  for (const name of ['w1', 'w2', 'w3', 'w4']) {
    const made = pod(name)
    const volumes = [{ name: 'v', projected: { sources } }]
    const { code, headers } = await api.request('POST', PODS, { ...made, spec: { ...made.spec, volumes } })
    assert.equal(code, 201)
    assert.ok(!JSON.stringify(headers).includes('kube-api-access-aaaaa'))
  }
})

test('a rule that looks at more than the spec is asked for every pod', async () => {
  const ephemeral = (name: string) => {
    const made = pod(name)
    const claim = { spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } }
    return { ...made, spec: { ...made.spec, volumes: [{ name: 'v', ephemeral: { volumeClaimTemplate: claim } }] } }
  }
  for (const name of ['e1', 'e2', 'e3']) assert.equal((await api.request('POST', PODS, ephemeral(name))).code, 201)
  const long = await api.request('POST', PODS, ephemeral('e'.repeat(253)))
  assert.equal(long.code, 422)
  assert.match(long.text, /PVC name/)
})

test('of the bodies that specs came in nothing is kept', () => {
  const pods = builtinScheme().find('', 'v1', 'pods')!
  const parts = createParts(createPartTexts())
  const read = (i: number) => {
    const body = pod(`p${i}`, `image:${i}`)
    const text = JSON.stringify({ ...body, metadata: { name: `p${i}`, annotations: { big: 'x'.repeat(1_000_000) } } })
    decodeBody({ kind: 'bytes', bytes: Buffer.from(text), contentType: '' }, pods, {
      fieldValidation: 'Warn',
      parts,
    })
  }
  read(-1)
  collect()
  const { heapUsed } = process.memoryUsage()
  for (let i = 0; i < 40; i++) {
    read(i)
    read(i)
  }
  collect()
  const kept = process.memoryUsage().heapUsed - heapUsed
  assert.ok(kept < 8_000_000, `${kept} bytes`)
})

test('an object keeps none of the specs that it had', async () => {
  const { parts, known } = partsForTest()
  const schema = schemaOf('io.k8s.api.coordination.v1.Lease')
  const lease = (spec: object) => ({ kind: 'Lease', apiVersion: 'v1', metadata: { name: 'l' }, spec }) as KubeObject
  const write = (live: KubeObject | undefined, leaseTransitions: number) => {
    const next = lease(known({ leaseTransitions }))
    const rest = { manager: 'm', apiVersion: 'coordination.k8s.io/v1', subresource: '', time: '2026-01-01T00:00:00Z' }
    return updateManagedFields({ live, next, schema, parts, ...rest })
  }
  let live = write(undefined, 0)
  const first = new WeakRef<object>(live['spec'])
  for (let i = 1; i < 5; i++) live = write(live, i)
  // A reference that was made in this turn is held until its end.
  await new Promise((resolve) => setImmediate(resolve))
  collect()
  assert.equal(first.deref(), undefined)
  assert.equal(live['spec'].leaseTransitions, 4)
})
