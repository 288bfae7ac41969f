/** Sets a documented case up, asks `why`, and compares. */
import assert from 'node:assert/strict'
import type { Case } from './cases/case.ts'
import type { Stage } from './stage.ts'

const EXIT_CODES = { 'not-stuck': 0, 'will-end': 10, slow: 11, refused: 12, nobody: 13, 'cannot-end': 14 }

export async function judgeCase(stage: Stage, number: string, one: Case): Promise<void> {
  const namespace = await stage.namespace(`case-${number.replaceAll(' ', '-')}`)
  const { kind, name, remove = [], undo, ...more } = await one.setUp(stage, namespace)
  try {
    const { said, exitCode } = await stage.why(kind, name, more.namespace ?? namespace, { later: more.later ?? 0 })
    const told = JSON.stringify(said, undefined, 1)
    assert.equal(said['verdict'], one.verdict, told)
    assert.equal(said['cause'].kind, one.cause, told)
    assert.match(said['responsible'], one.responsible, told)
    if (one.sentence !== undefined) assert.match(said['sentence'], one.sentence)
    assert.equal(exitCode, one.exitCode ?? EXIT_CODES[one.verdict as keyof typeof EXIT_CODES])
    assert.ok(said['waysOut'].length > 0, 'a way out')
    assert.ok(said['asked'].requests <= 200)
  } finally {
    for (const object of remove) await stage.remove(object)
    await undo?.()
  }
}
