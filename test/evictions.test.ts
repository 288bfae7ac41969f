/** Evictions and the budgets they spend, over an API server in this process; single answers are conformance's set evictions. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { liveRuntime } from '../src/base/live-runtime.ts'
import { startTestApi, type TestApi } from './harness.ts'

const BUDGETS = '/apis/policy/v1/namespaces/e/poddisruptionbudgets'
const PODS = '/api/v1/namespaces/e/pods'
const merge = { 'content-type': 'application/merge-patch+json' }

/** Pods a, b and c, and budget x over them with this status. */
async function startBudget(status: object, spec: object = {}): Promise<TestApi> {
  const api = await startTestApi(liveRuntime({ log: { write: () => {} } }))
  await api.namespace('e')
  await budget(api, 'x', status, spec)
  for (const name of ['a', 'b', 'c']) await pod(api, name)
  return api
}

async function pod(api: TestApi, name: string): Promise<void> {
  await api.request('POST', PODS, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, labels: { app: 'a' } },
    spec: { nodeName: 'n', containers: [{ name: 'c', image: 'i' }] },
  })
  await readiness(api, name, 'True')
}

async function budget(api: TestApi, name: string, status: object, spec: object): Promise<void> {
  const selector = { matchLabels: { app: 'a' } }
  const object = { apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', metadata: { name } }
  assert.equal(
    (await api.request('POST', BUDGETS, { ...object, spec: { minAvailable: 1, selector, ...spec } })).code,
    201,
  )
  assert.equal((await api.request('PATCH', `${BUDGETS}/${name}/status`, { status }, merge)).code, 200)
}

async function readiness(api: TestApi, name: string, ready: string): Promise<void> {
  const status = { phase: 'Running', conditions: [{ type: 'Ready', status: ready }] }
  assert.equal((await api.request('PATCH', `${PODS}/${name}/status`, { status }, merge)).code, 200)
}

const evict = (api: TestApi, name: string) =>
  api.request('POST', `${PODS}/${name}/eviction`, { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name } })
const statusOf = async (api: TestApi, name = 'x') => (await api.request('GET', `${BUDGETS}/${name}`)).body.status
const isGoing = async (api: TestApi, name: string) =>
  (await api.request('GET', `${PODS}/${name}`)).body.metadata.deletionTimestamp !== undefined

const allows = (disruptionsAllowed: number) => ({
  disruptionsAllowed,
  currentHealthy: 3,
  desiredHealthy: 3 - disruptionsAllowed,
  expectedPods: 3,
  observedGeneration: 1,
})

test('of evictions at once exactly as many go as the budget allows, and each is kept in it', async (t) => {
  for (const allowed of [1, 2]) {
    const api = await startBudget(allows(allowed))
    t.after(() => api.stop())
    const names = ['a', 'b', 'c']
    const answers = await Promise.all(names.map((name) => evict(api, name)))
    const gone = names.filter((_, i) => answers[i]?.code === 201)
    assert.deepEqual(answers.map(({ code }) => code).sort(), [
      ...Array(allowed).fill(201),
      ...Array(3 - allowed).fill(429),
    ])
    const status = await statusOf(api)
    assert.equal(status.disruptionsAllowed, 0)
    assert.deepEqual(Object.keys(status.disruptedPods).sort(), gone)
    for (const name of names) assert.equal(await isGoing(api, name), gone.includes(name), name)
  }
})

test('sixty at once go one after the other where the budget allows them all', async (t) => {
  const api = await startBudget({ ...allows(0), disruptionsAllowed: 63, currentHealthy: 63, desiredHealthy: 0 })
  t.after(() => api.stop())
  const names = Array.from({ length: 60 }, (_, i) => `many-${i}`)
  await Promise.all(names.map((name) => pod(api, name)))
  const answers = await Promise.all(names.map((name) => evict(api, name)))
  assert.deepEqual(new Set(answers.map(({ code }) => code)), new Set([201]))
  const status = await statusOf(api)
  assert.equal(status.disruptionsAllowed, 3)
  assert.equal(Object.keys(status.disruptedPods).length, 60)
})

test('what a budget at its end answers', async (t) => {
  const api = await startBudget(allows(0))
  t.after(() => api.stop())
  const { code, body, headers } = await evict(api, 'a')
  assert.equal(code, 429)
  assert.deepEqual(body, {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message: "Cannot evict pod as it would violate the pod's disruption budget.",
    reason: 'TooManyRequests',
    details: {
      causes: [
        { reason: 'DisruptionBudget', message: 'The disruption budget x needs 3 healthy pods and has 3 currently' },
      ],
    },
    code: 429,
  })
  // Nothing is known about when: no header either.
  assert.equal(headers['retry-after'], undefined)
  assert.equal(await isGoing(api, 'a'), false)
  assert.equal((await statusOf(api)).disruptedPods, undefined)
})

test('a budget says why it allows none: what its controller could not count, pods that are missing, what its condition says', async (t) => {
  const api = await startBudget(allows(0))
  t.after(() => api.stop())
  const why = async (currentHealthy: number, status: string, reason: string, message: string) => {
    const lastTransitionTime = '2026-01-01T00:00:00Z'
    const conditions = [{ type: 'DisruptionAllowed', status, reason, message, lastTransitionTime }]
    const all = { status: { ...allows(0), desiredHealthy: 2, currentHealthy, conditions } }
    assert.equal((await api.request('PATCH', `${BUDGETS}/x/status`, all, merge)).code, 200)
    return (await evict(api, 'a')).body.details.causes[0].message.replace('The disruption budget x ', '')
  }
  const none = 'does not allow evicting pods currently'
  const few = 'needs 2 healthy pods and has 2 currently'
  assert.equal(await why(2, 'False', 'SyncFailed', 'found none'), `${none} because it failed sync: found none`)
  assert.equal(await why(3, 'False', 'SyncFailed', 'found none'), `${none} because it failed sync: found none`)
  assert.equal(await why(2, 'False', 'SyncFailed', ''), few)
  assert.equal(await why(2, 'Unknown', 'SyncFailed', 'found none'), few)
  assert.equal(await why(2, 'False', 'InsufficientPods', 'few'), few)
  assert.equal(await why(3, 'False', 'InsufficientPods', 'few'), `${none} (InsufficientPods): few`)
  assert.equal(await why(3, 'True', 'SyncFailed', 'found none'), none)
  assert.equal(await why(3, 'False', 'SyncFailed', ''), none)
})

test('a budget whose last change is not yet counted asks to come again after ten seconds', async (t) => {
  const api = await startBudget({ ...allows(3), observedGeneration: 0 })
  t.after(() => api.stop())
  const { code, body, headers } = await evict(api, 'a')
  assert.equal(code, 429)
  assert.equal(headers['retry-after'], '10')
  assert.equal(body.details.retryAfterSeconds, 10)
  assert.deepEqual(body.details.causes, [
    { reason: 'DisruptionBudget', message: 'The disruption budget x is still being processed by the server.' },
  ])
})

test('two budgets of one pod let it not go, though both allow it, and neither is spent', async (t) => {
  const api = await startBudget(allows(1))
  t.after(() => api.stop())
  await budget(api, 'y', allows(1), {})
  const { code, body } = await evict(api, 'a')
  assert.equal(code, 500)
  assert.match(body.message, /more than one PodDisruptionBudget/)
  assert.equal(await isGoing(api, 'a'), false)
  for (const name of ['x', 'y']) assert.equal((await statusOf(api, name)).disruptionsAllowed, 1)
})

test('a pod that is not ready costs nothing while enough others are healthy, and always where the policy says so', async (t) => {
  const few = { ...allows(0), currentHealthy: 1 }
  for (const [status, policy, code] of [
    [allows(0), 'IfHealthyBudget', 201],
    [few, 'IfHealthyBudget', 429],
    [few, 'AlwaysAllow', 201],
  ] as const) {
    const api = await startBudget(status, { unhealthyPodEvictionPolicy: policy })
    t.after(() => api.stop())
    await readiness(api, 'a', 'False')
    const answer = await evict(api, 'a')
    assert.equal(answer.code, code, `${policy}: ${answer.text}`)
    assert.equal((await evict(api, 'b')).code, 429, 'a ready pod is never free')
    assert.equal((await statusOf(api)).disruptedPods, undefined)
  }
})

test('an eviction that is only tried spends nothing', async (t) => {
  const api = await startBudget(allows(1))
  t.after(() => api.stop())
  const tried = await api.request('POST', `${PODS}/a/eviction?dryRun=All`, {
    apiVersion: 'policy/v1',
    kind: 'Eviction',
    metadata: { name: 'a' },
  })
  assert.equal(tried.code, 201)
  assert.equal((await statusOf(api)).disruptionsAllowed, 1)
  assert.equal(await isGoing(api, 'a'), false)
  assert.equal((await evict(api, 'a')).code, 201)
})
