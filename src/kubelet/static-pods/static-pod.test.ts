import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { liveRuntime } from '../../base/live-runtime.ts'
import { simulatedRuntime } from '../../base/simulated-runtime.ts'
import type { Pod } from '../pod.ts'
import { manifestFiles } from './manifest-files.ts'
import { staticPodOf } from './static-pod.ts'

const origin = { source: 'file', place: '/m/a.yaml', nodeName: 'node-1', seenAt: 1500 } as const
const read = (text: string, more: object = {}) => staticPodOf(Buffer.from(text), { ...origin, ...more })
const manifest = (name: string, more = '') =>
  `apiVersion: v1\nkind: Pod\nmetadata: {name: ${name}}\nspec:\n  containers: [{name: c, image: i}]\n${more}`

test('a manifest becomes a pod of this node, with the defaults of any pod', () => {
  const { metadata, spec, status } = read(manifest('a'))
  assert.equal(metadata.name, 'a-node-1')
  assert.equal(metadata.namespace, 'default')
  assert.equal(metadata.annotations?.['kubernetes.io/config.seen'], '1970-01-01T00:00:01.5Z')
  assert.equal(spec?.nodeName, 'node-1')
  assert.equal(spec?.restartPolicy, 'Always')
  assert.equal(spec?.containers[0]?.imagePullPolicy, 'Always')
  assert.deepEqual(status, { phase: 'Pending' })
})

test('the same manifest at the same place is the same pod; another place, node or content makes another', () => {
  const uids = [
    read(manifest('a')),
    read(manifest('a'), { seenAt: 99 }),
    read(manifest('a'), { place: '/m/b.yaml' }),
    read(manifest('a'), { nodeName: 'other' }),
    read(manifest('a', '  hostNetwork: true\n')),
  ].map(({ metadata }) => metadata.uid)
  assert.equal(uids[0], uids[1])
  assert.equal(new Set(uids).size, 4)
  assert.equal(read(manifest('a').replace('{name: a}', '{name: a, uid: own}')).metadata.uid, 'own')
})

test('of a URL no toleration comes, of a file one that is not there yet', () => {
  assert.equal(read(manifest('a'), { source: 'http' }).spec?.tolerations, undefined)
  const one = [{ operator: 'Exists', effect: 'NoExecute' }]
  assert.deepEqual(read(manifest('a')).spec?.tolerations, one)
  const text = manifest('a', '  tolerations: [{operator: Exists, effect: NoExecute}]\n')
  assert.deepEqual(read(text).spec?.tolerations, one)
})

test('what is no pod, is wrong, or refers to objects of the API is refused with what is wrong', () => {
  assert.throws(() => read('a: ['), /yaml/)
  assert.throws(() => read('apiVersion: v1\nkind: Secret\n'), /cannot be handled as a Pod/)
  assert.throws(() => read(manifest('A')), /metadata.name/)
  assert.throws(() => read(manifest('a').replace(', image: i', '')), /spec.containers\[0\].image: Required value/)
  const refers = (spec: string) => () => read(manifest('a', `  ${spec}\n`))
  assert.throws(refers('serviceAccountName: s'), /serviceaccounts/)
  assert.throws(refers('imagePullSecrets: [{name: s}]'), /secrets/)
  assert.throws(refers('volumes: [{name: v, configMap: {name: s}}]'), /configmaps/)
  assert.throws(refers('initContainers: [{name: d, image: i, envFrom: [{secretRef: {name: s}}]}]'), /secrets/)
})

function files(path: (folder: string) => string = (folder) => folder) {
  const folder = mkdtempSync(join(tmpdir(), 'skiff-manifests-'))
  const runtime = simulatedRuntime(1)
  const stopping = new AbortController()
  const told: string[][] = []
  const tell = (pods: readonly Pod[]) => void told.push(pods.map(({ metadata }) => metadata.name ?? ''))
  return {
    folder,
    told,
    runtime,
    start: (everyMs?: number) =>
      manifestFiles({
        runtime,
        path: path(folder),
        nodeName: 'n',
        ...(everyMs === undefined ? {} : { everyMs }),
      }).start(tell, stopping.signal),
    write: (name: string, text: string) => writeFileSync(join(folder, name), text),
    /** What is told after the change. The folder tells of it in its own time; the clock that settles it is simulated. */
    async after(change: () => void) {
      const times = told.length
      change()
      for (const until = performance.now() + 20_000; told.length === times; await runtime.advance(1)) {
        assert.ok(performance.now() < until, 'the folder told nothing of a change within 20 seconds')
        await new Promise((resolve) => setImmediate(resolve))
      }
      return told.at(-1)
    },
    stop() {
      stopping.abort()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

test('a folder is read at once and every twenty seconds; what is no manifest is passed over', async () => {
  const { told, runtime, start, write, stop, folder } = files()
  write('b.yaml', manifest('b'))
  write(
    'a.json',
    JSON.stringify({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'a' },
      spec: { containers: [{ name: 'c', image: 'i' }] },
    }),
  )
  write('.hidden.yaml', manifest('hidden'))
  write('bad.yaml', 'apiVersion: v1')
  mkdirSync(join(folder, 'below'))
  start()
  assert.deepEqual(told, [['a-n', 'b-n']])
  rmSync(join(folder, 'b.yaml'))
  await runtime.advance(19_000)
  await runtime.advance(1000)
  assert.deepEqual(told.at(-1), ['a-n'])
  rmSync(folder, { recursive: true })
  await runtime.advance(20_000)
  assert.deepEqual(told.at(-1), [])
  stop()
})

test('of several files with one pod the last counts, and the others are complained of, once', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'skiff-manifests-'))
  const stopping = new AbortController()
  const labels: unknown[] = []
  const lines: string[] = []
  const runtime = simulatedRuntime(1, { log: { level: 0, write: (line) => void lines.push(line) } })
  for (const file of ['b', 'a']) writeFileSync(join(folder, `${file}.yaml`), manifest(`w, labels: {of: ${file}}`))
  manifestFiles({ runtime, path: folder, nodeName: 'n' }).start(
    (pods) => void labels.push(...pods.map(({ metadata }) => metadata.labels)),
    stopping.signal,
  )
  await runtime.advance(20_000)
  stopping.abort()
  rmSync(folder, { recursive: true })
  assert.deepEqual(labels, [{ of: 'b' }, { of: 'b' }])
  assert.equal(lines.length, 1)
  assert.match(lines[0] ?? '', /passed over, since \S+b\.yaml has the same pod.*\/a\.yaml/s)
})

/** Longer than any test's patience makes simulated time. */
const HOURLY = 3_600_000

test('a file that a change made unreadable keeps its pod until the next regular look', async () => {
  const { told, runtime, start, write, after, stop } = files()
  write('a.yaml', manifest('a'))
  start(HOURLY)
  assert.deepEqual(await after(() => write('b.yaml', manifest('b'))), ['a-n', 'b-n'])
  assert.deepEqual(await after(() => write('a.yaml', 'nonsense')), ['a-n', 'b-n'])
  await runtime.advance(HOURLY)
  assert.deepEqual(told.at(-1), ['b-n'])
  stop()
})

test('a file that was removed has no pod when it comes back unreadable', async () => {
  const { start, write, after, stop, folder } = files()
  write('a.yaml', manifest('a'))
  start(HOURLY)
  assert.deepEqual(await after(() => rmSync(join(folder, 'a.yaml'))), [])
  assert.deepEqual(await after(() => write('a.yaml', 'nonsense')), [])
  stop()
})

test('a single file that cannot be used leaves what was there, one that is gone leaves nothing', async () => {
  const { told, runtime, start, write, stop, folder } = files((at) => join(at, 'p.yaml'))
  write('p.yaml', manifest('a'))
  start()
  write('p.yaml', 'nonsense')
  const times = told.length
  await runtime.advance(20_000)
  assert.equal(told.length, times)
  assert.deepEqual(told.at(-1), ['a-n'])
  rmSync(join(folder, 'p.yaml'))
  await runtime.advance(20_000)
  assert.deepEqual(told.at(-1), [])
  stop()
})

test('a change is noticed without waiting for the next look', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'skiff-manifests-'))
  const stopping = new AbortController()
  const noticed = Promise.withResolvers<void>()
  manifestFiles({ runtime: liveRuntime(), path: folder, nodeName: 'n', everyMs: 3_600_000 }).start((pods) => {
    if (pods.length === 2) noticed.resolve()
  }, stopping.signal)
  const held = setInterval(() => {}, 1000)
  writeFileSync(join(folder, 'a.yaml'), manifest('a'))
  writeFileSync(join(folder, '.b.yaml'), manifest('b'))
  renameSync(join(folder, '.b.yaml'), join(folder, 'b.yaml'))
  await noticed.promise
  clearInterval(held)
  stopping.abort()
  rmSync(folder, { recursive: true, force: true })
})
