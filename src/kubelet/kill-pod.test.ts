import assert from 'node:assert/strict'
import { test } from 'node:test'
import { simulatedRuntime } from '../base/simulated-runtime.ts'
import { createKiller, graceOfKill } from './kill-pod.ts'
import type { Pod } from './pod.ts'
import { createPodAddresses, podCIDROf } from './pod-addresses.ts'
import type { PodEvents } from './pod-events.ts'
import { type ContainerRuntime, POD_UID_LABEL } from './runtimes/runtime.ts'
import { createSimulatedRuntime } from './runtimes/simulated/simulated-runtime.ts'

const pod: Pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'p', namespace: 'n', uid: 'u' },
  spec: {
    terminationGracePeriodSeconds: 7,
    initContainers: [{ name: 'side', image: 'i', restartPolicy: 'Always' }],
    containers: [
      { name: 'a', image: 'i' },
      { name: 'b', image: 'i' },
    ],
  },
}

async function setup(annotations: Readonly<Record<string, string>> = {}) {
  const runtime = simulatedRuntime(1)
  const cri: ContainerRuntime = createSimulatedRuntime(runtime, createPodAddresses(podCIDROf(0)))
  const labels = { [POD_UID_LABEL]: 'u' }
  const metadata = { name: 'p', namespace: 'n', uid: 'u', attempt: 0 }
  const sandbox = await runtime.complete(
    cri.runPodSandbox({ metadata, hostname: 'p', labels, annotations, hostNetwork: false }),
  )
  const ids = new Map<string, string>()
  for (const name of ['side', 'a', 'b']) {
    const own = { image: 'i', command: [], args: [], workingDir: '', envs: {}, mounts: [], runsToCompletion: false }
    const id = await runtime.complete(
      cri.createContainer(sandbox, { ...own, labels, annotations, metadata: { name, attempt: 0 } }),
    )
    ids.set(id, name)
    await runtime.complete(cri.startContainer(id))
  }
  const told: string[] = []
  const events: PodEvents = {
    about: () => {},
    normal: (_, reason, message) => void told.push(`${reason} ${message}`),
    warning: (_, reason, message) => void told.push(`${reason} ${message}`),
  }
  const status = async () => ({
    uid: 'u',
    ips: [],
    sandboxes: await cri.listPodSandboxes({ labels }),
    containers: await cri.listContainers({ labels }),
  })
  return { runtime, cri, killer: createKiller(runtime, cri, events), ids, told, status }
}

test('what cannot be stopped keeps nothing else running, and is named', async () => {
  const { runtime, cri, killer, ids, told, status } = await setup()
  const stop = cri.stopContainer
  cri.stopContainer = (id, seconds) =>
    ids.get(id) === 'a' ? Promise.reject(new Error('no "answer"')) : stop(id, seconds)
  const stopSandbox = cri.stopPodSandbox
  cri.stopPodSandbox = async (id) => {
    await stopSandbox(id)
    throw new Error('no network')
  }
  const killed = killer.killPod(pod, await status(), 5)
  const problem =
    '[failed to "KillContainer" for "a" with KillContainerError: "no \\"answer\\"", ' +
    'failed to "KillPodSandbox" for "u" with KillPodSandboxError: "no network"]'
  await assert.rejects(runtime.complete(killed), { message: `killing the pod failed: ${problem}` })
  const after = await status()
  assert.ok(after.containers.every(({ state }) => state === 'exited'))
  assert.deepEqual(
    after.sandboxes.map(({ state }) => state),
    ['notReady'],
  )
  assert.deepEqual(told, [
    'Killing Stopping container a',
    'Killing Stopping container b',
    'Killing Stopping container side',
    `FailedKillPod error killing pod: ${problem}`,
  ])
})

test('a sidecar’s preStop hook runs with those of all others, and it is stopped after them', async () => {
  const { runtime, cri, killer, ids, status } = await setup()
  const steps: string[] = []
  const { probe, stopContainer } = cri
  cri.probe = (id, action, signal) => {
    steps.push(`${action.kind} of ${ids.get(id)}`)
    return probe(id, action, signal)
  }
  cri.stopContainer = async (id, seconds) => {
    await stopContainer(id, seconds)
    steps.push(`${ids.get(id)} has ended`)
  }
  const withHook = {
    name: 'side',
    image: 'i',
    restartPolicy: 'Always',
    lifecycle: { preStop: { exec: { command: ['x'] } } },
  }
  await runtime.complete(
    killer.killPod({ ...pod, spec: { ...pod.spec!, initContainers: [withHook] } }, await status(), 5),
  )
  assert.deepEqual([steps[0], steps.at(-1)], ['preStop of side', 'side has ended'])
})

test('less time than was given ends what is being killed sooner, more does not prolong it', async () => {
  const { runtime, killer, status } = await setup({ 'sim.skiff.dev/ignore-sigterm': 'true' })
  const begun = runtime.clock.now()
  const finishedAt = async () => {
    const [a] = (await status()).containers.filter(({ metadata }) => metadata.name === 'a')
    return a!.finishedAt - begun
  }
  const killed = killer.killPod(pod, await status(), 30)
  await runtime.advance(4000)
  killer.shorten('u', 60)
  killer.shorten('u', 6)
  await runtime.advance(20_000)
  await killed
  assert.equal(await finishedAt(), 10_000)
})

test('a hook that sleeps longer than there is time has not failed, unless it was given less time than before', async () => {
  for (const isShortened of [false, true]) {
    const { runtime, killer, told, status } = await setup()
    const containers = [{ name: 'a', image: 'i', lifecycle: { preStop: { sleep: { seconds: 60 } } } }]
    const killed = killer.killPod({ ...pod, spec: { containers } }, await status(), 5)
    await runtime.advance(1000)
    if (isShortened) killer.shorten('u', 2)
    await runtime.advance(10_000)
    await killed
    assert.equal(told.includes('FailedPreStopHook PreStopHook failed'), isShortened)
  }
})

test('the time to end: of the deletion, else of the probe that failed, else of the pod', () => {
  const probe = { terminationGracePeriodSeconds: 3 }
  const containers = [{ name: 'a', image: 'i', livenessProbe: probe }]
  const probed: Pod = { ...pod, spec: { ...pod.spec, containers } }
  const deleted: Pod = { ...probed, metadata: { ...pod.metadata, deletionGracePeriodSeconds: 1 } }
  assert.equal(graceOfKill(probed, 'a', 'liveness'), 3)
  assert.equal(graceOfKill(probed, 'a', 'startup'), 7)
  assert.equal(graceOfKill(probed, 'a', 'pod ends'), 7)
  assert.equal(graceOfKill({ ...pod, spec: { containers } }, 'a', 'pod ends'), 30)
  assert.equal(graceOfKill(deleted, 'a', 'liveness'), 1)
})
