/** Informers of custom resources while their definitions change, go and come back. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { simulatedRuntime } from '../../src/base/simulated-runtime.ts'
import { createInformerFactory } from '../../src/client/informer.ts'
import { createClient, inProcessTransport } from '../../src/client/transport.ts'
import { ADMIN, startTestApi } from '../harness.ts'

const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
const THINGS = '/apis/t.org/v1/things'
const MERGE = { 'content-type': 'application/merge-patch+json' }

const definition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'things.t.org' },
  spec: {
    group: 't.org',
    scope: 'Cluster',
    names: { plural: 'things', kind: 'Thing' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    ],
  },
}
const thing = (name: string) => ({ apiVersion: 't.org/v1', kind: 'Thing', metadata: { name } })

async function withInformer(
  seed: number,
  act: (it: {
    ask(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<void>
    pass(seconds: number): Promise<void>
    readonly told: string[]
    names(): readonly (string | undefined)[]
  }) => Promise<void>,
): Promise<void> {
  const runtime = simulatedRuntime(seed)
  const api = await runtime.complete(startTestApi(runtime))
  const client = createClient(runtime, inProcessTransport(api.handler), { userAgent: 'test', user: ADMIN })
  const stop = new AbortController()
  const factory = createInformerFactory(runtime, client, stop.signal)
  const informer = factory.informer({ group: 't.org', version: 'v1', resource: 'things' })
  const told: string[] = []
  informer.addHandlers({
    added: (object) => told.push(`added ${object.metadata.name}`),
    updated: (_, object) => told.push(`updated ${object.metadata.name}`),
    deleted: (object) => told.push(`deleted ${object.metadata.name}`),
  })
  factory.start()
  try {
    await act({
      async ask(...args) {
        const { code, text } = await runtime.complete(api.request(...args))
        assert.ok(code < 300, text)
        await runtime.settle()
      },
      pass: (seconds) => runtime.advance(seconds * 1000),
      told,
      names: () => informer.store.list().map((object) => object.metadata.name),
    })
  } finally {
    stop.abort()
    await runtime.complete(api.stop())
  }
}

for (const seed of [1, 2, 3]) {
  test(`an informer follows through a change of the definition, and tells nothing twice (order ${seed})`, () =>
    withInformer(seed, async ({ ask, pass, told, names }) => {
      await ask('POST', DEFINITIONS, definition)
      await ask('POST', THINGS, thing('a'))
      await pass(90)
      await ask('PATCH', `${DEFINITIONS}/things.t.org`, { spec: { names: { shortNames: ['th'] } } }, MERGE)
      await ask('POST', THINGS, thing('b'))
      await pass(5)
      await ask('DELETE', `${THINGS}/a`)
      await pass(5)
      await ask('POST', THINGS, thing('c'))
      await pass(5)
      assert.deepEqual(told, ['added a', 'added b', 'deleted a', 'added c'])
      assert.deepEqual(names(), ['b', 'c'])
    }))

  test(`an informer finds a definition that was deleted and made again (order ${seed})`, () =>
    withInformer(seed, async ({ ask, pass, told, names }) => {
      await ask('POST', DEFINITIONS, definition)
      await ask('POST', THINGS, thing('a'))
      await pass(90)
      await ask('DELETE', `${DEFINITIONS}/things.t.org`)
      await pass(10)
      assert.deepEqual(told, ['added a', 'deleted a'])
      await ask('POST', DEFINITIONS, definition)
      await ask('POST', THINGS, thing('b'))
      // It has been refused for a while, and asks again after 30 to 60 seconds at most.
      await pass(70)
      assert.deepEqual(told, ['added a', 'deleted a', 'added b'])
      await ask('POST', THINGS, thing('c'))
      assert.deepEqual(names(), ['b', 'c'])
    }))

  test(`an informer whose definition is made again at once tells of both lives (order ${seed})`, () =>
    withInformer(seed, async ({ ask, pass, told, names }) => {
      await ask('POST', DEFINITIONS, definition)
      await ask('POST', THINGS, thing('a'))
      await pass(90)
      await ask('DELETE', `${DEFINITIONS}/things.t.org`)
      await ask('POST', DEFINITIONS, definition)
      // What it has seen last is from before: its next watch is too old, and it lists.
      await pass(10)
      await ask('POST', THINGS, thing('a'))
      await ask('POST', THINGS, thing('b'))
      await pass(1)
      assert.deepEqual(told, ['added a', 'deleted a', 'added a', 'added b'])
      assert.deepEqual(names(), ['a', 'b'])
    }))
}
