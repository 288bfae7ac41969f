/** Cases that were written down before they were asked about, and that led to rules, on a cluster of their own. */
import { after, before, test } from 'node:test'
import { blindHealthy, blindThreads } from './cases/blind-threads.ts'
import { judgeCase } from './judge-case.ts'
import { type Stage, startStage } from './stage.ts'

let stage: Stage
before(async () => {
  stage = await startStage()
})
after(async () => stage?.stop())

for (const [number, one] of Object.entries(blindThreads))
  test(`case ${number}: ${one.title}`, () => judgeCase(stage, number, one))

for (const [at, [name, one]] of Object.entries(blindHealthy).entries())
  test(name, () => judgeCase(stage, `healthy ${at}`, one))
