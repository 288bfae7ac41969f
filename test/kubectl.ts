/**
 * The real kubectl, for tests that drive a cluster as a user does. It is built by interop/build, or given by SKIFF_KUBECTL;
 * a test that needs it is skipped with the reason where it is not there.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const built = fileURLToPath(new URL('../interop/bin/kubectl', import.meta.url))
export const kubectlPath = process.env['SKIFF_KUBECTL'] ?? built

/** For the `skip` option of a test: false, or why it cannot run. */
export const withoutKubectl: string | false = existsSync(kubectlPath)
  ? false
  : 'kubectl is not there: interop/build makes it (needs Go)'

/** What takes longer hangs. */
const PATIENCE_MS = 60_000

export interface Ended {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

// biome-ignore lint/suspicious/noExplicitAny: tests look into whatever came
export type Any = any

export interface Seen {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'
  readonly object: Any
}

export interface KubectlWatch {
  /** Every event so far, in order. */
  readonly seen: readonly Seen[]
  /**
   * Resolves with the first event, past or to come, that is as asked. Rejects, saying what was seen, when the watch ends
   * before or nothing of the kind comes for a long time.
   */
  until(wanted: (event: Seen) => boolean): Promise<Seen>
  stop(): void
  [Symbol.dispose](): void
}

export interface Kubectl {
  /** Runs to its end, whatever that is. */
  run(args: readonly string[], input?: string): Promise<Ended>
  /** Standard output of a command that must succeed. */
  (...args: string[]): Promise<string>
  /** The same with `-o json`, parsed. */
  json(...args: string[]): Promise<Any>
  /** `kubectl apply -f -` of an object or several; `verb` may also be create or replace. */
  send(verb: 'apply' | 'create' | 'replace', ...objects: object[]): Promise<string>
  /** `kubectl get … -w -o json --output-watch-events`: what there is comes first, as ADDED. */
  watch(resource: string, ...args: string[]): KubectlWatch
}

/** Speaks to the cluster of this kubeconfig; `namespace` is given with every command, `more` is its environment. */
export function kubectlFor(kubeconfig: string, namespace?: string, more: Record<string, string> = {}): Kubectl {
  const env = { ...process.env, KUBECONFIG: kubeconfig, ...more }
  const start = (args: readonly string[]): ChildProcess =>
    spawn(kubectlPath, [...(namespace === undefined ? [] : ['-n', namespace]), ...args], { env })

  function run(args: readonly string[], input?: string): Promise<Ended> {
    const child = start(args)
    const timer = setTimeout(() => child.kill('SIGKILL'), PATIENCE_MS)
    let out = ''
    let err = ''
    child.stdout?.setEncoding('utf8').on('data', (text) => {
      out += text
    })
    child.stderr?.setEncoding('utf8').on('data', (text) => {
      err += text
    })
    child.stdin?.end(input)
    return new Promise((resolve, reject) => {
      child.on('error', reject)
      child.on('close', (code, signal) => {
        clearTimeout(timer)
        resolve({ code, out, err: signal === null ? err : `${err}(ended by ${signal})` })
      })
    })
  }

  async function ok(args: readonly string[], input?: string): Promise<string> {
    const { code, out, err } = await run(args, input)
    if (code !== 0) throw new Error(`kubectl ${args.join(' ')} ended with ${code}: ${err}${out}`)
    return out
  }

  return Object.assign((...args: string[]) => ok(args), {
    run,
    json: async (...args: string[]) => JSON.parse(await ok([...args, '-o', 'json'])),
    send: (verb: string, ...objects: object[]) =>
      ok([verb, '-f', '-'], objects.map((object) => JSON.stringify(object)).join('\n---\n')),
    watch: (resource: string, ...args: string[]) =>
      follow(start(['get', resource, ...byName(args), '-w', '-o', 'json', '--output-watch-events'])),
  })
}

/**
 * `get -w` of one object by its name prints what it got, then drops the first event of a watch that begins anew: a change in
 * between would never be told. A list of that one object is watched from the version it was listed at.
 */
function byName([first, ...rest]: readonly string[]): readonly string[] {
  if (first === undefined) return []
  return first.startsWith('-') ? [first, ...rest] : [`--field-selector=metadata.name=${first}`, ...rest]
}

function follow(child: ChildProcess): KubectlWatch {
  const seen: Seen[] = []
  const waiting = new Set<{ wanted(event: Seen): boolean; resolve(event: Seen): void; reject(error: Error): void }>()
  let rest = ''
  let err = ''
  let ended = false
  child.stdin?.end()
  child.stderr?.setEncoding('utf8').on('data', (text) => {
    err += text
  })
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    const lines = (rest + text).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) {
      const event = JSON.parse(line) as Seen
      seen.push(event)
      for (const waiter of waiting) {
        if (!waiter.wanted(event)) continue
        waiting.delete(waiter)
        waiter.resolve(event)
      }
    }
  })
  const over = (why: string) => new Error(`${why} ${err}; seen: ${seen.map(briefly).join(', ')}`)
  child.on('close', () => {
    ended = true
    for (const { reject } of waiting) reject(over('the watch ended'))
    waiting.clear()
  })
  const stop = () => void child.kill()
  return {
    seen,
    async until(wanted) {
      const found = seen.find(wanted)
      if (found !== undefined) return found
      if (ended) throw over('the watch ended')
      const { promise, resolve, reject } = Promise.withResolvers<Seen>()
      waiting.add({ wanted, resolve, reject })
      const timer = setTimeout(() => reject(over(`nothing like ${wanted} came`)), PATIENCE_MS)
      try {
        return await promise
      } finally {
        clearTimeout(timer)
      }
    },
    stop,
    [Symbol.dispose]: stop,
  }
}

function briefly({ type, object }: Seen): string {
  return `${type} ${object.kind}/${object.metadata?.name}`
}
