/**
 * Kubernetes' own components for a cluster of skiff: those in the folder KUBERNETES_BIN; without it they are built
 * (interop/conformance/build-components).
 */
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream, readFileSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'

const BIN = resolve(process.env['KUBERNETES_BIN'] ?? 'interop/bin/kubernetes')

export function buildKubernetes(): void {
  if (process.env['KUBERNETES_BIN'] !== undefined) return
  const { status, stderr } = spawnSync('interop/conformance/build-components', [BIN], { encoding: 'utf8' })
  assert.equal(status, 0, stderr)
}

/** What it says is in the file. Gives what ends it, by default with -9. */
export const startKubernetes = (program: string, log: string, args: readonly string[]) =>
  startProgram(join(BIN, program), log, args).end

export interface RunningProgram {
  readonly program: string
  readonly pid: number
  /** By default with -9. Resolves when it has ended. */
  end(signal?: NodeJS.Signals): Promise<void>
}

/** What it says is in the file. */
export function startProgram(path: string, log: string, args: readonly string[]): RunningProgram {
  const child = spawn(path, args, { stdio: ['ignore', 'ignore', 'pipe'] })
  child.stderr.pipe(createWriteStream(log))
  return {
    program: basename(path),
    pid: child.pid ?? 0,
    async end(signal = 'SIGKILL') {
      if (child.exitCode !== null || child.signalCode !== null) return
      const ended = once(child, 'exit')
      child.kill(signal)
      await ended
    },
  }
}

/** As kubeadm has them, on the port that the kubeconfigs of skiff's data directory lead to, with the keys and certificates that it holds. */
export function apiServerFlags(dataDir: string, etcdServers: string): readonly string[] {
  const pki = join(dataDir, 'pki')
  const kubeconfig = readFileSync(join(dataDir, 'kubeconfig'), 'utf8')
  const port = new URL(/server: "?(https:[^"\s]+)/.exec(kubeconfig)?.[1] ?? '').port
  return [
    ...['--etcd-servers', etcdServers, '--secure-port', port, '--bind-address', '127.0.0.1'],
    ...['--advertise-address', '127.0.0.1', '--endpoint-reconciler-type', 'none'],
    ...['--tls-cert-file', `${pki}/apiserver.crt`, '--tls-private-key-file', `${pki}/apiserver.key`],
    ...['--client-ca-file', `${pki}/ca.crt`, '--authorization-mode', 'Node,RBAC'],
    ...['--enable-admission-plugins', 'NodeRestriction', '--service-cluster-ip-range', '10.96.0.0/16'],
    ...['--service-account-issuer', 'https://kubernetes.default.svc', '--service-account-key-file', `${pki}/sa.pub`],
    ...['--service-account-signing-key-file', `${pki}/sa.key`, '--cert-dir', join(dataDir, 'server-certs')],
  ]
}
