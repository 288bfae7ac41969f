/** How a component reaches its API server: by --kubeconfig (or as a pod does), patiently, and saying why it cannot. */

import { sleep } from '../base/clock.ts'
import { messageOf } from '../base/errors.ts'
import type { Runtime } from '../base/runtime.ts'
import { limitedTransport, timedTransport } from '../client/held-transports.ts'
import { connectionIn, kubeconfigProblem, NO_CONFIGURATION } from '../client/kubeconfig-problems.ts'
import { type KubeconfigText, kubeconfigText } from '../client/kubeconfig-text.ts'
import {
  contextTransport,
  inClusterTransport,
  type KubeconfigTransport,
  kubeconfigTransport,
} from '../client/kubeconfig-transport.ts'
import { createClient, type Transport } from '../client/transport.ts'
import { rootCertificates } from '../cluster/pem-files.ts'
import { FlagError } from './flags.ts'
import type { ComponentProcess } from './process.ts'

/** Longer than any server works at one request that is not a watch. */
const PATIENCE_MS = 90_000
const ASK_AGAIN_MS = 1000
const ASK_MS = 5000
/** The same is said again after so long. */
const SAY_AGAIN_MS = 30_000

/** Both transports end a request that is never answered. `master`: in place of the kubeconfig's server. @throws Error in one line */
export function accessOf(
  runtime: Runtime,
  kubeconfig: KubeconfigText | undefined,
  master?: string,
): KubeconfigTransport {
  const server = master === undefined ? undefined : serverOf(master)
  const access =
    kubeconfig !== undefined
      ? kubeconfigTransport(runtime, kubeconfig, server)
      : server !== undefined
        ? contextTransport(runtime, { server: { server }, impersonate: {} })
        : inClusterTransport(runtime, process.env)
  const patient = <T extends Transport>(transport: T): T => ({
    ...transport,
    ...timedTransport(runtime, transport, PATIENCE_MS, false),
  })
  return { ...access, transport: patient(access.transport), anonymous: patient(access.anonymous) }
}

/** A URL, or a host that is asked by plain HTTP. */
function serverOf(master: string): string {
  const url = master.includes('://') ? master : `http://${master}`
  if (!URL.canParse(url)) throw new FlagError(notAServer(master))
  return url
}

const notAServer = (server: string) => `host must be a URL or a host:port pair: ${JSON.stringify(server)}`

/** The kubeconfig that says how the API server is reached. @throws Error in the counterparts' words for a wrong one */
export function judgedKubeconfig(file: string | undefined, master?: string): KubeconfigText | undefined {
  const isPod = process.env['KUBERNETES_SERVICE_HOST'] && process.env['KUBERNETES_SERVICE_PORT']
  if (file === undefined && master === undefined && !isPod) throw new Error(NO_CONFIGURATION)
  if (file === undefined) return undefined
  const kubeconfig = kubeconfigText(file)
  const why = kubeconfigProblem(kubeconfig, master !== undefined)
  if (why !== undefined) throw new Error(why)
  return kubeconfig
}

/** What is wrong with a client for it: noticed when one is made. @throws Error in the counterparts' words */
export function judgeConnection(
  kubeconfig: KubeconfigText | undefined,
  master: string | undefined,
  limits: { readonly qps: number; readonly burst: number },
): void {
  if (limits.qps > 0 && limits.burst <= 0)
    throw new Error(
      'burst is required to be greater than 0 when RateLimiter is not set and QPS is set to greater than 0',
    )
  const { server = '', ca, authProvider, execProblem } = kubeconfig === undefined ? {} : connectionIn(kubeconfig)
  const asked = master ?? server
  if (asked.includes('://') && !URL.canParse(asked)) throw new Error(notAServer(asked))
  if (execProblem !== undefined) throw new Error(execProblem)
  if (ca !== undefined) rootCertificates(ca)
  if (authProvider !== undefined) throw new Error(`no Auth Provider found for name ${JSON.stringify(authProvider)}`)
}

/** As client-go: a negative rate is none, and nothing waits. */
export const limitedBy = (
  runtime: Runtime,
  transport: Transport,
  limits: { readonly qps: number; readonly burst: number },
): Transport => (limits.qps < 0 ? transport : limitedTransport(runtime, transport, limits))

/** A line when something is wrong, again when it is something else, or after a while. */
export function complaints({ runtime, say }: Pick<ComponentProcess, 'runtime' | 'say'>): (line: string) => void {
  let last = ''
  let at = 0
  return (line) => {
    const now = runtime.clock.monotonic()
    if (line === last && now - at < SAY_AGAIN_MS) return
    last = line
    at = now
    say(line)
  }
}

/** What no waiting mends. */
const WRONG_CERTIFICATE = /^(UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|CERT_|ERR_TLS_CERT_|HOSTNAME_MISMATCH|INVALID_)/

/** Whether the request failed since the server's certificate is not one of the authority that was given. */
export const isUntrusted = (error: unknown): boolean =>
  WRONG_CERTIFICATE.test(String((error as NodeJS.ErrnoException | undefined)?.code ?? ''))

/** Resolves when the API server answers and believes the credentials. @throws Error for a certificate that is not to be trusted */
export async function untilAnswered(
  { transport, server }: KubeconfigTransport,
  process: ComponentProcess,
  signal: AbortSignal,
): Promise<void> {
  const { runtime } = process
  const complain = complaints(process)
  const client = createClient(runtime, timedTransport(runtime, transport, ASK_MS, false), { userAgent: 'skiff' })
  for (;;) {
    signal.throwIfAborted()
    try {
      const { status } = await client.raw('GET', '/version')
      if (status < 400) return
      if (status === 401) complain(`the API server ${server} does not know who asks (401 Unauthorized); trying again`)
      else if (status === 403) return
      else complain(`the API server ${server} answers ${status}; trying again`)
    } catch (error) {
      if (isUntrusted(error))
        throw new Error(`the certificate of ${server} is not to be trusted: ${messageOf(error)}`, { cause: error })
      complain(`the API server ${server} does not answer: ${messageOf(error)}; trying again`)
    }
    await sleep(runtime.clock, ASK_AGAIN_MS, signal)
  }
}
