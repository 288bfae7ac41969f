/**
 * Graceful node shutdown on the simulated clock: what a kubelet v1.37.1 wrote on 2026-11-26 on a machine whose logind a program stood
 * for (the words, phases and conditions of pods and Node, the Events, who ends when).
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Fields, KubeObject } from '../../../src/api/object.ts'
import { simulatedRuntime } from '../../../src/base/simulated-runtime.ts'
import type { Logind, LogindHandlers } from '../../../src/kubelet/shutdown/logind.ts'
import type { ShutdownTimes } from '../../../src/kubelet/shutdown/node-shutdown.ts'
import type { ShutdownGroup } from '../../../src/kubelet/shutdown/shutdown-groups.ts'
import { NODE, type NodeStage, namespace, startNodeStage } from './stage.ts'

const GROUPS: readonly ShutdownGroup[] = [
  { priority: 0, seconds: 20 },
  { priority: 1000, seconds: 10 },
  { priority: 2_000_000_000, seconds: 5 },
]
const MESSAGE = 'Pod was terminated in response to imminent node shutdown.'
const IGNORES = { 'sim.skiff.dev/ignore-sigterm': 'true' }

interface StandInOptions {
  /** What it grants at first. Default 5000. */
  readonly delayMs?: number
  /** It takes no wish. */
  readonly isDeaf?: boolean
  /** Of each lock, one after the other, before it is given, or refused. */
  readonly locking?: (count: number) => Promise<void>
}

function standIn({ delayMs = 5000, isDeaf = false, locking }: StandInOptions) {
  const calls: string[] = []
  let handlers: LogindHandlers | undefined
  let isThere = true
  let granted = delayMs
  let locks = 0
  const note = (what: string) => calls.push(what)
  return {
    calls,
    says: (begins: boolean) => handlers?.prepareForShutdown(begins),
    /** It is gone; another `comes` later. */
    goes() {
      isThere = false
      handlers?.lost()
    },
    comes() {
      isThere = true
    },
    async connect(own: LogindHandlers): Promise<Logind> {
      if (!isThere) throw new Error('no bus')
      handlers = own
      return {
        longestDelayMs: async () => granted,
        async askForDelay(seconds) {
          note(`delay ${seconds}`)
          if (!isDeaf) granted = seconds * 1000
        },
        async lock() {
          note('lock')
          await locking?.(++locks)
          return { release: () => void note('release') }
        },
        close: () => void note('close'),
      }
    },
  }
}

async function start(groups = GROUPS, options: StandInOptions = {}) {
  const runtime = simulatedRuntime(3, { order: 'fifo' })
  const logind = standIn(options)
  let times: ShutdownTimes = {}
  const record = {
    read: () => times,
    write(next: ShutdownTimes) {
      times = next
    },
  }
  const shutdown = { groups, connect: logind.connect, record }
  const stage = await startNodeStage(runtime, { shutdown })
  const own = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'default' } }
  await stage.ask('POST', '/api/v1/namespaces', own)
  for (const [name, value] of [
    ['low', -5],
    ['mid', 1500],
  ] as const)
    await stage.ask('POST', '/apis/scheduling.k8s.io/v1/priorityclasses', {
      ...{ apiVersion: 'scheduling.k8s.io/v1', kind: 'PriorityClass', metadata: { name }, value },
    })
  return { runtime, stage, logind, times: () => times }
}

const pod = (name: string, annotations: Readonly<Record<string, string>> = {}, spec: Fields = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace, annotations },
  spec: { automountServiceAccountToken: false, containers: [{ name: 'c', image: 'busybox' }], ...spec },
})
const condition = (object: KubeObject | undefined, type: string): Fields | undefined =>
  object?.['status'].conditions.find((one: Fields) => one['type'] === type)
const readyOf = async (stage: NodeStage) => {
  const { body } = await stage.ask('GET', `/api/v1/nodes/${NODE}`)
  const { status, reason, message } = condition(body, 'Ready') as Fields
  return [status, reason, message]
}
/** The first final phase of each pod, in the order in which they came. */
function endings(stage: NodeStage): readonly string[] {
  const found: Record<string, string> = {}
  for (const { object } of stage.states) {
    const { phase } = object['status']
    const name = object.metadata.name ?? ''
    if ((phase === 'Failed' || phase === 'Succeeded') && found[name] === undefined) found[name] = phase
  }
  return Object.entries(found).map(([name, phase]) => `${name} ${phase}`)
}

test('pods end group by group, each within its own time; who ends well has succeeded', async () => {
  const { runtime, stage, logind, times } = await start()
  await stage.run(pod('quick'))
  await stage.run(pod('stubborn', IGNORES, { terminationGracePeriodSeconds: 60 }))
  await stage.run(pod('short', IGNORES, { terminationGracePeriodSeconds: 3, priorityClassName: 'low' }))
  await stage.run(pod('middle', { 'sim.skiff.dev/stop-delay': '2s' }, { priorityClassName: 'mid' }))
  await stage.run(pod('done', { 'sim.skiff.dev/exit-after': '1s' }, { restartPolicy: 'Never' }))
  await runtime.advance(5000)
  assert.deepEqual(await readyOf(stage), ['True', 'KubeletReady', 'kubelet is posting ready status'])
  const writes = stage.writes.length
  logind.says(true)
  await runtime.advance(1000)
  assert.deepEqual(await readyOf(stage), ['False', 'KubeletNotReady', 'node is shutting down'])
  assert.equal(stage.pod('quick')?.['status'].phase, 'Succeeded')
  assert.equal(stage.pod('short')?.['status'].phase, 'Running')
  await runtime.advance(2500)
  assert.equal(stage.pod('short')?.['status'].phase, 'Failed')
  await runtime.advance(16_300)
  assert.equal(stage.pod('stubborn')?.['status'].phase, 'Running')
  assert.equal(stage.pod('middle')?.['status'].phase, 'Running')
  assert.equal(stage.kubelet.podStatus(String(stage.pod('middle')?.metadata.uid))?.phase, 'Running')
  await runtime.advance(700)
  assert.equal(stage.pod('stubborn')?.['status'].phase, 'Failed')
  assert.equal(stage.pod('middle')?.['status'].phase, 'Running')
  await runtime.advance(2500)
  assert.equal(stage.pod('middle')?.['status'].phase, 'Succeeded')
  assert.deepEqual(endings(stage), [
    ...['done Succeeded', 'quick Succeeded', 'short Failed', 'stubborn Failed', 'middle Succeeded'],
  ])

  const { phase, reason, message } = stage.pod('stubborn')?.['status'] ?? {}
  assert.deepEqual({ phase, reason, message }, { phase: 'Failed', reason: 'Terminated', message: MESSAGE })
  assert.equal(stage.pod('stubborn')?.['status'].containerStatuses[0].state.terminated.exitCode, 137)
  assert.equal(stage.pod('middle')?.['status'].reason, undefined)
  for (const name of ['stubborn', 'middle', 'quick']) {
    const disruption = condition(stage.pod(name), 'DisruptionTarget')
    const { lastTransitionTime: _, lastProbeTime: __, ...rest } = disruption ?? {}
    assert.deepEqual(rest, {
      type: 'DisruptionTarget',
      observedGeneration: 1,
      status: 'True',
      reason: 'TerminationByKubelet',
      message: MESSAGE,
    })
  }
  assert.equal(condition(stage.pod('done'), 'DisruptionTarget'), undefined)
  assert.ok(!stage.writes.slice(writes).some(({ verb }) => verb === 'delete'), 'no pod is deleted')
  const { start: began = 0, end = 0 } = times()
  assert.ok(end - began >= 22_000 && end - began < 23_000, `${end - began}`)
  assert.equal(stage.kubelet.shutdownTimes.start, began)
  assert.deepEqual(logind.calls, ['delay 35', 'lock', 'release'])
  await stage.stop()
})

test('a node that goes down takes no pod, and takes them again when it does not go down after all', async () => {
  const { runtime, stage, logind } = await start()
  await stage.run(pod('before'))
  await runtime.advance(5000)
  logind.says(true)
  await runtime.advance(500)
  await stage.run(pod('late'))
  await runtime.advance(500)
  const { phase, reason, message } = stage.pod('late')?.['status'] ?? {}
  assert.deepEqual(
    { phase, reason, message },
    {
      phase: 'Failed',
      reason: 'NodeShutdown',
      message: 'Pod was rejected: Pod was rejected as the node is shutting down.',
    },
  )
  const told = stage.events.find((event) => event['reason'] === 'NodeShutdown')
  assert.deepEqual([told?.['type'], told?.['message']], ['Warning', 'Pod was rejected as the node is shutting down.'])
  logind.says(false)
  await runtime.advance(1000)
  assert.deepEqual(await readyOf(stage), ['True', 'KubeletReady', 'kubelet is posting ready status'])
  await stage.run(pod('after'))
  await runtime.advance(5000)
  assert.equal(stage.pod('after')?.['status'].phase, 'Running')
  assert.equal(stage.pod('before')?.['status'].phase, 'Succeeded')
  const { body } = await stage.ask('GET', '/api/v1/namespaces/default/events')
  assert.deepEqual(
    body.items
      .filter(({ involvedObject }: Fields) => (involvedObject as Fields)['kind'] === 'Node')
      .map(({ reason: why, message: text }: Fields) => `${why}: ${text}`)
      .sort(),
    ['Shutdown: Shutdown manager detected shutdown cancellation', 'Shutdown: Shutdown manager detected shutdown event'],
  )
  // The next time it waits again.
  assert.deepEqual(logind.calls, ['delay 35', 'lock', 'release', 'lock'])
  await stage.stop()
})

test('that it does not go down after all is heard when the pods have ended', async () => {
  const { runtime, stage, logind } = await start([{ priority: 0, seconds: 10 }])
  await stage.run(pod('stubborn', IGNORES, { terminationGracePeriodSeconds: 60 }))
  await runtime.advance(5000)
  logind.says(true)
  logind.says(false)
  await runtime.advance(9000)
  assert.equal((await readyOf(stage))[0], 'False')
  await runtime.advance(2000)
  assert.equal((await readyOf(stage))[0], 'True')
  assert.equal(stage.pod('stubborn')?.['status'].phase, 'Failed')
  await stage.stop()
})

test('a pod that is being deleted has no more time than the others', async () => {
  const { runtime, stage, logind } = await start()
  await stage.run(pod('leaving', IGNORES, { terminationGracePeriodSeconds: 100 }))
  await runtime.advance(5000)
  await stage.ask('DELETE', `/api/v1/namespaces/${namespace}/pods/leaving`)
  await runtime.advance(1000)
  logind.says(true)
  await runtime.advance(19_000)
  assert.notEqual(stage.pod('leaving'), undefined)
  await runtime.advance(2000)
  assert.equal(stage.pod('leaving'), undefined)
  await stage.stop()
})

test('a bus that goes is asked again each second, and what comes is asked for a lock', async () => {
  const { runtime, stage, logind } = await start()
  await runtime.advance(1000)
  logind.goes()
  await runtime.advance(3500)
  logind.comes()
  await runtime.advance(1000)
  assert.deepEqual(logind.calls, ['delay 35', 'lock', 'release', 'lock'])
  await stage.run(pod('quick'))
  await runtime.advance(5000)
  logind.says(true)
  await runtime.advance(1000)
  assert.equal(stage.pod('quick')?.['status'].phase, 'Succeeded')
  await stage.stop()
})

test('a logind that waits long enough is told nothing, and one that does not listen is given up', async () => {
  const patient = await start(GROUPS, { delayMs: 35_000 })
  await patient.runtime.advance(5000)
  assert.deepEqual(patient.logind.calls, ['lock'])
  await patient.stage.stop()
  const deaf = await start(GROUPS, { isDeaf: true })
  await deaf.runtime.advance(10_000)
  assert.deepEqual(deaf.logind.calls, ['delay 35', 'close'])
  assert.equal((await readyOf(deaf.stage))[0], 'True')
  await deaf.stage.stop()
})

/** Each lock is given once the test says so. */
function holdingBack() {
  let give = () => {}
  const locking = () =>
    new Promise<void>((resolve) => {
      give = resolve
    })
  return { locking, give: () => give() }
}

test('a lock that is given once the kubelet stops is given back', async () => {
  const { locking, give } = holdingBack()
  const { runtime, stage, logind } = await start(GROUPS, { locking })
  await runtime.advance(1000)
  assert.deepEqual(logind.calls, ['delay 35', 'lock'])
  await stage.stop()
  assert.deepEqual(logind.calls, ['delay 35', 'lock', 'close'])
  give()
  await runtime.settle()
  assert.equal(logind.calls.filter((call) => call === 'release').length, 1)
})

test('a lock that is given once its bus is gone is given back, and another is asked for', async () => {
  const { locking, give } = holdingBack()
  const { runtime, stage, logind } = await start(GROUPS, { locking })
  await runtime.advance(1000)
  give()
  await runtime.advance(1000)
  logind.goes()
  logind.comes()
  await runtime.advance(1500)
  logind.goes()
  logind.comes()
  give()
  await runtime.advance(1500)
  assert.deepEqual(logind.calls, ['delay 35', 'lock', 'release', 'lock', 'release', 'close', 'lock'])
  await stage.stop()
})

test('a lock that is refused when the node does not go down after all is asked for again', async () => {
  const { runtime, stage, logind } = await start(GROUPS, {
    async locking(count) {
      if (count === 2 || count === 3) throw new Error('logind gives no lock')
    },
  })
  await runtime.advance(1000)
  logind.says(true)
  logind.says(false)
  await runtime.advance(500)
  assert.deepEqual(logind.calls, ['delay 35', 'lock', 'release', 'lock', 'close'])
  await runtime.advance(2000)
  assert.deepEqual(logind.calls.slice(5), ['lock', 'close', 'lock'])
  assert.equal((await readyOf(stage))[0], 'True')
  await stage.stop()
  assert.deepEqual(logind.calls.slice(8).sort(), ['close', 'release'])
})

test('a lock that is given after a shutdown was taken back is given back when the kubelet stops meanwhile', async () => {
  const { locking, give } = holdingBack()
  const { runtime, stage, logind } = await start(GROUPS, { locking })
  await runtime.advance(1000)
  give()
  await runtime.advance(1000)
  logind.says(true)
  logind.says(false)
  await runtime.advance(500)
  await stage.stop()
  give()
  await runtime.settle()
  assert.deepEqual(logind.calls, ['delay 35', 'lock', 'release', 'lock', 'close', 'release'])
})
