/** A few of the everyday stories of everyday.long.ts, planned and then done with kubectl. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startSkiff } from '../../conformance/server.ts'
import { withoutKubectl } from '../kubectl.ts'
import { doEveryday } from './do-everyday.ts'
import { everyday } from './everyday.ts'

const CHOSEN = [
  'deployment orphaned',
  'claim that a running pod uses',
  'service of a cloud',
  'apply: fewer',
  'drain that a budget refuses',
]

test('plans of what people do come true', { skip: withoutKubectl }, async () => {
  const cluster = await startSkiff(['--nodes', '2'])
  try {
    const stories = everyday.filter(({ name }) => CHOSEN.includes(name))
    assert.equal(stories.length, CHOSEN.length)
    for (const { story, differences } of await doEveryday(cluster.kubeconfig, stories, 3000))
      assert.deepEqual(differences, [], story.name)
  } finally {
    await cluster.stop()
  }
})
