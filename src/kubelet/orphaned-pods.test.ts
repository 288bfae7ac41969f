import assert from 'node:assert/strict'
import { test } from 'node:test'
import { simulatedRuntime } from '../base/simulated-runtime.ts'
import { removeOrphans } from './orphaned-pods.ts'
import { createPodAddresses, podCIDROf } from './pod-addresses.ts'
import { POD_UID_LABEL } from './runtimes/runtime.ts'
import { createSimulatedRuntime } from './runtimes/simulated/simulated-runtime.ts'

const setup = () => {
  const runtime = simulatedRuntime(1)
  const containers = createSimulatedRuntime(runtime, createPodAddresses(podCIDROf(0)))
  const run = async (uid: string) => {
    const labels = { [POD_UID_LABEL]: uid }
    const annotations = { 'sim.skiff.dev/ignore-sigterm': 'true' }
    const metadata = { name: uid, namespace: 'n', uid, attempt: 0 }
    const pod = { hostname: uid, labels, annotations, hostNetwork: false }
    const sandbox = await containers.runPodSandbox({ metadata, ...pod })
    const own = { image: 'i', command: [], args: [], workingDir: '', envs: {}, mounts: [], runsToCompletion: false }
    const container = { ...own, labels, annotations, metadata: { name: 'c', attempt: 0 } }
    const id = await containers.createContainer(sandbox, container)
    await containers.startContainer(id)
  }
  const running = async () =>
    (await containers.listContainers({}))
      .filter(({ state }) => state === 'running')
      .map(({ labels }) => labels[POD_UID_LABEL])
  return { runtime, containers, run, running }
}
const isKnown = (uid: string) => uid === 'known'

test('containers of a pod that nobody knows get SIGTERM and two seconds; others run on', async () => {
  const { runtime, containers, run, running } = setup()
  await runtime.complete(Promise.all([run('known'), run('orphan')]))

  const removed = removeOrphans(containers, isKnown)
  await runtime.advance(1999)
  assert.deepEqual(await running(), ['known', 'orphan'])
  await runtime.complete(removed)
  assert.deepEqual(await running(), ['known'])
  assert.deepEqual(
    (await containers.listPodSandboxes({})).map(({ metadata }) => metadata.uid),
    ['known'],
  )
  assert.equal(runtime.clock.monotonic(), 2000)
})

test('a container that has lost its sandbox goes with its pod', async () => {
  const { runtime, containers, run, running } = setup()
  await runtime.complete(Promise.all([run('known'), run('orphan')]))
  // A containerd that was killed may read a container again, but not the sandbox it is in.
  const restarted = { ...containers, listPodSandboxes: async () => [] }

  await runtime.complete(removeOrphans(restarted, isKnown))
  assert.deepEqual(await running(), ['known'])
  assert.equal((await containers.listContainers({})).length, 1)
})

test('what is left of pods that nobody knows goes, though one of them cannot', async () => {
  const runtime = simulatedRuntime(1)
  const containers = createSimulatedRuntime(runtime, createPodAddresses(podCIDROf(0)))
  const removed: string[] = []
  const machine = {
    known: () => ['busy', 'known', 'gone'],
    async remove(uid: string) {
      if (uid === 'busy') throw new Error('busy')
      removed.push(uid)
    },
  }
  await assert.rejects(
    removeOrphans(containers, (uid) => uid === 'known', machine),
    { message: 'busy' },
  )
  assert.deepEqual(removed, ['gone'])
})
