/** skiff controller-manager: the controllers against any Kubernetes API server, under kube-controller-manager's flags. */
import { setMaxListeners } from 'node:events'
import type { SelfSubjectAccessReview } from '../api/generated/types.ts'
import type { UserInfo } from '../api/request.ts'
import { messageOf } from '../base/errors.ts'
import type { Runtime } from '../base/runtime.ts'
import type { Client } from '../client/client.ts'
import { fencedTransport } from '../client/held-transports.ts'
import { bearerTransport } from '../client/kubeconfig-transport.ts'
import type { Leadership } from '../client/leader-election.ts'
import { createServiceAccountTokenSource } from '../client/service-account-tokens.ts'
import { createClient, type Transport } from '../client/transport.ts'
import { graphPage } from '../controllers/graph-page.ts'
import { type ControllerManager, controllerManagerUser, startControllerManager } from '../controllers/manager.ts'
import type { HealthCheck } from '../http/health-pages.ts'
import { accessOf, judgeConnection, judgedKubeconfig, limitedBy, untilAnswered } from './access.ts'
import { controllerOptions } from './controller-options.ts'
import type { ReadFlags } from './flags.ts'
import { KUBE_CONTROLLER_MANAGER_FLAGS } from './kube-controller-manager-flags.ts'
import { judgeControllerManagerLine } from './kube-controller-manager-rules.ts'
import { election, electionOfFlags } from './leading.ts'
import type { ComponentCommand, ComponentProcess } from './process.ts'
import { serve } from './serving.ts'
import { madeCertificate, servingFiles } from './serving-files.ts'

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
  judge: judgeControllerManagerLine,
  start,
}

/** All that files and flags say, read and refused in kube-controller-manager's order. @throws FlagError, Error in one line */
export function controllerManagerOfFlags(runtime: Runtime, flags: ReadFlags) {
  const made = madeCertificate(runtime, flags, NAME)
  const master = flags.text('master')
  const kubeconfig = judgedKubeconfig(flags.text('kubeconfig'), master)
  const asked = { qps: flags.number('kube-api-qps') ?? QPS, burst: flags.number('kube-api-burst') ?? BURST }
  judgeConnection(kubeconfig, master, asked)
  const limits = { qps: asked.qps || QPS, burst: asked.burst || BURST }
  const files = servingFiles(flags, KUBE_CONTROLLER_MANAGER_FLAGS, made)
  if (files?.whyNoHttp2 !== undefined) throw new Error(files.whyNoHttp2)
  return { files, kubeconfig, limits, settings: electionOfFlags(flags, NAME), given: controllerOptions(flags, runtime) }
}

async function start(flags: ReadFlags, process: ComponentProcess): Promise<void> {
  const { runtime, onStop, fail } = process
  const { settings, given, files, kubeconfig, limits } = controllerManagerOfFlags(runtime, flags)
  const access = accessOf(runtime, kubeconfig, flags.text('master'))
  onStop(() => access.transport.close())
  let manager: ControllerManager | undefined
  const stopping = new AbortController()
  setMaxListeners(0, stopping.signal)
  const elected = election(settings, process, access.transport, { component: NAME, userAgent: NAME })
  const checks: HealthCheck[] = [elected.check]
  const pages = [graphPage(() => manager?.garbageCollector)]
  if (files !== undefined) await serve(flags, process, files, { port: PORT, name: NAME, checks, pages })
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
