/** `why` names cause, responsible and verdict of each documented case. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { CASES } from './cases.ts'
import { type Stage, startStage } from './stage.ts'

let stage: Stage
before(async () => {
  stage = await startStage()
})
after(async () => stage?.stop())

for (const [number, one] of Object.entries(CASES)) {
  test(`case ${number}: ${one.title}`, async () => {
    const namespace = await stage.namespace(`case-${number.replaceAll(' ', '-')}`)
    const { kind, name, remove = [], undo, ...more } = await one.setUp(stage, namespace)
    try {
      const { said, exitCode } = await stage.why(kind, name, more.namespace ?? namespace, { later: more.later ?? 0 })
      const told = JSON.stringify(said, undefined, 1)
      assert.equal(said['verdict'], one.verdict, told)
      assert.equal(said['cause'].kind, one.cause, told)
      assert.match(said['responsible'], one.responsible, told)
      if (one.sentence !== undefined) assert.match(said['sentence'], one.sentence)
      const codes = { 'not-stuck': 4, 'will-end': 10, slow: 11, refused: 12, nobody: 13, 'cannot-end': 14 }
      assert.equal(exitCode, codes[one.verdict as keyof typeof codes])
      assert.ok(said['waysOut'].length > 0, 'a way out')
      assert.ok(said['asked'].requests <= 200)
    } finally {
      for (const object of remove) await stage.remove(object)
      await undo?.()
    }
  })
}
