/**
 * Credentials by a program (client-go credential plugins): it is run when there are none yet, when they have expired, and when the API
 * server did not believe them, and says what it has on its standard output as an ExecCredential.
 */
import { execFile } from 'node:child_process'
import type { Clock } from '../base/clock.ts'
import { messageOf } from '../base/errors.ts'
import type { ExecPlugin } from './read-kubeconfig.ts'

export interface Credentials {
  readonly token?: string
  /** PEM. */
  readonly cert?: string
  readonly key?: string
}

/** What the plugin is told of the cluster, where it asks for that. */
export interface ClusterInfo {
  readonly server: string
  /** PEM. */
  readonly ca?: string
  readonly tlsServerName?: string
  readonly insecureSkipTlsVerify?: boolean
  readonly proxy?: string
}

export interface ExecCredentials {
  /** @throws Error that names the plugin */
  get(): Promise<Credentials>
  /** These were not believed: the plugin is asked again. */
  refused(credentials: Credentials): void
}

const MOST_BYTES = 10 * 1024 * 1024

export function createExecCredentials(clock: Clock, plugin: ExecPlugin, cluster: ClusterInfo): ExecCredentials {
  let known: { readonly credentials: Credentials; readonly until: number } | undefined
  let asking: Promise<Credentials> | undefined

  async function ask(): Promise<Credentials> {
    const status = statusOf(await run(plugin, cluster))
    const { token, clientCertificateData: cert, clientKeyData: key, expirationTimestamp } = status
    if (!token && !(cert && key)) throw new Error('it gave neither a token nor a certificate with its key')
    const credentials = { ...(token ? { token } : {}), ...(cert && key ? { cert, key } : {}) }
    const until = expirationTimestamp === undefined ? Number.POSITIVE_INFINITY : Date.parse(expirationTimestamp)
    known = { credentials, until }
    return credentials
  }

  return {
    get() {
      if (known !== undefined && known.until > clock.now()) return Promise.resolve(known.credentials)
      asking ??= ask()
        .catch((cause: unknown) => {
          const hint = plugin.installHint === undefined ? '' : ` (${plugin.installHint})`
          throw new Error(`credential plugin ${plugin.command}: ${messageOf(cause)}${hint}`, { cause })
        })
        .finally(() => {
          asking = undefined
        })
      return asking
    },
    refused(credentials) {
      if (known?.credentials === credentials) known = undefined
    },
  }
}

function run(plugin: ExecPlugin, cluster: ClusterInfo): Promise<string> {
  const spec = {
    interactive: false,
    ...(plugin.provideClusterInfo
      ? {
          cluster: {
            server: cluster.server,
            ...(cluster.ca === undefined
              ? {}
              : { 'certificate-authority-data': Buffer.from(cluster.ca).toString('base64') }),
            ...(cluster.tlsServerName === undefined ? {} : { 'tls-server-name': cluster.tlsServerName }),
            ...(cluster.insecureSkipTlsVerify === undefined ? {} : { 'insecure-skip-tls-verify': true }),
            ...(cluster.proxy === undefined ? {} : { 'proxy-url': cluster.proxy }),
          },
        }
      : {}),
  }
  const info = JSON.stringify({ kind: 'ExecCredential', apiVersion: plugin.apiVersion, spec })
  const env = { ...process.env, ...plugin.env, KUBERNETES_EXEC_INFO: info }
  return new Promise((resolve, reject) => {
    const child = execFile(
      plugin.command,
      [...plugin.args],
      { env, maxBuffer: MOST_BYTES },
      (error, stdout, stderr) => {
        if (error === null) resolve(stdout)
        else {
          const said = stderr.trim().split('\n').at(-1) ?? ''
          const why =
            error.code === 'ENOENT' ? 'there is no such program' : `it ended with ${error.code ?? error.signal}`
          reject(new Error(said === '' ? why : `${why}: ${said}`))
        }
      },
    )
    // It may not ask anything: one that tries finds an end, and does not wait for ever.
    child.stdin?.on('error', () => {})
    child.stdin?.end()
  })
}

interface Status {
  readonly token?: string
  readonly clientCertificateData?: string
  readonly clientKeyData?: string
  readonly expirationTimestamp?: string
}

function statusOf(text: string): Status {
  let answer: { readonly kind?: string; readonly status?: Status } | null
  try {
    answer = JSON.parse(text)
  } catch (cause) {
    throw new Error('what it wrote on standard output is not JSON', { cause })
  }
  if (answer?.kind !== 'ExecCredential' || typeof answer.status !== 'object' || answer.status === null)
    throw new Error('what it wrote on standard output is no ExecCredential with a status')
  return answer.status
}
