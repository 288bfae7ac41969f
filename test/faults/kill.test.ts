import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { answersOf, checkAnswers, rounds } from './answers.ts'

const ROUNDS = rounds(50)
const WRITER = join(import.meta.dirname, 'writer.ts')

test('kill -9 during writes, deletes and compactions, 50 times: every answered one holds, and the revision never goes back', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'skiff-kill-'))
  const all = new Map<string, number>()
  let revision = 0
  try {
    for (let round = 0; round < ROUNDS; round++) {
      // Killed after a few answers or many, so that it dies in every part of a commit, and in each second round amid several files of the log.
      const isWhole = round % 2 === 1
      const answers = await killAfter(spawnWriter(dir, isWhole), 1 + ((round * 37) % (isWhole ? 600 : 150)))
      const now = await checkAnswers(dir, answers)
      assert.ok(now >= revision, `round ${round}: the revision went back from ${revision} to ${now}`)
      revision = now
      for (const [key, answered] of answers) all.set(key, answered)
    }
    await checkAnswers(dir, all)
    assert.ok(all.size > ROUNDS * 20, `${all.size} keys`)
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
})

function spawnWriter(dir: string, isWhole: boolean): ChildProcess {
  const args = [WRITER, dir, '8', '0', 'real', isWhole ? 'whole' : 'compacted']
  return spawn(process.execPath, ['--disable-warning=ExperimentalWarning', ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
}

/** Kills the process when it has given that many lines; gives all it said until it was dead. */
async function killAfter(child: ChildProcess, lines: number): Promise<Map<string, number>> {
  let output = ''
  let seen = 0
  child.stdout!.setEncoding('utf8')
  child.stdout!.on('data', (chunk: string) => {
    output += chunk
    seen += chunk.split('\n').length - 1
    if (seen >= lines) child.kill('SIGKILL')
  })
  const signal = await new Promise((resolve) => child.on('close', (_code, name) => resolve(name)))
  assert.equal(signal, 'SIGKILL', 'the writer ended by itself')
  return answersOf(output)
}
