import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ApiResponse } from '../../api/request.ts'
import { unauthorized } from '../../api/status.ts'
import { simulatedRuntime } from '../../base/simulated-runtime.ts'
import type { ServerHandler } from '../request/server-request.ts'
import { filterChain } from './chain.ts'

const refusing: ServerHandler = () => {
  throw unauthorized()
}
const chain = filterChain(simulatedRuntime(1), { authentication: () => refusing }, undefined, {
  allowsOrigin: (origin) => origin === 'https://a.example',
})

async function ask(method: string, origin?: string): Promise<ApiResponse> {
  const answer = chain.reduceRight((next, filter) => filter(next), refusing)
  return answer({
    method,
    path: '/api/v1/pods',
    query: new URLSearchParams(),
    headers: { accept: 'application/json', ...(origin === undefined ? {} : { origin }) },
    signal: new AbortController().signal,
  })
}

test('scripts of an allowed origin may ask first, without credentials, and read every answer, also that they are refused', async () => {
  const first = await ask('OPTIONS', 'https://a.example')
  assert.deepEqual(first, {
    kind: 'bytes',
    status: 204,
    headers: {
      'access-control-allow-origin': 'https://a.example',
      'access-control-allow-methods': 'POST, GET, OPTIONS, PUT, DELETE, PATCH',
      'access-control-allow-headers':
        'Content-Type, Content-Length, Accept-Encoding, X-CSRF-Token, Authorization, X-Requested-With, If-Modified-Since',
      'access-control-expose-headers': 'Date',
      'access-control-allow-credentials': 'true',
    },
    contentType: '',
    bytes: [],
  })
  const { status, headers } = (await ask('GET', 'https://a.example')) as Extract<ApiResponse, { kind: 'bytes' }>
  assert.deepEqual([status, headers?.['access-control-allow-origin']], [401, 'https://a.example'])
})

test('others are told nothing of it', async () => {
  for (const [method, origin] of [
    ['GET', 'https://b.example'],
    ['OPTIONS', 'https://b.example'],
    ['GET', undefined],
  ] as const) {
    const { status, headers } = (await ask(method, origin)) as Extract<ApiResponse, { kind: 'bytes' }>
    assert.deepEqual([status, Object.keys(headers ?? {}).filter((name) => name.startsWith('access-'))], [401, []])
  }
})
