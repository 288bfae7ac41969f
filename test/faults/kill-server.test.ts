/** kill -9 of `skiff up` under a write load: what it answered is there when it is started again. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { HttpsClient } from '../../src/http/client.ts'
import { rounds } from './answers.ts'
import { ask, CONFIG_MAPS, configMap, startServer } from './server.ts'

/** Of each of the two clusters that are killed side by side. */
const ROUNDS = rounds(50) / 2
const WRITERS = 8

/** What must be found: the newest answered resourceVersion of a name, or that it was deleted. */
type Answered = Map<string, number | 'deleted'>

test('50 times: every answered create, update and delete holds, and the revision never goes back', async () => {
  await Promise.all([killAgainAndAgain(), killAgainAndAgain()])
})

async function killAgainAndAgain(): Promise<void> {
  const dataDir = mkdtempSync(join(tmpdir(), 'skiff-kill-'))
  const answered: Answered = new Map()
  let revision = 0
  try {
    for (let round = 0; round < ROUNDS; round++) {
      const server = await startServer(dataDir)
      const now = await checkAnswered(server.client, answered)
      assert.ok(now >= revision, `round ${round}: the revision went back from ${revision} to ${now}`)
      // Killed after a few answers or many, so that it dies in every part of a commit.
      let left = 1 + ((round * 37) % 90)
      const heard = (name: string, version: number | 'deleted') => {
        answered.set(name, version)
        if (version !== 'deleted') revision = Math.max(revision, version)
        if (--left === 0) server.kill()
      }
      await Promise.all(
        Array.from({ length: WRITERS }, (_, writer) => writeOn(server.client, `${round}-${writer}`, heard)),
      )
      await server.ended
      server.client.close()
      revision = Math.max(revision, now)
    }
    const last = await startServer(dataDir)
    await checkAnswered(last.client, answered)
    last.client.close()
    last.kill()
    await last.ended
    assert.ok(answered.size > ROUNDS * 10, `${answered.size} names`)
  } finally {
    rmSync(dataDir, { recursive: true, force: true })
  }
}

/** Creates a name, changes it twice, and deletes every other one, until the server is gone. */
async function writeOn(
  client: HttpsClient,
  prefix: string,
  heard: (name: string, version: number | 'deleted') => void,
): Promise<void> {
  const asked = async (method: string, path: string, body?: object) => {
    const { status, text } = await ask(client, method, path, body)
    const object = JSON.parse(text)
    assert.ok(status < 300, object.message)
    return object
  }
  for (let i = 0; ; i++) {
    const name = `c-${prefix}-${i}`
    try {
      for (let turn = 0; turn < 3; turn++) {
        const text = `${turn} ${'x'.repeat((i * 977) % 5000)}`
        const made = await (turn === 0
          ? asked('POST', CONFIG_MAPS, configMap(name, text))
          : asked('PUT', `${CONFIG_MAPS}/${name}`, configMap(name, text)))
        heard(name, Number(made.metadata.resourceVersion))
      }
      if (i % 2 === 1) {
        await asked('DELETE', `${CONFIG_MAPS}/${name}`)
        heard(name, 'deleted')
      }
    } catch (error) {
      if (error instanceof assert.AssertionError || error instanceof SyntaxError) throw error
      return
    }
  }
}

/** Gives the revision the server is at. A write may have become durable without its answer being heard. */
async function checkAnswered(client: HttpsClient, answered: Answered): Promise<number> {
  const { metadata, items } = JSON.parse((await ask(client, 'GET', CONFIG_MAPS)).text) as {
    metadata: { resourceVersion: string }
    items: { metadata: { name: string; resourceVersion: string } }[]
  }
  const found = new Map(items.map(({ metadata: { name, resourceVersion } }) => [name, Number(resourceVersion)]))
  for (const [name, version] of answered) {
    const is = found.get(name)
    if (version === 'deleted') assert.equal(is, undefined, `${name} was answered as deleted and is back`)
    else if (is === undefined) assert.match(name, /[13579]$/, `${name}, answered at ${version}, is gone`)
    else assert.ok(is >= version, `${name} is at ${is}, but ${version} was answered`)
  }
  return Number(metadata.resourceVersion)
}
