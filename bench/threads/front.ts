/**
 * node bench/threads/front.ts: what worker threads could take off the main thread, by a prototype: TLS and HTTP in threads of their own, which
 * ask the main thread by messages and send what it answers. Told is the main thread's processor time for a request: that, and not
 * seconds, bounds how many a second it could answer with cores to spare. The same server without threads is beside it.
 */
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { Agent, createServer, request } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type MessagePort, parentPort, Worker, workerData } from 'node:worker_threads'
import { liveRuntime } from '../../src/base/live-runtime.ts'
import { loadPki } from '../../src/cluster/pki.ts'

interface Certificate {
  readonly cert: string
  readonly key: string
}
type Role = {
  readonly role: 'front' | 'client'
  readonly certificate: Certificate
  readonly port?: number
  readonly requests?: number
}
/** Number, path, and what filters look at. */
type Question = readonly [number: number, path: string, headers: Readonly<Record<string, unknown>>]
type Answer = readonly [number: number, body: Uint8Array]

const REQUESTS = Number(process.env['REQUESTS'] ?? 6000)
const CONNECTIONS = 32
const SMALL = 3_000
const LARGE = 2_500_000
const bodies: Readonly<Record<string, Uint8Array>> = {
  '/small': shared(SMALL),
  '/large': shared(LARGE),
}

/** What a main thread holds can be shared with those that send it, not copied, where it lies in shared memory. */
function shared(size: number): Uint8Array {
  return new Uint8Array(new SharedArrayBuffer(size)).fill(120)
}

/** The main thread's part of a request without sockets: a look-up, and a little of what filters do. */
function answerTo(path: string, headers: Readonly<Record<string, unknown>>): Uint8Array {
  const url = new URL(path, 'https://x')
  if (headers['authorization'] !== 'Bearer x') throw new Error('not authenticated')
  return bodies[url.pathname] ?? new Uint8Array()
}

/** What comes in one turn is told in one message, both ways. */
function gathering<T>(send: (all: readonly T[]) => void): (one: T) => void {
  let waiting: T[] = []
  return (one) => {
    if (waiting.length === 0)
      setImmediate(() => {
        const all = waiting
        waiting = []
        send(all)
      })
    waiting.push(one)
  }
}

function front(port: MessagePort, certificate: Certificate): void {
  const waiting = new Map<number, (body: Uint8Array) => void>()
  let number = 0
  const ask = gathering<Question>((all) => port.postMessage(all))
  port.on('message', (answers: readonly Answer[]) => {
    for (const [id, body] of answers) waiting.get(id)?.(body)
  })
  const server = createServer(certificate, (incoming, response) => {
    const id = ++number
    waiting.set(id, (body) => {
      waiting.delete(id)
      response.writeHead(200, { 'content-length': body.length }).end(body)
    })
    ask([id, incoming.url ?? '', { ...incoming.headers }])
  })
  server.listen(0, '127.0.0.1', () => port.postMessage((server.address() as AddressInfo).port))
}

async function client(port: MessagePort, { port: to, requests = 0 }: Role): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS, rejectUnauthorized: false })
  const once1 = (path: string) =>
    new Promise<void>((resolve, reject) => {
      const sent = request(
        { agent, host: '127.0.0.1', port: to, path, headers: { authorization: 'Bearer x' } },
        (answer) => {
          answer.on('data', () => {}).on('end', resolve)
        },
      )
      sent.on('error', reject).end()
    })
  port.on('message', async (path: string) => {
    let left = path === '/large' ? Math.ceil(requests / 40) : requests
    const work = async () => {
      while (left-- > 0) await once1(path)
    }
    await Promise.all(Array.from({ length: CONNECTIONS }, work))
    port.postMessage('done')
  })
}

async function measure(name: string, ports: readonly number[], certificate: Certificate): Promise<void> {
  const clients = ports.map((port) => start({ role: 'client', certificate, port, requests: REQUESTS / ports.length }))
  for (const path of ['/small', '/small', '/large']) {
    const before = process.threadCpuUsage()
    const count = path === '/large' ? Math.ceil(REQUESTS / 40) : REQUESTS
    for (const one of clients) one.postMessage(path)
    await Promise.all(clients.map((one) => once(one, 'message')))
    const { user, system } = process.threadCpuUsage(before)
    console.log(`${name}, ${path}: ${Math.round((user + system) / count)} µs of the main thread for a request`)
  }
  await Promise.all(clients.map((one) => one.terminate()))
}

const start = (role: Role): Worker => new Worker(new URL(import.meta.url), { workerData: role })

async function main(): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'skiff-threads-'))
  const { serving } = loadPki(liveRuntime(), directory, '127.0.0.1', [])
  const certificate = { cert: serving.cert, key: serving.key }
  const server = createServer(certificate, (incoming, response) => {
    const body = answerTo(incoming.url ?? '', incoming.headers)
    response.writeHead(200, { 'content-length': body.length }).end(body)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  await measure('TLS and HTTP in the main thread', [(server.address() as AddressInfo).port], certificate)
  server.close()
  server.closeAllConnections()
  for (const count of [1, 2]) {
    const fronts = Array.from({ length: count }, () => start({ role: 'front', certificate }))
    const ports = await Promise.all(fronts.map(async (one) => (await once(one, 'message'))[0] as number))
    for (const one of fronts) {
      const answer = gathering<Answer>((all) => one.postMessage(all))
      one.on('message', (questions: readonly Question[]) => {
        for (const [id, path, headers] of questions) answer([id, answerTo(path, headers)])
      })
    }
    await measure(`in ${count} ${count === 1 ? 'thread' : 'threads'}`, ports, certificate)
    await Promise.all(fronts.map((one) => one.terminate()))
  }
  rmSync(directory, { recursive: true })
}

if (parentPort === null) await main()
else {
  const role = workerData as Role
  if (role.role === 'front') front(parentPort, role.certificate)
  else await client(parentPort, role)
}
