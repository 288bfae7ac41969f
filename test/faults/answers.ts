/** What a store must hold after a fault, given what was answered before it. */
import assert from 'node:assert/strict'
import { decodeRecord } from '../../src/api/journal.ts'
import { liveRuntime } from '../../src/base/live-runtime.ts'
import { openStorage } from '../../src/storage/open.ts'
import type { Storage } from '../../src/storage/storage.ts'

/** How often a fault is made: CI's number, unless a longer check says more. */
export const rounds = (usual: number): number => Math.max(usual, Number(process.env['SKIFF_ROUNDS'] ?? 0))

/**
 * The newest answered revision of each key, of lines `KEY REVISION`, negative where the key was deleted; a last line that is cut
 * off was not an answer.
 */
export function answersOf(output: string): Map<string, number> {
  const answers = new Map<string, number>()
  for (const line of output.slice(0, output.lastIndexOf('\n') + 1).split('\n')) {
    const space = line.lastIndexOf(' ')
    if (space > 0) answers.set(line.slice(0, space), Number(line.slice(space + 1)))
  }
  return answers
}

/** Keys that their writer deletes: one may be gone without its answer being heard. */
const isPassing = (key: string) => key.includes('/gone')

/** Keys of writer.ts, which has nothing else in its store. */
const WRITERS = /^\/registry\/(?:things|counters|gone)\//

/** Opens the store and looks for every answered write, whose value is `valid`; what writer.ts was not answered is there whole or not at all. Gives its revision. */
export async function checkAnswers(
  dir: string,
  answers: ReadonlyMap<string, number>,
  valid: (key: string, value: string) => boolean = (key, value) => value.startsWith(`${key} `),
): Promise<number> {
  const storage = await openStorage({ runtime: liveRuntime(), driver: 'lmdb', dir })
  try {
    let newest = 0
    for (const [key, answered] of answers) {
      const { item } = await storage.get(key)
      const revision = Math.abs(answered)
      newest = Math.max(newest, revision)
      if (answered < 0) {
        assert.ok(item === undefined, `${key}, answered as deleted at revision ${revision}, is back`)
        continue
      }
      if (item === undefined && isPassing(key) && storage.revision > revision) continue
      assert.ok(item, `${key}, answered at revision ${revision}, is gone`)
      // A later write of the key may have become durable without its answer being heard.
      assert.ok(item.modRevision >= revision, `${key} is at ${item.modRevision}, but ${revision} was answered`)
      assert.ok(valid(key, Buffer.from(item.value).toString('utf8')), `${key} has another value`)
    }
    const { items } = await storage.range('/registry/', '/registry0')
    for (const { key, value } of items)
      if (WRITERS.test(key) && !answers.has(key))
        assert.ok(valid(key, Buffer.from(value).toString('utf8')), `${key}, which was not answered, is there in part`)
    assert.ok(storage.revision >= newest, `the revision went back from ${newest} to ${storage.revision}`)
    await checkJournal(storage, answers)
    await checkHistory(storage)
    return storage.revision
  } finally {
    await storage.close()
  }
}

/** It has each delete that was answered, and none that was not done. */
async function checkJournal(storage: Storage, answers: ReadonlyMap<string, number>): Promise<void> {
  const removed = new Set<string>()
  for (const { revision, value } of await storage.journal(0)) {
    assert.ok(revision <= storage.revision, `the journal is at ${revision}, the store at ${storage.revision}`)
    const key = removedBy(value)
    removed.add(key)
    assert.equal((await storage.get(key)).item, undefined, `${key} is in the journal and in the store`)
  }
  for (const [key, answered] of answers)
    if (answered < 0) assert.ok(removed.has(key), `the journal has not the removal of ${key}`)
}

/** The entry of a writer to the store is the key itself; a server's is a record. */
function removedBy(entry: string): string {
  if (entry.startsWith('/')) return entry
  const record = decodeRecord(entry, 0)
  assert.ok(record !== undefined, `the journal has an entry that is no record: ${entry}`)
  assert.equal(record.after, undefined)
  return `/registry/${record.resource}/${record.namespace}/${record.name}`
}

/** Above the compaction each revision is there, and a compaction that goes on where one was cut off takes no key's value. */
export async function checkHistory(storage: Storage): Promise<void> {
  const all = async () =>
    (await storage.range('/', '0')).items.map(({ key, modRevision, value }) => `${key} ${modRevision} ${value.length}`)
  for (let after = storage.compactedRevision || 1; after < storage.revision; ) {
    const { events, revision } = await storage.history('', after)
    for (const event of events) assert.equal(event.revision, ++after, 'a revision is missing')
    assert.equal(after, revision)
  }
  const before = await all()
  if (storage.revision > storage.compactedRevision) await storage.compact(storage.revision)
  assert.deepEqual(await all(), before)
}
