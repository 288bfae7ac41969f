/** skiff controller-manager: the controllers against any Kubernetes API server, under kube-controller-manager's flags. */
import { setMaxListeners } from 'node:events'
import { readFileSync } from 'node:fs'
import type { SelfSubjectAccessReview } from '../api/generated/types.ts'
import { parseIPRange } from '../api/objects/ip-range.ts'
import type { UserInfo } from '../api/request.ts'
import { jwtKey, signJwt } from '../apiserver/auth/jwt.ts'
import { certificatesOf } from '../apiserver/auth/x509.ts'
import { messageOf } from '../base/errors.ts'
import type { Client } from '../client/client.ts'
import { fencedTransport } from '../client/held-transports.ts'
import { bearerTransport } from '../client/kubeconfig-transport.ts'
import type { Leadership } from '../client/leader-election.ts'
import { createServiceAccountTokenSource } from '../client/service-account-tokens.ts'
import { createClient, type Transport } from '../client/transport.ts'
import { issueForRequest } from '../cluster/certificate.ts'
import { readIssuer } from '../cluster/issuer.ts'
import type { ControllerSettings } from '../controllers/controller.ts'
import { graphPage } from '../controllers/graph-page.ts'
import {
  type ControllerManager,
  type ControllerManagerOptions,
  controllerManagerUser,
  startControllerManager,
} from '../controllers/manager.ts'
import type { ClusterRange } from '../controllers/node-ipam/node-ipam-controller.ts'
import { nodeRanges } from '../controllers/node-ipam/node-ranges.ts'
import type { HealthCheck } from '../http/health-pages.ts'
import { accessOfFlags, limitedBy, untilAnswered } from './access.ts'
import { autoscalerOptionsOf } from './autoscaler-options.ts'
import { chosenControllers, syncsOf } from './chosen-controllers.ts'
import { FlagError, type ReadFlags } from './flags.ts'
import { KUBE_CONTROLLER_MANAGER_FLAGS } from './kube-controller-manager-flags.ts'
import { election, electionOfFlags } from './leading.ts'
import type { ComponentCommand, ComponentProcess } from './process.ts'
import { serve } from './serving.ts'

const NAME = 'kube-controller-manager'
const PORT = 10257
const QPS = 20
const BURST = 30
const SERVICE_ACCOUNT = 'system:serviceaccount:kube-system:'

export const controllerManager: ComponentCommand = {
  name: 'controller-manager',
  counterpart: NAME,
  flags: KUBE_CONTROLLER_MANAGER_FLAGS,
  introduction: `The controllers of skiff against any Kubernetes API server, under the flags of ${NAME}.`,
  start,
}

async function start(flags: ReadFlags, process: ComponentProcess): Promise<void> {
  const { runtime, onStop, fail } = process
  const settings = electionOfFlags(flags, NAME)
  const given = settingsOf(flags, process)
  const access = accessOfFlags(flags, process)
  const limits = { qps: flags.number('kube-api-qps') || QPS, burst: flags.number('kube-api-burst') || BURST }
  let manager: ControllerManager | undefined
  const stopping = new AbortController()
  setMaxListeners(0, stopping.signal)
  const elected = election(settings, process, access.transport, { component: NAME, userAgent: NAME })
  const checks: HealthCheck[] = [elected.check]
  await serve(flags, process, {
    port: PORT,
    name: NAME,
    checks,
    pages: [graphPage(() => manager?.garbageCollector)],
  })
  onStop(() => stopping.abort())
  await untilAnswered(access, process, stopping.signal)
  const leadership = await elected.won()
  // Stopped before the Lease is given back: the one that takes it works alone.
  onStop(() => stopping.abort())
  leadership?.ended.addEventListener('abort', () => stopping.abort())
  const transports = { own: held(access.transport, leadership), anonymous: held(access.anonymous, leadership) }
  const limited = (transport: Transport) => limitedBy(runtime, transport, limits)
  const manage = createClient(runtime, limited(transports.own), { userAgent: NAME })
  const tokens = flags.bool('use-service-account-credentials')
    ? createServiceAccountTokenSource(runtime, manage, 'kube-system')
    : undefined
  if (tokens === undefined) await sayWhatIsForbidden(manage, process)
  const transportFor = ({ name }: UserInfo): Transport => {
    if (tokens === undefined || name === controllerManagerUser.name) return transports.own
    const { get, refused } = tokens.of(name.slice(SERVICE_ACCOUNT.length))
    return bearerTransport(transports.anonymous, get, refused)
  }
  try {
    manager = await startControllerManager({
      runtime: { ...runtime, log: runtime.log.named('controllers') },
      clientFor: ({ user, userAgent }) => createClient(runtime, limited(transportFor(user)), { userAgent, user }),
      ...given,
      signal: stopping.signal,
    })
  } catch (error) {
    if (stopping.signal.aborted) return
    fail(`the controllers cannot start: ${messageOf(error)}`)
    return
  }
  for (const name of manager.names) checks.push({ name, endpoints: ['healthz'], check: () => {} })
  runtime.log.info(0, 'The controllers run', { controllers: manager.names.length })
}

const SELF_REVIEWS = { group: 'authorization.k8s.io', version: 'v1', resource: 'selfsubjectaccessreviews' }

/** The user of kube-controller-manager may read everything and change next to nothing: each write would be refused, and seen in no line. */
async function sayWhatIsForbidden(client: Client, { runtime, say }: ComponentProcess): Promise<void> {
  const review: SelfSubjectAccessReview = {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SelfSubjectAccessReview',
    metadata: {},
    spec: { resourceAttributes: { verb: 'delete', resource: 'pods' } },
  }
  try {
    const { status } = await client.resource<SelfSubjectAccessReview>(SELF_REVIEWS).create(review)
    if (status?.allowed === true) return
    say(
      'warning: this user may not delete pods, so what the controllers do will be refused: --use-service-account-credentials lets each of them ask as its own account',
    )
  } catch (error) {
    runtime.log.info(0, 'What this user may do is not known', { err: messageOf(error) })
  }
}

const held = (transport: Transport, leadership: Leadership | undefined): Transport =>
  leadership === undefined ? transport : fencedTransport(transport, leadership)

type Given = Omit<ControllerManagerOptions, 'runtime' | 'clientFor' | 'signal'>

/** @throws FlagError, Error in one line */
function settingsOf(flags: ReadFlags, { runtime }: ComponentProcess): Given {
  const rootCa = fileOf(flags, 'root-ca-file', (text) => certificatesOf(text))
  const signingKey = fileOf(flags, 'service-account-private-key-file', jwtKey)
  const [cert, key] = [fileOf(flags, 'cluster-signing-cert-file'), fileOf(flags, 'cluster-signing-key-file')]
  if ((cert === undefined) !== (key === undefined))
    throw new FlagError('--cluster-signing-cert-file and --cluster-signing-key-file are given together')
  const authority = cert && key ? { cert: cert.text, key: key.text } : undefined
  if (authority !== undefined)
    saying(`--cluster-signing-cert-file ${flags.text('cluster-signing-cert-file')}`, () => readIssuer(authority))
  const signingSeconds = flags.ms('cluster-signing-duration') / 1000
  if (signingSeconds <= 0) throw new FlagError('--cluster-signing-duration must be greater than 0')
  return {
    controllers: chosenControllers(flags.list('controllers'), flags.bool('enable-garbage-collector')),
    concurrentSyncs: syncsOf(flags),
    settings: {
      certificateSigning: { longestSeconds: signingSeconds },
      nodeLifecycle: {
        gracePeriodMs: flags.ms('node-monitor-grace-period'),
        monitorPeriodMs: flags.ms('node-monitor-period'),
        startupGracePeriodMs: flags.ms('node-startup-grace-period'),
      },
      ...nodeIpamOf(flags),
      attachDetach: { isForcedDetachOff: flags.bool('disable-force-detach-on-timeout') },
      legacyTokenCleanUpMs: flags.ms('legacy-service-account-token-clean-up-period'),
      podAutoscaler: autoscalerOptionsOf(flags),
      podGarbageCollector: { terminatedPodThreshold: flags.number('terminated-pod-gc-threshold') ?? 0 },
    },
    ...(rootCa === undefined ? {} : { rootCa: rootCa.text }),
    ...(signingKey === undefined ? {} : { signToken: (claims) => signJwt(signingKey.value, claims) }),
    ...(authority === undefined ? {} : { signCertificate: (request) => issueForRequest(runtime, request, authority) }),
  }
}

/** @throws FlagError */
function nodeIpamOf(flags: ReadFlags): Pick<ControllerSettings, 'nodeIpam'> {
  if (!flags.bool('allocate-node-cidrs')) return {}
  const cidrs = flags.text('cluster-cidr')?.split(',') ?? []
  const families = cidrs.map((cidr) => parseIPRange(cidr)?.family)
  const [first, second] = families
  if (cidrs.length === 0)
    throw new FlagError('--allocate-node-cidrs needs --cluster-cidr: a range, or one of IPv4 and one of IPv6')
  if (cidrs.length > 2 || (cidrs.length === 2 && (first === second || first === undefined || second === undefined)))
    throw new FlagError(`--cluster-cidr ${cidrs.join()}: two ranges at most, of different families`)
  const oneSize = flags.number('node-cidr-mask-size')
  if (oneSize && cidrs.length > 1)
    throw new FlagError(
      '--node-cidr-mask-size is of one family: say --node-cidr-mask-size-ipv4 and --node-cidr-mask-size-ipv6',
    )
  const clusterRanges = cidrs.map((cidr, i): ClusterRange => {
    const [flag, usual] = families[i] === 'IPv6' ? (['ipv6', 64] as const) : (['ipv4', 24] as const)
    const nodeMaskSize = flags.number(`node-cidr-mask-size-${flag}`) || oneSize || usual
    try {
      nodeRanges(cidr, nodeMaskSize)
    } catch (cause) {
      throw new FlagError(`--cluster-cidr: ${messageOf(cause)}`)
    }
    return { cidr, nodeMaskSize }
  })
  return { nodeIpam: { clusterRanges, reserved: flags.text('service-cluster-ip-range')?.split(',') ?? [] } }
}

function fileOf<T>(
  flags: ReadFlags,
  name: string,
  parse?: (text: string) => T,
): { readonly text: string; readonly value: T } | undefined {
  const file = flags.text(name)
  if (file === undefined) return undefined
  return saying(`--${name} ${file}`, () => {
    const text = readFileSync(file, 'utf8')
    return { text, value: parse?.(text) as T }
  })
}

function saying<T>(what: string, act: () => T): T {
  try {
    return act()
  } catch (cause) {
    throw new Error(`${what}: ${messageOf(cause)}`, { cause })
  }
}
