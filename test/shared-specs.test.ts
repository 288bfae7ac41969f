/** Equal specs are one value all the way through the server, and nothing but them is kept (api/parts.ts). */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { decodeBody } from '../src/api/codec/decode.ts'
import { updateManagedFields } from '../src/api/fields/update.ts'
import type { KubeObject } from '../src/api/object.ts'
import { share } from '../src/api/parts.ts'
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

test('pods of one spec share what is made of it, through defaults, admission and the store, and after a patch of their labels', async () => {
  for (const name of ['a', 'b', 'c', 'd']) assert.equal((await api.request('POST', PODS, pod(name))).code, 201)
  assert.equal(cached('c')['spec'], cached('d')['spec'])
  assert.deepEqual(cached('a')['spec'], cached('c')['spec'], 'made alone it is the same')
  assert.match(cached('c')['spec'].volumes[0].name, /^kube-api-access-[bcdfghjklmnpqrstvwxz2456789]{5}$/)
  const patch = (name: string, body: object) =>
    api.request('PATCH', `${PODS}/${name}`, body, { 'content-type': 'application/merge-patch+json' })
  assert.equal((await patch('c', { metadata: { labels: { x: 'y' } } })).code, 200)
  assert.equal(cached('c')['spec'], cached('d')['spec'])
  const before = structuredClone(cached('d')['spec'])
  assert.equal((await patch('c', { spec: { activeDeadlineSeconds: 5 } })).code, 200)
  assert.equal(cached('c')['spec'].activeDeadlineSeconds, 5)
  assert.deepEqual(cached('d')['spec'], before, 'what one of them becomes the others do not')
})

test('another spec has another name for its volume', async () => {
  await api.request('POST', PODS, pod('other', 'nginx:2'))
  assert.notEqual(cached('other')['spec'].volumes[0].name, cached('a')['spec'].volumes[0].name)
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
  const read = (i: number) => {
    const body = pod(`p${i}`, `image:${i}`)
    const text = JSON.stringify({ ...body, metadata: { name: `p${i}`, annotations: { big: 'x'.repeat(1_000_000) } } })
    decodeBody({ kind: 'bytes', bytes: Buffer.from(text), contentType: '' }, pods, { fieldValidation: 'Warn' })
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
  const schema = schemaOf('io.k8s.api.coordination.v1.Lease')
  const lease = (spec: object) => ({ kind: 'Lease', apiVersion: 'v1', metadata: { name: 'l' }, spec }) as KubeObject
  const write = (live: KubeObject | undefined, leaseTransitions: number) => {
    const next = lease(share({ leaseTransitions }))
    const rest = { manager: 'm', apiVersion: 'coordination.k8s.io/v1', subresource: '', time: '2026-01-01T00:00:00Z' }
    return updateManagedFields({ live, next, schema, ...rest })
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
