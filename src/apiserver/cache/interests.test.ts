import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject } from '../../api/object.ts'
import { parseFieldSelector } from '../../api/objects/field-selector.ts'
import { everything, parseLabelSelector } from '../../api/objects/label-selector.ts'
import type { WatchEvent } from '../../api/request.ts'
import { simulatedRuntime } from '../../base/simulated-runtime.ts'
import type { StreamReader } from '../../base/stream.ts'
import { openStorage } from '../../storage/open.ts'
import { createCaches } from './caches.ts'

const ROOT = '/registry/pods/'

/** How often fields were taken out of an object is counted. */
async function fixture() {
  const runtime = simulatedRuntime(1)
  const storage = await openStorage({ runtime, driver: 'memory' })
  const caches = await runtime.complete(createCaches(runtime, storage))
  const pods = caches.resource('pods')
  const counts = { taken: 0 }
  const fieldsOf = (object: KubeObject) => {
    counts.taken++
    return { 'spec.nodeName': object['spec'].nodeName, 'status.phase': object['status'].phase }
  }
  const revisions = new Map<string, number>()
  async function write(path: string, nodeName: string, phase = 'Pending', labels: Record<string, string> = {}) {
    const [namespace = '', name = ''] = path.split('/')
    const key = `${ROOT}${path}`
    const object = {
      kind: 'Pod',
      apiVersion: 'v1',
      metadata: { name, namespace, labels },
      spec: { nodeName },
      status: { phase },
    }
    const put = { type: 'put', key, value: caches.encode(object), expectRevision: revisions.get(key) ?? 0 } as const
    const result = await runtime.complete(storage.write(put))
    assert.ok(result.ok)
    revisions.set(key, result.revision)
  }
  async function remove(path: string) {
    const expectRevision = revisions.get(`${ROOT}${path}`) ?? 0
    assert.ok((await runtime.complete(storage.write({ type: 'delete', key: `${ROOT}${path}`, expectRevision }))).ok)
  }
  function watch(fields: string, labels = '', prefix = ROOT, from: number | 'now' = 'now') {
    return pods.watch({
      from,
      prefix,
      selection: {
        labels: labels === '' ? everything : parseLabelSelector(labels),
        fields: parseFieldSelector(fields),
        fieldsOf,
        namespaced: true,
      },
      kind: 'Pod',
      apiVersion: 'v1',
      signal: new AbortController().signal,
    })
  }
  const told = (reader: StreamReader<WatchEvent>) =>
    reader.drain().map(({ type, object }) => `${type} ${object.metadata.namespace}/${object.metadata.name}`)
  return { runtime, caches, pods, counts, write, remove, watch, told }
}

test('a watch is told by the value it fixes: of a field, of a label, of a name, of a namespace', async () => {
  const { write, remove, watch, told } = await fixture()
  const onA = watch('spec.nodeName=a')
  const unbound = watch('spec.nodeName=')
  const runningInOne = watch('status.phase=Running', '', `${ROOT}one/`)
  const named = watch('metadata.name=p')
  const notNamed = watch('metadata.name!=p')
  const labelled = watch('', 'app in (x,y)')
  const inOne = watch('metadata.namespace=one')
  const both = watch('spec.nodeName=a', 'app=x')
  await write('one/p', '')
  await write('one/p', 'a', 'Pending', { app: 'x' })
  await write('one/p', 'a', 'Running', { app: 'y' })
  await write('two/p', 'b', 'Running')
  await write('two/q', 'a', 'Running')
  await remove('one/p')
  assert.deepEqual(told(onA), ['ADDED one/p', 'MODIFIED one/p', 'ADDED two/q', 'DELETED one/p'])
  assert.deepEqual(told(unbound), ['ADDED one/p', 'DELETED one/p'])
  assert.deepEqual(told(runningInOne), ['ADDED one/p', 'DELETED one/p'])
  assert.deepEqual(told(named), ['ADDED one/p', 'MODIFIED one/p', 'MODIFIED one/p', 'ADDED two/p', 'DELETED one/p'])
  assert.deepEqual(told(notNamed), ['ADDED two/q'])
  assert.deepEqual(told(labelled), ['ADDED one/p', 'MODIFIED one/p', 'DELETED one/p'])
  assert.deepEqual(told(inOne), ['ADDED one/p', 'MODIFIED one/p', 'MODIFIED one/p', 'DELETED one/p'])
  assert.deepEqual(told(both), ['ADDED one/p', 'DELETED one/p'])
})

test('a watch from an earlier revision is told what the log has, and then what comes', async () => {
  const { caches, write, watch, told } = await fixture()
  await write('one/p', 'a')
  const { revision } = caches
  await write('one/q', 'a')
  await write('one/r', 'b')
  const reader = watch('spec.nodeName=a', '', ROOT, revision)
  await write('one/s', 'a')
  assert.deepEqual(told(reader), ['ADDED one/q', 'ADDED one/s'])
})

test('an event costs its readers: each revision gives its fields once, and no other watcher is woken', async () => {
  const { runtime, counts, write, watch } = await fixture()
  const readers = Array.from({ length: 1000 }, (_, i) => watch(`spec.nodeName=n${i}`))
  let woken = 0
  for (const reader of readers)
    void reader.next().then(() => {
      woken++
    })
  await write('one/p', 'n7')
  await write('one/p', 'n7', 'Running')
  await runtime.settle()
  assert.equal(counts.taken, 2)
  assert.equal(woken, 1)
})

test('entries that are not read keep what selectors ask for: their objects are not parsed again', async () => {
  const { pods, counts, write, watch, told } = await fixture()
  const reader = watch('spec.nodeName=a')
  // More than keep their objects.
  for (let i = 0; i < 300; i++) await write(`one/p${i}`, 'b')
  counts.taken = 0
  await write('one/p0', 'a')
  assert.equal(counts.taken, 1)
  assert.deepEqual(told(reader), ['ADDED one/p0'])
  const matches = pods.matcher({
    labels: everything,
    fields: parseFieldSelector('metadata.name=p3,metadata.namespace=one'),
    namespaced: true,
  })
  assert.deepEqual(
    pods
      .list()
      .filter(matches)
      .map(({ key }) => key),
    [`${ROOT}one/p3`],
  )
})

test('a watch that does not read what it was offered is closed when the log no longer has it', async () => {
  const { write, watch, told } = await fixture()
  const slow = watch('spec.nodeName=a')
  const quick = watch('spec.nodeName=a')
  for (let i = 0; i < 17_000; i++) {
    await write('one/p', 'a', `${i}`)
    if (i % 200 === 0) told(quick)
  }
  assert.equal(slow.closed, true)
  assert.equal(quick.closed, false)
})

test('a watch that has ended is offered nothing more', async () => {
  const { write, watch, told } = await fixture()
  const reader = watch('spec.nodeName=a')
  const other = watch('spec.nodeName=a')
  reader.close()
  await write('one/p', 'a')
  assert.deepEqual(told(reader), [])
  assert.deepEqual(told(other), ['ADDED one/p'])
})
