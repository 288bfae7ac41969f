/** What a real cluster's autoscaler did with metrics from a table, done again by ours on the simulated clock: look by look the same. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Fields, KubeObject } from '../../src/api/object.ts'
import type { ApiResponse, Handler } from '../../src/api/request.ts'
import { StatusError } from '../../src/api/status.ts'
import { sleep } from '../../src/base/clock.ts'
import { simulatedRuntime } from '../../src/base/simulated-runtime.ts'
import { createInformerFactory } from '../../src/client/informer.ts'
import { createClient, inProcessTransport, serviceAccountUser } from '../../src/client/transport.ts'
import { createHpaController } from '../../src/controllers/podautoscaler/hpa-controller.ts'
import { ADMIN, startTestApi } from '../harness.ts'
import { answerMetrics, type StubbedNamespace } from './metrics-stub.ts'
import { type Look, looksOf, readRecording, type SeenQuestion, type SeenWrite } from './recording.ts'
import { definitions, play, type Scenario } from './scenario.ts'
import { scenarios } from './scenarios.ts'

const namespace = 'played'
const CONTROLLER = serviceAccountUser('kube-system', 'horizontal-pod-autoscaler')

for (const [name, scenario] of Object.entries(scenarios))
  test(`${name}: every question, scale, status and Event as recorded`, async () => {
    assert.deepEqual(await replay(scenario), readRecording(name))
  })

async function replay(scenario: Scenario): Promise<readonly Look[]> {
  const runtime = simulatedRuntime(1)
  const api = await runtime.complete(startTestApi(runtime, { registerDefinitions: true }))
  await runtime.complete(api.namespace(namespace))
  const stubbed: StubbedNamespace = { metrics: {}, pods: [] }
  const questions: SeenQuestion[] = []
  const writes: SeenWrite[] = []
  const now = () => runtime.clock.now()

  const handler: Handler = async (request) => {
    const answer = answerMetrics(request.path, now(), (asked) => (asked === namespace ? stubbed : undefined))
    if (answer !== undefined) {
      const query = request.query.size === 0 ? '' : `?${decodeURIComponent(request.query.toString())}`
      if (request.path.includes('/namespaces/')) questions.push({ atMs: now(), path: request.path + query })
      return bytes(answer.code, answer.body)
    }
    if (request.user?.name !== CONTROLLER.name || request.method === 'GET') return api.handler(request)
    const note = (code: number) =>
      void writes.push(seenWrite(request.method, request.path, code, now(), bodyOf(request)))
    try {
      const response = await api.handler(request)
      note(response.status)
      return response
    } catch (error) {
      note(error instanceof StatusError ? error.code : 500)
      throw error
    }
  }
  const stop = new AbortController()
  const { signal } = stop
  const clientOf = (user: typeof ADMIN) =>
    createClient(runtime, inProcessTransport(handler), { user, userAgent: user === ADMIN ? 'user' : 'controllers' })
  const user = clientOf(ADMIN)
  const crds = user.resource({ group: 'apiextensions.k8s.io', version: 'v1', resource: 'customresourcedefinitions' })
  for (const definition of definitions) await runtime.complete(crds.create(definition))
  await runtime.advance(5000)
  const informers = createInformerFactory(runtime, user, signal)
  const controller = createHpaController({ runtime, client: clientOf(CONTROLLER), informers, signal })
  informers.start()
  await runtime.complete(controller.start())

  let made: Readonly<Record<string, number>> | undefined
  let failure: unknown
  const until = async (ms: number) => {
    await sleep(runtime.clock, Math.max(0, ms - now()))
  }
  play(scenario, { client: user, namespace, stubbed, now, until }).then(
    (times) => {
      made = times
    },
    (error) => {
      failure = error
    },
  )
  while (made === undefined && failure === undefined) await runtime.advance(1000)
  if (failure !== undefined) throw failure
  stop.abort()
  await runtime.complete(api.stop())
  return looksOf({ namespace, made: made as Readonly<Record<string, number>>, writes, questions })
}

function bytes(status: number, body: unknown): ApiResponse {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const contentType = typeof body === 'string' ? 'text/plain' : 'application/json'
  return { kind: 'bytes', status, contentType, bytes: [Buffer.from(text)] }
}

const bodyOf = ({ body }: { readonly body?: unknown }): Fields =>
  (body as { readonly object?: KubeObject } | undefined)?.object ?? {}

function seenWrite(method: string, path: string, code: number, atMs: number, body: Fields): SeenWrite {
  const [resource = '', name = ''] = path
    .slice(path.indexOf(`/namespaces/${namespace}/`))
    .split('/')
    .slice(3)
  const verb = method === 'POST' ? 'create' : method === 'PUT' ? 'update' : 'patch'
  return { atMs, verb, resource, name, code, body }
}
