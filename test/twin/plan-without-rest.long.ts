/** A deed from which no rest comes is followed for a while, and the plan says what goes on. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Node } from '../../src/api/generated/types.ts'
import type { KubeObject } from '../../src/api/object.ts'
import { applyDeed } from '../../src/inspect/plan/manifest-deeds.ts'
import { planIn, readModel } from '../../src/inspect/plan/plan.ts'
import { core, deployment, startStage } from './stage.ts'

test('pods that are evicted as soon as they are made: the plan ends, and says of which ReplicaSet they are', async () => {
  const stage = await startStage(1)
  try {
    const { client } = stage.cluster
    const [node] = (await client.resource<Node>(core('nodes')).list()).items
    const nodeName = node?.metadata.name ?? ''
    const taints = [{ key: 'x', value: 'y', effect: 'NoExecute' }]
    await client.resource(core('nodes')).patch(nodeName, 'merge', { spec: { taints } })
    const model = await readModel(stage.source)
    const files = [{ name: 'loop', objects: [deployment('loop', 1, { nodeName }) as KubeObject] }]
    const deed = applyDeed(model.read, files, { namespace: 'default' })
    const { assumed } = await planIn(stage.source, model, deed, { orders: 0 })
    assert.match(
      assumed.at(-1) ?? '',
      /^pods of ReplicaSet\/loop-\w+ in default did not come to rest from 0 s to \d{4} s after the deed began/,
    )
  } finally {
    await stage.stop()
  }
})
