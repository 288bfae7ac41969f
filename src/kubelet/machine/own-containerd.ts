/**
 * The containerd of a node in namespaces of its own: like the machine's, but with directories of the node's. It is a child of the node's
 * process, and followed by another when it ends, as a service manager does it; containers go on meanwhile, since their shims are no children
 * of it.
 */
import { spawn } from 'node:child_process'
import { closeSync, existsSync, openSync, writeFileSync } from 'node:fs'
import { sleep } from '../../base/clock.ts'
import type { Runtime } from '../../base/runtime.ts'
import type { FoundRuntime } from './machine-requirements.ts'

export type RuntimeLike = Pick<FoundRuntime, 'pluginDirectory' | 'sandboxImage' | 'manner'>

export interface ContainerdOptions {
  readonly runtime: Runtime
  readonly like: RuntimeLike
  /** Where it keeps images, and where it writes its log and finds its configuration. */
  readonly directory: string
  /** Where it finds the configuration of networks. */
  readonly configurationDirectory: string
  readonly signal: AbortSignal
}

export const SOCKET = '/run/containerd/containerd.sock'
const PATIENCE_MS = 60_000
const LOOK_AGAIN_MS = 50
const AGAIN_MS = 500

/** TOML's strings are JSON's. */
export function containerdConfig(root: string, configurationDirectory: string, like: RuntimeLike): string {
  const { pluginDirectory, sandboxImage, manner } = like
  const { snapshotter, restrictOOMScoreAdj, disableApparmor, enableSelinux, registryConfigPath } = manner
  const line = (name: string, value: string | boolean | undefined) =>
    value === undefined ? '' : `${name} = ${JSON.stringify(value)}\n`
  const cri = '[plugins."io.containerd.grpc.v1.cri"'
  return [
    `version = 2\n${line('root', root)}${line('state', '/run/containerd')}`,
    `${cri}]\n${line('sandbox_image', sandboxImage)}${line('restrict_oom_score_adj', restrictOOMScoreAdj)}`,
    `${line('disable_apparmor', disableApparmor)}${line('enable_selinux', enableSelinux)}`,
    `${cri}.containerd]\n${line('snapshotter', snapshotter)}`,
    `${cri}.registry]\n${line('config_path', registryConfigPath)}`,
    `${cri}.cni]\n${line('bin_dir', pluginDirectory)}${line('conf_dir', configurationDirectory)}`,
  ].join('')
}

/** Resolves once it listens. @throws Error with where to look when it does not start */
export async function startContainerd(options: ContainerdOptions): Promise<void> {
  const { runtime, like, directory, configurationDirectory, signal } = options
  const [config, log] = [`${directory}/containerd.toml`, `${directory}/containerd.log`]
  writeFileSync(config, containerdConfig(`${directory}/containerd`, configurationDirectory, like))
  let failed: string | undefined

  function run(): void {
    const out = openSync(log, 'a', 0o600)
    const child = spawn('containerd', ['--config', config], {
      stdio: ['ignore', out, out],
      env: { ...process.env, PATH: `${process.env['PATH'] ?? ''}:/usr/sbin:/sbin` },
    })
    closeSync(out)
    const end = () => child.kill('SIGTERM')
    signal.addEventListener('abort', end, { once: true })
    let isOver = false
    const over = (why: string) => {
      signal.removeEventListener('abort', end)
      if (isOver || signal.aborted) return
      isOver = true
      failed = why
      runtime.log.info(0, 'The container runtime ended, and is started again', { why })
      runtime.clock.setTimer(AGAIN_MS, 'container runtime', () => {
        if (!signal.aborted) run()
      })
    }
    child.once('error', ({ message }) => over(message))
    child.once('exit', (code, by) => over(by ?? `exit ${code}`))
  }

  run()
  for (const from = runtime.clock.monotonic(); !existsSync(SOCKET); await sleep(runtime.clock, LOOK_AGAIN_MS, signal))
    if (runtime.clock.monotonic() - from > PATIENCE_MS)
      throw new Error(`containerd does not start (${failed ?? 'it does not listen'}): see ${log}`)
}
