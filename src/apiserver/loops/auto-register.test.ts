import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startTestApi, type TestAnswer } from '../../../test/harness.ts'
import { simulatedRuntime } from '../../base/simulated-runtime.ts'
import type { Filter } from '../request/server-request.ts'

const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
const SERVICES = '/apis/apiregistration.k8s.io/v1/apiservices'
const MERGE = { 'content-type': 'application/merge-patch+json' }
const MANAGED = 'kube-aggregator.kubernetes.io/automanaged'

type Ask = (method: string, path: string, body?: unknown, headers?: Record<string, string>) => Promise<TestAnswer>

/** `ask` lets everything happen that a request brings, the loop's turn included. */
async function withApi(act: (ask: Ask, writes: () => readonly string[]) => Promise<void>): Promise<void> {
  const runtime = simulatedRuntime(1)
  const written: string[] = []
  const noting: Filter = (next) => (request) => {
    const isWrite = request.method !== 'GET' && request.path.startsWith(SERVICES)
    if (isWrite) written.push(`${request.method} ${request.path.slice(SERVICES.length)}`)
    return next(request)
  }
  const api = await runtime.complete(
    startTestApi(runtime, { registerDefinitions: true, auth: () => ({ filters: { audit: noting } }) }),
  )
  const ask: Ask = async (...args) => {
    const answer = await runtime.complete(api.request(...args))
    await runtime.advance(100)
    return answer
  }
  try {
    await act(ask, () => written.splice(0))
  } finally {
    await runtime.complete(api.stop())
  }
}

const definition = (plural: string, group: string, versions: Readonly<Record<string, boolean>> = { v1: true }) => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${plural}.${group}` },
  spec: {
    group,
    scope: 'Cluster',
    names: { plural, kind: `Kind${plural}` },
    versions: Object.entries(versions).map(([name, served]) => ({
      name,
      served,
      storage: name === 'v1',
      schema: { openAPIV3Schema: { type: 'object' } },
    })),
  },
})

test('each group version that definitions serve is registered once, and goes with the last of them', () =>
  withApi(async (ask, writes) => {
    await ask('POST', DEFINITIONS, definition('as', 't.org', { v1: true, v2: true, v3: false }))
    assert.deepEqual(writes(), ['POST ', 'POST '])
    const { body } = await ask('GET', `${SERVICES}/v2.t.org`)
    assert.equal(body.metadata.labels[MANAGED], 'true')
    assert.deepEqual(body.spec, { group: 't.org', version: 'v2', groupPriorityMinimum: 1000, versionPriority: 100 })
    assert.equal((await ask('GET', `${SERVICES}/v3.t.org`)).code, 404)
    await ask('POST', DEFINITIONS, definition('bs', 't.org'))
    assert.deepEqual(writes(), [])
    await ask('DELETE', `${DEFINITIONS}/as.t.org`)
    assert.deepEqual(writes(), ['DELETE /v2.t.org'])
    await ask('DELETE', `${DEFINITIONS}/bs.t.org`)
    assert.deepEqual(writes(), ['DELETE /v1.t.org'])
  }))

test('a version that is no longer served is taken away, and comes back with it', () =>
  withApi(async (ask, writes) => {
    await ask('POST', DEFINITIONS, definition('as', 't.org', { v1: true, v2: true }))
    writes()
    const serve = (served: boolean) => [{ op: 'replace', path: '/spec/versions/1/served', value: served }]
    const json = { 'content-type': 'application/json-patch+json' }
    await ask('PATCH', `${DEFINITIONS}/as.t.org`, serve(false), json)
    assert.deepEqual(writes(), ['DELETE /v2.t.org'])
    await ask('PATCH', `${DEFINITIONS}/as.t.org`, serve(true), json)
    assert.deepEqual(writes(), ['POST '])
  }))

test('what is changed in or taken from a registered one is put back', () =>
  withApi(async (ask, writes) => {
    await ask('POST', DEFINITIONS, definition('as', 't.org'))
    await ask('PATCH', `${SERVICES}/v1.t.org`, { spec: { versionPriority: 5 } }, MERGE)
    assert.equal((await ask('GET', `${SERVICES}/v1.t.org`)).body.spec.versionPriority, 100)
    writes()
    await ask('DELETE', `${SERVICES}/v1.t.org`)
    assert.deepEqual(writes(), ['DELETE /v1.t.org', 'POST '])
  }))

test('one without the label is left alone, whatever its definition does', () =>
  withApi(async (ask, writes) => {
    await ask('POST', DEFINITIONS, definition('as', 't.org'))
    await ask('PATCH', `${SERVICES}/v1.t.org`, { metadata: { labels: { [MANAGED]: null } } }, MERGE)
    await ask('PATCH', `${SERVICES}/v1.t.org`, { spec: { versionPriority: 5 } }, MERGE)
    writes()
    await ask('DELETE', `${DEFINITIONS}/as.t.org`)
    assert.deepEqual(writes(), [])
    assert.equal((await ask('GET', `${SERVICES}/v1.t.org`)).body.spec.versionPriority, 5)
  }))

test('a registration of what no definition serves is taken away', () =>
  withApi(async (ask, writes) => {
    const spec = { group: 'gone.org', version: 'v1', groupPriorityMinimum: 1000, versionPriority: 100 }
    const metadata = { name: 'v1.gone.org', labels: { [MANAGED]: 'true' } }
    await ask('POST', SERVICES, { apiVersion: 'apiregistration.k8s.io/v1', kind: 'APIService', metadata, spec })
    assert.deepEqual(writes(), ['POST ', 'DELETE /v1.gone.org'])
  }))
