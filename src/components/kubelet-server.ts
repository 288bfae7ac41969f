/**
 * The server of a simulated node in a process of its own: logs, exec and port-forward, as users ask the API server and that asks the
 * kubelet. The Node names where it listens; clients are judged as every kubelet judges them (kubelet/server/access.ts).
 */
import { existsSync, readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { messageOf } from '../base/errors.ts'
import type { Runtime } from '../base/runtime.ts'
import type { Client } from '../client/client.ts'
import type { KubeconfigText } from '../client/kubeconfig-text.ts'
import { readKubeconfig } from '../client/read-kubeconfig.ts'
import { issue } from '../cluster/certificate.ts'
import { write } from '../cluster/pki.ts'
import type { HttpServer } from '../http/server.ts'
import type { Kubelet } from '../kubelet/kubelet.ts'
import { HEALTHZ, type HealthzAddress } from '../kubelet/server/own-health.ts'
import {
  KUBELET_PORT,
  type KubeletServerOptions,
  type ServerTls,
  serveReadOnly,
  startKubeletServer,
} from '../kubelet/server/server.ts'
import { FlagError, type ReadFlags } from './flags.ts'
import { keepCertificate, keptPair } from './kubelet-certificate.ts'
import { describedServer } from './kubelet-configuration/told.ts'

/** As long as the API server may take to accept the connection that tells which address of this machine leads there. */
const PATIENCE_MS = 5000
/** kubelet's own for the certificate that it makes for itself. */
const VALID_DAYS = 365

export interface ServedKubelet {
  /** The node's own address, at which the server is reached. */
  readonly address: string
  /** Undefined: none listens, and the reason was said. */
  readonly server: HttpServer | undefined
}

export interface ServeOptions {
  readonly runtime: Runtime
  readonly client: Client
  readonly nodeName: string
  /** Of the API server. */
  readonly server: string
  readonly kubeconfig?: KubeconfigText | undefined
  /** The node's address where none leads to the API server. */
  readonly otherwise: string
  readonly kubelet: () => Kubelet | undefined
  readonly say: (line: string) => void
  readonly signal: AbortSignal
}

/** @throws FlagError for certificates that cannot be read */
export async function serveKubelet(flags: ReadFlags, options: ServeOptions): Promise<ServedKubelet> {
  const { runtime, client, nodeName, say, signal } = options
  const towards = flags.text('node-ip') ?? (await addressTowards(options.server, runtime))
  const address = towards ?? options.otherwise
  const clientCa = clientAuthority(flags, options.kubeconfig)
  const unserved = (why: string): ServedKubelet => {
    say(`logs, exec and port-forward of node ${nodeName} are not answered: ${why}`)
    return { address, server: undefined }
  }
  if (!flags.bool('enable-server')) return { address, server: undefined }
  if (towards === undefined) return unserved(`the API server at ${options.server} is not reached`)
  if (clientCa === undefined)
    return unserved('--client-ca-file is not given, and the kubeconfig names no authority of the cluster')
  const host = hostOf(flags, address)
  const hosts = [nodeName, address]
  try {
    const served: KubeletServerOptions = {
      runtime: { ...runtime, log: runtime.log.named('kubelet') },
      client,
      nodeName,
      host,
      port: flags.number('port') ?? KUBELET_PORT,
      tls: { ...servingCertificate(flags, options, hosts), clientCa },
      kubelet: options.kubelet,
      isCounted: true,
      ...describedServer(flags),
    }
    const server = await startKubeletServer(served)
    const stopReadOnly = await serveReadOnly(served)
    signal.addEventListener('abort', () => void stopReadOnly(), { once: true })
    const show = (tls: ServerTls) => server.setCertificate({ ...tls, clientCas: [clientCa] })
    keepServingCertificate(flags, { ...options, clientCa }, hosts, show)
    return { address, server }
  } catch (error) {
    if (error instanceof FlagError) throw error
    return unserved(`its server on ${host} did not start: ${messageOf(error)}`)
  }
}

/** Of --healthz-bind-address and --healthz-port. @throws FlagError */
export function healthzOf(flags: ReadFlags): HealthzAddress {
  const port = flags.number('healthz-port') ?? HEALTHZ.port
  if (port < 0 || port > 65535)
    throw new FlagError(`--healthz-port ${port} must be between 1 and 65535, inclusive, or 0: then nothing listens`)
  return { host: flags.text('healthz-bind-address') ?? HEALTHZ.host, port }
}

/** Where it listens: at --address, or at the node's own where that is any. */
export function hostOf(flags: ReadFlags, nodeIP: string): string {
  const own = flags.text('address')
  return own === undefined || own === '0.0.0.0' || own === '::' ? nodeIP : own
}

/** The address of this machine by which it reaches the API server: by that it is reached itself. Undefined: it does not reach it. */
export function addressTowards(server: string, { clock }: Runtime): Promise<string | undefined> {
  const { hostname, port } = new URL(server)
  return new Promise((resolve) => {
    const socket = connect({ host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || 443) })
    const patience = clock.setTimer(PATIENCE_MS, 'address', () => socket.destroy())
    socket.on('error', () => {})
    socket.on('connect', () => {
      resolve(socket.localAddress)
      socket.destroy()
    })
    socket.on('close', () => {
      patience.cancel()
      resolve(undefined)
    })
  })
}

/** The authorities of clients' certificates: those of the flag, or the cluster's own as the kubeconfig has it. */
export function clientAuthority(flags: ReadFlags, kubeconfig: KubeconfigText | undefined): string | undefined {
  const file = flags.text('client-ca-file')
  if (file !== undefined) return textOf('client-ca-file', file)
  if (kubeconfig === undefined) return undefined
  const { ca } = readKubeconfig(kubeconfig.text, kubeconfig.file)
  if (ca === undefined) return undefined
  return 'file' in ca ? textOf('kubeconfig', ca.file) : ca.text
}

/** Kubelet's own default. */
export const CERTIFICATES = '/var/lib/kubelet/pki'

const asksForServing = (flags: ReadFlags): boolean =>
  flags.bool('rotate-server-certificates') === true && flags.text('tls-cert-file') === undefined

const wantedServing = (flags: ReadFlags, nodeName: string, hosts: readonly string[]) => ({
  ...{ purpose: 'serving' as const, nodeName, hosts },
  directory: flags.text('cert-dir') ?? CERTIFICATES,
})

/**
 * Of --tls-cert-file; with --rotate-server-certificates the one that was signed, or none yet; else as kubelet makes one for itself: below
 * --cert-dir, kept.
 *
 * @throws FlagError
 */
export function servingCertificate(
  flags: ReadFlags,
  { runtime, nodeName }: Pick<ServeOptions, 'runtime' | 'nodeName'>,
  hosts: readonly string[],
): Pick<ServerTls, 'cert' | 'key'> {
  const [certFile, keyFile] = [flags.text('tls-cert-file'), flags.text('tls-private-key-file')]
  if ((certFile === undefined) !== (keyFile === undefined))
    throw new FlagError('--tls-cert-file and --tls-private-key-file go together: give both or neither')
  if (certFile !== undefined && keyFile !== undefined)
    return { cert: textOf('tls-cert-file', certFile), key: textOf('tls-private-key-file', keyFile) }
  if (asksForServing(flags)) return keptPair(wantedServing(flags, nodeName, hosts), runtime.clock) ?? {}
  const made = issue(runtime, {
    commonName: `${nodeName}@${Math.floor(runtime.clock.now() / 1000)}`,
    usage: 'server',
    hosts,
    validDays: VALID_DAYS,
  })
  const directory = flags.text('cert-dir')
  if (directory !== undefined && existsSync(directory)) {
    write(join(directory, 'kubelet.crt'), made.cert, 0o644)
    write(join(directory, 'kubelet.key'), made.key, 0o600)
  }
  return made
}

/** With --rotate-server-certificates: asks for the server's certificate and renews it, until the signal. */
export function keepServingCertificate(
  flags: ReadFlags,
  options: Pick<ServeOptions, 'runtime' | 'client' | 'nodeName' | 'say' | 'signal'> & Pick<ServerTls, 'clientCa'>,
  hosts: readonly string[],
  show: (tls: ServerTls) => void,
): void {
  if (!asksForServing(flags)) return
  const { runtime, client, nodeName, say, signal, clientCa } = options
  void keepCertificate({
    ...wantedServing(flags, nodeName, hosts),
    ...{ runtime, client, signal, complain: say },
    show: (pair) => show({ ...pair, clientCa }),
  })
}

function textOf(flag: string, file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (cause) {
    throw new FlagError(`--${flag}: ${messageOf(cause)}`, { cause })
  }
}
