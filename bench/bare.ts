/**
 * The bare server beside every figure: node:https, TLS, keep-alive, and the bytes it was told. A process of its own.
 *
 * `PUT path` keeps the body as what GET, POST and PATCH of the path answer; `GET path?watch` stays open; `POST path?event`
 * sends what is kept to every watcher, then answers.
 */

import type { ServerResponse } from 'node:http'
import { createServer, type ServerOptions } from 'node:https'
import type { AddressInfo } from 'node:net'
import { liveRuntime } from '../src/base/live-runtime.ts'
import { issue } from '../src/cluster/certificate.ts'

const runtime = liveRuntime()
const ca = issue(runtime, { commonName: 'bench', usage: 'ca', validDays: 1 })
const hosts = ['127.0.0.1', 'localhost']
const serving = issue(runtime, { commonName: 'bench', usage: 'server', hosts, validDays: 1 }, ca)
const kept = new Map<string, Buffer>()
const watchers = new Map<string, ServerResponse[]>()
const NOTHING = Buffer.from('{}')

const options: ServerOptions = { cert: serving.cert, key: serving.key, keepAliveTimeout: 120_000, requestTimeout: 0 }
const server = createServer(options, (request, response) => {
  const [path = '', query] = (request.url ?? '/').split('?')
  const answer = (code: number) => {
    const bytes = kept.get(path) ?? NOTHING
    response.writeHead(code, { 'content-type': 'application/json', 'content-length': bytes.length })
    response.end(bytes)
  }
  if (request.method === 'GET' && query === 'watch') {
    response.writeHead(200, { 'content-type': 'application/json' })
    response.flushHeaders()
    const list = watchers.get(path) ?? []
    watchers.set(path, [...list, response])
    return
  }
  if (request.method === 'GET') return answer(200)
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    if (request.method === 'PUT') kept.set(path, Buffer.concat(chunks))
    if (query === 'event') for (const watcher of watchers.get(path) ?? []) watcher.write(kept.get(path) ?? NOTHING)
    answer(request.method === 'POST' ? 201 : 200)
  })
})
server.listen(0, '127.0.0.1', 4096, () => {
  console.log(JSON.stringify({ port: (server.address() as AddressInfo).port, ca: ca.cert }))
})
process.on('SIGTERM', () => process.exit(0))
