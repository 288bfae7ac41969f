import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import { test } from 'node:test'
import { simulatedRuntime } from '../../base/simulated-runtime.ts'
import { serveHealthz, serverHealth } from './own-health.ts'

const HOST = '127.0.0.1'

/** A port that something else has until it is closed. */
async function takenPort() {
  const server = createServer().listen(0, HOST)
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  return {
    port,
    async free() {
      server.close()
      await once(server, 'close')
    },
  }
}

/** Of as many looks as it takes until something listens. */
async function listens(port: number): Promise<void> {
  for (;;) {
    const socket = connect(port, HOST)
    const isOpen = await new Promise((resolve) =>
      socket.on('connect', () => resolve(true)).on('error', () => resolve(false)),
    )
    socket.destroy()
    if (isOpen === true) return
  }
}

test('port 10248 has /healthz with the check ping, and nothing else, in the words of a kubelet', async () => {
  const { port, free } = await takenPort()
  await free()
  const stop = serveHealthz(simulatedRuntime(1), { host: HOST, port }, new AbortController().signal)
  await listens(port)
  const ask = async (path: string, method = 'GET') => {
    const answer = await fetch(`http://${HOST}:${port}${path}`, { method, redirect: 'manual' })
    return [answer.status, await answer.text()]
  }
  assert.deepEqual(await ask('/healthz'), [200, 'ok'])
  assert.deepEqual(await ask('/healthz', 'POST'), [200, 'ok'])
  assert.deepEqual(await ask('/healthz/ping?verbose'), [200, 'ok'])
  assert.deepEqual(await ask('/healthz?verbose'), [200, '[+]ping ok\nhealthz check passed\n'])
  assert.deepEqual(await ask('/healthz?verbose&exclude=ping'), [200, '[+]ping excluded: ok\nhealthz check passed\n'])
  assert.deepEqual(await ask('/healthz?verbose&exclude=nope&exclude=log'), [
    200,
    '[+]ping ok\nwarn: some health checks cannot be excluded: no matches for "log","nope"\nhealthz check passed\n',
  ])
  for (const path of [
    '/',
    '/healthz/',
    '/healthz/log',
    '/healthz/syncloop',
    '/healthz/nope',
    '/livez',
    '/readyz',
    '/metrics',
    '/pods',
  ])
    assert.deepEqual(await ask(path), [404, '404 page not found\n'], path)
  assert.deepEqual(await ask('//healthz?verbose'), [307, '<a href="/healthz?verbose">Temporary Redirect</a>.\n\n'])
  await stop()
  await assert.rejects(ask('/healthz'))
})

test('a port that something else has is tried again until it is free, and port 0 is none', async () => {
  const runtime = simulatedRuntime(2)
  const stopping = new AbortController()
  const taken = await takenPort()
  const stop = serveHealthz(runtime, { host: HOST, port: taken.port }, stopping.signal)
  const none = serveHealthz(runtime, { host: HOST, port: 0 }, stopping.signal)
  // The failure to listen comes in a later turn.
  await listens(taken.port)
  await taken.free()
  await runtime.advance(5000)
  await listens(taken.port)
  stopping.abort()
  await Promise.all([stop(), none()])
})

test("a kubelet's server tells of four checks", async () => {
  const { answer } = serverHealth()
  const told = await answer({ path: '/healthz', query: new URLSearchParams('verbose') })
  assert.equal(
    `${Buffer.concat(told?.bytes ?? [])}`,
    '[+]ping ok\n[+]log ok\n[+]syncloop ok\n[+]device-plugin ok\nhealthz check passed\n',
  )
  assert.equal((await answer({ path: '/healthz/syncloop', query: new URLSearchParams() }))?.status, 200)
  assert.equal(await answer({ path: '/healthz/nope', query: new URLSearchParams() }), undefined)
})
