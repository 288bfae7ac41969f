/**
 * The process that the fault tests kill: creates, changes and deletes in a store in DIR without end, compacts it meanwhile, and
 * says what was answered, one line each: `KEY REVISION`, with a minus before the revision of a delete. Arguments: DIR, how many writes at once, how many in all (0: until killed), `quick` where the disk is to
 * be taken for a quick one (`real` where not), and `whole` where nothing is compacted: each compaction brings all that is logged into the tables, so
 * only without it the files of the log are filled, written in turn and written again.
 */
import { writeSync } from 'node:fs'
import { liveRuntime } from '../../src/base/live-runtime.ts'
import { openStorage } from '../../src/storage/open.ts'
import { CompactedError, type Write } from '../../src/storage/storage.ts'
import { noiseOf } from './noise.ts'

const [dir = '', atOnce = '4', total = '0', disk = 'real', history = ''] = process.argv.slice(2)
const live = liveRuntime()
const runtime = disk === 'quick' ? { ...live, machineClock: { ...live.clock, monotonic: () => 0 } } : live
const storage = await openStorage({ runtime, driver: 'lmdb', dir })
const run = storage.revision
let count = 0

const COMPACT_EVERY = 30

async function answered(request: Write): Promise<number> {
  const result = await storage.write(request)
  if (!result.ok) throw new Error(`the write of ${request.key} found another one`)
  writeSync(1, `${request.key} ${request.type === 'delete' ? '-' : ''}${result.revision}\n`)
  return result.revision
}

/** Of what is kept in turns: one to come, one to change a key of its own again and again, one to go again. */
async function writeOn(writer: number): Promise<void> {
  let counter = 0
  for (let i = 0; total === '0' || count < Number(total); i++) {
    count++
    const length = (i * 977) % 9000
    // The one is compressed, the other is not.
    const text = i % 2 === 0 ? noiseOf(length) : 'x'.repeat(length)
    const put = (key: string, expectRevision = 0) =>
      answered({ type: 'put', key, value: Buffer.from(`${key} ${text}`), expectRevision })
    if (i % 3 === 0) await put(`/registry/things/${run}/${writer}/${i}`)
    else if (i % 3 === 1) counter = await put(`/registry/counters/${run}/${writer}`, counter)
    else {
      const key = `/registry/gone/${run}/${writer}/${i}`
      await answered({
        type: 'delete',
        key,
        expectRevision: await put(key),
        journal: () => ({ shared: '/', own: key.slice(1) }),
      })
    }
    if (history !== 'whole' && count % COMPACT_EVERY === 0) await compact()
  }
}

async function compact(): Promise<void> {
  try {
    await storage.compact(storage.revision - 5)
  } catch (error) {
    // Another writer has come further.
    if (!(error instanceof CompactedError)) throw error
  }
}

await Promise.all(Array.from({ length: Number(atOnce) }, (_, writer) => writeOn(writer)))
await storage.close()
