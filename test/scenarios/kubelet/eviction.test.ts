/** A node that runs short of something, as a real one was seen to deal with it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Fields, KubeObject } from '../../../src/api/object.ts'
import { simulatedRuntime } from '../../../src/base/simulated-runtime.ts'
import type { Observations, PodUse } from '../../../src/kubelet/eviction/observations.ts'
import { type EvictionFlags, evictionConfig, ofHeldPods } from '../../../src/kubelet/eviction/thresholds.ts'
import { NODE, type NodeStage, namespace, startNodeStage } from './stage.ts'

const MI = 1024 * 1024
const MINUTE = 60_000

const pod = (name: string, memory?: string, more: Fields = {}, annotations: Fields = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace, annotations: { 'sim.skiff.dev/sigterm-exit-code': '143', ...annotations } },
  spec: {
    automountServiceAccountToken: false,
    terminationGracePeriodSeconds: 20,
    containers: [{ name: 'c', image: 'i', ...(memory === undefined ? {} : { resources: { requests: { memory } } }) }],
    ...more,
  },
})

/** A machine of 1,000 MiB of memory, and a disk of 1,000 bytes. */
async function start(flags: EvictionFlags = { evictionHard: 'memory.available<100Mi,nodefs.available<10%' }) {
  const runtime = simulatedRuntime(3, { order: 'fifo' })
  const machine = {
    memory: 500,
    /** Of what all pods are held to. */
    allocatable: 500,
    disk: 500,
    images: 0,
    uses: new Map<string, number>(),
    disks: new Map<string, number>(),
  }
  const stage = await startNodeStage(runtime, {
    eviction: {
      config: ofHeldPods(evictionConfig(flags)),
      measurements: {
        observe: async (): Promise<Observations> => ({
          'memory.available': { available: machine.memory * MI, capacity: 1000 * MI },
          'allocatableMemory.available': { available: machine.allocatable * MI, capacity: 600 * MI },
          'nodefs.available': { available: machine.disk, capacity: 1000 },
        }),
        async pods() {
          const uses = new Map<string, PodUse>()
          for (const { metadata } of stage.kubelet.pods.list()) {
            const memoryBytes = (machine.uses.get(metadata.name ?? '') ?? 0) * MI
            const diskBytes = (machine.disks.get(metadata.name ?? '') ?? 0) * MI
            const containers = new Map([['c', { memoryBytes, diskBytes, inodes: 0 }]])
            uses.set(metadata.uid ?? '', { containers, volumes: new Map(), processes: 0 })
          }
          return uses
        },
      },
      async deleteUnusedImages() {
        machine.disk += machine.images
        machine.images = 0
      },
    },
  })
  await stage.ask('POST', '/api/v1/namespaces', { metadata: { name: 'default' } })
  const conditionOf = async (type: string) => {
    const { body } = await stage.ask('GET', `/api/v1/nodes/${NODE}`)
    const found = body.status.conditions.find((one: Fields) => one['type'] === type)
    return [found.status, found.reason, found.message]
  }
  const nodeEvents = async () => {
    const { body } = await stage.ask('GET', '/api/v1/namespaces/default/events')
    return (body.items as Fields[])
      .filter(({ involvedObject }) => involvedObject.kind === 'Node')
      .map(({ reason, message, count }) => [reason, message, count])
  }
  const phase = (name: string) => stage.pod(name)?.['status'].phase
  return { stage, runtime, machine, conditionOf, nodeEvents, phase }
}

test('below a hard threshold the pod that uses most beyond its request is ended at once, and the next only if that was not enough', async () => {
  const { stage, runtime, machine, phase } = await start()
  const stubborn = { 'sim.skiff.dev/ignore-sigterm': 'true' }
  await stage.run(pod('small'))
  await stage.run(pod('big', undefined, {}, stubborn))
  await stage.run(pod('under', '300Mi'))
  await runtime.advance(5000)
  for (const [name, memory] of [
    ['small', 10],
    ['big', 200],
    ['under', 250],
  ] as const)
    machine.uses.set(name, memory)
  machine.memory = 50
  const writes = stage.writes.length
  await runtime.advance(6000)
  assert.deepEqual(['small', 'big', 'under'].map(phase), ['Running', 'Running', 'Running'])
  // A threshold is looked at every ten seconds; SIGTERM is followed by SIGKILL after the two that are the least.
  await runtime.advance(1000)
  machine.memory = 300
  await runtime.advance(1500)
  assert.deepEqual(['small', 'big', 'under'].map(phase), ['Running', 'Failed', 'Running'])
  const { reason, message, conditions } = stage.pod('big')?.['status'] ?? {}
  const text =
    'The node was low on resource: memory. Threshold quantity: 100Mi, available: 50Mi. Container c was using 200Mi, request is 0, has larger consumption of memory. '
  assert.deepEqual([reason, message], ['Evicted', text])
  assert.deepEqual(
    conditions.map((one: Fields) => one['type']),
    ['DisruptionTarget', 'PodReadyToStartContainers', 'Initialized', 'Ready', 'ContainersReady', 'PodScheduled'],
  )
  assert.deepEqual(
    [conditions[0].status, conditions[0].reason, conditions[0].message],
    ['True', 'TerminationByKubelet', text],
  )
  // All of it is told at once, when the containers have ended.
  const told = stage.writes.slice(writes).filter(({ uri }) => uri.endsWith('/big/status'))
  assert.deepEqual(
    told.map(({ body }) => [(body as Fields)['status'].phase, (body as Fields)['status'].reason]),
    [['Failed', 'Evicted']],
  )
  const [event] = stage.events.filter((one) => one['reason'] === 'Evicted') as Fields[]
  assert.deepEqual([event?.['type'], event?.['message']], ['Warning', text])
  assert.deepEqual(event?.['metadata'].annotations, {
    offending_containers: 'c',
    offending_containers_usage: '200Mi',
    starved_resource: 'memory',
  })
  await runtime.advance(MINUTE)
  assert.deepEqual(['small', 'under'].map(phase), ['Running', 'Running'])
  await stage.stop()
})

test('as long as it is not enough one pod follows the other; who uses less than its request is the last', async () => {
  const { stage, runtime, machine, phase } = await start()
  for (const [name, request] of [
    ['under', '300Mi'],
    ['big', undefined],
  ] as const)
    await stage.run(pod(name, request))
  await runtime.advance(5000)
  machine.uses.set('under', 250).set('big', 20)
  machine.memory = 50
  await runtime.advance(10_000)
  const order = stage.events
    .filter((one) => one['reason'] === 'Evicted')
    .map((one) => (one as Fields)['involvedObject'].name)
  assert.deepEqual(order, ['big', 'under'])
  assert.equal(phase('under'), 'Failed')
  await stage.stop()
})

test('an evicted pod whose containers all end well has succeeded; that it was to end for the node’s sake is still told', async () => {
  const { stage, runtime, machine } = await start()
  await stage.run(pod('p', undefined, {}, { 'sim.skiff.dev/sigterm-exit-code': '0' }))
  await runtime.advance(5000)
  machine.memory = 50
  await runtime.advance(10_000)
  const { phase, reason, message, conditions } = stage.pod('p')?.['status'] ?? {}
  assert.deepEqual([phase, reason, message], ['Succeeded', undefined, undefined])
  const told = conditions.map((one: Fields) => [one['type'], one['status'], one['reason']])
  assert.deepEqual(told[0], ['DisruptionTarget', 'True', 'TerminationByKubelet'])
  assert.deepEqual(told[3], ['Ready', 'False', 'PodCompleted'])
  assert.equal(stage.events.filter((one) => one['reason'] === 'Evicted').length, 1)
  await stage.stop()
})

test('what is short of the memory that all pods are held to is short of memory', async () => {
  const { stage, runtime, machine, phase, conditionOf } = await start({ evictionHard: 'memory.available<100Mi' })
  machine.allocatable = 99
  await stage.run(pod('p'))
  await runtime.advance(15_000)
  assert.equal(phase('p'), 'Failed')
  const text = 'The node was low on resource: memory. Threshold quantity: 100Mi, available: 99Mi. '
  assert.equal(stage.pod('p')?.['status'].message, text)
  assert.equal((await conditionOf('MemoryPressure'))[0], 'True')
  await stage.stop()
})

test('the node has the condition until five minutes after, and takes no pod without requests meanwhile', async () => {
  const { stage, runtime, machine, conditionOf, nodeEvents, phase } = await start()
  await runtime.advance(1000)
  assert.deepEqual(await conditionOf('MemoryPressure'), [
    'False',
    'KubeletHasSufficientMemory',
    'kubelet has sufficient memory available',
  ])
  machine.memory = 50
  await runtime.advance(10_000)
  const under = ['True', 'KubeletHasInsufficientMemory', 'kubelet has insufficient memory available']
  assert.deepEqual(await conditionOf('MemoryPressure'), under)
  machine.memory = 500
  await stage.run(pod('best'))
  await stage.run(pod('burst', '20Mi'))
  await stage.run(
    pod('tolerant', undefined, {
      tolerations: [{ key: 'node.kubernetes.io/memory-pressure', operator: 'Exists', effect: 'NoSchedule' }],
    }),
  )
  await runtime.advance(5000)
  assert.deepEqual(['best', 'burst', 'tolerant'].map(phase), ['Failed', 'Running', 'Running'])
  const { reason, message } = stage.pod('best')?.['status'] ?? {}
  const text = 'The node had condition: [MemoryPressure]. '
  assert.deepEqual([reason, message], ['Evicted', `Pod was rejected: ${text}`])
  await runtime.advance(5 * MINUTE - 30_000)
  assert.deepEqual(await conditionOf('MemoryPressure'), under)
  await runtime.advance(40_000)
  assert.equal((await conditionOf('MemoryPressure'))[0], 'False')
  // Of the condition a real node tells with its status (node-condition-events.ts), once.
  assert.deepEqual(await nodeEvents(), [['EvictionThresholdMet', 'Attempting to reclaim memory', 1]])
  await stage.stop()
})

test('a soft threshold waits, and lets pods end in their time as far as it may', async () => {
  const { stage, runtime, machine, phase, conditionOf } = await start({
    evictionHard: 'memory.available<100Mi',
    evictionSoft: 'memory.available<200Mi',
    evictionSoftGracePeriod: 'memory.available=1m',
    evictionMaxPodGracePeriod: 15,
  })
  await stage.run(pod('p', undefined, {}, { 'sim.skiff.dev/ignore-sigterm': 'true' }))
  await runtime.advance(5000)
  machine.memory = 150
  await runtime.advance(MINUTE)
  assert.equal((await conditionOf('MemoryPressure'))[0], 'True')
  assert.equal(phase('p'), 'Running')
  await runtime.advance(10_000)
  assert.equal(stage.events.filter((one) => one['reason'] === 'Evicted').length, 1)
  assert.equal(phase('p'), 'Running')
  await runtime.advance(16_000)
  assert.equal(phase('p'), 'Failed')
  await stage.stop()
})

test('what is to be freed beyond the threshold keeps it met', async () => {
  const { stage, runtime, machine } = await start({
    evictionHard: 'memory.available<100Mi',
    evictionMinimumReclaim: 'memory.available=50Mi',
  })
  for (const name of ['a', 'b', 'c']) await stage.run(pod(name))
  await runtime.advance(5000)
  const evicted = () => stage.events.filter((one) => one['reason'] === 'Evicted').length
  const untilEvicted = async (count: number) => {
    for (let steps = 0; evicted() < count && steps < 100; steps++) await runtime.advance(500)
    assert.equal(evicted(), count)
  }
  machine.memory = 90
  await untilEvicted(1)
  machine.memory = 120
  await untilEvicted(2)
  machine.memory = 160
  await runtime.advance(MINUTE)
  assert.equal(evicted(), 2)
  await stage.stop()
})

test('a full disk is first relieved of images that are not needed; pods go only if that is not enough', async () => {
  const { stage, runtime, machine, phase, conditionOf } = await start()
  await stage.run(pod('p', '20Mi'))
  await runtime.advance(5000)
  machine.disk = 50
  machine.images = 200
  await runtime.advance(10_000)
  assert.equal(machine.images, 0)
  assert.equal(phase('p'), 'Running')
  assert.deepEqual(await conditionOf('DiskPressure'), ['True', 'KubeletHasDiskPressure', 'kubelet has disk pressure'])
  await stage.run(pod('q', '20Mi'))
  await runtime.advance(1000)
  assert.equal(stage.pod('q')?.['status'].message, 'Pod was rejected: The node had condition: [DiskPressure]. ')
  machine.disk = 50
  await runtime.advance(20_000)
  assert.match(
    stage.pod('p')?.['status'].message,
    /^The node was low on resource: ephemeral-storage\. Threshold quantity: 100, available: 50\. $/,
  )
  await stage.stop()
})

test('what cannot be measured ends nothing, and is tried again', async () => {
  const { stage, runtime, machine, phase } = await start()
  await stage.run(pod('p'))
  await runtime.advance(5000)
  Object.defineProperty(machine, 'memory', { configurable: true, get: () => assert.fail('no answer') })
  await runtime.advance(30_000)
  assert.equal(phase('p'), 'Running')
  Object.defineProperty(machine, 'memory', { value: 10 })
  await runtime.advance(15_000)
  assert.equal(phase('p'), 'Failed')
  await stage.stop()
})

test('pods that use more of the disk than they may are ended one after the other, though the node has enough', async () => {
  const { stage, runtime, machine, phase, nodeEvents } = await start()
  const resources = { limits: { 'ephemeral-storage': '1Mi' } }
  for (const name of ['a', 'b', 'within', 'free'])
    await stage.run(
      pod(name, undefined, { containers: [{ name: 'c', image: 'i', ...(name === 'free' ? {} : { resources }) }] }),
    )
  await runtime.advance(5000)
  machine.disks.set('a', 3).set('b', 3).set('within', 1).set('free', 9)
  await runtime.advance(20_000)
  assert.deepEqual(['a', 'b', 'within', 'free'].map(phase), ['Failed', 'Failed', 'Running', 'Running'])
  const { reason, message, conditions } = stage.pod('a')?.['status'] ?? {}
  const text = 'Pod ephemeral local storage usage exceeds the total limit of containers 1Mi. '
  assert.deepEqual([reason, message], ['Evicted', text])
  assert.deepEqual(
    conditions.map((one: Fields) => one['type']),
    ['PodReadyToStartContainers', 'Initialized', 'Ready', 'ContainersReady', 'PodScheduled'],
  )
  const told = stage.events.filter((one) => one['reason'] === 'Evicted') as Fields[]
  assert.deepEqual(
    told.map((one) => [one['message'], one['metadata'].annotations]),
    [
      [text, undefined],
      [text, undefined],
    ],
  )
  assert.deepEqual(await nodeEvents(), [])
  await stage.stop()
})

const addCriticalClass = (stage: NodeStage) =>
  stage.ask('POST', '/apis/scheduling.k8s.io/v1/priorityclasses', {
    metadata: { name: 'system-node-critical' },
    value: 2_000_001_000,
  })

test('for a critical pod others end in their time, and it begins then; where that is not enough it is refused', async () => {
  const { stage, runtime, phase } = await start()
  const asking = (name: string, cpu: string, more: Fields = {}) =>
    pod(name, undefined, { containers: [{ name: 'c', image: 'i', resources: { requests: { cpu } } }], ...more })
  await addCriticalClass(stage)
  const critical = { priorityClassName: 'system-node-critical' }
  const { body } = await stage.ask('GET', `/api/v1/nodes/${NODE}`)
  const cpus = Number(body.status.allocatable.cpu)
  await stage.run(asking('most', `${cpus * 1000 - 1300}m`))
  await stage.run({
    ...asking('some', '900m'),
    metadata: { name: 'some', namespace, annotations: { 'sim.skiff.dev/ignore-sigterm': 'true' } },
  })
  await stage.run(asking('little', '300m'))
  await runtime.advance(5000)
  await stage.run(asking('critical', '800m', critical))
  await runtime.advance(19_000)
  assert.deepEqual(['most', 'some', 'little', 'critical'].map(phase), ['Running', 'Running', 'Running', 'Pending'])
  // What is to be free is the critical pod's.
  await stage.run(asking('late', '100m'))
  await runtime.advance(500)
  assert.equal(stage.pod('late')?.['status'].reason, 'OutOfcpu')
  await runtime.advance(5000)
  assert.deepEqual(['most', 'some', 'little', 'critical'].map(phase), ['Running', 'Failed', 'Running', 'Running'])
  const { reason, message, conditions } = stage.pod('some')?.['status'] ?? {}
  assert.deepEqual([reason, message], ['Preempting', 'Preempted in order to admit critical pod'])
  assert.deepEqual(
    [conditions[0].type, conditions[0].reason, conditions[0].message],
    ['DisruptionTarget', 'TerminationByKubelet', 'Pod was preempted by Kubelet to accommodate a critical pod.'],
  )
  const warned = stage.events.filter((one) => one['reason'] === 'Preempting') as Fields[]
  assert.deepEqual(
    warned.map((one) => [one['type'], one['involvedObject'].name, one['message']]),
    [['Warning', 'some', 'Preempted in order to admit critical pod']],
  )
  await stage.run(asking('huge', `${cpus + 1}`, critical))
  await runtime.advance(1000)
  const refused = stage.pod('huge')?.['status']
  assert.equal(refused.reason, 'UnexpectedAdmissionError')
  assert.match(
    refused.message,
    /^Pod was rejected: Unexpected error while attempting to recover from admission failure: preemption: error finding a set of pods to preempt: no set of running pods found to reclaim resources: \[\(res: cpu, q: \d+\), \]$/,
  )
  assert.deepEqual(['most', 'little', 'critical'].map(phase), ['Running', 'Running', 'Running'])
  await stage.stop()
})

test('a critical pod that is deleted while others end for it never begins', async () => {
  const { stage, runtime } = await start()
  await addCriticalClass(stage)
  const { body } = await stage.ask('GET', `/api/v1/nodes/${NODE}`)
  const resources = { requests: { cpu: body.status.allocatable.cpu } }
  const containers = [{ name: 'c', image: 'i', resources }]
  await stage.run(pod('all', undefined, { containers }, { 'sim.skiff.dev/ignore-sigterm': 'true' }))
  await runtime.advance(5000)
  await stage.run(pod('critical', undefined, { containers, priorityClassName: 'system-node-critical' }))
  await runtime.advance(1000)
  await stage.ask('DELETE', `/api/v1/namespaces/${namespace}/pods/critical`, { gracePeriodSeconds: 0 })
  await runtime.advance(MINUTE)
  assert.equal(stage.pod('critical'), undefined)
  const started = stage.events.filter((one) => one['reason'] === 'Started') as Fields[]
  assert.deepEqual(
    started.map((one) => one['involvedObject'].name),
    ['all'],
  )
  await stage.run(pod('next', undefined, { containers }))
  await runtime.advance(5000)
  assert.equal(stage.pod('next')?.['status'].phase, 'Running')
  await stage.stop()
})
