/**
 * What people do every day, planned and then done with kubectl: on skiff, or with PLAN_KUBECONFIG=FILE on another cluster, which needs some
 * two dozen nodes without taints, of KWOK or skiff. PLAN_SHARE=2/8 does the second eighth; PLAN_ONLY=TEXT those with it in their names. What is
 * left of one share may hold up another: each wants a cluster of its own.
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type StartedCluster, startSkiff } from '../../conformance/server.ts'
import { withoutKubectl } from '../kubectl.ts'
import { type Done, doEveryday } from './do-everyday.ts'
import { everyday } from './everyday.ts'

const OTHER = process.env['PLAN_KUBECONFIG']
const ONLY = process.env['PLAN_ONLY'] ?? ''
const SHARE = process.env['PLAN_SHARE'] ?? '1/1'
const [share = 1, shares = 1] = SHARE.split('/').map(Number)
const chosen = everyday.filter(({ name }, at) => name.includes(ONLY) && at % shares === share - 1)
// Without a story there is no test, which looks as if all had passed.
if (chosen.length === 0)
  throw new Error(
    `no story is chosen by PLAN_SHARE=${SHARE} and PLAN_ONLY='${ONLY}': the first is a share of 1/N to N/N, the second a part of a story's name`,
  )

let cluster: StartedCluster | undefined
const done = new Map<string, Done>()
before(async () => {
  if (withoutKubectl !== false) return
  cluster = OTHER === undefined ? await startSkiff(['--nodes', '24']) : undefined
  const kubeconfig = OTHER ?? cluster?.kubeconfig ?? ''
  for (const isLast of [false, true]) {
    const stories = chosen.filter((story) => (story.isLast === true) === isLast)
    if (stories.length === 0) continue
    for (const one of await doEveryday(kubeconfig, stories)) done.set(one.story.name, one)
  }
})
after(() => cluster?.stop())

for (const { name } of chosen)
  test(name, { skip: withoutKubectl }, () => assert.deepEqual(done.get(name)?.differences, []))
