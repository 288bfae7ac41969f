/**
 * The API server's process and its store. Either is killed wherever it is and started again: of what was on its way to the disk a
 * whole group is there afterwards, or nothing; requests under way end without an answer.
 */
import type { ApiResponse, Handler } from '../../../src/api/request.ts'
import type { SimulatedRuntime } from '../../../src/base/simulated-runtime.ts'
import { stoppable } from '../../../src/base/stoppable.ts'
import { createMemory, endMemoryWrite } from '../../../src/storage/memory.ts'
import { openStorage } from '../../../src/storage/open.ts'
import type { Storage } from '../../../src/storage/storage.ts'
import { startTestApi, type TestApi } from '../../harness.ts'
import type { Happening } from './happenings.ts'
import type { Truth } from './truth.ts'

/** The server is not there, or died over the request. */
export class ConnectionLost extends Error {
  constructor() {
    super('socket hang up')
    this.name = 'ConnectionLost'
  }
}

export interface ServerProcess {
  readonly up: boolean
  /** What clients reach. @throws ConnectionLost */
  readonly handler: Handler
  /** `store`: it dies too, and what it was writing is there afterwards (`written`) or lost; `alone`: it goes on. */
  kill(store: 'alone' | 'written' | 'lost'): void
  /** The store has something on its way to the disk. */
  readonly writing: boolean
  /** The history so far is given up: who asks for it is told that it is too old. */
  compact(): void
  /** Resolves when it answers; for a server that is up, or on its way, at once. */
  start(): Promise<void>
  stop(): Promise<void>
}

export interface ServerOptions {
  readonly runtime: SimulatedRuntime
  readonly truth: Truth
  /** Whatever requests of earlier lives asked for has happened by now, or never will. */
  readonly settled: () => void
  readonly failed: (reason: string) => void
  readonly happened: (what: Happening) => void
}

/** A key no resource has: a write to it is behind all that an earlier life of the server has asked for. */
const BARRIER = '/registry/barrier'

export function createServer({ runtime, truth, settled, failed, happened }: ServerOptions): ServerProcess {
  const memory = createMemory()
  const underWay = new Set<(error: unknown) => void>()
  let store: { readonly storage: Storage; readonly power: AbortController } | undefined
  let life: AbortController | undefined
  let api: TestApi | undefined

  async function openStore(): Promise<Storage> {
    if (store !== undefined) return store.storage
    const power = new AbortController()
    const own = stoppable(runtime, power.signal)
    const storage = await openStorage({ runtime: own, driver: 'memory', memory })
    store = { storage, power }
    truth.follow(storage)
    const { items } = await storage.range('/registry/', '/registry0')
    for (const problem of truth.differences(items)) failed(`after a restart of the store ${problem}`)
    return storage
  }

  async function passBarrier(storage: Storage): Promise<void> {
    const { item } = await storage.get(BARRIER)
    await storage.write({ type: 'put', key: BARRIER, value: Buffer.from('{}'), expectRevision: item?.modRevision ?? 0 })
    settled()
  }

  return {
    get up() {
      return api !== undefined
    },
    handler(request) {
      const server = api
      if (server === undefined) throw new ConnectionLost()
      return new Promise<ApiResponse>((resolve, reject) => {
        underWay.add(reject)
        const ended = <T>(settle: (value: T) => void) => {
          return (value: T) => {
            underWay.delete(reject)
            settle(value)
          }
        }
        Promise.resolve(server.handler(request)).then(ended(resolve), ended(reject))
      })
    },
    kill(how) {
      happened('the API server is killed')
      if (underWay.size > 0) happened('a request is under way when the API server dies')
      life?.abort()
      life = undefined
      // One that has not come up follows the store already: it would never end to.
      if (how !== 'alone' || api === undefined) {
        happened('the store is killed')
        if (memory.writing !== undefined)
          happened(
            how === 'written' ? 'the store dies writing, and it is written' : 'the store dies writing, and it is lost',
          )
        store?.power.abort()
        store = undefined
        endMemoryWrite(memory, how === 'written')
      }
      const dead = api
      api = undefined
      for (const reject of [...underWay]) reject(new ConnectionLost())
      underWay.clear()
      void dead?.server.stop()
    },
    get writing() {
      return memory.writing !== undefined
    },
    compact() {
      const storage = store?.storage
      if (storage === undefined || storage.revision <= storage.compactedRevision) return
      happened('the store is compacted')
      storage.compact(storage.revision).catch(() => {})
    },
    async start() {
      if (life !== undefined) return
      const own = new AbortController()
      life = own
      const storage = await openStore()
      const started = await startTestApi(stoppable(runtime, own.signal), { storage })
      if (own.signal.aborted) return
      api = started
      await passBarrier(storage)
    },
    async stop() {
      await api?.stop()
    },
  }
}
