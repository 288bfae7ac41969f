/**
 * The process that the fault tests kill: writes to a store in DIR without end and says what was answered, one line each:
 * `KEY REVISION`. Arguments: DIR, how many writes at once, how many in all (0: until killed), and `quick` where the disk is to
 * be taken for a quick one.
 */
import { writeSync } from 'node:fs'
import { liveRuntime } from '../../src/base/live.ts'
import { openStorage } from '../../src/storage/open.ts'

const [dir = '', atOnce = '4', total = '0', disk = ''] = process.argv.slice(2)
const live = liveRuntime()
const runtime = disk === 'quick' ? { ...live, clock: { ...live.clock, monotonic: () => 0 } } : live
const storage = await openStorage({ runtime, driver: 'lmdb', dir })
const run = storage.revision
let count = 0

async function writeOn(writer: number): Promise<void> {
  let counter = 0
  for (let i = 0; total === '0' || count < Number(total); i++) {
    count++
    // Every third write changes a key of its own again and again; the others make new ones.
    const again = i % 3 === 2
    const key = again ? `/registry/counters/${run}/${writer}` : `/registry/things/${run}/${writer}/${i}`
    const value = Buffer.from(`${key} ${'x'.repeat((i * 977) % 9000)}`)
    const result = await storage.write({ type: 'put', key, value, expectRevision: again ? counter : 0 })
    if (!result.ok) throw new Error(`the write of ${key} found another one`)
    if (again) counter = result.revision
    writeSync(1, `${key} ${result.revision}\n`)
  }
}

await Promise.all(Array.from({ length: Number(atOnce) }, (_, writer) => writeOn(writer)))
await storage.close()
