/**
 * The journal where the store is an etcd: keys beside those of Kubernetes, `/skiff.dev/journal` + the prefix of the store's keys +
 * `/REVISION-BYTES`. They are written a moment after the writes they are about, several at once, so that no write waits for them, or
 * fails where this process may not write there. A process that is killed loses those of the last moment; what servers of other
 * makes write is not in it.
 */
import type { Timer } from '../../base/clock.ts'
import { messageOf } from '../../base/errors.ts'
import type { Runtime } from '../../base/runtime.ts'
import { type JournalAddition, type JournalBounds, type JournalEntry, sizesOf } from '../journal.ts'
import type { Members } from './members.ts'
import type { EtcdKeyValue } from './messages.ts'

/** An etcd is shared, and small (2 GiB unless told otherwise). */
export const ETCD_JOURNAL_BOUNDS: JournalBounds = { entries: 10_000, bytes: 8 << 20 }

const PUT_AFTER_MS = 100
/** What etcd takes in one transaction by default. */
const MOST_OPERATIONS = 128
/** Bytes of one transaction: etcd takes 1.5 MiB by default. */
const MOST_BYTES = 1 << 20
/** So many may wait for an etcd that does not answer: more are lost. */
const MOST_WAITING = 5000
/** After so many of this process's own, as a part of the bound, the oldest are looked for. */
const TRIM_PART = 1 / 20
const PAGE = 1000

export interface EtcdJournal {
  add(entry: JournalAddition): void
  read(afterRevision: number): Promise<readonly JournalEntry[]>
  /** Writes what waits. */
  close(): Promise<void>
}

export function startEtcdJournal(
  { clock, log }: Pick<Runtime, 'clock' | 'log'>,
  members: Members,
  prefix: string,
  bounds: JournalBounds = ETCD_JOURNAL_BOUNDS,
): EtcdJournal {
  const root = `/skiff.dev/journal${prefix}/`
  const all = { key: Buffer.from(root), range_end: Buffer.from(`${root.slice(0, -1)}0`) }
  const waiting: { readonly revision: number; readonly value: Buffer }[] = []
  let timer: Timer | undefined
  let writing: Promise<void> = Promise.resolve()
  let sinceTrim = 0
  let lost = 0

  const keyOf = (revision: number, bytes: number) =>
    Buffer.from(`${root}${String(revision).padStart(16, '0')}-${bytes}`)
  const named = ({ key }: EtcdKeyValue) => {
    const [revision = '', bytes = ''] = key.toString('latin1', root.length).split('-')
    return { revision: Number(revision), bytes: Number(bytes) }
  }

  function takeBatch(): typeof waiting {
    let bytes = 0
    const upTo = waiting.findIndex(({ value }, at) => {
      bytes += value.length
      return at >= MOST_OPERATIONS || (at > 0 && bytes > MOST_BYTES)
    })
    return waiting.splice(0, upTo < 0 ? waiting.length : upTo)
  }

  async function putWaiting(): Promise<void> {
    while (waiting.length > 0) {
      const batch = takeBatch()
      const success = batch.map(({ revision, value }) => ({
        request_put: { key: keyOf(revision, value.length), value },
      }))
      await members.call('Txn', { compare: [], success, failure: [] }, { isRepeatable: true })
      sinceTrim += batch.length
      if (sinceTrim >= bounds.entries * TRIM_PART) {
        sinceTrim = 0
        await trim()
      }
    }
  }

  async function pages(from: Buffer, keysOnly: boolean): Promise<EtcdKeyValue[]> {
    const found: EtcdKeyValue[] = []
    for (let key = from; ; ) {
      const request = { key, range_end: all.range_end, limit: PAGE, keys_only: keysOnly }
      const page = await members.call('Range', request, { isRepeatable: true })
      found.push(...page.kvs)
      const last = page.kvs.at(-1)
      if (!page.more || last === undefined) return found
      key = Buffer.concat([last.key, Buffer.of(0)])
    }
  }

  async function trim(): Promise<void> {
    const keys = (await pages(all.key, true)).map(named)
    const sizes = sizesOf(keys.map(({ revision, bytes }) => ({ revision, value: { length: bytes } })))
    const newest = sizes.beyond(bounds).at(-1)
    if (newest === undefined) return
    const range = { key: all.key, range_end: keyOf(newest + 1, 0) }
    await members.call(
      'Txn',
      { compare: [], success: [{ request_delete_range: range }], failure: [] },
      { isRepeatable: true },
    )
  }

  function put(): Promise<void> {
    timer?.cancel()
    timer = undefined
    writing = writing.then(putWaiting).catch((error: unknown) => {
      if (lost++ === 0) log.error('the journal of deletions is not written: timelines will have gaps', messageOf(error))
    })
    return writing
  }

  return {
    add({ revision, text }) {
      if (waiting.length >= MOST_WAITING) waiting.shift()
      waiting.push({ revision, value: Buffer.from(text.shared + text.own) })
      timer ??= clock.setTimer(PUT_AFTER_MS, 'etcd journal', () => void put())
    },
    async read(afterRevision) {
      await put()
      const found = await pages(keyOf(afterRevision + 1, 0), false)
      return found.map((kv) => ({ revision: named(kv).revision, value: kv.value.toString() }))
    },
    async close() {
      await put()
    },
  }
}
