/** What the recordings do not show of a kubelet, on the simulated clock. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Fields, KubeObject } from '../../../src/api/object.ts'
import { simulatedRuntime } from '../../../src/base/simulated-runtime.ts'
import { issue } from '../../../src/cluster/certificate.ts'
import { NODE, type NodeStage, namespace, startNodeStage } from './stage.ts'

type Annotations = Readonly<Record<string, string>>

function pod(name: string, annotations: Annotations = {}, spec: Fields = {}): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace, annotations },
    spec: {
      automountServiceAccountToken: false,
      terminationGracePeriodSeconds: 30,
      containers: [{ name: 'c', image: 'busybox' }],
      ...spec,
    },
  }
}

const path = (name: string) => `/api/v1/namespaces/${namespace}/pods/${name}`
const start = () => startNodeStage(simulatedRuntime(3, { order: 'fifo' }))
const container = (stage: NodeStage, name = 'p', at = 0): Fields => stage.pod(name)?.['status'].containerStatuses[at]
const condition = (object: KubeObject | undefined, type: string): Fields | undefined =>
  object?.['status'].conditions.find((one: Fields) => one['type'] === type)
const reasons = (stage: NodeStage) => stage.events.map((event) => event['reason'])

test('a second delete with a shorter grace period shortens the wait', async () => {
  const stage = await start()
  const { runtime } = stage
  await stage.run(pod('p', { 'sim.skiff.dev/ignore-sigterm': 'true' }))
  await runtime.advance(1000)
  await stage.ask('DELETE', path('p'))
  await runtime.advance(10_000)
  assert.ok(container(stage)['state'].running)
  // Five seconds after the first request are over: the API server leaves one, and the kubelet makes it the two that it waits at least.
  await stage.ask('DELETE', `${path('p')}?gracePeriodSeconds=5`)
  await runtime.advance(1900)
  assert.equal(stage.pod('p')?.metadata.deletionGracePeriodSeconds, 1)
  await runtime.advance(200)
  assert.equal(stage.pod('p'), undefined)
  await stage.stop()
})

test('image pull secrets that the API server does not answer for hold a pod up for a second, and its later syncs not at all', async () => {
  let asked = 0
  const hold = (path: string) => {
    if (!path.includes('/secrets')) return undefined
    asked++
    return new Promise<never>(() => {})
  }
  const stage = await startNodeStage(simulatedRuntime(3, { order: 'fifo' }), { hold })
  const exits = { 'sim.skiff.dev/exit-code': '1', 'sim.skiff.dev/exit-after': '5s' }
  const spec = { imagePullSecrets: [{ name: 's' }], restartPolicy: 'Always' }
  await stage.run(pod('p', exits, spec))
  await stage.runtime.advance(900)
  assert.ok(asked > 0)
  assert.equal(container(stage)?.['state'].running, undefined)
  await stage.runtime.advance(1100)
  assert.ok(container(stage)['state'].running)
  await stage.runtime.advance(20_000)
  assert.equal(container(stage)['restartCount'], 1)
  const started = stage.events.filter(({ reason }) => reason === 'Started').length
  assert.deepEqual([started, reasons(stage).includes('FailedToRetrieveImagePullSecret')], [1, false])
  await stage.stop()
})

test('a pod past its deadline is told of with each status that a kubelet makes of it, and starts nothing more', async () => {
  const stage = await start()
  const exits = { 'sim.skiff.dev/exit-code': '3', 'sim.skiff.dev/exit-after': '1s' }
  await stage.run(pod('p', exits, { restartPolicy: 'OnFailure', activeDeadlineSeconds: 8 }))
  await stage.runtime.advance(12_000)
  const { body } = await stage.ask('GET', `/api/v1/namespaces/${namespace}/events`)
  const counts = Object.fromEntries(body['items'].map((event: Fields) => [event['reason'], event['count']]))
  assert.deepEqual([counts['DeadlineExceeded'], counts['Started']], [4, 2])
  const { phase, reason } = stage.pod('p')?.['status'] ?? {}
  assert.deepEqual([phase, reason], ['Failed', 'DeadlineExceeded'])
  const { state, lastState } = container(stage)
  assert.deepEqual([state.terminated.reason, lastState.terminated.exitCode], ['ContainerStatusUnknown', 3])
  await stage.stop()
})

test('a second delete ends a preStop hook that would have gone on', async () => {
  const stage = await start()
  await stage.run(
    pod('p', {}, { containers: [{ name: 'c', image: 'i', lifecycle: { preStop: { sleep: { seconds: 25 } } } }] }),
  )
  await stage.runtime.advance(1000)
  await stage.ask('DELETE', path('p'))
  await stage.runtime.advance(1000)
  await stage.ask('DELETE', `${path('p')}?gracePeriodSeconds=3`)
  await stage.runtime.advance(3100)
  assert.equal(stage.pod('p'), undefined)
  await stage.stop()
})

test('sidecars end after the containers, in reverse order', async () => {
  const stage = await start()
  const sidecar = (name: string) => ({ name, image: 'i', restartPolicy: 'Always' })
  await stage.run(
    pod('p', { 'sim.skiff.dev/stop-delay': '1s' }, { initContainers: [sidecar('first'), sidecar('second')] }),
  )
  await stage.runtime.advance(1000)
  assert.equal(condition(stage.pod('p'), 'Ready')?.['status'], 'True')
  await stage.ask('DELETE', path('p'))
  await stage.runtime.advance(5000)
  const killed = stage.events.filter(({ reason }) => reason === 'Killing').map(({ message }) => message)
  assert.deepEqual(killed, ['Stopping container c', 'Stopping container second', 'Stopping container first'])
  assert.equal(stage.pod('p'), undefined)
  await stage.stop()
})

test('a sidecar that ends is started again while the pod runs', async () => {
  const stage = await start()
  const annotations = { 'side.sim.skiff.dev/exit-after': '1s', 'side.sim.skiff.dev/exit-times': '1' }
  await stage.run(pod('p', annotations, { initContainers: [{ name: 'side', image: 'i', restartPolicy: 'Always' }] }))
  await stage.runtime.advance(3000)
  const side = stage.pod('p')?.['status'].initContainerStatuses[0]
  assert.equal(side.restartCount, 1)
  assert.ok(side.state.running)
  await stage.stop()
})

test('an init container whose command is not understood ends, and the container after it runs on', async () => {
  const stage = await start()
  const script = 'until nslookup db; do sleep 2; done'
  await stage.run(pod('p', {}, { initContainers: [{ name: 'wait', image: 'i', command: ['sh', '-c', script] }] }))
  await stage.runtime.advance(60_000)
  const ended = stage.pod('p')?.['status'].initContainerStatuses[0].state.terminated
  assert.deepEqual([ended.reason, ended.exitCode], ['Completed', 0])
  assert.ok(container(stage)['state'].running)
  assert.equal(container(stage)['restartCount'], 0)
  await stage.stop()
})

test('a pod of a Job succeeds though its command is not understood, one that nothing waits for runs on', async () => {
  const stage = await start()
  const never = { restartPolicy: 'Never' }
  const owned = pod('owned', {}, never)
  const ownerReferences = [{ apiVersion: 'batch/v1', kind: 'Job', name: 'j', uid: 'u' }]
  await stage.run({ ...owned, metadata: { ...owned.metadata, ownerReferences } })
  await stage.run(pod('asked', { 'helm.sh/hook': 'test', 'sim.skiff.dev/exit-after': 'never' }, never))
  await stage.run(pod('hook', { 'helm.sh/hook': 'test' }, never))
  await stage.run(pod('bare', {}, never))
  await stage.runtime.advance(60_000)
  const phases = ['owned', 'hook', 'asked', 'bare'].map((name) => stage.pod(name)?.['status'].phase)
  assert.deepEqual(phases, ['Succeeded', 'Succeeded', 'Running', 'Running'])
  await stage.stop()
})

test('a pod whose mounted volume refers to what is missing waits, and runs once it is there', async () => {
  const stage = await start()
  const spec = {
    volumes: [{ name: 'v', secret: { secretName: 'late' } }],
    containers: [{ name: 'c', image: 'i', volumeMounts: [{ name: 'v', mountPath: '/v' }] }],
  }
  await stage.run(pod('p', {}, spec))
  await stage.runtime.advance(3000)
  assert.equal(container(stage)['state'].waiting.reason, 'ContainerCreating')
  const failed = stage.events.find(({ reason }) => reason === 'FailedMount')
  assert.equal(failed?.['message'], 'MountVolume.SetUp failed for volume "v" : secret "late" not found')
  await stage.ask('POST', `/api/v1/namespaces/${namespace}/secrets`, {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'late' },
  })
  await stage.runtime.advance(10_000)
  assert.ok(container(stage)['state'].running)
  await stage.stop()
})

test('an immutable ConfigMap is made anew for the next pod, though pods that have ended refer to it', async () => {
  const stage = await start()
  const maps = `/api/v1/namespaces/${namespace}/configmaps`
  const give = (key: string) =>
    stage.ask('POST', maps, { metadata: { name: 'm' }, data: { [key]: 'x' }, immutable: true })
  const reader = (name: string, key: string, annotations: Annotations = {}) =>
    pod(name, annotations, {
      restartPolicy: 'Never',
      containers: [{ name: 'c', image: 'i', volumeMounts: [{ name: 'v', mountPath: '/v' }] }],
      volumes: [{ name: 'v', configMap: { name: 'm', items: [{ key, path: 'p' }] } }],
    })
  await give('before')
  const ended = ['ends', 'ends-too']
  for (const name of ended) await stage.run(reader(name, 'before', { 'sim.skiff.dev/exit-after': '1s' }))
  await stage.runtime.advance(3000)
  for (const name of ended) assert.equal(stage.pod(name)?.['status'].phase, 'Succeeded')
  await stage.ask('DELETE', `${maps}/m`)
  await give('after')
  await stage.run(reader('next', 'after'))
  await stage.runtime.advance(3000)
  assert.equal(stage.pod('next')?.['status'].phase, 'Running')
  await stage.stop()
})

test('a pod whose trust bundles are missing waits, and runs once they are there', async () => {
  const stage = await start()
  const trustBundle = issue(stage.runtime, { commonName: 'root', usage: 'ca', validDays: 1 }).cert
  const bundle = (name: string, spec: object, labels = {}) =>
    stage.ask('POST', '/apis/certificates.k8s.io/v1/clustertrustbundles', {
      apiVersion: 'certificates.k8s.io/v1',
      kind: 'ClusterTrustBundle',
      metadata: { name, labels },
      spec: { trustBundle, ...spec },
    })
  const signed = { signerName: 'a.b/c', labelSelector: { matchLabels: { live: 'yes' } }, path: 'b.pem' }
  const sources = [{ clusterTrustBundle: { name: 'late', path: 'a.pem' } }, { clusterTrustBundle: signed }]
  const optional = { clusterTrustBundle: { name: 'never', optional: true, path: 'c.pem' } }
  await stage.run(
    pod(
      'p',
      {},
      {
        volumes: [{ name: 'v', projected: { sources: [optional, ...sources] } }],
        containers: [{ name: 'c', image: 'i', volumeMounts: [{ name: 'v', mountPath: '/v' }] }],
      },
    ),
  )
  await stage.runtime.advance(3000)
  assert.equal(container(stage)['state'].waiting.reason, 'ContainerCreating')
  await bundle('late', {})
  await bundle('a.b:c:other', { signerName: 'a.b/c' })
  await stage.runtime.advance(10_000)
  assert.equal(container(stage)['state'].waiting.reason, 'ContainerCreating')
  const told = stage.events.filter(({ reason }) => reason === 'FailedMount').map(({ message }) => String(message))
  assert.match(
    told[0] ?? '',
    /: \[while getting ClusterTrustBundle: clustertrustbundle.certificates.k8s.io "late" not found, combination of signerName/,
  )
  assert.match(told.at(-1) ?? '', /: combination of signerName and labelSelector matched zero ClusterTrustBundles$/)
  await bundle('a.b:c:live', { signerName: 'a.b/c' }, { live: 'yes' })
  await stage.runtime.advance(20_000)
  assert.ok(container(stage)['state'].running)
  await stage.stop()
})

test('a pod that waits for its volume can be deleted', async () => {
  const stage = await start()
  const spec = {
    volumes: [{ name: 'v', configMap: { name: 'never' } }],
    containers: [{ name: 'c', image: 'i', volumeMounts: [{ name: 'v', mountPath: '/v' }] }],
  }
  await stage.run(pod('p', {}, spec))
  await stage.runtime.advance(3000)
  await stage.ask('DELETE', path('p'))
  await stage.runtime.advance(1000)
  assert.equal(stage.pod('p'), undefined)
  await stage.stop()
})

test('never-ready keeps a pod from being ready; host network has the address of the node', async () => {
  const stage = await start()
  await stage.run(pod('p', { 'sim.skiff.dev/never-ready': 'true' }, { hostNetwork: true }))
  await stage.runtime.advance(5000)
  const { status } = stage.pod('p') as KubeObject
  assert.equal(status.phase, 'Running')
  assert.equal(condition(stage.pod('p'), 'Ready')?.['message'], 'containers with unready status: [c]')
  assert.equal(status.podIP, status.hostIP)
  await stage.stop()
})

test('a readiness gate keeps a pod from being ready until its condition is True', async () => {
  const stage = await start()
  await stage.run(pod('p', {}, { readinessGates: [{ conditionType: 'example.com/ok' }] }))
  await stage.runtime.advance(1000)
  assert.deepEqual(
    [condition(stage.pod('p'), 'Ready')?.['reason'], condition(stage.pod('p'), 'Ready')?.['message']],
    ['ReadinessGatesNotReady', 'corresponding condition of pod readiness gate "example.com/ok" does not exist.'],
  )
  const { body } = await stage.ask('GET', path('p'))
  body.status.conditions.push({ type: 'example.com/ok', status: 'True' })
  await stage.ask('PUT', `${path('p')}/status`, body)
  await stage.runtime.advance(1000)
  assert.equal(condition(stage.pod('p'), 'Ready')?.['status'], 'True')
  assert.equal(condition(stage.pod('p'), 'example.com/ok')?.['status'], 'True')
  await stage.stop()
})

test('a pod that does not fit is refused and can be deleted', async () => {
  const stage = await start()
  await stage.run(pod('p', {}, { containers: [{ name: 'c', image: 'i', resources: { requests: { cpu: '33' } } }] }))
  await stage.runtime.advance(1000)
  const { phase, reason, message } = stage.pod('p')?.['status'] ?? {}
  assert.deepEqual([phase, reason], ['Failed', 'OutOfcpu'])
  assert.match(message, /^Pod was rejected: Node didn't have enough resource: cpu, requested: 33000, used: 0, capac/)
  assert.ok(reasons(stage).includes('OutOfcpu'))
  assert.equal(stage.pod('p')?.['status'].conditions, undefined)
  await stage.ask('DELETE', path('p'))
  await stage.runtime.advance(1000)
  assert.equal(stage.pod('p'), undefined)
  await stage.stop()
})

test('requests are told in the status; a changed image restarts the container', async () => {
  const stage = await start()
  const requests = { cpu: '100m', memory: '64Mi' }
  await stage.run(pod('p', {}, { containers: [{ name: 'c', image: 'busybox:1', resources: { requests } }] }))
  await stage.runtime.advance(1000)
  assert.deepEqual(container(stage)['allocatedResources'], requests)
  assert.deepEqual(container(stage)['resources'], { requests })
  const { body } = await stage.ask('GET', path('p'))
  body.spec.containers[0].image = 'busybox:2'
  assert.equal((await stage.ask('PUT', path('p'), body)).code, 200)
  await stage.runtime.advance(1000)
  assert.equal(container(stage)['image'], 'docker.io/library/busybox:2')
  assert.equal(container(stage)['restartCount'], 1)
  const killing = stage.events.find(({ reason }) => reason === 'Killing')
  assert.equal(killing?.['message'], 'Container c definition changed, will be restarted')
  await stage.stop()
})

test('a failed postStart hook restarts the container', async () => {
  const stage = await start()
  const lifecycle = { postStart: { exec: { command: ['x'] } } }
  await stage.run(
    pod('p', { 'sim.skiff.dev/post-start': 'failure' }, { containers: [{ name: 'c', image: 'i', lifecycle }] }),
  )
  await stage.runtime.advance(60_000)
  assert.ok(reasons(stage).includes('FailedPostStartHook'))
  assert.ok(container(stage)['restartCount'] > 0)
  await stage.stop()
})

test('a pod forced away is killed all the same, and its address is given to others in the end', async () => {
  const stage = await start()
  await stage.run(pod('p', { 'sim.skiff.dev/ignore-sigterm': 'true' }))
  await stage.runtime.advance(1000)
  await stage.ask('DELETE', `${path('p')}?gracePeriodSeconds=0`)
  await stage.runtime.advance(1500)
  assert.equal((await stage.kubelet.containerRuntime.listContainers({})).length, 1)
  await stage.runtime.advance(1000)
  assert.equal((await stage.kubelet.containerRuntime.listContainers({})).length, 0)
  assert.equal((await stage.kubelet.containerRuntime.listPodSandboxes({})).length, 0)
  await stage.stop()
})

test('the node renews its lease every 10 seconds, and reports again when it was marked not ready', async () => {
  const stage = await start()
  const lease = `/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/${NODE}`
  const first = (await stage.ask('GET', lease)).body
  assert.equal(first.spec.holderIdentity, NODE)
  assert.equal(first.spec.leaseDurationSeconds, 40)
  assert.equal(first.metadata.ownerReferences[0].kind, 'Node')
  await stage.runtime.advance(10_100)
  const second = (await stage.ask('GET', lease)).body
  assert.equal(Date.parse(second.spec.renewTime) - Date.parse(first.spec.renewTime), 10_000)

  const node = (await stage.ask('GET', `/api/v1/nodes/${NODE}`)).body
  assert.equal(condition(node, 'Ready')?.['status'], 'True')
  const conditions = node.status.conditions.map((one: Fields) =>
    one['type'] === 'Ready' ? { ...one, status: 'Unknown' } : one,
  )
  await stage.ask('PUT', `/api/v1/nodes/${NODE}/status`, { ...node, status: { ...node.status, conditions } })
  await stage.runtime.advance(1000)
  assert.equal(condition((await stage.ask('GET', `/api/v1/nodes/${NODE}`)).body, 'Ready')?.['status'], 'True')
  await stage.stop()
})

test('a node that was deleted registers again', async () => {
  const stage = await start()
  await stage.ask('DELETE', `/api/v1/nodes/${NODE}`)
  await stage.runtime.advance(1000)
  assert.equal((await stage.ask('GET', `/api/v1/nodes/${NODE}`)).code, 200)
  await stage.stop()
})

test('a kubelet that does not register its Node waits for one made by others, and keeps that', async () => {
  const stage = await startNodeStage(simulatedRuntime(3, { order: 'fifo' }), { registersItself: false })
  const { body: node } = await stage.ask('GET', `/api/v1/nodes/${NODE}`)
  assert.equal(condition(node, 'Ready')?.['status'], 'True')
  assert.deepEqual(Object.keys(node.metadata.labels).sort(), [
    ...['beta.kubernetes.io/arch', 'beta.kubernetes.io/os', 'kubernetes.io/arch', 'kubernetes.io/os'],
  ])
  const lease = await stage.ask('GET', `/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/${NODE}`)
  assert.equal(lease.body.metadata.ownerReferences[0].uid, node.metadata.uid)
  await stage.run(pod('p'))
  await stage.runtime.advance(2000)
  assert.equal(stage.pod('p')?.['status'].phase, 'Running')
  await stage.ask('DELETE', `/api/v1/nodes/${NODE}`)
  await stage.runtime.advance(5000)
  assert.equal((await stage.ask('GET', `/api/v1/nodes/${NODE}`)).code, 404)
  await stage.stop()
})

test('a node that was rebooted runs the pods it finds, ends those that should end, and leaves ended ones alone', async () => {
  const stage = await start()
  await stage.run(pod('runs'))
  await stage.run(pod('goes', { 'sim.skiff.dev/ignore-sigterm': 'true' }))
  await stage.run(pod('done', { 'sim.skiff.dev/exit-after': '1s' }, { restartPolicy: 'Never' }))
  await stage.runtime.advance(5000)
  await stage.ask('DELETE', path('goes'))
  await stage.runtime.advance(100)
  stage.stopKubelet()
  await stage.startKubelet(true)
  await stage.runtime.advance(5000)
  assert.equal(container(stage, 'runs')['restartCount'], 1)
  assert.equal(container(stage, 'runs')['lastState'].terminated?.reason, 'ContainerStatusUnknown')
  assert.equal(condition(stage.pod('runs'), 'Ready')?.['status'], 'True')
  assert.equal(stage.pod('goes'), undefined)
  assert.equal(stage.pod('done')?.['status'].phase, 'Succeeded')
  assert.equal(container(stage, 'done')['restartCount'], 0)
  await stage.stop()
})

test('a kubelet that restarts leaves its containers running, and removes those whose pod has gone meanwhile', async () => {
  const stage = await start()
  for (const name of ['stays', 'forced']) await stage.run(pod(name))
  await stage.runtime.advance(5000)
  stage.stopKubelet()
  await stage.ask('DELETE', `${path('forced')}?gracePeriodSeconds=0`)
  await stage.runtime.advance(5000)
  assert.equal((await stage.kubelet.containerRuntime.listContainers({})).length, 2)
  const writes = stage.writes.length
  await stage.startKubelet(false)
  await stage.runtime.advance(5000)
  assert.equal((await stage.kubelet.containerRuntime.listContainers({})).length, 1)
  assert.equal(container(stage, 'stays')['restartCount'], 0)
  assert.equal(stage.writes.length, writes, 'nothing new is to be told')
  await stage.ask('DELETE', path('stays'))
  await stage.runtime.advance(5000)
  assert.equal(stage.pod('stays'), undefined)
  await stage.stop()
})

test('a pod deleted while no kubelet runs stays until one comes, and ends then', async () => {
  const stage = await start()
  await stage.run(pod('p'))
  await stage.runtime.advance(5000)
  stage.stopKubelet()
  await stage.ask('DELETE', path('p'))
  await stage.runtime.advance(120_000)
  assert.equal(stage.pod('p')?.metadata.deletionGracePeriodSeconds, 30)
  await stage.startKubelet(false)
  await stage.runtime.advance(5000)
  assert.equal(stage.pod('p'), undefined)
  await stage.stop()
})

for (const [what, annotations, spec] of [
  ['sandbox', { 'sim.skiff.dev/sandbox-delay': '1h' }, {}],
  ['image', { 'sim.skiff.dev/image': 'absent', 'sim.skiff.dev/pull-delay': '1h' }, {}],
  ['start', { 'sim.skiff.dev/start-delay': '1h' }, {}],
  [
    'postStart hook',
    { 'sim.skiff.dev/post-start-duration': '1h' },
    { containers: [{ name: 'c', image: 'i', lifecycle: { postStart: { exec: { command: ['x'] } } } }] },
  ],
] as const)
  test(`a pod that waits for its ${what} can be deleted`, async () => {
    const stage = await start()
    await stage.run(pod('p', annotations, spec))
    await stage.runtime.advance(5000)
    await stage.ask('DELETE', path('p'))
    await stage.runtime.advance(3000)
    assert.equal(stage.pod('p'), undefined)
    assert.ok(!reasons(stage).some((reason) => String(reason).startsWith('Failed')))
    await stage.stop()
  })

test('a sandbox that is only ready when its kubelet was killed and its pod forced away does not stay', async () => {
  const stage = await start()
  const { runtime } = stage
  await stage.run(pod('p', { 'sim.skiff.dev/sandbox-delay': '15s' }))
  await runtime.advance(1000)
  const { containerRuntime } = stage.kubelet
  stage.stopKubelet()
  await stage.ask('DELETE', `${path('p')}?gracePeriodSeconds=0`)
  await stage.startKubelet(false)
  await runtime.advance(60_000)
  assert.deepEqual(await containerRuntime.listContainers({}), [])
  assert.deepEqual(await containerRuntime.listPodSandboxes({}), [])
  await stage.stop()
})
