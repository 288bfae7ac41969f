/** 64-bit integers that a JavaScript number cannot hold, in the fields that controllers, scheduler and kubelet count with. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Fields } from '../../src/api/object.ts'
import { simulatedRuntime } from '../../src/base/simulated-runtime.ts'
import { namespace, startNodeStage } from '../scenarios/kubelet/stage.ts'

const MOST = 9223372036854775807n
const apps = `/apis/apps/v1/namespaces/${namespace}`
const labels = { app: 'x' }
const container = { name: 'c', image: 'i' }
const template = (spec: Fields = {}) => ({
  metadata: { labels },
  spec: { automountServiceAccountToken: false, containers: [container], ...spec },
})

async function setup() {
  const runtime = simulatedRuntime(5, { order: 'fifo' })
  const stage = await startNodeStage(runtime, { controllers: true })
  const post = async (path: string, kind: string, name: string, rest: Fields) => {
    const [, , group, version] = path.split('/')
    const apiVersion = path.startsWith('/api/') ? 'v1' : `${group}/${version}`
    const answer = await stage.ask('POST', path, { apiVersion, kind, metadata: { name }, ...rest })
    assert.equal(answer.code, 201, answer.text)
    return answer
  }
  const get = async (path: string) => (await stage.ask('GET', path)).body
  return { runtime, stage, post, get }
}

test('a Deployment goes on from the revision of the ReplicaSet that it adopts', async () => {
  const { runtime, stage, post, get } = await setup()
  const revision = 'deployment.kubernetes.io/revision'
  const spec = { replicas: 1, selector: { matchLabels: labels }, template: template() }
  const metadata = { name: 'old', labels, annotations: { [revision]: '3546343826724305832' } }
  await post(`${apps}/replicasets`, 'ReplicaSet', 'old', { metadata, spec })
  await runtime.advance(2000)
  const changed = { ...spec, template: template({ containers: [{ ...container, image: 'i:2' }] }) }
  await post(`${apps}/deployments`, 'Deployment', 'd', { spec: changed })
  await runtime.advance(10_000)
  const { metadata: deployment, status } = await get(`${apps}/deployments/d`)
  assert.equal(deployment.annotations[revision], '3546343826724305833')
  assert.equal(status.availableReplicas, 1)
  await stage.stop()
})

test('ControllerRevisions are numbered on from one that a number cannot hold', async () => {
  for (const [kind, path] of [
    ['StatefulSet', 'statefulsets'],
    ['DaemonSet', 'daemonsets'],
  ] as const) {
    const { runtime, stage, post, get } = await setup()
    const spec = {
      selector: { matchLabels: labels },
      template: template(),
      ...(kind === 'StatefulSet' ? { serviceName: 's' } : {}),
    }
    await post(`${apps}/${path}`, kind, 's', { spec })
    await runtime.advance(5000)
    const [first] = (await get(`${apps}/controllerrevisions`)).items as Fields[]
    const own = `${apps}/controllerrevisions/${first?.['metadata'].name}`
    await stage.ask('PATCH', own, { revision: 3546343826724305832n })
    await stage.ask('PATCH', `${apps}/${path}/s`, { spec: { template: template({ hostname: 'h' }) } })
    await runtime.advance(20_000)
    const { text } = await stage.ask('GET', `${apps}/controllerrevisions`)
    const numbers = [...text.matchAll(/"revision":(\d+)/g)].map(([, digits]) => digits).sort()
    assert.deepEqual(numbers, ['3546343826724305832', '3546343826724305833'], kind)
    await stage.stop()
  }
})

test('workloads whose pods have the longest grace period run, roll, and go when they are told to be quick', async () => {
  const { runtime, stage, post, get } = await setup()
  const slow = template({ terminationGracePeriodSeconds: MOST })
  const spec = { selector: { matchLabels: labels }, template: slow }
  await post(`${apps}/deployments`, 'Deployment', 'd', { spec: { ...spec, replicas: 1 } })
  await post(`${apps}/statefulsets`, 'StatefulSet', 's', {
    spec: {
      serviceName: 's',
      selector: { matchLabels: { app: 's' } },
      template: { ...slow, metadata: { labels: { app: 's' } } },
    },
  })
  await runtime.advance(5000)
  assert.equal((await get(`${apps}/deployments/d`)).status.readyReplicas, 1)
  assert.equal((await get(`${apps}/statefulsets/s`)).status.readyReplicas, 1)
  const pod = `/api/v1/namespaces/${namespace}/pods/s-0`
  const { metadata } = await get(pod)
  await stage.ask('DELETE', pod)
  await runtime.advance(5000)
  assert.notEqual((await get(pod)).metadata.uid, metadata.uid)
  await stage.stop()
})

test('a container that ignores SIGTERM and has the longest grace period is killed when a second delete says so', async () => {
  const { runtime, stage } = await setup()
  const annotations = { 'sim.skiff.dev/ignore-sigterm': 'true' }
  const { spec } = template({ terminationGracePeriodSeconds: MOST })
  await stage.run({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p', namespace, annotations }, spec })
  await runtime.advance(1000)
  const path = `/api/v1/namespaces/${namespace}/pods/p`
  assert.equal((await stage.ask('DELETE', path)).code, 200)
  await runtime.advance(100_000)
  assert.ok(stage.pod('p')?.['status'].containerStatuses[0].state.running)
  await stage.ask('DELETE', `${path}?gracePeriodSeconds=5`)
  await runtime.advance(6000)
  assert.equal(stage.pod('p'), undefined)
  await stage.stop()
})

test('a namespace with such a pod goes once the pod has gone', async () => {
  const { runtime, stage, get } = await setup()
  const { spec } = template({ terminationGracePeriodSeconds: MOST })
  await stage.run({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p', namespace }, spec })
  await stage.ask('DELETE', `/api/v1/namespaces/${namespace}`)
  await runtime.advance(30_000)
  assert.equal((await get(`/api/v1/namespaces/${namespace}`)).code, 404)
  await stage.stop()
})

test('the scheduler counts memory to the byte', async () => {
  const { runtime, stage, post, get } = await setup()
  const node = await get('/api/v1/nodes/node-1')
  const memory = '9007199254740993'
  const amounts = { ...node.status.allocatable, memory }
  stage.stopKubelet()
  await stage.ask('PUT', '/api/v1/nodes/node-1/status', {
    ...node,
    status: { ...node.status, allocatable: amounts, capacity: amounts },
  })
  const asking = (name: string, amount: string) =>
    post(`/api/v1/namespaces/${namespace}/pods`, 'Pod', name, {
      spec: { containers: [{ ...container, resources: { requests: { memory: amount } } }] },
    })
  await asking('too-much', '9007199254740994')
  await runtime.advance(1000)
  await asking('most', '9007199254740992')
  await runtime.advance(1000)
  await asking('two', '2')
  await asking('one', '1')
  await runtime.advance(2000)
  const nodeOf = async (name: string) => (await get(`/api/v1/namespaces/${namespace}/pods/${name}`)).spec.nodeName
  const placed = await Promise.all(['too-much', 'most', 'two', 'one'].map(nodeOf))
  assert.deepEqual(placed, [undefined, 'node-1', undefined, 'node-1'])
  await stage.stop()
})

test('what would go on beyond 64 bits is refused where it may not be negative', async () => {
  const { runtime, stage, post, get } = await setup()
  const annotations = { 'deprecated.daemonset.template.generation': String(MOST) }
  const spec = { selector: { matchLabels: labels }, template: template() }
  await post(`${apps}/daemonsets`, 'DaemonSet', 'd', { metadata: { name: 'd', annotations }, spec })
  await runtime.advance(5000)
  const [first] = (await get(`${apps}/controllerrevisions`)).items as Fields[]
  const own = `${apps}/controllerrevisions/${first?.['metadata'].name}`
  assert.equal((await stage.ask('PATCH', own, { revision: -MOST })).code, 422)
  const changed = await stage.ask('PATCH', `${apps}/daemonsets/d`, { spec: { template: template({ hostname: 'h' }) } })
  assert.equal(changed.code, 422)
  assert.deepEqual(
    (changed.body.details.causes as Fields[]).map(({ message }) => message),
    [
      'Invalid value: -9223372036854775808: must not be decremented',
      'Invalid value: -9223372036854775808: must be greater than or equal to 0',
    ],
  )
  await stage.stop()
})

test('a time beyond 292 years is what 64 bits of nanoseconds make of it', async () => {
  const { runtime, stage, post, get } = await setup()
  const jobs = `/apis/batch/v1/namespaces/${namespace}/jobs`
  const spec = (activeDeadlineSeconds: bigint | number) => ({
    activeDeadlineSeconds,
    template: { spec: { ...template().spec, restartPolicy: 'Never', nodeSelector: { no: 'where' } } },
  })
  for (const seconds of [MOST, 9223372037, 9223372036]) await post(jobs, 'Job', `j${seconds}`, { spec: spec(seconds) })
  await runtime.advance(5000)
  const failed: boolean[] = []
  for (const seconds of [MOST, 9223372037, 9223372036]) {
    const { conditions = [] } = (await get(`${jobs}/j${seconds}`)).status
    failed.push((conditions as Fields[]).some(({ reason }) => reason === 'DeadlineExceeded'))
  }
  assert.deepEqual(failed, [true, true, false])
  await stage.stop()
})
