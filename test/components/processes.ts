/** A control plane whose parts are processes of their own, as an operator starts them: skiff apiserver, controller-manager, scheduler, kubelet. */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { skiff } from '../e2e/cluster.ts'
import { type Any, type Kubectl, kubectlFor } from '../kubectl.ts'

const bin = fileURLToPath(new URL('../../bin/skiff.js', import.meta.url))

export interface RunningProcess {
  readonly child: ChildProcess
  /** Standard error so far. */
  readonly said: string
  /** Resolves with the code; null after a signal. */
  readonly ended: Promise<number | null>
  /** Resolves when it has said this. Rejects when it ends before. */
  until(words: RegExp): Promise<void>
}

export function startProcess(...args: readonly string[]): RunningProcess {
  const child = spawn(process.execPath, [bin, ...args], { stdio: ['ignore', 'ignore', 'pipe'] })
  let said = ''
  const listeners = new Set<() => void>()
  const tell = () => {
    for (const listener of listeners) listener()
  }
  child.stderr?.setEncoding('utf8').on('data', (text) => {
    said += text
    tell()
  })
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve))
  return {
    child,
    get said() {
      return said
    },
    ended,
    until: (words) =>
      new Promise((resolve, reject) => {
        const listener = () => {
          if (!words.test(said)) return
          listeners.delete(listener)
          resolve()
        }
        listeners.add(listener)
        void ended.then((code) =>
          reject(new Error(`skiff ${args[0]} ended with ${code} before it said ${words}: ${said}`)),
        )
        listener()
      }),
  }
}

export interface AuditEvent {
  readonly verb: string
  readonly requestURI: string
  readonly user: { readonly username: string; readonly groups: readonly string[] }
  /** Milliseconds since the epoch. */
  readonly at: number
  readonly code: number | undefined
  readonly requestObject: Any
}

export interface Processes {
  readonly folder: string
  readonly server: RunningProcess
  readonly kubectl: Kubectl
  /** Below the folder. */
  file(name: string): string
  /** A kubeconfig for this user. */
  kubeconfigOf(user: string, ...groups: readonly string[]): Promise<string>
  /** Ends with the test, in the reverse order. */
  start(...args: readonly string[]): RunningProcess
  /** Writes to anything, in the order in which they were asked for, that are answered by now. */
  writes(): readonly AuditEvent[]
  [Symbol.asyncDispose](): Promise<void>
}

const AUDIT_POLICY = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: Request
  verbs: [create, update, patch, delete, deletecollection]
- level: None
`

/** The API server runs; the other parts are for the test to start. */
export async function startProcesses(): Promise<Processes> {
  const folder = mkdtempSync(join(tmpdir(), 'skiff-components-'))
  const file = (name: string) => join(folder, name)
  const running: RunningProcess[] = []
  const start = (...args: readonly string[]) => {
    const one = startProcess(...args)
    running.push(one)
    return one
  }
  writeFileSync(file('audit.yaml'), AUDIT_POLICY)
  const server = start(
    ...['apiserver', '--data-dir', folder, '--secure-port', String(await freePort())],
    ...['--audit-policy-file', file('audit.yaml'), '--audit-log-path', file('audit.log')],
  )
  await server.until(/serves on/)
  return {
    folder,
    server,
    file,
    kubectl: kubectlFor(file('kubeconfig')),
    start,
    async kubeconfigOf(user, ...groups) {
      const more = groups.length === 0 ? [] : ['--groups', groups.join(',')]
      const { code, out, err } = await skiff('kubeconfig', '--data-dir', folder, '--user', user, ...more)
      if (code !== 0) throw new Error(err)
      const path = file(`${[user, ...groups].join('-').replaceAll(':', '-')}.kubeconfig`)
      writeFileSync(path, out)
      return path
    },
    writes: () =>
      readFileSync(file('audit.log'), 'utf8')
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line))
        .map(({ verb, requestURI, user, requestReceivedTimestamp, responseStatus, requestObject }) => ({
          verb,
          requestURI,
          user,
          at: Date.parse(requestReceivedTimestamp),
          code: responseStatus?.code,
          requestObject,
        }))
        .sort((a, b) => a.at - b.at),
    async [Symbol.asyncDispose]() {
      for (const { child, ended } of running.reverse()) {
        child.kill('SIGCONT')
        child.kill('SIGTERM')
        await ended
      }
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().on('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo
      server.close(() => resolve(port))
    })
  })
}
