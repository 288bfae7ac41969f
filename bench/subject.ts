/** What is measured: a server that is there already, a skiff process started for it, or the bare server. */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { endpointFromKubeconfig } from '../src/client/read-kubeconfig.ts'
import type { HttpsEndpoint } from '../src/http/client.ts'

export interface Subject {
  readonly name: string
  readonly endpoint: HttpsEndpoint
  /** Seconds from its process' start until it was ready, where this run started it. */
  readonly startSeconds?: number
  /** Of its process, where it is one of this run's, or of all its processes together. */
  usage?(): Usage
  /** Of each of its processes, where it has several. */
  parts?(): readonly (readonly [program: string, usage: Usage])[]
  stop(): Promise<void>
}

export interface Usage {
  readonly residentMiB: number
  /** What of it is no file's: without the store's map. */
  readonly anonymousMiB: number
  /** Seconds of processor time, all threads. */
  readonly cpuSeconds: number
}

export type Components = 'apiserver' | 'all'

const BIN = fileURLToPath(new URL('../bin/skiff.js', import.meta.url))
const BARE = fileURLToPath(new URL('bare.ts', import.meta.url))

export function existing(kubeconfig: string): Subject {
  return {
    name: kubeconfig,
    endpoint: endpointFromKubeconfig(readFileSync(kubeconfig, 'utf8'), (path) =>
      readFileSync(resolve(dirname(kubeconfig), path), 'utf8'),
    ),
    stop: async () => {},
  }
}

/** One event for every request, once it is answered. */
const AUDIT_POLICY = {
  apiVersion: 'audit.k8s.io/v1',
  kind: 'Policy',
  omitStages: ['RequestReceived'],
  rules: [{ level: 'Metadata' }],
}

export interface SkiffOptions {
  /** For profiling it. */
  readonly nodeArgs?: readonly string[]
  /** Whether it writes an audit log, at level Metadata. */
  readonly audit?: boolean
  /** How many simulated nodes; one where they are left out. */
  readonly nodes?: number
  /** Where its objects are and stay; a directory of its own, removed at the end, where it is left out. */
  readonly directory?: string
  /** As --etcd-servers takes them: its objects are there. */
  readonly etcdServers?: string
  /** The command of another checkout; this one's where it is left out. */
  readonly command?: string
}

/** A skiff process of its own. */
export async function startSkiff(components: Components, options: SkiffOptions = {}): Promise<Subject> {
  const { nodeArgs = [], audit = false } = options
  const directory = options.directory ?? mkdtempSync(join(tmpdir(), 'skiff-bench-'))
  const parts = components === 'all' ? 'apiserver,controllers,scheduler,kubelet' : 'apiserver'
  const args = [
    ...nodeArgs,
    options.command ?? BIN,
    'up',
    '--data-dir',
    directory,
    '--port',
    '0',
    '--components',
    parts,
  ]
  if (options.nodes !== undefined) args.push('--nodes', String(options.nodes))
  if (options.etcdServers !== undefined) args.push('--etcd-servers', options.etcdServers)
  if (audit) {
    const policy = join(directory, 'audit-policy.json')
    writeFileSync(policy, JSON.stringify(AUDIT_POLICY))
    args.push('--audit-policy-file', policy)
  }
  const begin = performance.now()
  const { child, stop } = await run(args, (line) => line.startsWith('ready in '), nodeArgs.length > 0)
  const startSeconds = (performance.now() - begin) / 1000
  return {
    name: `skiff, ${components === 'all' ? 'all components' : 'API server alone'}${audit ? ', audited' : ''}${options.etcdServers === undefined ? '' : ', over etcd'}`,
    endpoint: existing(join(directory, 'kubeconfig')).endpoint,
    startSeconds,
    usage: () => usageOf(child.pid as number),
    stop: async () => {
      await stop()
      if (options.directory === undefined) rmSync(directory, { recursive: true, force: true })
    },
  }
}

/** A node:https server in a process of its own that answers what it was told to, and nothing else. */
export async function startBare(): Promise<Subject> {
  const begin = performance.now()
  const { child, stop, lines } = await run([BARE], (line) => line.startsWith('{'))
  const startSeconds = (performance.now() - begin) / 1000
  const { port, ca } = JSON.parse(lines.at(-1) as string) as { port: number; ca: string }
  return {
    name: 'bare node:https',
    endpoint: { server: `https://127.0.0.1:${port}`, ca },
    startSeconds,
    usage: () => usageOf(child.pid as number),
    stop,
  }
}

async function run(args: readonly string[], isReady: (line: string) => boolean, asIs = false) {
  // The command runs itself again with its settings, and would lose the arguments.
  const env = asIs ? { ...process.env, SKIFF_REEXECUTED: '1' } : process.env
  const child = spawn(process.execPath, [...args], { stdio: ['ignore', 'pipe', 'inherit'], env })
  const lines: string[] = []
  await new Promise<void>((resolve, reject) => {
    let rest = ''
    child.stdout?.on('data', (chunk: Buffer) => {
      const parts = (rest + chunk.toString()).split('\n')
      rest = parts.pop() as string
      for (const line of parts) {
        lines.push(line.trim())
        if (isReady(line.trim())) resolve()
      }
    })
    child.on('exit', (code) => reject(new Error(`${args[0]} ended with ${code} before it was ready`)))
  })
  return { child, lines, stop: () => ended(child) }
}

function ended(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) return resolve()
    child.on('exit', () => resolve())
    child.kill('SIGTERM')
  })
}

export const sumOf = (usages: readonly Usage[]): Usage =>
  usages.reduce((a, b) => ({
    residentMiB: a.residentMiB + b.residentMiB,
    anonymousMiB: a.anonymousMiB + b.anonymousMiB,
    cpuSeconds: a.cpuSeconds + b.cpuSeconds,
  }))

/** Linux only; elsewhere the figures are left out. */
export function usageOf(pid: number): Usage {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8')
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const ticks = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return {
      residentMiB: Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? Number.NaN) / 1024,
      anonymousMiB: Number(/RssAnon:\s+(\d+)/.exec(status)?.[1] ?? Number.NaN) / 1024,
      cpuSeconds: (Number(ticks[11]) + Number(ticks[12])) / 100,
    }
  } catch {
    return { residentMiB: Number.NaN, anonymousMiB: Number.NaN, cpuSeconds: Number.NaN }
  }
}
