/** Opens a store by its driver's name. */
import type { Runtime } from '../base/runtime.ts'
import { createEngine, type EngineOptions } from './engine.ts'
import type { EtcdOptions } from './etcd/servers.ts'
import { type Memory, memoryTables } from './memory.ts'
import { type Storage, StoreError } from './storage.ts'

export interface OpenStorageOptions extends EngineOptions {
  readonly runtime: Runtime
  readonly driver: 'memory' | 'lmdb' | 'etcd'
  /** lmdb: the directory that holds the store, made when it is not there. */
  readonly dir?: string
  /** memory: what a store before this one has left; default: nothing. */
  readonly memory?: Memory
  /** etcd: where it is. */
  readonly etcd?: EtcdOptions
}

/** @throws StoreError when the store is held by another process, is not ours, or is corrupt (it is then left as it is), or etcd cannot be reached */
export async function openStorage(options: OpenStorageOptions): Promise<Storage> {
  switch (options.driver) {
    case 'memory':
      return createEngine(options.runtime, memoryTables(options.runtime, options.memory), options)
    case 'lmdb': {
      if (options.dir === undefined) throw new StoreError('the lmdb store needs a directory: give `dir`')
      const { openLmdbTables } = await import('./lmdb/tables.ts')
      return createEngine(options.runtime, openLmdbTables(options.runtime, options.dir), options)
    }
    case 'etcd': {
      if (options.etcd === undefined) throw new StoreError('the etcd store needs its servers: give `etcd`')
      const { openEtcd } = await import('./etcd/etcd.ts')
      const { onState } = options
      return openEtcd(options.runtime, { ...options.etcd, ...(onState === undefined ? {} : { onState }) })
    }
  }
}
