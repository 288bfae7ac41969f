import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { simulatedRuntime } from '../../base/simulated-runtime.ts'
import type { ContainerRuntime } from '../runtimes/runtime.ts'
import { createWatchedRuntime } from './watch-runtime.ts'

const directory = mkdtempSync(join(tmpdir(), 'skiff-watch-runtime-'))
after(() => rmSync(directory, { recursive: true, force: true }))

/** A node with running containers of these names, each with a large log. `reopen` is what its runtime does to begin a log anew. */
async function stage(
  names: readonly string[],
  reopen: (id: string) => Promise<void>,
  write: (line: string) => void = () => {},
) {
  const runtime = simulatedRuntime(1, { log: { level: 2, write } })
  const logPathOf = (id: string) => join(directory, `${id}.log`)
  for (const name of names) writeFileSync(logPathOf(name), 'large')
  let looks = 0
  const containerRuntime = {
    listContainers: async () => names.map((id) => ({ id, state: 'running', logPath: logPathOf(id) })),
    async listImages() {
      looks++
      return []
    },
    real: { features: async () => undefined, reopenLog: reopen },
  } as unknown as ContainerRuntime
  const signal = new AbortController().signal
  const logs = { largest: 1, mostFiles: 5 }
  const watched = await createWatchedRuntime({ runtime, containerRuntime, nodeName: 'n', signal, logs })
  watched.run(() => undefined)
  return { runtime, logPathOf, looks: () => looks }
}

test('a log that cannot be turned over is told of, and keeps none of the others back', async () => {
  const turned = Promise.withResolvers<void>()
  const lines: string[] = []
  const reopen = async (id: string) => {
    if (id === 'bad') throw new Error('no such container')
    turned.resolve()
  }
  const { runtime, logPathOf } = await stage(['bad', 'good'], reopen, (line) => {
    lines.push(line)
    if (line.includes('Failed to rotate logs')) turned.reject(new Error('the whole round failed'))
  })
  await runtime.advance(3000)
  await turned.promise
  assert.ok(existsSync(logPathOf('bad')), 'it stays where it is')
  assert.deepEqual(
    readdirSync(directory).filter((name) => name.startsWith('good')),
    ['good.log.20260101-000003'],
  )
  assert.match(lines.join('\n'), /Failed to rotate log.*bad\.log.*no such container/)
})

test('the runtime is looked at while a log is still being turned over, which is begun once', async () => {
  const begun = Promise.withResolvers<void>()
  let times = 0
  const { runtime, looks } = await stage(['slow'], (id) => {
    assert.equal(id, 'slow')
    times++
    begun.resolve()
    return new Promise(() => {})
  })
  await runtime.advance(3000)
  await begun.promise
  const before = looks()
  await runtime.advance(6000)
  assert.equal(looks() - before, 2)
  assert.equal(times, 1)
})
