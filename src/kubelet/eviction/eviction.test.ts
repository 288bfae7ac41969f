import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod } from '../pod.ts'
import { evictionMessage } from './messages.ts'
import type { PodUse } from './observations.ts'
import { isCritical, ranked } from './ranking.ts'
import { evictionConfig, ofHeldPods, thresholdValue } from './thresholds.ts'

test('without flags the thresholds are the kubelet’s own', () => {
  const { thresholds, transitionMs, maxPodGracePeriodSeconds } = evictionConfig()
  assert.deepEqual(
    thresholds.map(({ signal, amount }) => [signal, thresholdValue(amount, 1000)]),
    [
      ['memory.available', 100 * 1024 * 1024],
      ['nodefs.available', 100],
      ['nodefs.inodesFree', 50],
      ['imagefs.available', 150],
      ['imagefs.inodesFree', 50],
    ],
  )
  assert.deepEqual([transitionMs, maxPodGracePeriodSeconds], [300_000, 0])
})

test('flags say which thresholds there are, which are soft, and how much is to be freed', () => {
  const { thresholds } = evictionConfig({
    evictionHard: 'pid.available<5%,nodefs.available<0%',
    evictionSoft: 'memory.available<1Gi',
    evictionSoftGracePeriod: 'memory.available=1m30s',
    evictionMinimumReclaim: 'memory.available=10%',
  })
  assert.deepEqual(
    thresholds.map(({ signal, graceMs, minReclaim }) => [signal, graceMs, minReclaim]),
    [
      ['pid.available', undefined, undefined],
      ['memory.available', 90_000, { share: Math.fround(0.1) }],
    ],
  )
})

test('where all pods are held to a limit of memory, hard thresholds of memory count for that too', () => {
  const config = evictionConfig({
    evictionHard: 'memory.available<1Gi,pid.available<5%',
    evictionSoft: 'memory.available<2Gi',
    evictionSoftGracePeriod: 'memory.available=1m',
    evictionMinimumReclaim: 'memory.available=10%',
  })
  assert.deepEqual(
    ofHeldPods(config).thresholds.map(({ signal, amount, minReclaim }) => [
      signal,
      thresholdValue(amount, 100),
      minReclaim,
    ]),
    [
      ['memory.available', 1024 * MI, { share: Math.fround(0.1) }],
      ['allocatableMemory.available', 1024 * MI, { share: Math.fround(0.1) }],
      ['pid.available', 5, undefined],
      ['memory.available', 2048 * MI, { share: Math.fround(0.1) }],
    ],
  )
})

test('what is wrong with a flag is told with its name', () => {
  const wrong = (flags: Parameters<typeof evictionConfig>[0], what: RegExp) =>
    assert.throws(() => evictionConfig(flags), what)
  wrong({ evictionHard: 'memory<1Gi' }, /^Error: --eviction-hard: there is no signal "memory"; use memory\.available/)
  wrong({ evictionHard: 'memory.available=1Gi' }, /^Error: --eviction-hard: "memory.available=1Gi" is not of the form/)
  wrong({ evictionHard: 'memory.available<x' }, /^Error: --eviction-hard: "x" is neither a quantity/)
  wrong({ evictionHard: 'memory.available<101%' }, /^Error: --eviction-hard: 101% is no percentage/)
  wrong({ evictionHard: 'memory.available<-1' }, /^Error: --eviction-hard: "-1" is neither/)
  wrong({ evictionHard: 'pid.available<1,pid.available<2' }, /pid\.available is given twice/)
  wrong({ evictionSoft: 'pid.available<1' }, /^Error: --eviction-soft pid\.available needs its time/)
  wrong({ evictionSoft: 'pid.available<1', evictionSoftGracePeriod: 'pid.available=x' }, /"x" is no duration/)
})

const pod = (name: string, memory?: string, priority = 0): Pod => ({
  kind: 'Pod',
  apiVersion: 'v1',
  metadata: { name, uid: name },
  spec: {
    priority,
    containers: [{ name: 'c', image: 'i', ...(memory === undefined ? {} : { resources: { requests: { memory } } }) }],
  },
})
const MI = 1024 * 1024
const use = (memory: number, more: Partial<PodUse> = {}): PodUse => ({
  containers: new Map([['c', { memoryBytes: memory * MI, diskBytes: 0, inodes: 0 }]]),
  volumes: new Map(),
  processes: 0,
  ...more,
})

test('who uses more than asked for goes first, then the lower priority, then the larger use', () => {
  const pods = [pod('under', '200Mi'), pod('high', undefined, 5), pod('small'), pod('burst', '20Mi'), pod('big')]
  const uses = new Map([
    ['under', use(150)],
    ['high', use(900)],
    ['small', use(1)],
    ['burst', use(30)],
    ['big', use(40)],
  ])
  const names = (list: readonly Pod[]) => list.map(({ metadata }) => metadata.name)
  assert.deepEqual(names(ranked(pods, uses, 'memory')), ['big', 'burst', 'small', 'high', 'under'])
  const disks = new Map([
    ['small', use(0, { volumes: new Map([['v', { bytes: 10, inodes: 1 }]]) })],
    ['big', use(0, { volumes: new Map([['v', { bytes: 5, inodes: 9 }]]), processes: 3 })],
  ])
  const two = [pod('big'), pod('small')]
  assert.deepEqual(names(ranked(two, disks, 'ephemeral-storage')), ['small', 'big'])
  assert.deepEqual(names(ranked(two, disks, 'inodes')), ['big', 'small'])
  assert.deepEqual(names(ranked(two, disks, 'pids')), ['big', 'small'])
})

test('static pods and those of system priority are critical', () => {
  const isStatic = (uid: string) => uid === 's'
  assert.equal(isCritical(pod('s'), isStatic), true)
  assert.equal(isCritical(pod('p', undefined, 2_000_000_000), isStatic), true)
  assert.equal(isCritical(pod('p', undefined, 1_999_999_999), isStatic), false)
})

test('the words are those of a kubelet', () => {
  const [threshold] = evictionConfig({ evictionHard: 'memory.available<23600Mi' }).thresholds
  const observed = { available: 23395312 * 1024, capacity: 24684084 * 1024 }
  const kibibytes = new Map([['c', { memoryBytes: 31652 * 1024, diskBytes: 0, inodes: 0 }]])
  assert.deepEqual(
    evictionMessage(pod('burst', '20Mi'), use(0, { containers: kibibytes }), 'memory', threshold!, observed),
    {
      message:
        'The node was low on resource: memory. Threshold quantity: 23600Mi, available: 23395312Ki. Container c was using 31652Ki, request is 20Mi, has larger consumption of memory. ',
      annotations: { offending_containers: 'c', offending_containers_usage: '31652Ki', starved_resource: 'memory' },
    },
  )
  assert.deepEqual(evictionMessage(pod('under', '200Mi'), use(10), 'memory', threshold!, observed).annotations, {
    offending_containers: '',
    offending_containers_usage: '',
    starved_resource: 'memory',
  })
})
