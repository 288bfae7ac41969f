/** Two API servers in one process, with different settings: neither sees anything of the other. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { builtinAdmissionPlugins } from '../src/apiserver/admission/plugins/by-name.ts'
import type { ApiServerOptions } from '../src/apiserver/server.ts'
import { type SimulatedRuntime, simulatedRuntime } from '../src/base/simulated-runtime.ts'
import { startTestApi, type TestAnswer, type TestApi } from './harness.ts'

const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'

/** The same name, kind and version, another schema. */
const definition = (field: string, type: string, columns: object[] = []) => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.t.org' },
  spec: {
    group: 't.org',
    scope: 'Cluster',
    names: { plural: 'widgets', kind: 'Widget' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        additionalPrinterColumns: columns,
        schema: { openAPIV3Schema: { type: 'object', properties: { [field]: { type, default: DEFAULTS[type] } } } },
      },
    ],
  },
})
const DEFAULTS: Readonly<Record<string, unknown>> = { string: 'x', integer: 7 }

interface Server {
  readonly runtime: SimulatedRuntime
  readonly api: TestApi
  ask(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<TestAnswer>
}

async function started(options: (runtime: SimulatedRuntime) => Partial<ApiServerOptions>): Promise<Server> {
  const runtime = simulatedRuntime(1)
  const api = await runtime.complete(startTestApi(runtime, options(runtime)))
  return {
    runtime,
    api,
    async ask(...args) {
      const answer = await runtime.complete(api.request(...args))
      await runtime.settle()
      return answer
    },
  }
}

test('definitions of one name, what discovery and OpenAPI tell of them, and admission are those of each server', async () => {
  const one = await started(() => ({ serverAddress: () => 'one:1' }))
  const other = await started((runtime) => ({
    serverAddress: () => 'other:2',
    admission: { plugins: builtinAdmissionPlugins(runtime), disabled: ['NamespaceLifecycle'] },
  }))
  try {
    const columns = [{ name: 'Size', type: 'integer', jsonPath: '.size' }]
    await one.ask('POST', DEFINITIONS, definition('color', 'string'))
    assert.equal((await other.ask('GET', '/apis/t.org/v1/widgets')).code, 404)
    assert.equal((await other.ask('GET', '/apis/t.org')).code, 404)
    await other.ask('POST', DEFINITIONS, definition('size', 'integer', columns))

    const widget = { apiVersion: 't.org/v1', kind: 'Widget', metadata: { name: 'a' } }
    const created = async ({ ask }: Server) => {
      const { color, size } = (await ask('POST', '/apis/t.org/v1/widgets', widget)).body
      return { color, size }
    }
    assert.deepEqual(await created(one), { color: 'x', size: undefined })
    assert.deepEqual(await created(other), { color: undefined, size: 7 })

    const titles = async ({ ask }: Server) => {
      const table = 'application/json;as=Table;v=v1;g=meta.k8s.io'
      const { body } = await ask('GET', '/apis/t.org/v1/widgets', undefined, { accept: table })
      return body.columnDefinitions.map(({ name }: { name: string }) => name)
    }
    assert.deepEqual(await titles(one), ['Name', 'Age'])
    assert.deepEqual(await titles(other), ['Name', 'Size'])

    const properties = async ({ ask }: Server) => {
      const { body } = await ask('GET', '/openapi/v3/apis/t.org/v1')
      return Object.keys(body.components.schemas['org.t.v1.Widget'].properties).sort()
    }
    assert.deepEqual(await properties(one), ['apiVersion', 'color', 'kind', 'metadata'])
    assert.deepEqual(await properties(other), ['apiVersion', 'kind', 'metadata', 'size'])

    const address = async ({ ask }: Server) =>
      (await ask('GET', '/api')).body.serverAddressByClientCIDRs[0].serverAddress
    assert.deepEqual([await address(one), await address(other)], ['one:1', 'other:2'])

    // A namespace that is not there: only the server with the plugin refuses.
    const config = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c' } }
    const code = async ({ ask }: Server) => (await ask('POST', '/api/v1/namespaces/nowhere/configmaps', config)).code
    assert.deepEqual([await code(one), await code(other)], [404, 201])

    await one.ask('DELETE', `${DEFINITIONS}/widgets.t.org`)
    assert.equal((await one.ask('GET', '/apis/t.org/v1/widgets')).code, 404)
    assert.equal((await other.ask('GET', '/apis/t.org/v1/widgets/a')).body.size, 7)
  } finally {
    for (const { runtime, api } of [one, other]) await runtime.complete(api.stop())
  }
})
