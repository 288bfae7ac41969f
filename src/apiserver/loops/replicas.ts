/**
 * What the API servers over one store tell of themselves, for `skiff status`: each keeps a key, which ends unless it writes it again. How far
 * one is behind is told by the write itself: between the newest revision that the server had seen and that of its write lie the
 * others' writes that it had not.
 */
import { asObject } from '../../api/unchecked.ts'
import type { Runtime } from '../../base/runtime.ts'
import type { KeyValue, Storage } from '../../storage/storage.ts'
import { startSettlingLoop } from './settling.ts'

export const REPLICAS_PREFIX = '/registry/skiff.dev/replicas/'
const END = '/registry/skiff.dev/replicas0'
const EVERY_MS = 10_000
const RETRY_MS = 1000
const LEASE_SECONDS = 30

export interface Replica {
  readonly id: string
  readonly url: string
  readonly host: string
  /** By what name what leads in its process holds its Leases. */
  readonly holder: string
  /** Revisions that it had not seen when it wrote last. */
  readonly behind: number
  /** When that was by its own clock, in milliseconds. */
  readonly at: number
  /** The simulated nodes run in its process. */
  readonly runsNodes?: boolean
}

/** The simulated kubelets of a server's process. */
export interface OwnKubelets {
  readonly areThere: boolean
  onChange(listener: () => void): () => void
}

/** Of the form of client-go's. */
const holderOf = (host: string, id: string): string => `${host}_${id}`

type Told = Omit<Replica, 'id' | 'holder' | 'behind'> & { readonly seen: number }

export interface OwnReplica {
  readonly id: string
  readonly holder: string
  /** Its key goes at once. */
  stop(): Promise<void>
}

/** Resolves when its key is there. `signal`: ends it without another write. @throws StoreError of the first time */
export async function startReplica(options: {
  readonly runtime: Runtime
  readonly storage: Storage
  readonly url: string
  readonly host: string
  readonly signal: AbortSignal
  readonly kubelets?: OwnKubelets | undefined
}): Promise<OwnReplica> {
  const { runtime, storage, url, host, signal, kubelets } = options
  const id = runtime.random.uuid()
  const key = `${REPLICAS_PREFIX}${id}`
  let expectRevision = 0
  let writing = Promise.resolve()
  const write = async () => {
    const nodes = kubelets?.areThere === true ? { runsNodes: true } : {}
    const told: Told = { url, host, at: runtime.clock.now(), seen: storage.revision, ...nodes }
    const value = Buffer.from(JSON.stringify(told))
    const result = await storage.write({ type: 'put', key, value, expectRevision, leaseSeconds: LEASE_SECONDS })
    // It has ended where the store was out of reach for longer.
    expectRevision = result.ok ? result.revision : (result.current?.modRevision ?? 0)
    if (!result.ok) throw new Error('its key was not as this server left it')
  }
  const work = () => {
    writing = write()
    return writing
  }
  await work()
  const timing = { settleMs: 0, retryMs: RETRY_MS, everyMs: EVERY_MS }
  const onChange = (listener: () => void) => kubelets?.onChange(listener) ?? (() => {})
  startSettlingLoop({ runtime, name: 'replica', work, onChange, signal, ...timing })
  return {
    id,
    holder: holderOf(host, id),
    async stop() {
      // Its kubelets have just ended: that is being told.
      await writing.catch(() => {})
      const result = await storage.write({ type: 'delete', key, expectRevision })
      if (result.ok || result.current === undefined) return
      // A write whose answer was lost was done all the same.
      await storage.write({ type: 'delete', key, expectRevision: result.current.modRevision })
    },
  }
}

/** Of all that live, in the order of their URLs. @throws StoreError */
export async function readReplicas(storage: Storage): Promise<readonly Replica[]> {
  const { items } = await storage.range(REPLICAS_PREFIX, END)
  return items
    .flatMap(({ key, value, modRevision }) => {
      const told = read(value)
      if (told === undefined) return []
      const { seen, ...others } = told
      const id = key.slice(REPLICAS_PREFIX.length)
      return [{ id, holder: holderOf(told.host, id), ...others, behind: Math.max(0, modRevision - 1 - seen) }]
    })
    .sort((a, b) => (a.url < b.url ? -1 : 1))
}

/**
 * Where the simulated nodes run: the URL of the server of that process. The one that said so last: one that was killed is named for a while
 * yet. `own`: the id of this server, which does not count. @throws StoreError
 */
export async function followReplicas(
  storage: Storage,
  own: string,
): Promise<{ withNodes(): string | undefined; stop(): void }> {
  const known = new Map<string, { readonly url: string; readonly revision: number }>()
  const put = (key: string, value: Uint8Array | undefined, revision: number) => {
    const told = value === undefined ? undefined : read(value)
    if (told?.runsNodes === true) known.set(key, { url: told.url, revision })
    else known.delete(key)
  }
  const all = (items: readonly KeyValue[]) => {
    known.clear()
    for (const { key, value, modRevision } of items) put(key, value, modRevision)
  }
  const { items, revision } = await storage.range(REPLICAS_PREFIX, END)
  all(items)
  const stop = storage.subscribe(REPLICAS_PREFIX, revision, {
    events: (events) => {
      for (const event of events) put(event.key, event.value, event.revision)
    },
    reset: all,
  })
  return {
    withNodes() {
      const others = [...known].filter(([key]) => key !== `${REPLICAS_PREFIX}${own}`).map(([, one]) => one)
      return others.toSorted((a, b) => b.revision - a.revision)[0]?.url
    },
    stop,
  }
}

/** undefined: another version of skiff tells otherwise. */
function read(value: Uint8Array): Told | undefined {
  try {
    const { url, host, at, seen, runsNodes } = asObject(JSON.parse(Buffer.from(value).toString()))
    if (typeof url !== 'string' || typeof host !== 'string' || typeof at !== 'number' || typeof seen !== 'number')
      return undefined
    return { url, host, at, seen, ...(runsNodes === true ? { runsNodes } : {}) }
  } catch {
    return undefined
  }
}
