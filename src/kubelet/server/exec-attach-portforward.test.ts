import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import type { ApiRequest } from '../../api/request.ts'
import { liveRuntime } from '../../base/live-runtime.ts'
import type { SessionRequest } from '../runtimes/runtime.ts'
import type { PodOfKubelet } from './container-logs.ts'
import { session as sessionAt } from './exec-attach-portforward.ts'
import { Refused } from './refused.ts'

/** A runtime whose streaming server refuses every session, and notes by which protocol it was asked. */
async function stage() {
  const asked: (readonly [upgrade: string | undefined, protocols: string | undefined])[] = []
  const server = createServer().on('upgrade', ({ headers }, socket) => {
    const protocols = headers['x-stream-protocol-version'] ?? headers['sec-websocket-protocol']
    asked.push([headers.upgrade, String(protocols)])
    socket.end('HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\nconnection: close\r\n\r\n')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/session`
  const sessions: SessionRequest[] = []
  const session = async (request: SessionRequest) => {
    sessions.push(request)
    return url
  }
  const status = {
    sandboxes: [{ id: 's', state: 'ready' }],
    containers: [{ id: 'c1', metadata: { name: 'c', attempt: 0 }, state: 'running' }],
  }
  const found = {
    pod: { metadata: { uid: 'u' }, spec: { containers: [{ name: 'c', tty: true }] } },
    kubelet: { runtimeStatus: () => status, containerRuntime: { real: { session } } },
  } as unknown as PodOfKubelet
  const ask = (kind: SessionRequest['kind'], query: string, protocol: string) => {
    const headers = {
      connection: 'Upgrade',
      upgrade: 'websocket',
      'sec-websocket-key': 'a',
      'sec-websocket-protocol': protocol,
    }
    const request = { method: 'GET', query: new URLSearchParams(query), headers, signal: new AbortController().signal }
    return sessionAt(liveRuntime(), () => found, request as unknown as ApiRequest, kind, 'c')
  }
  return { ask, asked, sessions, close: () => server.close() }
}

test('a command by WebSocket v5 is taken before the runtime is asked, which speaks only older ones', async (t) => {
  const { ask, asked, close } = await stage()
  t.after(close)
  const { kind, status } = await ask('exec', 'command=id&output=1', 'v5.channel.k8s.io')
  assert.deepEqual([kind, status, asked], ['upgrade', 101, []])
})

test('the tunnel of port-forward is asked of the runtime by SPDY, an older subprotocol is passed on', async (t) => {
  const { ask, asked, close } = await stage()
  t.after(close)
  await assert.rejects(ask('portForward', '', 'SPDY/3.1+portforward.k8s.io'), Refused)
  await assert.rejects(ask('exec', 'command=id&output=1', 'v4.channel.k8s.io'), Refused)
  assert.deepEqual(asked, [
    ['SPDY/3.1', 'portforward.k8s.io'],
    ['websocket', 'v4.channel.k8s.io'],
  ])
})

test('whether one attaches to a terminal is for the container to say', async (t) => {
  const { ask, sessions, close } = await stage()
  t.after(close)
  await assert.rejects(ask('attach', 'output=1&error=1', 'v4.channel.k8s.io'), Refused)
  assert.deepEqual(sessions, [
    { kind: 'attach', containerId: 'c1', tty: true, stdin: false, stdout: true, stderr: true },
  ])
})
