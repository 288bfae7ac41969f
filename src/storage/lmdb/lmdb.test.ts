import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import type { Runtime } from '../../base/runtime.ts'
import type { SimulatedRuntime } from '../../base/simulated-runtime.ts'
import { storageContract } from '../contract.ts'
import { createEngine } from '../engine.ts'
import { openStorage } from '../open.ts'
import type { Storage } from '../storage.ts'
import { openLmdbTables } from './tables.ts'

const root = mkdtempSync(join(tmpdir(), 'skiff-lmdb-'))
after(() => rmSync(root, { recursive: true, force: true }))
let stores = 0

contractOf('lmdb', (runtime, dir) => openStorage({ runtime, driver: 'lmdb', dir }))
contractOf('lmdb, with a log from the start', async (runtime, dir) => {
  const tables = openLmdbTables(runtime, dir, { log: 'start' })
  while (tables.isInPlace !== true) await new Promise((resolve) => setImmediate(resolve))
  return createEngine(runtime, tables, {})
})
contractOf('lmdb, mapped anew after each write', (runtime, dir) =>
  createEngine(runtime, openLmdbTables(runtime, dir, { mostTouched: 1 }), {}),
)

function contractOf(name: string, opened: (runtime: Runtime, dir: string) => Storage | Promise<Storage>): void {
  storageContract({
    name,
    async open(runtime) {
      const dir = join(root, `contract-${stores++}`)
      let storage = await opened(runtime, dir)
      return {
        storage,
        reopen: async () => {
          await completeLive(runtime as SimulatedRuntime, storage.close())
          storage = await opened(runtime, dir)
          return storage
        },
      }
    },
    complete: completeLive,
  })
}

/** The disk takes real time: between hand-overs, the event loop turns. */
async function completeLive<T>(runtime: SimulatedRuntime, promise: Promise<T>): Promise<T> {
  let settled = false
  const done = () => {
    settled = true
  }
  promise.then(done, done)
  while (!settled) {
    await runtime.settle()
    await new Promise((resolve) => setImmediate(resolve))
  }
  return promise
}
