/** Small owner graphs, and what a user does to them, as they were recorded of a real cluster's garbage collector. */
import type { KeptRecord } from '../../src/api/journal.ts'
import type { KubeObject } from '../../src/api/object.ts'
import type { Handler } from '../../src/api/request.ts'
import type { SimulatedRuntime } from '../../src/base/simulated-runtime.ts'
import type { ResourceClient } from '../../src/client/client.ts'
import { createInformerFactory } from '../../src/client/informer.ts'
import { createClient, inProcessTransport, serviceAccountUser } from '../../src/client/transport.ts'
import { createGarbageCollector } from '../../src/controllers/garbage-collector/garbage-collector.ts'
import { ADMIN, journalOf, startTestApi } from '../harness.ts'

export interface Write {
  readonly verb: string
  readonly uri: string
  readonly code: number
  readonly body: { readonly [field: string]: unknown }
}
export type State = readonly [type: string, name: string, finalizers: readonly string[], owners: readonly unknown[]]
export interface Recording {
  readonly scenario: string
  readonly writes: readonly Write[]
  readonly states: readonly State[]
}

const configMaps = { group: '', version: 'v1', resource: 'configmaps' }
const never = '11111111-2222-4333-8444-555555555555'

interface Stage {
  readonly maps: ResourceClient
  readonly elsewhere: ResourceClient
  make(name: string, metadata?: object, maps?: ResourceClient): Promise<KubeObject>
  own(owner: KubeObject, more?: object): object
  remove(name: string, policy: 'Background' | 'Foreground'): Promise<unknown>
  /** From here on it is recorded. */
  mark(): Promise<void>
  rest(): Promise<void>
}
const unknownOwner = (name: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', name, uid: never })

export const graphPlays: Readonly<Record<string, (stage: Stage) => Promise<void>>> = {
  'S8-virtual-owner': async ({ make, mark }) => {
    await mark()
    await make('child', { ownerReferences: [unknownOwner('never')] })
  },
  'S8-owner-uid-differs': async ({ make, mark }) => {
    await mark()
    await make('owner')
    await make('child', { ownerReferences: [unknownOwner('owner')] })
  },
  'S8-owner-in-other-namespace': async ({ make, own, mark, elsewhere }) => {
    const owner = await make('xns-$NS', {}, elsewhere)
    await mark()
    await make('child', { ownerReferences: [own(owner)] })
  },
  'S8-two-owners-one-goes': async ({ make, own, mark, remove }) => {
    const [a, b] = [await make('a'), await make('b')]
    await make('child', { ownerReferences: [own(a), own(b)] })
    await mark()
    await remove('a', 'Background')
  },
  'S8-two-owners-one-foreground': async ({ make, own, mark, remove }) => {
    const [a, b] = [await make('a'), await make('b')]
    await make('child', { ownerReferences: [own(a, { blockOwnerDeletion: true }), own(b)] })
    await mark()
    await remove('a', 'Foreground')
  },
  'S8-cycle-foreground': async ({ make, own, mark, remove, maps }) => {
    const a = await make('a')
    const b = await make('b', { ownerReferences: [own(a, { blockOwnerDeletion: true })] })
    await maps.patch('a', 'merge', { metadata: { ownerReferences: [own(b, { blockOwnerDeletion: true })] } } as never)
    await mark()
    await remove('a', 'Foreground')
  },
  'S8-non-blocking-foreground': async ({ make, own, mark, remove }) => {
    const a = await make('a')
    await make('b', { finalizers: ['example.com/f'], ownerReferences: [own(a)] })
    await mark()
    await remove('a', 'Foreground')
  },
  'S8-blocking-with-finalizer': async ({ make, own, mark, remove, rest, maps }) => {
    const a = await make('a')
    const b = { finalizers: ['example.com/f'], ownerReferences: [own(a, { blockOwnerDeletion: true })] }
    await make('b', b)
    await mark()
    await remove('a', 'Foreground')
    await rest()
    await maps.patch('b', 'merge', { metadata: { finalizers: null } })
  },
}

export async function playGraph(scenario: (stage: Stage) => Promise<void>, runtime: SimulatedRuntime) {
  const api = await runtime.complete(startTestApi(runtime))
  for (const name of ['$NS', 'other']) await runtime.complete(api.namespace(name.replace('$NS', 'ns')))
  const states: State[] = []
  const writes: Write[] = []
  let marked = false
  const spying: Handler = async (request) => {
    const response = await api.handler(request)
    if (request.method !== 'GET' && marked && request.body?.kind === 'object') {
      const { kind: _, apiVersion: __, ...body } = request.body.object
      writes.push({ verb: request.method.toLowerCase(), uri: request.path, code: response.status, body })
    }
    return response
  }
  const admin = createClient(runtime, inProcessTransport(api.handler), { user: ADMIN, userAgent: 'user' })
  const user = serviceAccountUser('kube-system', 'generic-garbage-collector')
  const own = createClient(runtime, inProcessTransport(spying), { user, userAgent: 'kube-controller-manager' })
  const stop = new AbortController()
  const watching = createInformerFactory(runtime, admin, stop.signal)
  const saw = (type: string) => (object: KubeObject) => {
    const { name = '', finalizers = [], ownerReferences = [] } = object.metadata
    const owners = ownerReferences.map((owner) => [
      owner.name === 'xns-ns' ? 'xns-$NS' : owner.name,
      owner.blockOwnerDeletion ?? null,
    ])
    if (marked) states.push([type, name, finalizers, owners])
  }
  watching
    .informer(configMaps, { namespace: 'ns' })
    .addHandlers({ added: saw('ADDED'), updated: (_, object) => saw('MODIFIED')(object), deleted: saw('DELETED') })
  watching.start()
  const informers = createInformerFactory(runtime, own, stop.signal)
  informers.start()
  const collector = createGarbageCollector({ runtime, client: own, informers, signal: stop.signal })
  await runtime.complete(collector.start())

  const maps = admin.resource(configMaps).namespace('ns')
  const elsewhere = admin.resource(configMaps).namespace('other')
  const done = scenario({
    maps,
    elsewhere,
    make: (name, metadata = {}, where = maps) =>
      where.create({
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: name.replace('$NS', 'ns'), ...metadata },
      }),
    own: ({ apiVersion, kind, metadata: { name, uid } }, more = {}) => ({ apiVersion, kind, name, uid, ...more }),
    remove: (name, propagationPolicy) => maps.delete(name, { propagationPolicy }),
    mark: async () => {
      await pause(2000)
      marked = true
    },
    rest: () => pause(3000),
  })
  function pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      runtime.clock.setTimer(ms, 'pause', resolve)
    })
  }
  await runtime.complete(done)
  await runtime.advance(5000)
  stop.abort()
  const journal: readonly KeptRecord[] = await runtime.complete(journalOf(api.storage))
  await runtime.complete(api.stop())
  const recorded = writes
    .filter(({ uri }) => uri.includes('/configmaps/'))
    .map((write) => ({ ...write, uri: write.uri.replace('/namespaces/ns/', '/namespaces/$NS/') }))
  return { states, writes: recorded, journal }
}
