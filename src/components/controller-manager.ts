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
import {
  CONTROLLER_NAMES,
  type ControllerManager,
  controllerManagerUser,
  startControllerManager,
} from '../controllers/manager.ts'
import type { HealthCheck } from '../http/health-pages.ts'
import { accessOf, judgeConnection, judgedKubeconfig, limitedBy, untilAnswered } from './access.ts'
import { type RateLimits, rateLimitsOf } from './controller-limits.ts'
import { controllerManagerConfigz } from './controller-manager-configz.ts'
import { type ControllerOptions, controllerOptions } from './controller-options.ts'
import type { ReadFlags } from './flags.ts'
import { KUBE_CONTROLLER_MANAGER_FLAGS } from './kube-controller-manager-flags.ts'
import { judgeControllerManagerLine } from './kube-controller-manager-rules.ts'
import { divided, judgeLeases, leaderMigrationOfFlags, runUnderLeases } from './leader-migration.ts'
import { createElections, electionOfFlags } from './leading.ts'
import type { ComponentCommand, ComponentProcess } from './process.ts'
import { serve, usualOf } from './serving.ts'
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
  const migration = leaderMigrationOfFlags(flags)
  const files = servingFiles(flags, KUBE_CONTROLLER_MANAGER_FLAGS, made)
  if (files?.whyNoHttp2 !== undefined) throw new Error(files.whyNoHttp2)
  const settings = electionOfFlags(flags, NAME)
  const given = controllerOptions(flags, runtime)
  if (migration !== undefined) judgeLeases(migration, settings)
  return { files, kubeconfig, limits, settings, migration, given }
}

async function start(flags: ReadFlags, process: ComponentProcess): Promise<void> {
  const { runtime, onStop } = process
  const { settings, given, files, kubeconfig, limits, migration } = controllerManagerOfFlags(runtime, flags)
  const access = accessOf(runtime, kubeconfig, flags.text('master'))
  onStop(() => access.transport.close())
  const stopping = new AbortController()
  const elections = createElections(settings, process, access.transport, { component: NAME, userAgent: NAME })
  const checks: HealthCheck[] = [elections.check]
  const managers: ControllerManager[] = []
  const collector = () => managers.find(({ garbageCollector }) => garbageCollector !== undefined)?.garbageCollector
  if (files !== undefined)
    await serve(flags, process, files, {
      ...{ port: PORT, name: NAME, checks, pages: [graphPage(collector)] },
      configz: () => controllerManagerConfigz(flags, usualOf({ name: NAME, port: PORT })),
      ...{ table: KUBE_CONTROLLER_MANAGER_FLAGS, paths: ['/configz', '/flagz', '/healthz', '/metrics'] },
    })
  onStop(() => stopping.abort())
  await untilAnswered(access, process, stopping.signal)
  const hasAccounts = flags.bool('use-service-account-credentials')
  /** Whether they run. */
  const run = async (leadership: Leadership | undefined, controllers = given.controllers) => {
    const options = controllers === undefined ? given : { ...given, controllers }
    const asking = { limits, hasAccounts, saysWhatIsForbidden: !hasAccounts && managers.length === 0 }
    const manager = await runControllers(process, access, leadership, asking, options)
    if (manager === undefined) return false
    managers.push(manager)
    for (const name of manager.names) checks.push({ name, endpoints: ['healthz'], check: () => {} })
    runtime.log.info(0, 'The controllers run', { controllers: manager.names.length })
    return true
  }
  const main = elections.of(settings.name)
  if (migration === undefined || !settings.enabled) {
    await run(await main.won())
    return
  }
  const controllers = divided(given.controllers ?? CONTROLLER_NAMES, migration)
  await runUnderLeases(controllers, { main, migrated: elections.of(migration.leaderName) }, run)
}

interface Asking {
  readonly limits: RateLimits
  readonly hasAccounts: boolean
  /** Once in a process. */
  readonly saysWhatIsForbidden: boolean
}

/** Undefined where the process has been told to stop, or ends because they cannot start. */
async function runControllers(
  process: ComponentProcess,
  access: ReturnType<typeof accessOf>,
  leadership: Leadership | undefined,
  { limits, hasAccounts, saysWhatIsForbidden }: Asking,
  options: ControllerOptions,
): Promise<ControllerManager | undefined> {
  const { runtime } = process
  const stopping = new AbortController()
  setMaxListeners(0, stopping.signal)
  // Stopped before the Lease is given back: the one that takes it works alone.
  process.onStop(() => stopping.abort())
  leadership?.ended.addEventListener('abort', () => stopping.abort())
  const transports = { own: held(access.transport, leadership), anonymous: held(access.anonymous, leadership) }
  const manage = createClient(runtime, limitedBy(runtime, transports.own, limits), { userAgent: NAME })
  const tokens = hasAccounts ? createServiceAccountTokenSource(runtime, manage, 'kube-system') : undefined
  if (saysWhatIsForbidden) await sayWhatIsForbidden(manage, process)
  const transportFor = ({ name }: UserInfo): Transport => {
    if (tokens === undefined || name === controllerManagerUser.name) return transports.own
    const { get, refused } = tokens.of(name.slice(SERVICE_ACCOUNT.length))
    return bearerTransport(transports.anonymous, get, refused)
  }
  try {
    return await startControllerManager({
      runtime: { ...runtime, log: runtime.log.named('controllers') },
      clientFor: ({ user, userAgent }) =>
        createClient(runtime, limitedBy(runtime, transportFor(user), rateLimitsOf(user.name, limits)), {
          userAgent,
          user,
        }),
      ...options,
      signal: stopping.signal,
    })
  } catch (error) {
    if (!stopping.signal.aborted) process.fail(`the controllers cannot start: ${messageOf(error)}`)
    return undefined
  }
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
