/** Static pods and their mirror pods, as a real node showed them. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Fields } from '../../../src/api/object.ts'
import { simulatedRuntime } from '../../../src/base/simulated-runtime.ts'
import { stoppable } from '../../../src/base/stoppable.ts'
import { createClient, inProcessTransport } from '../../../src/client/transport.ts'
import { startKubelet } from '../../../src/kubelet/kubelet.ts'
import type { Pod } from '../../../src/kubelet/pod.ts'
import { createPodAddresses, podCIDROf } from '../../../src/kubelet/pod-addresses.ts'
import { createSimulatedRuntime } from '../../../src/kubelet/runtimes/simulated/simulated-runtime.ts'
import { staticPodOf } from '../../../src/kubelet/static-pods/static-pod.ts'
import type { StaticPodSource } from '../../../src/kubelet/static-pods/static-pods.ts'
import { NODE, namespace, startNodeStage } from './stage.ts'

const path = (name: string) => `/api/v1/namespaces/${namespace}/pods/${name}`

function manifest(name: string, spec: Fields = {}, annotations: Fields = {}): Pod {
  const object = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace, annotations },
    spec: { terminationGracePeriodSeconds: 30, containers: [{ name: 'c', image: 'i' }], ...spec },
  }
  return staticPodOf(Buffer.from(JSON.stringify(object)), {
    source: 'file',
    place: `/manifests/${name}.yaml`,
    nodeName: NODE,
    seenAt: 0,
  })
}

/** A folder whose content is told. */
function folder(...first: readonly Pod[]) {
  let now: readonly Pod[] = first
  let told: (pods: readonly Pod[]) => void = () => {}
  const source: StaticPodSource = {
    name: 'file',
    start(tell) {
      told = tell
      tell(now)
    },
  }
  return {
    source,
    holds(...pods: readonly Pod[]) {
      now = pods
      told(pods)
    },
  }
}

async function start(...first: readonly Pod[]) {
  const files = folder(...first)
  const stage = await startNodeStage(simulatedRuntime(3, { order: 'fifo' }), { staticPods: [files.source] })
  await stage.runtime.advance(1000)
  return {
    stage,
    files,
    pods: () => stage.writes.map(({ verb, uri }) => `${verb} ${uri.split('/').slice(5).join('/')}`),
  }
}

const uidOf = (object: Fields | undefined) => object?.['metadata'].uid as string | undefined

test('a static pod runs, and a mirror pod that the Node owns tells of it', async () => {
  const pod = manifest('web')
  const { stage, pods } = await start(pod)
  const mirror: Fields | undefined = stage.pod(`web-${NODE}`)
  const { annotations, ownerReferences } = mirror?.['metadata'] ?? {}
  const hash = pod.metadata.uid ?? ''
  assert.match(hash, /^[0-9a-f]{32}$/)
  assert.deepEqual(annotations, {
    'kubernetes.io/config.hash': hash,
    'kubernetes.io/config.mirror': hash,
    'kubernetes.io/config.seen': '1970-01-01T00:00:00Z',
    'kubernetes.io/config.source': 'file',
  })
  const node = (await stage.ask('GET', `/api/v1/nodes/${NODE}`)).body
  assert.deepEqual(ownerReferences, [
    { apiVersion: 'v1', kind: 'Node', name: NODE, uid: node.metadata.uid, controller: true },
  ])
  assert.deepEqual(mirror?.['spec'].tolerations, [{ operator: 'Exists', effect: 'NoExecute' }])
  assert.equal(mirror?.['status'].phase, 'Running')
  assert.equal(mirror?.['status'].observedGeneration, undefined)
  assert.notEqual(uidOf(mirror), hash)
  assert.deepEqual(
    new Set(stage.events.map(({ involvedObject }) => (involvedObject as Fields)['uid'])),
    new Set([hash]),
  )
  assert.deepEqual(pods().slice(0, 2), ['create pods', `patch pods/web-${NODE}/status`])
  await stage.stop()
})

test('who deletes a mirror pod deletes nothing else, and it is there again within ninety seconds', async () => {
  const pod = manifest('web')
  const { stage, pods } = await start(pod)
  const first = stage.pod(`web-${NODE}`)
  const before = pods().length
  await stage.ask('DELETE', path(`web-${NODE}`))
  await stage.runtime.advance(1000)
  assert.equal(uidOf(stage.pod(`web-${NODE}`)), uidOf(first), 'it is not in a hurry')
  await stage.runtime.advance(89_000)
  const second = stage.pod(`web-${NODE}`)
  assert.notEqual(uidOf(second), uidOf(first))
  assert.equal(second?.metadata.deletionTimestamp, undefined)
  assert.deepEqual(second?.['status'].containerStatuses, first?.['status'].containerStatuses)
  assert.equal(second?.['status'].startTime, first?.['status'].startTime)
  assert.deepEqual(pods().slice(before), [`delete pods/web-${NODE}`, 'create pods', `patch pods/web-${NODE}/status`])
  const { body } = stage.writes[before]!
  assert.deepEqual(body, {
    ...(body as Fields),
    gracePeriodSeconds: 0,
    preconditions: { uid: uidOf(first) },
  })
  await stage.ask('DELETE', `${path(`web-${NODE}`)}?gracePeriodSeconds=0`)
  await stage.runtime.advance(90_000)
  assert.equal(stage.pod(`web-${NODE}`)?.['status'].phase, 'Running')
  assert.deepEqual(
    stage.kubelet.runtimeStatus(pod.metadata.uid ?? '').containers.map(({ metadata }) => metadata.attempt),
    [0],
  )
  await stage.stop()
})

test('a changed manifest ends the pod in its time, and then begins anew', async () => {
  const slow = { 'sim.skiff.dev/ignore-sigterm': 'true' }
  const old = manifest('web', {}, slow)
  const { stage, files } = await start(old)
  const first = uidOf(stage.pod(`web-${NODE}`))
  const changed = manifest('web', { containers: [{ name: 'c', image: 'j' }] }, slow)
  assert.notEqual(changed.metadata.uid, old.metadata.uid)
  files.holds(changed)
  await stage.runtime.advance(29_000)
  assert.equal(uidOf(stage.pod(`web-${NODE}`)), first)
  assert.equal(stage.kubelet.runtimeStatus(changed.metadata.uid ?? '').containers.length, 0)
  await stage.runtime.advance(2000)
  const mirror: Fields | undefined = stage.pod(`web-${NODE}`)
  assert.equal(mirror?.['metadata'].annotations['kubernetes.io/config.mirror'], changed.metadata.uid)
  assert.equal(mirror?.['status'].containerStatuses[0].image, 'docker.io/library/j:latest')
  assert.equal(stage.kubelet.runtimeStatus(old.metadata.uid ?? '').sandboxes.length, 0)
  await stage.stop()
})

test('a manifest that goes and comes back while its pod ends begins when that has ended', async () => {
  const pod = manifest('web', {}, { 'sim.skiff.dev/ignore-sigterm': 'true' })
  const { stage, files } = await start(pod)
  files.holds()
  await stage.runtime.advance(10_000)
  files.holds(pod)
  await stage.runtime.advance(10_000)
  assert.equal(stage.kubelet.runtimeStatus(pod.metadata.uid ?? '').containers[0]?.state, 'running')
  await stage.runtime.advance(15_000)
  const [container, ...others] = stage.kubelet.runtimeStatus(pod.metadata.uid ?? '').containers
  assert.deepEqual(others, [])
  assert.equal(container?.state, 'running')
  assert.equal(stage.pod(`web-${NODE}`)?.['status'].phase, 'Running')
  await stage.stop()
})

test('a manifest that is gone ends the pod, and the mirror goes when it has ended', async () => {
  const { stage, files } = await start(manifest('web', {}, { 'sim.skiff.dev/ignore-sigterm': 'true' }), manifest('b'))
  files.holds(manifest('b'))
  await stage.runtime.advance(29_000)
  assert.ok(stage.pod(`web-${NODE}`))
  await stage.runtime.advance(2000)
  assert.equal(stage.pod(`web-${NODE}`), undefined)
  assert.equal(stage.pod(`b-${NODE}`)?.['status'].phase, 'Running')
  await stage.stop()
})

test('a kubelet that starts anew keeps containers and mirror pods, and removes mirrors of what is there no more', async () => {
  const kept = manifest('kept')
  const { stage, files, pods } = await start(kept, manifest('gone'))
  const [first] = stage.kubelet.runtimeStatus(kept.metadata.uid ?? '').containers
  const mirror = uidOf(stage.pod(`kept-${NODE}`))
  const { startTime } = stage.pod(`kept-${NODE}`)?.['status'] ?? {}
  stage.stopKubelet()
  await stage.runtime.advance(60_000)
  files.holds(kept)
  const before = pods().length
  await stage.startKubelet(false)
  await stage.runtime.advance(5000)
  assert.deepEqual(
    stage.kubelet.runtimeStatus(kept.metadata.uid ?? '').containers.map(({ id }) => id),
    [first?.id],
  )
  assert.equal(uidOf(stage.pod(`kept-${NODE}`)), mirror)
  assert.equal(stage.pod(`kept-${NODE}`)?.['status'].startTime, startTime)
  assert.equal(stage.pod(`gone-${NODE}`), undefined)
  assert.deepEqual(
    pods()
      .slice(before)
      .filter((write) => !write.startsWith('patch')),
    [`delete pods/gone-${NODE}`],
  )
  await stage.stop()
})

test('a static pod that has ended keeps its mirror, and a deleted one does not come back', async () => {
  const { stage } = await start(manifest('once', { restartPolicy: 'Never' }, { 'sim.skiff.dev/exit-after': '2s' }))
  await stage.runtime.advance(5000)
  assert.equal(stage.pod(`once-${NODE}`)?.['status'].phase, 'Succeeded')
  // Unlike a pod of the API's it is told to have ended before its sandbox has, as a kubelet v1.37.1 does.
  const ended = stage.states
    .map(({ object }) => object['status'])
    .filter(({ containerStatuses: all }) => all?.[0]?.state.terminated)
  assert.deepEqual(new Set(ended.map(({ phase }) => phase)), new Set(['Succeeded']))
  await stage.ask('DELETE', path(`once-${NODE}`))
  await stage.runtime.advance(5000)
  assert.equal(stage.pod(`once-${NODE}`), undefined)
  await stage.stop()
})

test('a static pod that the node does not take is shown as failed', async () => {
  const { stage, files } = await start(manifest('web', { nodeSelector: { a: 'b' } }))
  // Nothing follows that status, so that the new mirror pod is told it after a while.
  await stage.runtime.advance(10_000)
  const { phase, reason, message } = stage.pod(`web-${NODE}`)?.['status'] ?? {}
  assert.deepEqual([phase, reason], ['Failed', 'NodeAffinity'])
  assert.match(message, /^Pod was rejected: /)
  files.holds()
  await stage.runtime.advance(1000)
  assert.equal(stage.pod(`web-${NODE}`), undefined)
  await stage.stop()
})

test('of two manifests of one name the first is run', async () => {
  const first = manifest('web')
  const second = manifest('web', { containers: [{ name: 'c', image: 'j' }] })
  const { stage, files } = await start(first, second)
  assert.equal(stage.pod(`web-${NODE}`)?.['status'].containerStatuses[0].image, 'docker.io/library/i:latest')
  files.holds(second)
  await stage.runtime.advance(31_000)
  assert.equal(stage.pod(`web-${NODE}`)?.['status'].containerStatuses[0].image, 'docker.io/library/j:latest')
  await stage.stop()
})

test('static pods run without an API server', async () => {
  const runtime = simulatedRuntime(3)
  const silent = inProcessTransport(async () => {
    throw new Error('nobody answers')
  })
  const stopping = new AbortController()
  const containerRuntime = createSimulatedRuntime(runtime, createPodAddresses(podCIDROf(0)))
  const starting = startKubelet({
    runtime: stoppable(runtime, stopping.signal),
    client: createClient(runtime, silent, { userAgent: 'kubelet' }),
    nodeName: NODE,
    signal: stopping.signal,
    containerRuntime,
    staticPods: [folder(manifest('web')).source],
  })
  starting.catch(() => {})
  await runtime.advance(5000)
  const containers = await runtime.complete(containerRuntime.listContainers({}))
  assert.deepEqual(
    containers.map(({ state }) => state),
    ['running'],
  )
  stopping.abort()
})
