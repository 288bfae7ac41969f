/** The etcd of a kube-apiserver is taken over by skiff, which works on it, and given back: no object is lost, and none is changed. */
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { before, test } from 'node:test'
import { createAsker } from '../../conformance/ask.ts'
import { replayCases } from '../../conformance/sets.ts'
import { liveRuntime } from '../../src/base/live-runtime.ts'
import type { Client } from '../../src/client/client.ts'
import { httpsTransport } from '../../src/client/https-transport.ts'
import { endpointFromKubeconfig } from '../../src/client/read-kubeconfig.ts'
import { createClient } from '../../src/client/transport.ts'
import { apiServerFlags, buildKubernetes, startKubernetes } from '../components/kubernetes.ts'
import { startServerProcess } from '../history/server-process.ts'
import { lacks } from '../machine.ts'
import { startEtcd } from './member.ts'

const NAMESPACE = 'given-back'
const READY_MS = 180_000
/** Not compared: what each server keeps of itself, and what is asked for and not stored. */
const OF_A_SERVER =
  /^(leases kube-system\/apiserver-|configmaps kube-system\/extension-apiserver-authentication$|clusterrolebindings \/skiff:apiserver-kubelet-client$|componentstatuses )/

const skip = lacks.etcd()
before(() => {
  if (skip === false) buildKubernetes()
})

test('every object of every kind is served as before, there and back', { skip, timeout: 900_000 }, async (t) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'skiff-given-back-'))
  const undo: (() => unknown)[] = [() => rmSync(dataDir, { recursive: true, force: true })]
  try {
    const etcd = await startEtcd()
    undo.push(etcd.stop)
    // Makes keys, certificates and a kubeconfig, over a store that nothing looks at again.
    await (await startServerProcess(dataDir)).end()
    const withKubernetes = async <T>(task: (client: Client) => Promise<T>): Promise<T> => {
      const log = join(dataDir, 'kube-apiserver.log')
      const end = startKubernetes('kube-apiserver', log, apiServerFlags(dataDir, etcd.servers))
      undo.push(end)
      const transport = httpsTransport(endpointFromKubeconfig(readFileSync(join(dataDir, 'kubeconfig'), 'utf8')))
      try {
        const client = createClient(liveRuntime(), transport, { userAgent: 'test' })
        await untilReady(client, log)
        return await task(client)
      } finally {
        transport.close()
        await end('SIGTERM')
      }
    }
    const made = await withKubernetes(async (client) => {
      await createOneOfEachKind(join(dataDir, 'kubeconfig'))
      return objectsOf(client)
    })
    t.diagnostic(`${made.size} objects of ${new Set([...made.keys()].map((key) => key.split(' ')[0])).size} kinds`)
    assert.ok(made.size > 250, `${made.size} objects`)

    const skiff = await startServerProcess(dataDir, '--etcd-servers', etcd.servers)
    undo.push(skiff.end)
    assert.deepEqual(differences(made, await objectsOf(skiff.client)), [])
    const touched = await touchAll(skiff.client, made)
    assert.ok(touched > made.size - 20, `${touched} of ${made.size} were changed`)
    const left = await objectsOf(skiff.client)
    await skiff.end()

    assert.deepEqual(differences(left, await withKubernetes(objectsOf)), [])
  } finally {
    for (let end = undo.pop(); end !== undefined; end = undo.pop()) await end()
  }
})

async function untilReady(client: Client, log: string): Promise<void> {
  for (const end = performance.now() + READY_MS; ; ) {
    const status = await client.raw('GET', '/readyz').then(
      (answer) => answer.status,
      () => 0,
    )
    if (status === 200) return
    assert.ok(performance.now() < end, readFileSync(log, 'utf8').slice(-3000))
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

/** By the requests with which the recorded conformance set makes them. */
async function createOneOfEachKind(kubeconfig: string): Promise<void> {
  const asker = createAsker(kubeconfig)
  try {
    const ofNamespace = (text: string) => text.replaceAll('$NS', NAMESPACE)
    await asker.call({ m: 'POST', p: '/api/v1/namespaces', b: JSON.stringify({ metadata: { name: NAMESPACE } }) })
    const account = JSON.stringify({ metadata: { name: 'default' } })
    await asker.call({ m: 'POST', p: `/api/v1/namespaces/${NAMESPACE}/serviceaccounts`, b: account })
    for (const { steps } of replayCases('objects')) {
      const [first] = steps
      if (first?.m !== 'POST' || first.b === undefined) continue
      await asker.call({ ...first, p: ofNamespace(first.p), b: ofNamespace(first.b) })
    }
  } finally {
    asker.close()
  }
}

/** What is listed of everything that is served, as text. */
async function objectsOf(client: Client): Promise<Map<string, string>> {
  const found = new Map<string, string>()
  const { resources } = await client.discover()
  for (const resource of resources.filter(({ verbs }) => verbs.includes('list'))) {
    const { items } = await client.resource(resource).list()
    for (const object of items) {
      const { namespace = '', name } = object.metadata
      const key = `${resource.resource} ${namespace}/${name}`
      if (!OF_A_SERVER.test(key)) found.set(key, inOrder(object))
    }
  }
  return found
}

/** The properties of a message come in the server's own order. */
const inOrder = (object: unknown): string =>
  JSON.stringify(object, (_, value) =>
    value === null || typeof value !== 'object' || Array.isArray(value)
      ? value
      : Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1))),
  )

function differences(before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): readonly string[] {
  const keys = [...new Set([...before.keys(), ...after.keys()])].toSorted()
  return keys
    .filter((key) => before.get(key) !== after.get(key))
    .map((key) => `${key}: ${before.get(key)} became ${after.get(key)}`)
}

/** Writes each anew. Gives how many were. */
async function touchAll(client: Client, objects: ReadonlyMap<string, string>): Promise<number> {
  const { resources } = await client.discover()
  let count = 0
  for (const resource of resources.filter(({ verbs }) => verbs.includes('patch')))
    for (const [key, text] of objects) {
      if (!key.startsWith(`${resource.resource} `)) continue
      const { namespace = '', name = '' } = JSON.parse(text).metadata
      const own = namespace === '' ? client.resource(resource) : client.resource(resource).namespace(namespace)
      const done = await own.patch(name, 'merge', { metadata: { annotations: { 'example.com/touched': 'yes' } } }).then(
        () => 1,
        () => 0,
      )
      count += done
    }
  return count
}
