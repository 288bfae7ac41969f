import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import { test } from 'node:test'
import { smallServer } from './small-server.ts'

const LOOPBACK = '127.0.0.1'

async function freePort(): Promise<number> {
  const server = createServer().listen(0, LOOPBACK)
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  return typeof address === 'object' && address !== null ? address.port : 0
}

test('connections that ask nothing keep no balancer from its answer, however many they are', async () => {
  const server = smallServer((response, path) => response.end(path))
  const port = await freePort()
  await server.listen(LOOPBACK, port)
  const idle = Array.from({ length: 250 }, () => connect(port, LOOPBACK).on('error', () => {}))
  await Promise.all(idle.map((socket) => once(socket, 'connect')))
  assert.equal(await fetch(`http://${LOOPBACK}:${port}/healthz?x`).then((answer) => answer.text()), '/healthz')
  for (const socket of idle) socket.destroy()
  await server.close()
})
