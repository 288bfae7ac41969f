/** Makes a batch of graphs on a cluster, keeps what a plan reads, deletes, and keeps what was seen to go. Leaves nothing behind. */
import { readFileSync, statSync } from 'node:fs'
import type { Node } from '../../src/api/generated/types.ts'
import { formatTime, sleep } from '../../src/base/clock.ts'
import { messageOf } from '../../src/base/errors.ts'
import type { Runtime } from '../../src/base/runtime.ts'
import type { Client } from '../../src/client/client.ts'
import { createClient, type Transport } from '../../src/client/transport.ts'
import { createClusterReader } from '../../src/inspect/cluster-reader.ts'
import { readKinds } from '../../src/inspect/kinds.ts'
import { deleteStage } from '../../src/inspect/plan/delete-deed.ts'
import { readAuditLog } from '../../src/inspect/timeline/audit-log.ts'
import { recordsOf } from '../../src/inspect/timeline/recorded.ts'
import type { SeenState } from '../../src/inspect/timeline/seen.ts'
import { type Watched, watchCluster } from '../../src/inspect/timeline/watch.ts'
import { readCluster } from '../../src/inspect/twin/read-cluster.ts'
import { isOfGraph, makeGraph, prepareGraph } from '../../test/twin/random-graphs.ts'
import { DEFINITIONS, definition, NAMESPACES } from '../../test/twin/stage.ts'
import { keepingTransport, type RecordedBatch, type RecordedGraph } from './recording.ts'

export interface RecordRequest {
  readonly runtime: Runtime
  readonly transport: Transport
  readonly seeds: readonly number[]
  /** How often each graph is made. */
  readonly copies: number
  /** Of kube-apiserver; without one writers are inferred. */
  readonly auditLog?: string
  say(text: string): void
}

const USER_AGENT = 'skiff plan'
/** How long nothing may have changed for it to be at rest, in milliseconds. */
const QUIET_MS = 8_000
/** What waits for something may be looked at again this late: the namespace controller comes back after up to a minute. */
const HELD_QUIET_MS = 70_000
const LONGEST_MS = 600_000
/** The garbage collector of Kubernetes looks twice a minute for kinds that are new. */
const NEW_KINDS_MS = 45_000
const LOOK_MS = 250
const AT_ONCE = 12

export async function recordBatch(request: RecordRequest): Promise<RecordedBatch> {
  const { runtime, transport, seeds, copies, auditLog, say } = request
  const { clock } = runtime
  const client = createClient(runtime, transport, { userAgent: USER_AGENT })
  const graphs = seeds.flatMap((seed) =>
    Array.from({ length: copies }, (_, copy) => ({ seed, namespace: `g${seed}-${String.fromCharCode(97 + copy)}` })),
  )
  const version = JSON.parse((await client.raw('GET', '/version')).body).gitVersion as string
  const node = await readyNode(client)
  await client
    .resource(DEFINITIONS)
    .create(definition() as never)
    .catch(() => {})
  // One that was broken off has left some.
  await clean(runtime, client, transport, graphs, say)
  const began = clock.monotonic()
  const stop = new AbortController()
  try {
    await each(graphs, ({ seed, namespace }) => prepareGraph(client, seed, namespace))
    await sleep(clock, 3000, stop.signal)
    const watched = await watch(runtime, client, transport, stop.signal)
    const made = await each(graphs, async ({ seed, namespace }): Promise<RecordedGraph> => {
      return { seed, ...(await makeGraph(client, seed, namespace, node)) }
    })
    say(`${made.length} graphs are made`)
    await untilRest(runtime, watched, Math.max(QUIET_MS, NEW_KINDS_MS - (clock.monotonic() - began)))
    const answers: RecordedBatch['answers'] = {}
    const read = await readCluster({ runtime, transport: keepingTransport(transport, answers), userAgent: USER_AGENT })
    const logged = auditLog === undefined ? 0 : statSync(auditLog).size
    const from = watched.states.length
    const known = latestOf(watched.states)
    const doing = {
      client,
      kinds: read.kinds,
      named() {},
      changed() {},
      refused() {},
      asks() {},
      inAnyOrder: <T>(requests: readonly T[]) => requests,
      between: async () => {},
      progress: async () => false,
    }
    await each(made, ({ namespace, request: deed }) =>
      deleteStage(read, namespace, deed).run({ ...doing, clock: undefined as never }),
    )
    say('all is deleted')
    await untilRest(runtime, watched, QUIET_MS)
    const isOwn = ({ object }: SeenState) => made.some(({ namespace }) => isOfGraph(object, namespace))
    const audited =
      auditLog === undefined ? [] : readAuditLog(readFileSync(auditLog).subarray(logged).toString()).writes
    const states = [...known, ...watched.states.slice(from)].filter(isOwn)
    const records = recordsOf({ states, audited, events: [] })
    return { version, at: formatTime(clock.now()), graphs: made, answers, records }
  } catch (error) {
    say(`it failed, and is taken down: ${messageOf(error)}`)
    throw error
  } finally {
    stop.abort()
    await clean(runtime, client, transport, graphs, say)
  }
}

async function readyNode(client: Client): Promise<string> {
  const { items } = await client.resource<Node>({ group: '', version: 'v1', resource: 'nodes' }).list()
  const name = items[0]?.metadata.name
  if (name === undefined) throw new Error('the cluster has no node')
  return name
}

async function watch(runtime: Runtime, client: Client, transport: Transport, signal: AbortSignal): Promise<Watched> {
  const limits = { budget: 1000, requestMs: 20_000, totalMs: 60_000, userAgent: USER_AGENT }
  const { resources } = await readKinds(createClusterReader(runtime.clock, transport, limits))
  const watched = watchCluster(runtime, client, resources, '', signal)
  while (watched.unwatched().length > 0) await sleep(runtime.clock, LOOK_MS, signal)
  return watched
}

function latestOf(states: readonly SeenState[]): readonly SeenState[] {
  const latest = new Map<string, SeenState>()
  for (const state of states)
    if (state.type === 'DELETED') latest.delete(state.object.uid)
    else latest.set(state.object.uid, { ...state, type: 'ADDED' })
  return [...latest.values()]
}

async function untilRest({ clock }: Runtime, watched: Watched, quietMs: number): Promise<void> {
  const never = new AbortController().signal
  const began = clock.monotonic()
  const isQuiet = () => {
    const wanted = watched.going.size > 0 ? Math.max(quietMs, HELD_QUIET_MS) : quietMs
    if (clock.monotonic() - Math.max(began, watched.changedAt) < wanted) return false
    return clock.now() >= lastGraceOf(watched)
  }
  while (!isQuiet() && clock.monotonic() - began < LONGEST_MS) await sleep(clock, LOOK_MS, never)
}

/** When the last grace period of what is going ends, in milliseconds since the epoch. */
const lastGraceOf = ({ going, states }: Watched) =>
  states.reduce(
    (last, { object, holds }) =>
      going.has(object.uid) ? Math.max(last, Date.parse(holds.deletionTimestamp ?? '') || 0) : last,
    0,
  )

/** Finalizers are taken off what is left, as long as there is any. */
async function clean(
  runtime: Runtime,
  client: Client,
  transport: Transport,
  graphs: readonly { readonly namespace: string }[],
  say: (text: string) => void,
): Promise<void> {
  const own = (metadata: { readonly name?: string; readonly namespace?: string }, resource: string) =>
    graphs.some((graph) =>
      isOfGraph({ name: metadata.name ?? '', namespace: metadata.namespace ?? '', resource }, graph.namespace),
    )
  const never = new AbortController().signal
  const namespaces = client.resource(NAMESPACES)
  await each(graphs, ({ namespace }) => namespaces.delete(namespace).catch(() => undefined))
  for (let round = 0; round < 30; round++) {
    const limits = { budget: 1000, requestMs: 20_000, totalMs: 60_000, userAgent: USER_AGENT }
    const { resources } = await readKinds(createClusterReader(runtime.clock, transport, limits))
    let left = 0
    for (const resource of resources.filter(
      ({ group, verbs }) => verbs.includes('list') && verbs.includes('delete') && group !== 'events.k8s.io',
    )) {
      if (resource.resource === 'events') continue
      const all = await client
        .resource(resource)
        .list({ metadataOnly: true })
        .catch(() => undefined)
      const found = all?.items.filter(({ metadata }) => own(metadata, resource.resource)) ?? []
      left += found.length
      await each(found, async ({ metadata: { name = '', namespace = '', finalizers = [], deletionTimestamp } }) => {
        const one = client.resource(resource).namespace(namespace)
        if (namespace === '' && deletionTimestamp === undefined) await one.delete(name).catch(() => undefined)
        if (finalizers.some((finalizer) => !finalizer.startsWith('customresourcecleanup')))
          await one.patch(name, 'merge', { metadata: { finalizers: [] } } as never).catch(() => undefined)
      })
    }
    if (left === 0) return
    await sleep(runtime.clock, 2000, never)
  }
  say('something of the graphs is left on the cluster')
}

async function each<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = []
  let next = 0
  const worker = async () => {
    for (let at = next++; at < items.length; at = next++) results[at] = await work(items[at] as T)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
  return results
}
