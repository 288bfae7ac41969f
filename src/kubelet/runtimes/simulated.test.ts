import assert from 'node:assert/strict'
import { test } from 'node:test'
import { simulatedRuntime } from '../../base/simulated.ts'
import { createPodAddresses, podCIDROf } from '../pod-addresses.ts'
import { POD_UID_LABEL } from './runtime.ts'
import { createSimulatedRuntime } from './simulated.ts'

async function setup(annotations: Readonly<Record<string, string>> = {}) {
  const runtime = simulatedRuntime(1)
  const cri = createSimulatedRuntime(runtime, createPodAddresses(podCIDROf(0)))
  const labels = { [POD_UID_LABEL]: 'u' }
  const metadata = { name: 'p', namespace: 'n', uid: 'u', attempt: 0 }
  const sandbox = await runtime.complete(
    cri.runPodSandbox({ metadata, hostname: 'p', labels, annotations, hostNetwork: false }),
  )
  const config = { image: 'busybox', command: [], args: [], workingDir: '', envs: {}, mounts: [], labels, annotations }
  const id = await runtime.complete(cri.createContainer(sandbox, { ...config, metadata: { name: 'c', attempt: 0 } }))
  await runtime.complete(cri.startContainer(id))
  const status = async () => (await cri.listContainers({ labels }))[0]
  return { runtime, cri, sandbox, id, labels, status }
}

test('a container runs until it is stopped, and ends at SIGTERM', async () => {
  const { runtime, cri, id, status } = await setup()
  await runtime.advance(1_000_000)
  assert.equal((await status())?.state, 'running')
  await runtime.complete(cri.stopContainer(id, 30))
  const { state, exitCode, reason } = (await status())!
  assert.deepEqual([state, exitCode, reason], ['exited', 0, 'Completed'])
})

test('one that ignores SIGTERM is killed when the time is over, sooner when asked again', async () => {
  const { runtime, cri, id, status } = await setup({ 'sim.skiff.dev/ignore-sigterm': 'true' })
  const stopped = cri.stopContainer(id, 30)
  await runtime.advance(10_000)
  assert.equal((await status())?.state, 'running')
  const sooner = cri.stopContainer(id, 5)
  void cri.stopContainer(id, 100)
  await runtime.advance(5000)
  await Promise.all([stopped, sooner])
  const { exitCode, reason, startedAt, finishedAt } = (await status())!
  assert.deepEqual([exitCode, reason, finishedAt - startedAt], [137, 'Error', 15_000])
})

test('a stopped sandbox kills what runs in it and gives its address back; a removed one is forgotten', async () => {
  const { runtime, cri, sandbox, labels, status } = await setup()
  const [before] = await cri.listPodSandboxes({ labels })
  assert.deepEqual([before?.state, before?.ips], ['ready', ['10.244.0.2']])
  await runtime.complete(cri.stopPodSandbox(sandbox))
  const [after] = await cri.listPodSandboxes({ labels })
  assert.deepEqual([after?.state, after?.ips], ['notReady', []])
  assert.equal((await status())?.exitCode, 137)
  await runtime.complete(cri.removePodSandbox(sandbox))
  assert.deepEqual(await cri.listPodSandboxes({}), [])
  assert.deepEqual(await cri.listContainers({}), [])
})

test('a container that has ended by itself has its code, message and time', async () => {
  const { runtime, status } = await setup({
    'c.sim.skiff.dev/exit-after': '5s',
    'c.sim.skiff.dev/exit-code': '3',
    'c.sim.skiff.dev/termination-message': 'why',
  })
  await runtime.advance(6000)
  const { exitCode, message, startedAt, finishedAt } = (await status())!
  assert.deepEqual([exitCode, message, finishedAt - startedAt], [3, 'why', 5000])
})
