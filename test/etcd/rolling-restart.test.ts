/**
 * Two `skiff up` over one etcd are restarted one after the other, while clients write, read and watch: each asks one of the two,
 * and once the other where that fails. No request fails twice, and no watch misses a change.
 */
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { Agent, request as send } from 'node:https'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { endpointFromKubeconfig } from '../../src/client/read-kubeconfig.ts'
import { lacks } from '../machine.ts'
import { startEtcd } from './member.ts'

const bin = fileURLToPath(new URL('../../bin/skiff.js', import.meta.url))
const CLIENTS = 12
/** Made when all others are. */
const LAST = 'last'
const PATH = '/api/v1/namespaces/default/configmaps'

interface Server {
  readonly port: number
  readonly dataDir: string
  start(): Promise<void>
  stop(signal?: NodeJS.Signals): Promise<void>
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  await new Promise((resolve) => server.close(resolve))
  return port
}

async function serverOf(folder: string, name: string, servers: string): Promise<Server> {
  const port = await freePort()
  const dataDir = join(folder, name)
  let child: ChildProcess | undefined
  return {
    port,
    dataDir,
    async start() {
      if (name !== 'one') cpSync(join(folder, 'one', 'pki'), join(dataDir, 'pki'), { recursive: true })
      const args = ['up', '--data-dir', dataDir, '--port', String(port), '--etcd-servers', servers]
      const started = spawn(process.execPath, [bin, ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
      child = started
      let out = ''
      for await (const text of started.stdout) {
        out += text
        if (out.includes('ready in')) break
      }
      assert.match(out, /ready in/)
      started.stdout.resume()
    },
    async stop(signal = 'SIGTERM') {
      if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
      const ended = once(child, 'exit')
      child.kill(signal)
      await ended
    },
  }
}

/** Asks the servers as a client does that tries once again, at the other one. */
function createAsker(servers: readonly Server[]) {
  const { ca, cert, key } = endpointFromKubeconfig(readFileSync(join(servers[0]?.dataDir ?? '', 'kubeconfig'), 'utf8'))
  const options = { ca, cert, key } as { ca: string; cert: string; key: string }
  const agent = new Agent({ keepAlive: true, ...options })
  const open = (at: number, method: string, path: string, body?: object) =>
    new Promise<IncomingMessage>((resolve, reject) => {
      const { port } = servers[at % servers.length] as Server
      const headers = body === undefined ? {} : { 'content-type': 'application/json' }
      const sent = send({ host: '127.0.0.1', port, agent, method, path, headers }, resolve)
      sent.on('error', reject)
      sent.end(body === undefined ? undefined : JSON.stringify(body))
    })
  const once = async (at: number, method: string, path: string, body?: object) => {
    const answer = await open(at, method, path, body)
    let text = ''
    for await (const chunk of answer) text += chunk
    return { code: answer.statusCode ?? 0, text }
  }
  const isServed = ({ code }: { code: number }) => code < 500 && code !== 429
  return {
    open,
    close: () => agent.destroy(),
    async ask(at: number, method: string, path: string, body?: object) {
      const first = await once(at, method, path, body).catch((error: Error) => error)
      if (!(first instanceof Error) && isServed(first)) return { ...first, again: false }
      const second = await once(at + 1, method, path, body)
      assert.ok(isServed(second), `${method} ${path}: ${second.code} ${second.text}`)
      return { ...second, again: true }
    },
  }
}

test('two API servers over one etcd are restarted in turn: no request fails twice, no watch misses a change', {
  skip: lacks.etcd(),
}, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'skiff-rolling-'))
  const etcd = await startEtcd()
  const servers: Server[] = []
  try {
    for (const name of ['one', 'two']) {
      const server = await serverOf(folder, name, etcd.servers)
      servers.push(server)
      await server.start()
    }
    const asker = createAsker(servers)
    const begin = JSON.parse((await asker.ask(0, 'GET', PATH)).text).metadata.resourceVersion as string
    let isOver = false
    let again = 0
    const made = new Set<string>()
    const client = async (index: number) => {
      for (let count = 0; !isOver; count++) {
        const name = `c${index}-${count}`
        const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } }
        const created = await asker.ask(index, 'POST', PATH, object)
        if (created.again) again++
        // A create that was cut may have been done.
        assert.ok(created.code === 201 || (created.again && created.code === 409), `${created.code} ${created.text}`)
        made.add(name)
        const read = await asker.ask(index + 1, 'GET', `${PATH}/${name}`)
        if (read.again) again++
        assert.equal(read.code, 200, read.text)
      }
    }
    const seen: string[] = []
    const watch = async () => {
      let from = begin
      for (let at = 0; ; at++) {
        const path = `${PATH}?watch=1&allowWatchBookmarks=1&resourceVersion=${from}&timeoutSeconds=300`
        const answer = await asker.open(at, 'GET', path).catch(() => undefined)
        if (answer?.statusCode !== 200) continue
        let rest = ''
        try {
          for await (const chunk of answer) {
            const lines = (rest + chunk).split('\n')
            rest = lines.pop() ?? ''
            for (const line of lines) {
              const { type, object } = JSON.parse(line)
              assert.notEqual(type, 'ERROR', line)
              from = object.metadata.resourceVersion
              if (type === 'ADDED') seen.push(object.metadata.name)
              if (object.metadata.name === LAST) return answer.destroy()
            }
          }
        } catch (error) {
          if (!(error instanceof Error) || !('code' in error) || error.code !== 'ECONNRESET') throw error
        }
      }
    }
    const watching = watch()
    const clients = Promise.all(Array.from({ length: CLIENTS }, (_, index) => client(index)))
    const restarts = async () => {
      for (const server of [...servers, ...servers]) {
        const before = made.size
        while (made.size < before + 100) await new Promise((resolve) => setImmediate(resolve))
        await server.stop()
        await server.start()
      }
    }
    await Promise.race([clients, watching, restarts()])
    isOver = true
    await clients
    await asker.ask(0, 'POST', PATH, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: LAST } })
    made.add(LAST)
    await watching
    assert.equal(new Set(seen).size, seen.length, 'a change was told of twice')
    assert.deepEqual(new Set(seen), made)
    console.log(`${made.size} objects; ${again} requests were asked again`)
    asker.close()
  } finally {
    for (const { stop } of servers) await stop('SIGKILL')
    await etcd.stop()
    rmSync(folder, { recursive: true, force: true })
  }
})
