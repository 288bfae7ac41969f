/** Real etcd processes for tests: one member or several, started, killed, paused and taken away again. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { etcdBinary } from '../machine.ts'

export interface EtcdMember {
  /** `http://127.0.0.1:port` or `https://…`. */
  readonly url: string
  readonly pid: number
  /** By itself, or killed. */
  readonly hasEnded: boolean
  /** Resolves when it has ended. */
  kill(signal?: NodeJS.Signals): Promise<void>
  pause(): void
  resume(): void
  /** After it was killed: with what it has on disk. */
  start(): Promise<void>
}

export interface EtcdCluster {
  readonly members: readonly EtcdMember[]
  /** As `--etcd-servers` takes them. */
  readonly servers: string
  stop(): Promise<void>
}

export interface EtcdClusterOptions {
  /** Default 1. */
  readonly size?: number
  /** Files, which clients must be certified by. */
  readonly tls?: { readonly ca: string; readonly cert: string; readonly key: string }
  readonly args?: readonly string[]
  /** What stands before the command of the member with this number, as strace does. Default: nothing. */
  readonly under?: (member: number) => readonly string[]
  /** Where the member keeps its data. Default: a directory of its own that goes away with it. */
  readonly dataDir?: (member: number) => string | undefined
}

/** On whichever disk. */
const STARTS_WITHIN_MS = 60_000

/** Resolves when every member answers. */
export async function startEtcd({
  size = 1,
  tls,
  args = [],
  under,
  dataDir,
}: EtcdClusterOptions = {}): Promise<EtcdCluster> {
  const dir = mkdtempSync(join(tmpdir(), 'skiff-etcd-'))
  const ports = await freePorts(size * 2)
  const scheme = tls === undefined ? 'http' : 'https'
  const peer = (i: number) => `http://127.0.0.1:${ports[size + i]}`
  const initial = Array.from({ length: size }, (_, i) => `m${i}=${peer(i)}`).join(',')
  const members = Array.from({ length: size }, (_, i) => {
    const url = `${scheme}://127.0.0.1:${ports[i]}`
    return createMember(url, under?.(i) ?? [], [
      ...[
        '--name',
        `m${i}`,
        '--data-dir',
        dataDir?.(i) ?? join(dir, `m${i}`),
        '--logger',
        'zap',
        '--log-level',
        'error',
      ],
      ...['--listen-client-urls', url, '--advertise-client-urls', url],
      ...['--listen-peer-urls', peer(i), '--initial-advertise-peer-urls', peer(i), '--initial-cluster', initial],
      ...(tls === undefined
        ? []
        : [...['--cert-file', tls.cert, '--key-file', tls.key, '--trusted-ca-file', tls.ca], '--client-cert-auth']),
      ...args,
    ])
  })
  const stop = async () => {
    await Promise.all(members.map((member) => member.kill('SIGKILL')))
    rmSync(dir, { recursive: true, force: true })
  }
  try {
    await Promise.all(members.map((member) => member.start()))
  } catch (error) {
    await stop()
    throw error
  }
  return { members, servers: members.map(({ url }) => url).join(','), stop }
}

function createMember(url: string, under: readonly string[], args: readonly string[]): EtcdMember {
  const binary = etcdBinary()
  if (binary === undefined) throw new Error('no etcd is installed')
  let child: ChildProcess | undefined
  const isRunning = (process: ChildProcess) => process.exitCode === null && process.signalCode === null
  return {
    url,
    get pid() {
      return child?.pid ?? 0
    },
    get hasEnded() {
      return child === undefined || !isRunning(child)
    },
    async kill(signal = 'SIGKILL') {
      if (child === undefined || !isRunning(child)) return
      const ended = once(child, 'exit')
      child.kill(signal)
      // A paused one takes no signal but this.
      if (signal !== 'SIGKILL') child.kill('SIGCONT')
      await ended
    },
    pause: () => void child?.kill('SIGSTOP'),
    resume: () => void child?.kill('SIGCONT'),
    async start() {
      const [command = binary, ...before] = [...under, binary]
      const started = spawn(command, [...before, ...args], { stdio: ['ignore', 'ignore', 'pipe'] })
      child = started
      let said = ''
      started.stderr.on('data', (text: Buffer) => {
        said = (said + text.toString()).slice(-4000)
      })
      const until = performance.now() + STARTS_WITHIN_MS
      while (!(await listens(Number(new URL(url).port)))) {
        if (!isRunning(started)) throw new Error(`etcd ended at once: ${said}`)
        if (performance.now() > until) throw new Error(`etcd does not listen yet: ${said}`)
      }
    },
  }
}

/** Tries once; a port that refuses is asked again after a moment. */
async function listens(port: number): Promise<boolean> {
  const { connect } = await import('node:net')
  const socket = connect(port, '127.0.0.1')
  try {
    await once(socket, 'connect')
    return true
  } catch {
    await new Promise((resolve) => setTimeout(resolve, 20))
    return false
  } finally {
    socket.destroy()
  }
}

export async function freePorts(count: number): Promise<readonly number[]> {
  const servers = await Promise.all(
    Array.from({ length: count }, async () => {
      const server = createServer().listen(0, '127.0.0.1')
      await once(server, 'listening')
      return server
    }),
  )
  const ports = servers.map((server) => (server.address() as AddressInfo).port)
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))))
  return ports
}
