/** Port-forward by a WebSocket's channels, between a client of the library and a pod's end of a connection. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { type TestContext, test } from 'node:test'
import { WebSocket } from 'ws'
import type { ApiRequest } from '../../api/request.ts'
import { simulatedRuntime } from '../../base/simulated-runtime.ts'
import { duplexPair } from '../../http/duplex-pair.ts'
import { remotePortForward } from './remote-port-forward.ts'

const PORT = 80

async function stage(t: TestContext) {
  const runtime = simulatedRuntime(1)
  const [pod, ours] = duplexPair()
  const server = createServer().on('upgrade', ({ method, headers }, socket: Duplex, head: Buffer) => {
    const request = { method, headers } as ApiRequest
    const answer = remotePortForward(runtime.clock, request, [PORT], async () => ours)
    if (answer.kind === 'upgrade') answer.takeOver(socket, head)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const client = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`, 'v4.channel.k8s.io')
  t.after(() => {
    client.terminate()
    server.close()
  })
  const said: Buffer[] = []
  client.on('message', (bytes: Buffer) => said.push(bytes))
  await once(client, 'open')
  return { runtime, pod, client, said, say: (bytes: Buffer) => client.send(Buffer.concat([Buffer.from([0]), bytes])) }
}

test('what the client said before it ended comes to a pod that ended its own side first, however late it reads', async (t) => {
  const { pod, client, said, say } = await stage(t)
  const parts = Array.from({ length: 22 }, (_, at) => Buffer.alloc(10_000, at))
  for (const part of parts) say(part)
  client.send(Buffer.from([255, 0]))
  client.ping()
  // All of it has been taken by then, more than the pod's connection holds.
  await once(client, 'pong')
  pod.end('bye')
  // The numbers of the port, twice, and then what the pod said.
  while (said.length < 3) await once(client, 'message')
  assert.equal(said[2]?.subarray(1).toString(), 'bye')
  const closed = once(client, 'close')
  const heard = await buffer(pod)
  assert.equal(heard.length, 220_000)
  assert.ok(heard.equals(Buffer.concat(parts)))
  await closed
})

test('a client that cannot tell its end is told of the pod’s a second after it, and what it said until then comes to the pod', async (t) => {
  const { runtime, pod, client, said, say } = await stage(t)
  say(Buffer.from('hello'))
  const heard = buffer(pod)
  pod.end('bye')
  while (said.length < 3) await once(client, 'message')
  say(Buffer.from(' again'))
  client.ping()
  await once(client, 'pong')
  await runtime.advance(999)
  assert.equal(client.readyState, WebSocket.OPEN)
  const closed = once(client, 'close')
  await runtime.advance(1)
  await closed
  assert.equal((await heard).toString(), 'hello again')
})
