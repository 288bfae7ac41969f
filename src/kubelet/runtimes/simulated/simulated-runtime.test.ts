import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { test } from 'node:test'
import { simulatedRuntime } from '../../../base/simulated-runtime.ts'
import { createPodAddresses, podCIDROf } from '../../pod-addresses.ts'
import { POD_UID_LABEL } from '../runtime.ts'
import type { SimulationResources } from './simulated-answers.ts'
import { createSimulatedRuntime } from './simulated-runtime.ts'

async function setup(
  annotations: Readonly<Record<string, string>> = {},
  attempt = 0,
  script = 'serve',
  runsToCompletion = false,
  resources: SimulationResources = {},
) {
  const runtime = simulatedRuntime(1)
  const cri = createSimulatedRuntime(runtime, createPodAddresses(podCIDROf(0)), { resources })
  const labels = { [POD_UID_LABEL]: 'u' }
  const metadata = { name: 'p', namespace: 'n', uid: 'u', attempt: 0 }
  const sandbox = await runtime.complete(
    cri.runPodSandbox({ metadata, hostname: 'p', labels, annotations, hostNetwork: false }),
  )
  const command = ['sh', '-c', script]
  const own = { image: 'busybox', command, args: [], workingDir: '', envs: {}, mounts: [] }
  const config = { ...own, labels, annotations, runsToCompletion }
  const id = await runtime.complete(cri.createContainer(sandbox, { ...config, metadata: { name: 'c', attempt } }))
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

test('changes are told until the signal is aborted, to which nothing listens', async () => {
  const { runtime, cri, id } = await setup()
  const kubelets = new AbortController()
  kubelets.signal.addEventListener = () => assert.fail('a signal of thousands of nodes has a listener for each')
  const told: string[] = []
  cri.containerEvents!(({ type }) => told.push(`one ${type}`), kubelets.signal)
  cri.containerEvents!(({ type }) => told.push(`other ${type}`), new AbortController().signal)
  await runtime.complete(cri.stopContainer(id, 30))
  assert.deepEqual(told, ['one stopped', 'other stopped'])
  kubelets.abort()
  await runtime.complete(cri.removeContainer(id))
  assert.deepEqual(told.slice(2), ['other deleted'])
})

test('a connection to where a port leads ends with the pod, and there are no more', async (t) => {
  const server = createServer().listen(0, '127.0.0.1')
  t.after(() => server.close())
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  const forward = [{ ip: '127.0.0.1', first: port, last: port }]
  const annotations = { 'sim.skiff.dev/forward': `80=127.0.0.1:${port}`, 'sim.skiff.dev/serve': '81' }
  const { runtime, cri, sandbox } = await setup(annotations, 0, 'serve', false, { forward })
  const connect = (to: number) => cri.simulated!.connect(sandbox, to, new AbortController().signal)
  const connections = await Promise.all([80, 81].map(connect))
  const late = connect(80)
  await runtime.complete(cri.stopPodSandbox(sandbox))
  assert.deepEqual(
    [...connections, await late].map(({ destroyed }) => destroyed),
    [true, true, true],
  )
  for (const to of [80, 81]) await assert.rejects(connect(to), /the pod has ended/)
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

test('a plain command ends its container as it says, and annotations say it better', async () => {
  const script = 'echo why > /dev/termination-log; sleep 2; exit 3'
  const outcome = async (annotations: Record<string, string>) => {
    const { runtime, status } = await setup(annotations, 0, script)
    await runtime.advance(1_000_000)
    const { exitCode, message, startedAt, finishedAt } = (await status())!
    return [exitCode, message, finishedAt - startedAt]
  }
  assert.deepEqual(await outcome({}), [3, 'why\n', 2000])
  assert.deepEqual(await outcome({ 'sim.skiff.dev/exit-after': '5s' }), [0, 'why\n', 5000])
})

test('one that its pod waits for ends at once, unless its command or an annotation says otherwise', async () => {
  const outcome = async (annotations: Record<string, string>, script = 'serve | tee log', runsToCompletion = true) => {
    const { runtime, status } = await setup(annotations, 0, script, runsToCompletion)
    await runtime.advance(1_000_000)
    const { state, exitCode, startedAt, finishedAt } = (await status())!
    return state === 'running' ? state : [exitCode, finishedAt - startedAt]
  }
  const annotated = (name: string, value: string) => outcome({ [`sim.skiff.dev/${name}`]: value })
  assert.deepEqual(await outcome({}), [0, 0])
  assert.equal(await outcome({}, 'serve | tee log', false), 'running')
  assert.deepEqual(await annotated('exit-code', '3'), [3, 0])
  assert.deepEqual(await annotated('exit-after', '5s'), [0, 5000])
  assert.equal(await annotated('exit-after', 'never'), 'running')
  assert.equal(await annotated('exit-times', '0'), 'running')
  assert.deepEqual(await outcome({}, 'sleep 2; exit 3'), [3, 2000])
  assert.equal(await outcome({}, 'while true; do sleep 1; done'), 'running')
})

test('a command that traps SIGTERM does what it says, unless an annotation says otherwise', async () => {
  const loop = 'while true; do sleep 1; done'
  const code = async (trap: string, annotations: Record<string, string> = {}) => {
    const { runtime, cri, id, status } = await setup(annotations, 0, `trap '${trap}' TERM; ${loop}`)
    const stopped = cri.stopContainer(id, 30)
    await runtime.advance(30_000)
    await stopped
    return (await status())?.exitCode
  }
  assert.equal(await code('exit 5'), 5)
  assert.equal(await code(''), 137)
  assert.equal(await code('', { 'sim.skiff.dev/ignore-sigterm': 'false' }), 0)
  assert.equal(await code('exit 5', { 'sim.skiff.dev/sigterm-exit-code': '6' }), 6)
})

test('only so many of its runs end by themselves as it is asked to', async () => {
  const annotations = { 'sim.skiff.dev/exit-after': '5s', 'sim.skiff.dev/exit-times': '2' }
  const after = async (attempt: number) => {
    const { runtime, status } = await setup(annotations, attempt)
    await runtime.advance(60_000)
    return (await status())?.state
  }
  assert.deepEqual([await after(0), await after(1), await after(2)], ['exited', 'exited', 'running'])
})

test('SIGTERM takes its time, and gives the code asked for', async () => {
  const { runtime, cri, id, status } = await setup({
    'sim.skiff.dev/stop-delay': '4s',
    'sim.skiff.dev/sigterm-exit-code': '7',
  })
  const stopped = cri.stopContainer(id, 30)
  await runtime.advance(3999)
  assert.equal((await status())?.state, 'running')
  await runtime.advance(1)
  await stopped
  assert.equal((await status())?.exitCode, 7)
})

test('a probe takes its time, fails when that is longer than its timeout, and then says what it is asked to', async () => {
  const { runtime, cri, id } = await setup({
    'sim.skiff.dev/readiness-duration': '3s',
    'sim.skiff.dev/readiness-output': 'no answer',
    'sim.skiff.dev/liveness': 'failure',
  })
  const probed = async (kind: 'readiness' | 'liveness', timeoutSeconds: number) => {
    const start = runtime.clock.now()
    const { signal } = new AbortController()
    const result = await runtime.complete(cri.probe(id, { kind, timeoutSeconds, handler: {} }, signal))
    return [runtime.clock.now() - start, result.success, result.output]
  }
  assert.deepEqual(await probed('readiness', 5), [3000, true, ''])
  assert.deepEqual(await probed('readiness', 2), [2000, false, 'no answer'])
  assert.deepEqual(await probed('liveness', 1), [0, false, ''])
})

test('a hook takes its time and fares as it is asked to', async () => {
  const { runtime, cri, id } = await setup({
    'sim.skiff.dev/post-start': 'failure',
    'sim.skiff.dev/post-start-duration': '2s',
  })
  const hook = cri.probe(id, { kind: 'postStart', timeoutSeconds: 60, handler: {} }, new AbortController().signal)
  const start = runtime.clock.now()
  assert.equal((await runtime.complete(hook)).success, false)
  assert.equal(runtime.clock.now() - start, 2000)
})

test('an image is absent, missing or of a registry that cannot exist, as its pod or its name says', async () => {
  const { runtime, cri } = await setup()
  const { signal } = new AbortController()
  const wish = (image: string) => ({ 'sim.skiff.dev/image': image, 'sim.skiff.dev/pull-delay': '6s' })
  assert.notEqual(await cri.imageStatus('nginx', {}), undefined)
  assert.equal(await cri.imageStatus('nginx', wish('absent')), undefined)
  const start = runtime.clock.now()
  await runtime.complete(cri.pullImage('nginx', wish('absent'), signal))
  assert.equal(runtime.clock.now() - start, 6000)
  await assert.rejects(runtime.complete(cri.pullImage('nginx', wish('missing'), signal)), /not found$/)
  assert.equal(await cri.imageStatus('registry.invalid/a', {}), undefined)
  await assert.rejects(runtime.complete(cri.pullImage('registry.invalid/a', {}, signal)), /no such host$/)
})
