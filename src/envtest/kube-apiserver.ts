/**
 * kube-apiserver as the starters of tests know it (controller-runtime's envtest and its like): its flags, its health, its signals;
 * the objects are in this process and end with it.
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { messageOf } from '../base/errors.ts'
import { holdProcess, liveClock } from '../base/live-clock.ts'
import { collectWhenQuiet } from '../base/quiet-collection.ts'
import type { WithStore } from '../cluster/cluster.ts'
import type { Cluster } from '../cluster/cluster-options.ts'
import { KUBERNETES_VERSION } from '../cluster/version.ts'
import { FlagError, type FlagValues, parseFlags } from '../components/flags.ts'
import { KUBE_APISERVER_FLAGS } from '../components/kube-apiserver-flags.ts'
import { judgeCommandLine } from '../components/kube-apiserver-rules.ts'
import { ETCD_PAGES, ETCD_VERSION } from './etcd-pages.ts'
import type { EtcdHere } from './etcd-port.ts'
import { type HandedOver, readPlace, takeOver } from './hand-over.ts'
import { apiServerFlags } from './options.ts'
import { ancestorsOf, watchParent } from './parent.ts'
import { attach } from './store-link.ts'

/** How long requests may take to end when it is asked to go. */
const STOP_MS = 5_000

/** Runs until a signal comes or its parent or etcd is gone; exits 0 after a signal, 1 with one line when something is wrong. */
export async function kubeApiserver(args: readonly string[], env: NodeJS.ProcessEnv): Promise<void> {
  try {
    await run(args, env)
  } catch (error) {
    // In the words of kube-apiserver: those of its flags are told as they are, what it then does not get done as a failure.
    process.stderr.write(error instanceof FlagError ? `Error: ${error.message}\n` : `Error: ${messageOf(error)}\n`)
    process.exit(1)
  }
}

async function judgeOf(args: readonly string[]): Promise<(values: FlagValues) => void> {
  const hasExpressions = args.some((arg) => arg.startsWith('--cors-allowed-origins'))
  const { patternError } = hasExpressions
    ? await import('../api/schema/structural/patterns.ts')
    : { patternError: () => undefined }
  return (values) => judgeCommandLine(values, { needsStoreAndKeys: true, patternError })
}

async function run(args: readonly string[], env: NodeJS.ProcessEnv): Promise<void> {
  if (args.some((arg) => /^--version(=|$)/.test(arg))) {
    process.stdout.write(`Kubernetes ${KUBERNETES_VERSION}\n`)
    return
  }
  const release = holdProcess()
  const clock = liveClock()
  watchParent(clock, ancestorsOf(env), () => process.exit(1))
  const flags = apiServerFlags(
    parseFlags('kube-apiserver', KUBE_APISERVER_FLAGS, args, await judgeOf(args)),
    env['SKIFF_COMPONENTS'],
  )
  for (const warning of flags.warnings) process.stderr.write(`Warning: ${warning}\n`)
  const [{ startWithStore }, link] = await Promise.all([
    import('../cluster/cluster.ts'),
    attach(clock, flags.etcdServers, (line) => process.stderr.write(`${line}\n`)),
  ])
  const dataDir = ownDirectory(flags.certDir)
  const forget = () => rmSync(dataDir, { recursive: true, force: true })
  process.on('exit', forget)
  let stopping = false
  const cluster = await startWithStore({ ...flags.cluster, dataDir, onUnhandled: 'process' })
  process.stderr.write(`serving on ${cluster.url}\n`)
  collectWhenQuiet(clock)
  let port: HandedOver | undefined
  const stop = () => {
    if (stopping) return
    stopping = true
    clock.setTimer(STOP_MS, 'stop', () => process.exit(0))
    const end = () => {
      port?.close()
      link.close()
      release()
      process.exit(0)
    }
    cluster.stop().then(end, end)
  }
  process.on('SIGTERM', stop)
  process.on('SIGINT', stop)
  process.on('unhandledRejection', (error) => cluster.log.error('unhandled rejection', error))
  const lost = () => {
    if (stopping) return
    process.stderr.write('Error: etcd is gone, and what was stored with it\n')
    process.exit(1)
  }
  void link.gone.then(lost)
  const etcd = etcdOf(cluster, flags.etcdPrefix)
  link.serve(etcd.take)
  const place = readPlace(link.place, link.port)
  port = place === undefined ? undefined : await takeOver(clock, place, ETCD_PAGES, etcd)
  if (port === undefined) return
  void port.gone.then(lost)
  link.handedOver()
}

/** gRPC is loaded when the first of them comes: hardly any suite has one. */
function etcdOf({ servedEtcd, log }: WithStore & Pick<Cluster, 'log'>, prefix: string | undefined): EtcdHere {
  let served: ReturnType<WithStore['servedEtcd']> | undefined
  const serving = () => {
    served ??= servedEtcd(ETCD_VERSION, prefix)
    return served
  }
  return {
    take(connection) {
      serving().then(
        ({ take }) => take(connection),
        (error) => {
          log.error('what is stored cannot be shown to clients of etcd', error)
          connection.destroy()
        },
      )
    },
    json: async (path, body) => (await serving()).json(path, body),
    metrics: async () => (await serving()).metrics(),
  }
}

/** For keys and the log. Below the folder that the test that started it removes, also when this process is killed. */
function ownDirectory(certDir: string): string {
  try {
    mkdirSync(certDir, { recursive: true })
    return mkdtempSync(join(certDir, 'skiff-'))
  } catch {
    return mkdtempSync(join(tmpdir(), 'skiff-'))
  }
}
