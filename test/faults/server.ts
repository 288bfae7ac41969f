/** `skiff up` as a process of its own, that a fault may end. */
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { endpointFromKubeconfig } from '../../src/client/read-kubeconfig.ts'
import { createHttpsClient, type HttpsClient } from '../../src/http/client.ts'

export const bin = fileURLToPath(new URL('../../bin/skiff.js', import.meta.url))

export interface Ended {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

export interface Server {
  readonly client: HttpsClient
  readonly ended: Promise<Ended>
  /** What it has said until now. */
  said(): { readonly out: string; readonly err: string }
  kill(signal?: NodeJS.Signals): void
}

export interface ServerOptions {
  /** What runs the command: `strace …`, say. */
  readonly under?: readonly string[]
  readonly args?: readonly string[]
  /** Nobody reads its standard output and error once it is ready. */
  readonly deaf?: boolean
}

/** Resolves when it is ready. */
export async function startServer(dataDir: string, options: ServerOptions = {}): Promise<Server> {
  const args = options.args ?? ['--components', 'apiserver']
  const [command = '', ...line] = [...(options.under ?? []), process.execPath, bin, 'up', '--data-dir', dataDir]
  const child = spawn(command, [...line, '--port', '0', ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
  let out = ''
  let err = ''
  const ended = new Promise<Ended>((resolve) => child.on('close', (code, signal) => resolve({ code, signal })))
  child.stderr.on('data', (text) => {
    err += text
  })
  await new Promise<void>((resolve, reject) => {
    child.stdout.on('data', (text) => {
      out += text
      if (out.includes('export KUBECONFIG=')) resolve()
    })
    child.on('close', () => reject(new Error(`skiff up ended: ${out}${err}`)))
  })
  if (options.deaf === true) {
    child.stdout.destroy()
    child.stderr.destroy()
  }
  const client = createHttpsClient(endpointFromKubeconfig(readFileSync(join(dataDir, 'kubeconfig'), 'utf8')))
  return { client, ended, said: () => ({ out, err }), kill: (signal = 'SIGKILL') => child.kill(signal) }
}

export interface Answer {
  readonly status: number
  readonly text: string
}

export async function ask(client: HttpsClient, method: string, path: string, body?: object): Promise<Answer> {
  const headers = { 'content-type': 'application/json' }
  const answer = await client.send({ method, path, headers, ...(body ? { body: JSON.stringify(body) } : {}) })
  return { status: answer.status, text: Buffer.from(await answer.bytes()).toString() }
}

export const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps'

export const configMap = (name: string, text: string) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name },
  data: { text },
})
