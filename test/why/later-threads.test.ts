/** Cases of further software with the names that it really has, on a cluster of their own. */
import { after, before, test } from 'node:test'
import { laterHealthy, laterThreads } from './cases/later-threads.ts'
import { judgeCase } from './judge-case.ts'
import { type Stage, startStage } from './stage.ts'

let stage: Stage
before(async () => {
  stage = await startStage()
})
after(async () => stage?.stop())

for (const [number, one] of Object.entries(laterThreads))
  test(`case ${number}: ${one.title}`, () => judgeCase(stage, number, one))

for (const [at, [name, one]] of Object.entries(laterHealthy).entries())
  test(name, () => judgeCase(stage, `healthy ${at}`, one))
