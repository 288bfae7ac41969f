import assert from 'node:assert/strict'
import { test } from 'node:test'
import { simulatedRuntime } from '../base/simulated-runtime.ts'
import { createRemains, endOrphanedPods } from './orphaned-pods.ts'
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

  const removed = endOrphanedPods(containers, isKnown)
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

  await runtime.complete(endOrphanedPods(restarted, isKnown))
  assert.deepEqual(await running(), ['known'])
  assert.equal((await containers.listContainers({})).length, 1)
})

test('what a pod leaves goes from the machine once at a time, after its sandboxes', async () => {
  const told: string[] = []
  const slow = Promise.withResolvers<void>()
  const machine = {
    known: () => ['a'],
    async remove(uid: string) {
      told.push(`machine ${uid}`)
      await slow.promise
    },
  }
  const removePodSandbox = async (id: string) => {
    told.push(`sandbox ${id}`)
  }
  const remains = createRemains({ removePodSandbox }, machine)
  const first = remains.removeOf('a', ['s1', 's2'])
  await new Promise((resolve) => setImmediate(resolve))
  const second = remains.removeOf('a', [])
  await remains.remove(() => false)
  slow.resolve()
  await Promise.all([first, second])
  assert.deepEqual(told, ['sandbox s1', 'sandbox s2', 'machine a'])
  await remains.remove(() => false)
  assert.equal(told.at(-1), 'machine a')
  assert.equal(told.length, 4, 'once it has come to an end it may be removed again')
})

test('what is left of pods that are gone goes, though one of them cannot go and another hangs', async () => {
  const removed: string[] = []
  const hanging = Promise.withResolvers<void>()
  let all = ['busy', 'known', 'gone', 'hangs']
  const machine = {
    known: () => all,
    async remove(uid: string) {
      removed.push(uid)
      if (uid === 'busy') throw new Error('busy')
      if (uid === 'hangs') await hanging.promise
    },
  }
  const remains = createRemains(setup().containers, machine)
  await assert.rejects(remains.remove(isKnown), { message: 'busy' })
  assert.deepEqual(removed, ['busy', 'gone', 'hangs'])
  all = ['busy', 'known', 'hangs', 'later']
  removed.length = 0
  await assert.rejects(remains.remove(isKnown), { message: 'busy' })
  assert.deepEqual(removed, ['busy', 'later'], 'what hangs is not begun again')
  all = ['hangs']
  hanging.resolve()
  await new Promise((resolve) => setImmediate(resolve))
  await remains.remove(isKnown)
  assert.equal(removed.at(-1), 'hangs', 'what has come to an end may be removed again')
})

test('a removal that fails before anything is waited for may be begun again', async () => {
  let removals = 0
  const machine = {
    known: () => ['a'],
    remove(): Promise<void> {
      if (++removals === 1) throw new Error('at once')
      return Promise.resolve()
    },
  }
  const remains = createRemains(setup().containers, machine)
  await assert.rejects(remains.remove(isKnown), { message: 'at once' })
  await remains.remove(isKnown)
  await remains.removeOf('a', [])
  assert.equal(removals, 3)
})
