/**
 * What people do every day, planned and then done with kubectl: on skiff, or with PLAN_KUBECONFIG=FILE on another cluster, which needs some
 * two dozen nodes without taints, of KWOK or skiff.
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type StartedCluster, startSkiff } from '../../conformance/server.ts'
import { withoutKubectl } from '../kubectl.ts'
import { type Done, doEveryday } from './do-everyday.ts'
import { everyday } from './everyday.ts'

const OTHER = process.env['PLAN_KUBECONFIG']

let cluster: StartedCluster | undefined
const done = new Map<string, Done>()
before(async () => {
  if (withoutKubectl !== false) return
  cluster = OTHER === undefined ? await startSkiff(['--nodes', '24']) : undefined
  const kubeconfig = OTHER ?? cluster?.kubeconfig ?? ''
  for (const isLast of [false, true]) {
    const stories = everyday.filter((story) => (story.isLast === true) === isLast)
    for (const one of await doEveryday(kubeconfig, stories)) done.set(one.story.name, one)
  }
})
after(() => cluster?.stop())

for (const { name } of everyday)
  test(name, { skip: withoutKubectl }, () => assert.deepEqual(done.get(name)?.differences, []))
