/**
 * What the API servers over one store tell of themselves, for `skiff status`: each keeps a key, which ends unless it writes it again. How far
 * one is behind is told by the write itself: between the newest revision that the server had seen and that of its write lie the
 * others' writes that it had not.
 */
import { asObject } from '../../api/unchecked.ts'
import type { Runtime } from '../../base/runtime.ts'
import type { Storage } from '../../storage/storage.ts'
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
  /** Revisions that it had not seen when it wrote last. */
  readonly behind: number
  /** When that was by its own clock, in milliseconds. */
  readonly at: number
}

type Told = Omit<Replica, 'id' | 'behind'> & { readonly seen: number }

export interface OwnReplica {
  readonly id: string
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
}): Promise<OwnReplica> {
  const { runtime, storage, url, host, signal } = options
  const id = runtime.random.uuid()
  const key = `${REPLICAS_PREFIX}${id}`
  let expectRevision = 0
  const work = async () => {
    const told: Told = { url, host, at: runtime.clock.now(), seen: storage.revision }
    const value = Buffer.from(JSON.stringify(told))
    const result = await storage.write({ type: 'put', key, value, expectRevision, leaseSeconds: LEASE_SECONDS })
    // It has ended where the store was out of reach for longer.
    expectRevision = result.ok ? result.revision : (result.current?.modRevision ?? 0)
    if (!result.ok) throw new Error('its key was not as this server left it')
  }
  await work()
  const timing = { settleMs: 0, retryMs: RETRY_MS, everyMs: EVERY_MS }
  startSettlingLoop({ runtime, name: 'replica', work, onChange: () => () => {}, signal, ...timing })
  return {
    id,
    async stop() {
      await storage.write({ type: 'delete', key, expectRevision })
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
      const { url, host, at, seen } = told
      return [{ id: key.slice(REPLICAS_PREFIX.length), url, host, at, behind: Math.max(0, modRevision - 1 - seen) }]
    })
    .sort((a, b) => (a.url < b.url ? -1 : 1))
}

/** undefined: another version of skiff tells otherwise. */
function read(value: Uint8Array): Told | undefined {
  try {
    const { url, host, at, seen } = asObject(JSON.parse(Buffer.from(value).toString()))
    if (typeof url !== 'string' || typeof host !== 'string') return undefined
    return typeof at === 'number' && typeof seen === 'number' ? { url, host, at, seen } : undefined
  } catch {
    return undefined
  }
}
