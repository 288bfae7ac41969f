import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod } from '../pod.ts'
import { type Excess, excessOnDisk, isLimitedOnDisk } from './local-storage.ts'
import type { PodUse } from './observations.ts'

const saidOf = (excess: Excess | undefined) => excess?.message

const MI = 1024 * 1024
const limited = (limit?: string) =>
  limit === undefined ? {} : { resources: { limits: { 'ephemeral-storage': limit } } }
const pod = (limits: readonly (string | undefined)[], emptyDir: object = {}, initLimit?: string): Pod =>
  ({
    kind: 'Pod',
    apiVersion: 'v1',
    metadata: { name: 'p' },
    spec: {
      containers: limits.map((limit, at) => ({ name: `c${at}`, image: 'i', ...limited(limit) })),
      ...(initLimit === undefined ? {} : { initContainers: [{ name: 'i', image: 'i', ...limited(initLimit) }] }),
      volumes: [{ name: 'v', emptyDir }],
    },
  }) as unknown as Pod
const use = (volume: number, containers: Readonly<Record<string, number>> = {}): PodUse => ({
  volumes: new Map([['v', { bytes: volume * MI, inodes: 1 }]]),
  containers: new Map(
    Object.entries(containers).map(([name, size]) => [name, { memoryBytes: 0, diskBytes: size * MI, inodes: 0 }]),
  ),
  processes: 0,
})

test('an emptyDir that is larger than it may be', () => {
  const limitedVolume = pod([undefined], { sizeLimit: '1Mi' })
  assert.equal(saidOf(excessOnDisk(limitedVolume, use(3))), 'Usage of EmptyDir volume "v" exceeds the limit "1Mi". ')
  assert.equal(saidOf(excessOnDisk(limitedVolume, use(1))), undefined)
  assert.equal(saidOf(excessOnDisk(pod([undefined]), use(3))), undefined)
})

test('a pod as a whole: containers, logs and volumes against the sum of the limits that there are', () => {
  const told = (limit: string) => `Pod ephemeral local storage usage exceeds the total limit of containers ${limit}. `
  assert.equal(saidOf(excessOnDisk(pod(['2Mi', '2Mi']), use(5))), told('4Mi'))
  assert.equal(saidOf(excessOnDisk(pod(['2Mi', undefined]), use(2, { c1: 1 }))), told('2Mi'))
  assert.equal(saidOf(excessOnDisk(pod(['2Mi', '2Mi']), use(1, { c0: 2, c1: 1 }))), undefined)
})

test('a container, where the pod has not used up what all may have; an init container is not looked at', () => {
  const said = 'Container c0 exceeded its local ephemeral storage limit "1Mi". '
  assert.equal(saidOf(excessOnDisk(pod(['1Mi', '100Mi']), use(0, { c0: 3 }))), said)
  assert.equal(saidOf(excessOnDisk(pod(['100Mi'], {}, '1Mi'), use(0, { i: 3 }))), undefined)
})

test('only pods with a limit are measured', () => {
  assert.equal(isLimitedOnDisk(pod([undefined])), false)
  assert.equal(isLimitedOnDisk(pod([undefined], { medium: 'Memory', sizeLimit: '1Mi' })), false)
  assert.equal(isLimitedOnDisk(pod([undefined], { sizeLimit: '1Mi' })), true)
  assert.equal(isLimitedOnDisk(pod(['1Mi'])), true)
})
