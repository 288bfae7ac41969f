/** skiff fork: a second cluster with the same objects, for as long as this command runs. */
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { constants, tmpdir } from 'node:os'
import { join } from 'node:path'
import { openControl } from '../cluster/control-client.ts'
import { StartError } from '../cluster/errors.ts'

const NO_FORKS = 'start it with skiff up --controls fork'

/** With a command it runs that, and ends with its exit code; otherwise it waits for a signal, or for the fork's end. */
export async function fork(dataDir: string, ttl: string | undefined, command: readonly string[]): Promise<void> {
  const body = ttl === undefined ? {} : { ttl }
  const control = await openControl<{ url: string; kubeconfig: string }>(dataDir, 'fork', body, NO_FORKS)
  const folder = mkdtempSync(join(tmpdir(), 'skiff-fork-'))
  const kubeconfig = join(folder, 'kubeconfig')
  const end = () => {
    control.close()
    rmSync(folder, { recursive: true, force: true })
  }
  try {
    writeFileSync(kubeconfig, control.told.kubeconfig, { mode: 0o600 })
    const [name, ...args] = command
    if (name !== undefined) {
      process.exitCode = await run(name, args, { ...process.env, KUBECONFIG: kubeconfig })
      return
    }
    process.stdout.write(`forked at ${control.told.url}\nexport KUBECONFIG=${kubeconfig}\n`)
    const stop = () => control.close()
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, stop)
    await control.ended
  } finally {
    end()
  }
}

function run(name: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  const child = spawn(name, args, { stdio: 'inherit', env })
  const pass = (signal: NodeJS.Signals) => child.kill(signal)
  process.on('SIGINT', pass)
  process.on('SIGTERM', pass)
  return new Promise((resolve, reject) => {
    child.on('error', (cause) => reject(new StartError(`cannot run ${name}: ${cause.message}`, { cause })))
    child.on('close', (code, signal) => resolve(code ?? 128 + (signal === null ? 0 : constants.signals[signal])))
  })
}
