/** Fields and resources that a pod tells to its containers: texts as a kubelet v1.37.1 wrote them on 2026-11-28. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { environmentOf } from './container-environment.ts'
import { podField, textOfDownwardItem } from './downward-api.ts'
import type { Pod } from './pod.ts'

const place = { hostIPs: [], podIPs: [] }

test('labels and annotations are quoted as Go quotes them, also what looks like an escape already', () => {
  const annotations = { b: 'tab\there "quoted" \\back ü \u0001 \u2028', a: '\\u0001' }
  assert.equal(
    podField({ metadata: { annotations } } as unknown as Pod, 'metadata.annotations', place),
    'a="\\\\u0001"\nb="tab\\there \\"quoted\\" \\\\back ü \\x01 \\u2028"',
  )
})

test('limits that only the pod has are told to variables; files of a volume tell what the node has', async () => {
  const container = { name: 'a', image: 'i' }
  const resources = { limits: { cpu: '1500m', memory: '300Mi' } }
  const pod = { metadata: { name: 'p' }, spec: { containers: [container], resources } } as unknown as Pod
  const allocatable = { cpu: '2', memory: '400Mi' }
  const resourceFieldRef = { resource: 'limits.memory', divisor: '1Mi' }
  const env = [{ name: 'M', valueFrom: { resourceFieldRef } }]
  const told = await environmentOf(pod, { ...container, env }, undefined as never, { ...place, allocatable })
  const file = { resourceFieldRef: { ...resourceFieldRef, containerName: 'a' } }
  assert.deepEqual([told['M'], textOfDownwardItem(pod, file, allocatable)], ['300', '400'])
})
