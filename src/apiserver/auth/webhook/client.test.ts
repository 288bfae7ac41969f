import assert from 'node:assert/strict'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { liveRuntime } from '../../../base/live-runtime.ts'
import type { Runtime } from '../../../base/runtime.ts'
import { createReviewClient } from './client.ts'

const review = { kind: 'TokenReview', apiVersion: 'authentication.k8s.io/v1', spec: {} }

/** Waits between tries are noted and take no time. */
async function asked(listener: RequestListener): Promise<{ answer: unknown; waits: number[]; requests: number }> {
  let requests = 0
  const server = createServer((request, response) => {
    requests++
    listener(request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const live = liveRuntime({ log: { write: () => {} } })
  const waits: number[] = []
  const runtime: Runtime = {
    ...live,
    random: { ...live.random, float: () => 0 },
    machineClock: {
      ...live.clock,
      setTimer(ms, label, task) {
        if (label !== 'sleep') return live.clock.setTimer(ms, label, task)
        waits.push(ms)
        queueMicrotask(task)
        return { cancel: () => {} }
      },
    },
  }
  const { port } = server.address() as AddressInfo
  try {
    const client = createReviewClient(runtime, { server: `http://127.0.0.1:${port}/hook` }, 1000)
    const answer = await client.ask(review).catch((error: Error) => error.message)
    return { answer, waits, requests }
  } finally {
    server.closeAllConnections()
    server.close()
  }
}

for (const code of [500, 429])
  test(`a webhook that answers ${code} is asked five times, later and later`, async () => {
    const { answer, waits, requests } = await asked((_, response) => response.writeHead(code).end('x'))
    assert.equal(requests, 5)
    assert.deepEqual(waits, [500, 750, 1125, 1687.5])
    assert.equal(
      answer,
      code === 500
        ? 'an error on the server ("x") has prevented the request from succeeding'
        : 'the server has received too many requests and has asked us to try again later',
    )
  })

for (const code of [401, 404])
  test(`a webhook that answers ${code} is asked once`, async () => {
    assert.equal((await asked((_, response) => response.writeHead(code).end())).requests, 1)
  })

test('a webhook that recovers is believed', async () => {
  let tries = 0
  const { answer, requests } = await asked((_, response) => {
    if (++tries < 3) return response.writeHead(500).end()
    return response.end(JSON.stringify({ ...review, status: { authenticated: true } }))
  })
  assert.deepEqual(answer, { authenticated: true })
  assert.equal(requests, 3)
})
