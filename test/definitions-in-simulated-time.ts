/** For tests of what an API server does by itself about definitions: a server in simulated time, and definitions to make there. */

import type { ApiServerOptions } from '../src/apiserver/server.ts'
import { type SimulatedRuntime, simulatedRuntime } from '../src/base/simulated-runtime.ts'
import { startTestApi, type TestAnswer, type TestApi } from './harness.ts'

export const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
export const MERGE = { 'content-type': 'application/merge-patch+json' }

export interface It {
  readonly runtime: SimulatedRuntime
  readonly api: TestApi
  /** Asks, and lets everything happen that needs no time. */
  ask(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<TestAnswer>
  /** Events of a watch as they come, `end` behind the last. */
  watch(path: string): Promise<string[]>
  conditions(name: string): Promise<Record<string, string>>
}

export async function withApi(
  act: (it: It) => Promise<void>,
  runtime = simulatedRuntime(1),
  options: Partial<ApiServerOptions> = {},
): Promise<void> {
  const api = await runtime.complete(startTestApi(runtime, options))
  const stopping = new AbortController()
  const ask: It['ask'] = async (...args) => {
    const answer = await runtime.complete(api.request(...args))
    await runtime.settle()
    return answer
  }
  try {
    await act({
      runtime,
      api,
      ask,
      async watch(path) {
        const events: string[] = []
        const stream = await runtime.complete(api.watch(path, stopping.signal))
        const read = async () => {
          for await (const { type, object } of stream)
            events.push(`${type} ${type === 'ERROR' ? object['message'] : object.metadata.name}`)
          events.push('end')
        }
        void read()
        await runtime.settle()
        return events
      },
      async conditions(name) {
        const { status } = (await ask('GET', `${DEFINITIONS}/${name}`)).body
        return Object.fromEntries(
          (status?.conditions ?? []).map((one: Record<string, string>) => [
            one['type'],
            `${one['status']} ${one['reason']}`,
          ]),
        )
      },
    })
  } finally {
    stopping.abort()
    await runtime.complete(api.stop())
  }
}

export const version = (name: string, more: object = {}) => ({
  name,
  served: true,
  storage: name === 'v1',
  schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
  ...more,
})
export const definition = (plural: string, names: object = {}) => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${plural}.t.org` },
  spec: {
    group: 't.org',
    scope: 'Cluster',
    names: { plural, kind: `Kind${plural}`, ...names },
    versions: [version('v1'), version('v2')],
  },
})
export const thing = (plural: string, more: object = {}) => ({
  apiVersion: 't.org/v1',
  kind: `Kind${plural}`,
  metadata: { name: 'a', ...more },
})
