import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod } from './pod.ts'
import { podsToPreempt } from './preemption.ts'

const pod = (name: string, requests?: object, limits?: object): Pod =>
  ({
    kind: 'Pod',
    apiVersion: 'v1',
    metadata: { name, uid: name },
    spec: {
      containers: [
        { name: 'c', image: 'i', resources: { ...(requests ? { requests } : {}), ...(limits ? { limits } : {}) } },
      ],
    },
  }) as unknown as Pod
const guaranteed = (name: string, resources: object) => pod(name, resources, resources)
const cpu = (milli: bigint) => [{ name: 'cpu', nanos: milli * 1_000_000n }]
const names = (pods: readonly Pod[]) => pods.map(({ metadata }) => metadata.name)

test('of the burstable ones that goes which is enough, before any that is guaranteed', () => {
  const pods = [
    pod('a', { cpu: '900m', memory: '20Mi' }),
    guaranteed('b', { cpu: '600m', memory: '10Mi' }),
    pod('c', { cpu: '300m', memory: '10Mi' }),
  ]
  assert.deepEqual(names(podsToPreempt(cpu(400n), pods)), ['a'])
  assert.deepEqual(names(podsToPreempt(cpu(300n), pods)), ['c'])
  assert.deepEqual(names(podsToPreempt(cpu(1000n), pods)), ['a', 'c'])
  assert.deepEqual(names(podsToPreempt(cpu(700n), pods.slice(1))), ['c', 'b'])
})

test('what all together have is not enough: how much is missing is told', () => {
  const pods = [guaranteed('b', { cpu: '600m', memory: '10Mi' }), pod('c', { cpu: '300m', memory: '10Mi' })]
  assert.throws(() => podsToPreempt(cpu(4500n), pods), {
    message: 'no set of running pods found to reclaim resources: [(res: cpu, q: 3600), ]',
  })
})

test('a place for a pod is freed by one that asks for nothing', () => {
  const pods = [pod('a', { cpu: '900m' }), pod('b')]
  assert.deepEqual(names(podsToPreempt([{ name: 'pods', nanos: 1_000_000_000n }], pods)), ['b'])
})
