/**
 * The transport to a kubeconfig's API server, for a process that lives long: token files and certificates are read again, a credential
 * plugin is asked again, and connections follow the certificate.
 */
import { readFileSync } from 'node:fs'
import { messageOf } from '../base/errors.ts'
import type { Runtime } from '../base/runtime.ts'
import { type Credentials, createExecCredentials } from './exec-credentials.ts'
import { type HttpsTransport, httpsTransport } from './https-transport.ts'
import { type KubeconfigText, kubeconfigText } from './kubeconfig-text.ts'
import { type KubeconfigContext, type PemSource, readKubeconfig } from './read-kubeconfig.ts'
import { clientSizeMetrics } from './request-metrics.ts'
import { statusOf } from './response.ts'
import type { Transport } from './transport.ts'

export interface KubeconfigTransport {
  /** Speaks as the kubeconfig's user. */
  readonly transport: HttpsTransport
  /** Speaks to the same server without the user's credentials: for requests that carry others. Its connections are shared. */
  readonly anonymous: HttpsTransport
  readonly server: string
}

/** How old what was read from a file may be. */
const FRESH_MS = 60_000
const IN_CLUSTER = '/var/run/secrets/kubernetes.io/serviceaccount'

/** `kubeconfig`: a file's name, or what was read of it. `server`: in place of the kubeconfig's. @throws Error in one line that names the file and what is wrong with it */
export function kubeconfigTransport(
  runtime: Runtime,
  kubeconfig: string | KubeconfigText,
  server?: string,
): KubeconfigTransport {
  const { file, text } = typeof kubeconfig === 'string' ? kubeconfigText(kubeconfig) : kubeconfig
  try {
    const context = readKubeconfig(text, file)
    return contextTransport(
      runtime,
      server === undefined ? context : { ...context, server: { ...context.server, server } },
    )
  } catch (cause) {
    throw new Error(`${file}: ${messageOf(cause)}`, { cause })
  }
}

/** As a pod is told of its cluster. @throws Error when this is no pod */
export function inClusterTransport(
  runtime: Runtime,
  env: Readonly<Record<string, string | undefined>>,
): KubeconfigTransport {
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port } = env
  if (!host || !port)
    throw new Error('no --kubeconfig is given, and this is no pod (KUBERNETES_SERVICE_HOST is not set)')
  return contextTransport(runtime, {
    server: { server: `https://${host.includes(':') ? `[${host}]` : host}:${port}` },
    ca: { file: `${IN_CLUSTER}/ca.crt` },
    tokenFile: `${IN_CLUSTER}/token`,
    impersonate: {},
  })
}

/** @throws Error for a file that is named and cannot be read */
export function contextTransport(runtime: Runtime, context: KubeconfigContext): KubeconfigTransport {
  const { clock, log } = runtime
  const pems = [context.ca, context.cert, context.key].map((source) => source && freshText(runtime, source))
  const [ca, cert, key] = pems
  const tokenFile = context.tokenFile === undefined ? undefined : freshText(runtime, { file: context.tokenFile })
  const authority = ca?.text()
  const { exec, impersonate, basic } = context
  const plugin =
    exec === undefined
      ? undefined
      : createExecCredentials(clock, exec, {
          server: context.server.server,
          ...(authority === undefined ? {} : { ca: authority }),
          ...(context.server.serverName === undefined ? {} : { tlsServerName: context.server.serverName }),
          ...(context.server.insecureSkipTlsVerify === undefined ? {} : { insecureSkipTlsVerify: true }),
          ...(context.server.proxy === undefined ? {} : { proxy: context.server.proxy }),
        })
  const sizes = clientSizeMetrics(runtime, new URL(context.server.server).host)
  const open = (credentials: Credentials) => {
    const trusted = ca?.text()
    const endpoint = {
      ...context.server,
      ...(trusted === undefined ? {} : { ca: trusted }),
      ...(credentials.cert === undefined ? {} : { cert: credentials.cert }),
      ...(credentials.key === undefined ? {} : { key: credentials.key }),
    }
    return httpsTransport(endpoint, sizes)
  }
  const own = (): Credentials => {
    const pair = cert && key ? { cert: cert.text(), key: key.text() } : {}
    const token = tokenFile === undefined ? context.token : tokenFile.text().trim()
    return { ...pair, ...(token === undefined ? {} : { token }) }
  }
  // What is named must be there from the beginning: later on the last that was read goes on.
  const first = plugin === undefined ? own() : {}
  let current = { credentials: first, transport: open(first) }
  const anonymous = open({})

  async function latest(): Promise<typeof current> {
    const credentials = plugin === undefined ? own() : await plugin.get()
    if (credentials.cert !== current.credentials.cert || credentials.key !== current.credentials.key) {
      log.info(0, 'The client certificate has changed, connecting anew', { server: context.server.server })
      current.transport.retire()
      current = { credentials, transport: open(credentials) }
    } else current = { ...current, credentials }
    return current
  }

  /** What has run out may have been renewed already. */
  function refused(credentials: Credentials): void {
    plugin?.refused(credentials)
    for (const file of [cert, key, tokenFile]) file?.readAnew()
  }

  const headersOf = ({ token }: Credentials): Record<string, string | readonly string[]> => ({
    ...impersonate,
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    ...(basic === undefined || token !== undefined
      ? {}
      : { authorization: `Basic ${Buffer.from(`${basic.username}:${basic.password}`).toString('base64')}` }),
  })

  return {
    server: context.server.server,
    anonymous,
    transport: {
      inProcess: false,
      ...(anonymous.host === undefined ? {} : { host: anonymous.host }),
      async send(request, beforeItBegins) {
        const { transport, credentials } = await latest()
        const headers = { ...request.headers, ...headersOf(credentials) } as typeof request.headers
        try {
          return await transport.send({ ...request, headers }, beforeItBegins)
        } catch (error) {
          if (statusOf(error)?.code === 401) refused(credentials)
          throw error
        }
      },
      retire: () => current.transport.retire(),
      close() {
        current.transport.close()
        anonymous.close()
      },
    },
  }
}

/** Speaks with the token that `token` gives; one that was not believed is told of. */
export function bearerTransport(
  transport: Transport,
  token: () => Promise<string>,
  refused: (token: string) => void = () => {},
): Transport {
  return {
    ...transport,
    async send(request, beforeItBegins) {
      const bearer = await token()
      const headers = { ...request.headers, authorization: `Bearer ${bearer}` }
      try {
        return await transport.send({ ...request, headers }, beforeItBegins)
      } catch (error) {
        if (statusOf(error)?.code === 401) refused(bearer)
        throw error
      }
    },
  }
}

interface FreshText {
  /** Read again when it is a minute old; while it cannot be, the one before. */
  text(): string
  /** The next time it is read again, however old it is. */
  readAnew(): void
}

function freshText({ clock, log }: Runtime, source: PemSource): FreshText {
  if ('text' in source) return { text: () => source.text, readAnew: () => {} }
  const { file } = source
  let text = readText(file)
  let readAt: number | undefined = clock.monotonic()
  return {
    text() {
      if (readAt !== undefined && clock.monotonic() - readAt < FRESH_MS) return text
      readAt = clock.monotonic()
      try {
        text = readText(file)
      } catch (error) {
        log.error('A file that was there cannot be read any more', error)
      }
      return text
    },
    readAnew() {
      readAt = undefined
    },
  }
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (cause) {
    throw new Error(`cannot read ${file}: ${messageOf(cause)}`, { cause })
  }
}
