/**
 * The garbage collector under random owner graphs, delete policies, orders of hand-overs, conflicts, watch drops and
 * restarts. What must hold is looked at when each write happens and again when everything has come to rest.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject, OwnerReference } from '../../src/api/object.ts'
import type { Handler, UserInfo, WatchEvent } from '../../src/api/request.ts'
import { StatusError } from '../../src/api/status.ts'
import type { SimulatedRuntime } from '../../src/base/simulated-runtime.ts'
import type { StreamReader } from '../../src/base/stream.ts'
import type { Client, ResourceClient } from '../../src/client/client.ts'
import { createInformerFactory } from '../../src/client/informer.ts'
import { createClient, inProcessTransport, serviceAccountUser } from '../../src/client/transport.ts'
import { createGarbageCollector } from '../../src/controllers/garbage-collector/garbage-collector.ts'
import { ADMIN, startTestApi } from '../harness.ts'
import { explore } from './explore.ts'

const configMaps = { group: '', version: 'v1', resource: 'configmaps' }
const clusterRoles = { group: 'rbac.authorization.k8s.io', version: 'v1', resource: 'clusterroles' }
const watched = new Set(['configmaps', 'clusterroles'])
const COLLECTOR = serviceAccountUser('kube-system', 'generic-garbage-collector')
const userFinalizer = 'example.com/f'
type Policy = 'Orphan' | 'Background' | 'Foreground'

test('the garbage collector keeps its promises under a thousand seeds', { timeout: 900_000 }, (t) =>
  explore(simulate, { seeds: 1000, twiceEvery: 250, say: (line) => t.diagnostic(line) }),
)

async function simulate(runtime: SimulatedRuntime): Promise<void> {
  const { random } = runtime
  const chance = (share: number) => random.float() < share
  const oneOf = <T>(items: readonly T[]): T => items[Math.floor(random.float() * items.length)] as T
  const api = await runtime.complete(startTestApi(runtime))
  const failures: string[] = []
  const orphaned = new Set<string>()
  const waited = new Set<string>()
  const leftAlone = new Set<string>()
  const watches = new Set<StreamReader<WatchEvent>>()
  let faults = 0

  const admin = clientAs(api.handler, ADMIN)
  const roles = admin.resource(clusterRoles)
  const state = new Map<string, KubeObject>()
  const stateStop = new AbortController()
  follow(admin)

  const stopped = () => new AbortController()
  let collectorStop = stopped()
  await runtime.complete(startCollector(collectorStop.signal))

  const objects = await makeGraph()
  await runtime.settle()
  failures.length = 0
  faults = chance(0.5) ? 0.08 : 0

  // Everything at once; the seed chooses the order.
  const pending: Promise<unknown>[] = []
  for (const object of objects) {
    if (chance(0.25)) pending.push(touch(object))
    if (chance(0.45)) pending.push(remove(object, oneOf<Policy>(['Orphan', 'Background', 'Foreground'])))
  }
  for (let disturbances = Math.floor(random.float() * 3); disturbances > 0; disturbances--) {
    const steps = Math.floor(random.float() * 40)
    for (let step = 0; step < steps; step++) await runtime.step()
    if (chance(0.5))
      for (const watch of [...watches]) watch.close(chance(0.5) ? new Error('connection reset') : undefined)
    else {
      collectorStop.abort()
      collectorStop = stopped()
      pending.push(startCollector(collectorStop.signal))
    }
  }
  await runtime.advance(60_000)
  await runtime.complete(Promise.allSettled(pending))
  faults = 0
  for (const object of [...state.values()]) {
    if (object.metadata.finalizers?.includes(userFinalizer)) pending.push(dropUserFinalizer(object))
  }
  await runtime.advance(120_000)

  checkEnd()
  collectorStop.abort()
  stateStop.abort()
  await runtime.complete(api.stop())
  assert.deepEqual(failures, [])

  function clientAs(handler: Handler, user: UserInfo): Client {
    return createClient(runtime, inProcessTransport(handler), { user, userAgent: 'test' })
  }

  /** The server's own view, as of each write. */
  function follow(client: Client) {
    for (const gvr of [configMaps, clusterRoles]) {
      const keep = (object: KubeObject) => {
        const { uid = '', ownerReferences = [] } = object.metadata
        state.set(uid, object)
        if (object.kind === 'ClusterRole' && ownerReferences.some(({ kind }) => kind !== 'ClusterRole'))
          leftAlone.add(uid)
      }
      const informers = createInformerFactory(runtime, client, stateStop.signal)
      informers.informer(gvr).addHandlers({
        added: keep,
        updated: (_, object) => keep(object),
        deleted: (object) => state.delete(object.metadata.uid as string),
      })
      informers.start()
    }
  }

  async function startCollector(signal: AbortSignal): Promise<void> {
    const own = clientAs(collectorHandler, COLLECTOR)
    const client: Client = {
      ...own,
      async discover(groups) {
        const found = await own.discover(groups)
        return { ...found, resources: found.resources.filter(({ resource }) => watched.has(resource)) }
      },
    }
    const informers = createInformerFactory(runtime, client, signal)
    informers.start()
    const collector = createGarbageCollector({ runtime, client, informers, signal })
    await collector.start().catch((error) => {
      if (!signal.aborted) failures.push(`the collector did not start: ${error}`)
    })
  }

  /** The collector's way to the server: with faults, and with a look at what each of its writes means at that moment. */
  async function collectorHandler(request: Parameters<Handler>[0]) {
    const isWrite = request.method !== 'GET'
    if (isWrite && random.float() < faults)
      throw new StatusError(oneOf([409, 500]), oneOf(['Conflict', 'InternalError']), 'made up')
    const said = isWrite ? await look(request) : []
    const response = await api.handler(request)
    // What is refused, as by its preconditions, has decided nothing.
    failures.push(...said)
    if (request.method === 'DELETE' && request.body?.kind === 'object') overrule(request.body.object)
    if (response.kind === 'watch') watches.add(response.events)
    return response
  }

  /**
   * The last DELETE of an object decides about its dependents: where the collector looked at a dependent before its user deleted it
   * with Orphan, its own DELETE comes second and takes the finalizer `orphan` off again.
   */
  function overrule(options: KubeObject): void {
    const { propagationPolicy, preconditions } = options
    if (propagationPolicy !== undefined && propagationPolicy !== 'Orphan') orphaned.delete(preconditions?.uid ?? '')
  }

  /** What would be wrong with this write now. */
  async function look(request: Parameters<Handler>[0]): Promise<readonly string[]> {
    const wrong: string[] = []
    const answer = await api.handler({ ...request, method: 'GET', query: new URLSearchParams() }).catch(() => undefined)
    const object = answer?.kind === 'object' ? answer.object : undefined
    if (object === undefined || request.body?.kind !== 'object') return wrong
    const body = request.body.object
    if (request.method === 'DELETE') {
      const { uid, resourceVersion } = body['preconditions'] ?? {}
      // Refused by its preconditions: it decides nothing.
      if (uid !== object.metadata.uid) return wrong
      if (resourceVersion !== undefined && resourceVersion !== object.metadata.resourceVersion) return wrong
      for (const owner of object.metadata.ownerReferences ?? []) {
        if (await isSolid(object, owner)) wrong.push(`${describe(object)} is collected although ${owner.name} owns it`)
        if (orphaned.has(owner.uid)) wrong.push(`${describe(object)} is collected with its orphaning owner's reference`)
      }
    } else if (body.metadata.finalizers !== undefined || 'finalizers' in body.metadata) {
      const { finalizers = [], resourceVersion } = object.metadata
      if (!finalizers.includes('foregroundDeletion') || body.metadata.resourceVersion !== resourceVersion) return wrong
      waited.add(object.metadata.uid as string)
      for (const other of await everything()) {
        const blocks = other.metadata.ownerReferences?.some(
          (owner) => owner.uid === object.metadata.uid && owner.blockOwnerDeletion === true,
        )
        if (blocks) wrong.push(`${describe(object)} goes before its blocking dependent ${describe(other)}`)
      }
    }
    return wrong
  }

  async function live(kind: string, namespace: string | undefined, name: string): Promise<KubeObject | undefined> {
    const path =
      kind === 'ClusterRole'
        ? `/apis/rbac.authorization.k8s.io/v1/clusterroles/${name}`
        : `/api/v1/namespaces/${namespace}/configmaps/${name}`
    const answer = await api.request('GET', path)
    return answer.code === 200 ? (answer.body as KubeObject) : undefined
  }

  async function everything(): Promise<readonly KubeObject[]> {
    const [maps, all] = await Promise.all([
      api.request('GET', '/api/v1/configmaps'),
      api.request('GET', '/apis/rbac.authorization.k8s.io/v1/clusterroles'),
    ])
    return [...maps.body.items, ...all.body.items]
  }

  async function isSolid(object: KubeObject, owner: OwnerReference): Promise<boolean> {
    const found = await live(owner.kind, object.metadata.namespace, owner.name)
    if (found?.metadata.uid !== owner.uid) return false
    // It went in the foreground, although a finalizer of somebody else's may still hold it.
    const waits = found.metadata.finalizers?.includes('foregroundDeletion') || waited.has(owner.uid)
    return !(found.metadata.deletionTimestamp !== undefined && waits)
  }

  function clientOf(object: KubeObject): ResourceClient {
    return object.kind === 'ClusterRole'
      ? roles
      : admin.resource(configMaps).namespace(object.metadata.namespace as string)
  }

  async function makeGraph(): Promise<KubeObject[]> {
    for (const name of ['n1', 'n2']) await runtime.complete(api.namespace(name))
    const made: KubeObject[] = []
    const count = 3 + Math.floor(random.float() * 6)
    for (let index = 0; index < count; index++) {
      const name = `o${index}`
      const finalizers = chance(0.15) ? { finalizers: [userFinalizer] } : {}
      const object: KubeObject = chance(0.2)
        ? {
            apiVersion: 'rbac.authorization.k8s.io/v1',
            kind: 'ClusterRole',
            metadata: { name, ...finalizers },
            rules: [],
          }
        : {
            apiVersion: 'v1',
            kind: 'ConfigMap',
            metadata: { name, namespace: chance(0.8) ? 'n1' : 'n2', ...finalizers },
          }
      made.push(await runtime.complete(clientOf(object).create(object)))
    }
    for (const object of made) {
      const owners = new Map<string, OwnerReference>()
      for (let links = Math.floor(random.float() * 3); links > 0; links--) {
        const owner = oneOf(made)
        if (owner === object) continue
        // Mostly right; sometimes of a uid that never was.
        const uid = chance(0.1) ? random.uuid() : (owner.metadata.uid as string)
        const { apiVersion, kind } = owner
        const name = owner.metadata.name as string
        const blocks = chance(0.6)
        owners.set(uid, { apiVersion, kind, name, uid, ...(blocks ? { blockOwnerDeletion: true } : {}) })
      }
      if (owners.size === 0) continue
      const body = { metadata: { ownerReferences: [...owners.values()] } }
      await runtime.complete(
        clientOf(object)
          .patch(object.metadata.name as string, 'merge', body as never)
          .catch(() => undefined),
      )
    }
    return made
  }

  async function touch(object: KubeObject): Promise<void> {
    const body = { metadata: { annotations: { touched: random.suffix(5) } } }
    await clientOf(object)
      .patch(object.metadata.name as string, 'merge', body)
      .catch(() => undefined)
  }

  async function remove(object: KubeObject, propagationPolicy: Policy): Promise<void> {
    const uid = object.metadata.uid as string
    if (propagationPolicy === 'Orphan') orphaned.add(uid)
    try {
      await clientOf(object).delete(object.metadata.name as string, { propagationPolicy, preconditions: { uid } })
    } catch {
      orphaned.delete(uid)
    }
  }

  async function dropUserFinalizer(object: KubeObject): Promise<void> {
    const finalizers = object.metadata.finalizers?.filter((finalizer) => finalizer !== userFinalizer) ?? []
    const body = { metadata: { finalizers: finalizers.length === 0 ? null : finalizers } }
    await clientOf(object)
      .patch(object.metadata.name as string, 'merge', body)
      .catch(() => undefined)
  }

  /**
   * As seen on a real cluster: owners of each other that were all deleted in the foreground wait for each other for ever (the
   * collector breaks a cycle only at a member that is not waiting itself), and so does an owner for a cluster-scoped dependent that
   * is left alone.
   */
  function waitsForEver(object: KubeObject, path: ReadonlySet<string> = new Set()): boolean {
    const uid = object.metadata.uid as string
    if (path.has(uid)) return true
    if (!object.metadata.finalizers?.includes('foregroundDeletion')) return false
    return [...state.values()].some((other) => {
      const blocks = other.metadata.ownerReferences?.some(
        (owner) => owner.uid === uid && owner.blockOwnerDeletion === true,
      )
      if (!blocks) return false
      return isLeftAlone(other) || waitsForEver(other, new Set([...path, uid]))
    })
  }

  /**
   * A cluster-scoped object cannot have a namespaced owner. As seen on a real cluster the collector leaves one that names such an
   * owner alone, also when its other owners go; and when that reference is taken away later, it does not look at it again.
   */
  function isLeftAlone({ metadata }: KubeObject): boolean {
    return leftAlone.has(metadata.uid as string)
  }

  /** Nothing is left half done: what lives has an owner that lives, or never had one, and names no other. */
  function checkEnd() {
    for (const object of state.values()) {
      if (object.metadata.deletionTimestamp !== undefined) {
        if (!waitsForEver(object))
          failures.push(`${describe(object)} is still being deleted: ${object.metadata.finalizers}`)
        // Its own references are no longer looked at.
        continue
      }
      const owners = object.metadata.ownerReferences ?? []
      if (isLeftAlone(object)) continue
      for (const owner of owners) {
        const found = state.get(owner.uid)
        const valid =
          found !== undefined &&
          found.kind === owner.kind &&
          found.metadata.name === owner.name &&
          (found.kind === 'ClusterRole' || found.metadata.namespace === object.metadata.namespace)
        if (!valid) failures.push(`${describe(object)} still names ${owner.kind} ${owner.name} (${owner.uid})`)
      }
    }
  }
}

function describe(object: KubeObject): string {
  return `${object.kind} ${object.metadata.namespace ?? ''}/${object.metadata.name}`
}
