/** Programs that these tests run: to their end, or beside the test until it ends. */
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const bin = fileURLToPath(new URL('../../interop/bin/', import.meta.url))
export const helmPath = `${bin}helm`
/** For the `skip` option of a test: false, or why it cannot run. */
export const withoutHelm: string | false = existsSync(helmPath)
  ? false
  : 'helm is not there: interop/build makes it (needs Go)'

/** What takes longer hangs: an installation that waits for a hundred objects on a busy machine included. */
const PATIENCE_MS = 300_000

/** Standard output of a command that must succeed. @throws with all it said when it does not, or hangs. */
export function command(
  program: string,
  args: readonly string[],
  {
    input = '',
    env = {},
    patienceMs = PATIENCE_MS,
  }: { readonly input?: string; readonly env?: Readonly<Record<string, string>>; readonly patienceMs?: number } = {},
): Promise<string> {
  const child = spawn(program, args, { env: { ...process.env, ...env } })
  const timer = setTimeout(() => child.kill('SIGKILL'), patienceMs)
  let out = ''
  let err = ''
  child.stdout.setEncoding('utf8').on('data', (text) => {
    out += text
  })
  child.stderr.setEncoding('utf8').on('data', (text) => {
    err += text
  })
  // A command that ends before it has read all of its input says why itself.
  child.stdin.on('error', () => {})
  child.stdin.end(input)
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code, signal) => {
      clearTimeout(timer)
      if (code === 0) resolve(out)
      else reject(new Error(`${program} ${args.join(' ')} ended with ${code ?? signal}: ${err}${out}`))
    })
  })
}

export interface Operator {
  /** @throws with the end of its log when it has ended by itself. */
  check(): void
  stop(): Promise<void>
}

/** An operator of interop/bin that runs beside the test. */
export function startOperator(name: string, args: readonly string[], env: Readonly<Record<string, string>>): Operator {
  const child = spawn(`${bin}${name}`, args, { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] })
  const ended = Promise.withResolvers<void>()
  let log = ''
  let how: string | undefined
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text) => {
      log = `${log}${text}`.slice(-20_000)
    })
  const end = (words: string) => {
    how = words
    ended.resolve()
  }
  child.on('error', (error) => end(error.message))
  child.on('close', (code, signal) => end(`ended with ${code ?? signal}`))
  return {
    check() {
      if (how !== undefined) throw new Error(`${name} ${how}: ${log}`)
    },
    async stop() {
      child.kill()
      await ended.promise
    },
  }
}
