import assert from 'node:assert/strict'
import { test } from 'node:test'
import { simulatedRuntime } from '../../base/simulated-runtime.ts'
import type { Filter, ServerHandler } from '../request/server-request.ts'
import { filterChain, type IdentityFilters } from './chain.ts'

test('a request is known, then audited, then acts as another user, waits, and is asked about, whatever the server has of these', async () => {
  const passed: string[] = []
  const noting =
    (name: string): Filter =>
    (next) =>
    (request) => {
      passed.push(name)
      return next(request)
    }
  const names = ['overload', 'audit', 'authorization', 'authentication', 'impersonation'] as const
  const through = async (filters: IdentityFilters) => {
    const request = {
      method: 'GET',
      path: '/api/v1/pods',
      query: new URLSearchParams(),
      headers: {},
      signal: new AbortController().signal,
    }
    const handled: ServerHandler = ({ info }) => {
      passed.push(`${info?.verb} ${info?.resource}`)
      return { kind: 'bytes', status: 200, contentType: '', bytes: [] }
    }
    const answer = filterChain(simulatedRuntime(1), filters).reduceRight((next, filter) => filter(next), handled)
    assert.equal((await answer(request)).status, 200)
    return passed.splice(0)
  }
  const all = Object.fromEntries(names.map((name) => [name, noting(name)]))
  assert.deepEqual(await through(all), [
    'authentication',
    'audit',
    'impersonation',
    'overload',
    'authorization',
    'list pods',
  ])
  assert.deepEqual(await through({ overload: noting('overload'), audit: noting('audit') }), [
    'audit',
    'overload',
    'list pods',
  ])
  assert.deepEqual(await through({}), ['list pods'])
})

test('a request ends after the time that the server gives it', async () => {
  const runtime = simulatedRuntime(1)
  const never: ServerHandler = () => new Promise(() => {})
  const chain = filterChain(runtime, {}, undefined, { requestTimeoutMs: 2000, strictTransportSecurity: 'max-age=1' })
  const answer = chain.reduceRight(
    (next, filter) => filter(next),
    never,
  )({
    method: 'GET',
    path: '/api/v1/pods',
    query: new URLSearchParams(),
    headers: {},
    signal: new AbortController().signal,
    connection: { remoteAddress: '' },
  })
  await runtime.advance(2000)
  const { status, headers } = await answer
  assert.deepEqual([status, headers?.['strict-transport-security']], [504, 'max-age=1'])
})
