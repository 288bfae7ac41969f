/** `why` names cause, responsible and verdict of each documented case. */
import { after, before, test } from 'node:test'
import { CASES } from './cases.ts'
import { judgeCase } from './judge-case.ts'
import { type Stage, startStage } from './stage.ts'

let stage: Stage
before(async () => {
  stage = await startStage()
})
after(async () => stage?.stop())

for (const [number, one] of Object.entries(CASES))
  test(`case ${number}: ${one.title}`, () => judgeCase(stage, number, one))
