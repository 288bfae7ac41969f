/** What etcd answers a Range with, of a store here. */
import { status } from '@grpc/grpc-js'
import { CompactedError, FutureRevisionError, type KeyValue } from '../../storage.ts'
import { EtcdError } from '../errors.ts'
import type { EtcdKeyValue } from '../messages.ts'
import type { ReadStore } from './under-prefix.ts'

export interface ServedRange {
  readonly key: Buffer
  readonly range_end: Buffer
  readonly limit: number
  readonly revision: number
  readonly sort_order: 'NONE' | 'ASCEND' | 'DESCEND'
  readonly sort_target: keyof typeof TARGETS
  readonly keys_only: boolean
  readonly count_only: boolean
  readonly min_mod_revision: number
  readonly max_mod_revision: number
  readonly min_create_revision: number
  readonly max_create_revision: number
}

export interface RangeAnswer {
  readonly kvs: readonly EtcdKeyValue[]
  readonly more: boolean
  readonly count: number
  /** The store's newest. */
  readonly revision: number
}

/** Behind every key that there is. */
const END = '\uffff'

/** @throws EtcdError as etcd has it */
export function boundsOf(key: Buffer, end: Buffer): { readonly start: string; readonly end: string } {
  if (key.length === 0) throw new EtcdError('etcdserver: key is not provided', status.INVALID_ARGUMENT, false)
  const start = key.toString()
  // The key alone; every key from there; or those before another one.
  if (end.length === 0) return { start, end: `${start}\0` }
  return { start, end: end.length === 1 && end[0] === 0 ? END : end.toString() }
}

/** @throws EtcdError as etcd has it */
export async function answerRange(store: ReadStore, request: ServedRange): Promise<RangeAnswer> {
  const { start, end } = boundsOf(request.key, request.range_end)
  const isFiltered =
    request.min_mod_revision + request.max_mod_revision + request.min_create_revision + request.max_create_revision > 0
  const isSorted = request.sort_order !== 'NONE' || request.sort_target !== 'KEY'
  // Which are the first is known only once all of them are.
  const limit = isFiltered || isSorted ? 0 : request.count_only ? 1 : request.limit
  const found = await asEtcd(
    store.range(start, end, { limit, ...(request.revision > 0 ? { revision: request.revision } : {}) }),
  )
  const count = found.items.length + found.remaining
  const { revision } = store
  if (request.count_only) return { kvs: [], more: false, count, revision }
  const fitting = isFiltered ? found.items.filter((item) => fits(item, request)) : found.items
  const asked = fitting.map((item) => ({
    ...keyValueOf(store, item),
    ...(request.keys_only ? { value: NOTHING } : {}),
  }))
  if (isSorted) asked.sort(ordering(request))
  const kvs = request.limit > 0 ? asked.slice(0, request.limit) : asked
  return { kvs, more: found.more || kvs.length < asked.length, count, revision }
}

const NOTHING = Buffer.alloc(0)

export const keyValueOf = (store: ReadStore, item: KeyValue): EtcdKeyValue => ({
  key: Buffer.from(item.key),
  value: Buffer.from(item.value.buffer, item.value.byteOffset, item.value.byteLength),
  create_revision: item.createRevision,
  mod_revision: item.modRevision,
  version: store.version?.(item) ?? 1,
})

const within = (revision: number, min: number, max: number): boolean =>
  (min === 0 || revision >= min) && (max === 0 || revision <= max)

const fits = (item: KeyValue, request: ServedRange): boolean =>
  within(item.modRevision, request.min_mod_revision, request.max_mod_revision) &&
  within(item.createRevision, request.min_create_revision, request.max_create_revision)

const TARGETS = {
  KEY: (a: EtcdKeyValue, b: EtcdKeyValue) => Buffer.compare(a.key, b.key),
  VERSION: (a: EtcdKeyValue, b: EtcdKeyValue) => a.version - b.version,
  CREATE: (a: EtcdKeyValue, b: EtcdKeyValue) => a.create_revision - b.create_revision,
  MOD: (a: EtcdKeyValue, b: EtcdKeyValue) => a.mod_revision - b.mod_revision,
  VALUE: (a: EtcdKeyValue, b: EtcdKeyValue) => Buffer.compare(a.value, b.value),
}

function ordering({ sort_order, sort_target }: ServedRange): (a: EtcdKeyValue, b: EtcdKeyValue) => number {
  const compare = TARGETS[sort_target]
  return sort_order === 'DESCEND' ? (a, b) => compare(b, a) : compare
}

/** The store's failures in etcd's words. */
async function asEtcd<T>(asked: Promise<T>): Promise<T> {
  try {
    return await asked
  } catch (error) {
    if (error instanceof CompactedError)
      throw new EtcdError('etcdserver: mvcc: required revision has been compacted', status.OUT_OF_RANGE, false)
    if (error instanceof FutureRevisionError)
      throw new EtcdError('etcdserver: mvcc: required revision is a future revision', status.OUT_OF_RANGE, false)
    throw error
  }
}
