/** Cases with the names that software really has, on a cluster of their own: other cases have operators of the same names. */
import { after, before, test } from 'node:test'
import { fromThreads } from './cases/from-threads.ts'
import { furtherHealthy, furtherThreads } from './cases/further-threads.ts'
import { judgeCase } from './judge-case.ts'
import { type Stage, startStage } from './stage.ts'

let stage: Stage
before(async () => {
  stage = await startStage()
})
after(async () => stage?.stop())

for (const [number, one] of Object.entries({ ...fromThreads, ...furtherThreads }))
  test(`case ${number}: ${one.title}`, () => judgeCase(stage, number, one))

for (const [at, [name, one]] of Object.entries(furtherHealthy).entries())
  test(name, () => judgeCase(stage, `healthy ${at}`, one))
