/**
 * The recorded scenarios by the real kubectl against `skiff up --clock manual`: they end as recorded. Some in CI; SKIFF_PLAYS=all plays
 * all of them.
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type E2eCluster, startE2eCluster } from '../e2e/cluster.ts'
import { withoutKubectl } from '../kubectl.ts'
import { endOf } from './ending.ts'
import { performOutside } from './outside.ts'
import { plays } from './plays.ts'
import { readRecording } from './recording.ts'

const SHARE = ['job-ttl', 'cronjob-forbid', 'node-tainted-noexecute']
const wanted = process.env['SKIFF_PLAYS'] ?? SHARE.join()

describe('recorded scenarios, played from outside on a clock that is moved', { skip: withoutKubectl }, () => {
  let cluster: E2eCluster
  before(async () => {
    cluster = await startE2eCluster(
      ...['--clock', 'manual', '--controls', 'fork', '--components', 'apiserver,controllers,scheduler'],
    )
  })
  after(() => cluster.stop())

  for (const [name, play] of Object.entries(plays)) {
    // Where others taint a node while it runs, the end depends on the pods that were on it.
    if (play.meanwhile !== undefined || (wanted !== 'all' && !wanted.split(',').includes(name))) continue
    test(name, async () => {
      const recording = readRecording(name)
      const resources = new Set(recording.states.map(({ resource }) => resource))
      const states = await performOutside(play, cluster.dataDir)
      const ofInterest = states.filter(({ resource }) => resources.has(resource))
      assert.deepEqual(endOf(ofInterest), endOf(recording.states))
    })
  }
})
