import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ApiRequest, ApiResponse } from '../../api/request.ts'
import { notFound } from '../../api/status.ts'
import { createMetrics } from '../../base/metrics.ts'
import { simulatedRuntime } from '../../base/simulated.ts'
import { Stream } from '../../base/stream.ts'
import { requestMetrics } from './metrics.ts'
import { requestInfoOf } from './request-info.ts'

function counted() {
  const metrics = createMetrics()
  const filter = requestMetrics(simulatedRuntime(1).clock, metrics)
  /** Values of a metric's series, by what `label` says. */
  const values = (metric: string, label: string) =>
    Object.fromEntries(
      metrics
        .text()
        .split('\n')
        .filter((line) => line.startsWith(`${metric}{`))
        .map((line) => [new RegExp(`${label}="([^"]*)"`).exec(line)?.[1], Number(line.split(' ').at(-1))]),
    )
  return { filter, values }
}

function requestFor(path: string, query = '', signal = new AbortController().signal): ApiRequest {
  const parameters = new URLSearchParams(query)
  const info = requestInfoOf('GET', path, parameters)
  return { method: 'GET', path, query: parameters, headers: {}, signal, info }
}

const bytes: ApiResponse = { kind: 'bytes', status: 200, contentType: '', bytes: [] }

test('a watch that is refused is counted by its code, whether it is told at once or later', async () => {
  const { filter, values } = counted()
  const refused = notFound({ group: '', resource: 'pods' }, 'a')
  const watch = requestFor('/api/v1/pods', 'watch=1')
  const atOnce = filter(() => {
    throw refused
  })
  assert.throws(() => atOnce(watch), refused)
  await assert.rejects(async () => filter(async () => Promise.reject(refused))(watch), refused)
  assert.deepEqual(values('apiserver_request_total', 'code'), { 404: 2 })
  assert.deepEqual(values('apiserver_longrunning_requests', 'verb'), {})
})

test('a watch runs until its signal says so; a log that is answered whole does not run on', () => {
  const { filter, values } = counted()
  const controller = new AbortController()
  const watching: ApiResponse = {
    kind: 'watch',
    status: 200,
    contentType: '',
    events: new Stream<never>(),
    encode: () => new Uint8Array(),
  }
  filter(() => watching)(requestFor('/api/v1/pods', 'watch=1', controller.signal))
  filter(() => bytes)(requestFor('/api/v1/namespaces/a/pods/b/log'))
  assert.deepEqual(values('apiserver_longrunning_requests', 'verb'), { WATCH: 1 })
  controller.abort()
  assert.deepEqual(values('apiserver_longrunning_requests', 'verb'), { WATCH: 0 })
  assert.deepEqual(values('apiserver_request_total', 'verb'), { WATCH: 1, GET: 1 })
})
