import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject } from '../../api/object.ts'
import { notFound } from '../../api/status.ts'
import { startFlowSchemaLoop } from './flow-schemas.ts'
import { startStandIn } from './test-stand-in.ts'

const GROUP = 'flowcontrol.apiserver.k8s.io'
const WRITE = `PATCH /apis/${GROUP}/v1/flowschemas/s/status api-priority-and-fairness-config-consumer-v1`

const schema = (level: string): KubeObject => ({
  apiVersion: `${GROUP}/v1`,
  kind: 'FlowSchema',
  metadata: { name: 's' },
  spec: { priorityLevelConfiguration: { name: level } },
})
const level = (name: string): KubeObject => ({
  apiVersion: `${GROUP}/v1`,
  kind: 'PriorityLevelConfiguration',
  metadata: { name },
})

test('a FlowSchema dangles while its priority level is not there, is told once, and told anew when that changes', async () => {
  const it = startStandIn()
  const dangling = () => {
    const [condition] = it.get(GROUP, 'flowschemas', '', 's')?.['status'].conditions ?? []
    return [condition.type, condition.status, condition.reason, condition.message]
  }
  startFlowSchemaLoop(it.options)
  it.put('flowschemas', schema('l'))
  await it.runtime.advance(1000)
  assert.deepEqual(it.taken(), [WRITE])
  const named = 'This FlowSchema references the PriorityLevelConfiguration object named "l"'
  assert.deepEqual(dangling(), ['Dangling', 'True', 'NotFound', `${named} but there is no such object`])
  it.put('prioritylevelconfigurations', level('l'))
  await it.runtime.advance(1000)
  assert.deepEqual(it.taken(), [WRITE])
  assert.deepEqual(dangling(), ['Dangling', 'False', 'Found', `${named} and it exists`])
  it.remove(GROUP, 'prioritylevelconfigurations', '', 'l')
  await it.runtime.advance(1000)
  assert.deepEqual(it.taken(), [WRITE])
  await it.runtime.advance(60_000)
  assert.deepEqual(it.taken(), [])
})

test('a FlowSchema that is deleted meanwhile is no failure', async () => {
  const it = startStandIn()
  it.put('flowschemas', schema('l'))
  it.refuse(WRITE, notFound({ group: GROUP, resource: 'flowschemas' }, 's'))
  startFlowSchemaLoop(it.options)
  await it.runtime.advance(40)
  assert.deepEqual(it.taken(), [WRITE])
  it.remove(GROUP, 'flowschemas', '', 's')
  assert.deepEqual(it.failures, [])
  await it.runtime.advance(60_000)
  assert.deepEqual(it.taken(), [])
})
