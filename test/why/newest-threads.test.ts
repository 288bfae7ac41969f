/** Cases of further software, drains and owners, on a cluster of their own. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { newestHealthy, newestThreads } from './cases/newest-threads.ts'
import { judgeCase } from './judge-case.ts'
import { type Stage, startStage } from './stage.ts'

let stage: Stage
before(async () => {
  stage = await startStage()
})
after(async () => stage?.stop())

for (const [number, one] of Object.entries(newestThreads))
  test(`case ${number}: ${one.title}`, () => judgeCase(stage, number, one))

for (const [at, [name, one]] of Object.entries(newestHealthy).entries())
  test(name, async () => {
    if (one.verdict !== 'not-stuck') return judgeCase(stage, `healthy ${at}`, one)
    const { kind, name, remove = [] } = await one.setUp(stage, await stage.namespace(`healthy-${at}`))
    const { said } = await stage.why(kind, name)
    assert.deepEqual(
      [said['verdict'], said['cause'].kind],
      ['not-stuck', one.cause],
      JSON.stringify(said, undefined, 1),
    )
    for (const object of remove) await stage.remove(object)
  })
