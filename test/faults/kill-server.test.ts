/**
 * kill -9 of an API server over its own store, at random moments amid creates, updates with preconditions, deletes, lists and
 * watches, and amid its starts: all that was ever answered fits together (../history/history.ts).
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { liveRuntime } from '../../src/base/live-runtime.ts'
import { seededInts } from '../../src/base/random.ts'
import { openStorage } from '../../src/storage/open.ts'
import { type History, problemsOf } from '../history/history.ts'
import { type ServerProcess, startServerProcess } from '../history/server-process.ts'
import { itemsIn, startWorkload, truthOf, type Workload } from '../history/workload.ts'
import { checkHistory, rounds } from './answers.ts'

/** Of each of the two servers that are killed side by side. */
const ROUNDS = rounds(26) / 2
/** Which moments; what runs gets to by then is not in its hands. */
const SEED = Number(process.env['SKIFF_SEED'] ?? 1)
/** A history is judged after so many, and another begins: what a judgement costs grows with the square of its length. */
const ROUNDS_JUDGED = 13
const KEYS = ['a', 'b', 'c', 'd', 'e', 'f']

test('killed with -9 again and again: writes and consistent reads are linearizable, watches complete, and what was judged stays', async () => {
  await Promise.all([killAgainAndAgain(SEED), killAgainAndAgain(SEED + 1)])
})

async function killAgainAndAgain(seed: number): Promise<void> {
  const next = seededInts(seed)
  const dataDir = mkdtempSync(join(tmpdir(), 'skiff-kill-'))
  const judged = new Map<string, readonly string[]>()
  const server = await startServerProcess(dataDir)
  let changes = 0
  try {
    for (let round = 0; round < ROUNDS; round += ROUNDS_JUDGED) {
      if (round > 0) await server.start()
      const namespace = `from-${round}`
      const { metadata } = await server.client
        .resource({ group: '', version: 'v1', resource: 'namespaces' })
        .create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } })
      const workload = startWorkload({ servers: [server.client], workers: 8, namespace, keys: KEYS, watchers: 3 })
      try {
        for (let i = round; i < Math.min(round + ROUNDS_JUDGED, ROUNDS); i++) await killAtRandom(server, workload, next)
        const told = await workload.finish()
        await server.kill()
        changes += await judge(dataDir, namespace, Number(metadata.resourceVersion), told, judged)
      } finally {
        workload.abandon()
      }
    }
    assert.ok(changes > ROUNDS * 10, `${changes} changes`)
  } finally {
    await server.end()
    rmSync(dataDir, { recursive: true, force: true })
  }
}

/** After a few answers or many, so that it dies in every part of a commit; and one of four starts is cut off, once or twice. */
async function killAtRandom(server: ServerProcess, workload: Workload, next: () => number): Promise<void> {
  await workload.progress(1 + (next() % 150))
  await server.kill()
  while (next() % 4 === 0) {
    const started = server.start()
    started.catch(() => {})
    await new Promise((resolve) => setTimeout(resolve, next() % 1500))
    await server.kill()
  }
  await server.start()
}

/** By what the store of the killed server holds. Gives how many changes it tells of. */
async function judge(
  dataDir: string,
  namespace: string,
  from: number,
  told: Omit<History, 'truth'>,
  judged: Map<string, readonly string[]>,
): Promise<number> {
  const storage = await openStorage({ runtime: liveRuntime(), driver: 'lmdb', dir: join(dataDir, 'store') })
  try {
    const truth = await truthOf(storage, namespace, from)
    assert.deepEqual(problemsOf({ ...told, truth }), [])
    await checkHistory(storage)
    judged.set(
      namespace,
      [...new Map(truth.map((change) => [change.key, change])).values()]
        .filter(({ type }) => type === 'put')
        .map(({ key, value, revision }) => `${key} ${value} ${revision}`)
        .toSorted(),
    )
    for (const [name, items] of judged)
      assert.deepEqual(
        (await itemsIn(storage, name)).map(({ key, value, revision }) => `${key} ${value} ${revision}`).toSorted(),
        items,
        name,
      )
    return truth.length
  } finally {
    await storage.close()
  }
}
