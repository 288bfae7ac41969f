/** skiff apiserver: the API server alone, under kube-apiserver's flags; its store is embedded, below --data-dir. */
import { patternError } from '../api/schema/structural/patterns.ts'
import { startCluster } from '../cluster/cluster.ts'
import { clusterDirectory, defaultDirectory, hold } from '../cluster/directory.ts'
import { DEFAULT_HOST } from '../cluster/options.ts'
import { FlagError, flagTable, type ReadFlags } from './flags.ts'
import { KUBE_APISERVER_FLAGS } from './kube-apiserver-flags.ts'
import { apiServerOptions } from './kube-apiserver-options.ts'
import { judgeCommandLine } from './kube-apiserver-rules.ts'
import type { ComponentCommand, ComponentProcess } from './process.ts'

/** Its own, and those of kube-apiserver's that stand for more here than where the store is memory. */
const OWN = flagTable(`
data-dir string used ${defaultDirectory() ?? ''}
etcd-cafile string used
etcd-certfile string used
etcd-keyfile string used
etcd-prefix string used
etcd-compaction-interval duration used 5m0s
lease-reuse-duration-seconds int used 60
`)
const ETCD = {
  'etcd-cafile': 'caFile',
  'etcd-certfile': 'certFile',
  'etcd-keyfile': 'keyFile',
  'etcd-prefix': 'prefix',
}

export const apiserver: ComponentCommand = {
  name: 'apiserver',
  counterpart: 'kube-apiserver',
  flags: new Map([...KUBE_APISERVER_FLAGS, ...OWN]),
  introduction:
    'The API server of skiff alone, under the flags of kube-apiserver: on loopback unless --bind-address is given, with a store of its own\nbelow --data-dir unless --etcd-servers is given.',
  judge: (values) => judgeCommandLine(values, { needsStoreAndKeys: false, patternError }),
  start,
}

const periodsOf = (flags: ReadFlags) => {
  const leaseReuseSeconds = flags.number('lease-reuse-duration-seconds')
  return {
    compactEveryMs: flags.ms('etcd-compaction-interval'),
    ...(leaseReuseSeconds === undefined ? {} : { leaseReuseSeconds }),
  }
}
/** Flags of etcd beside those that say where it is. */
const OF_ETCD = ['etcd-compaction-interval', 'lease-reuse-duration-seconds']

async function start(flags: ReadFlags, { onStop, say, fail }: ComponentProcess): Promise<void> {
  const { cluster: asked, warnings } = apiServerOptions(flags.values)
  for (const warning of warnings) say(`warning: ${warning}`)
  const servers = flags.list('etcd-servers')
  const given = Object.entries(ETCD).flatMap(([flag, option]) => {
    const value = flags.text(flag)
    return value === undefined ? [] : [[option, value] as const]
  })
  const first = [...Object.keys(ETCD), ...OF_ETCD].find((flag) => flags.values.has(flag))
  if (servers === undefined && first !== undefined) throw new FlagError(`--${first} needs --etcd-servers`)
  const dataDir = flags.text('data-dir')
  if (dataDir === undefined) throw new FlagError('this user has no home directory: --data-dir must be given')
  onStop(hold(clusterDirectory(dataDir)))
  const cluster = await startCluster({
    ...asked,
    host: flags.list('bind-address')?.at(-1) ?? DEFAULT_HOST,
    dataDir,
    directoryHeld: true,
    ...(servers === undefined
      ? {}
      : { etcd: { ...Object.fromEntries(given), ...periodsOf(flags), servers: servers.join(',') } }),
    onStoreState: (state) => {
      if (state.type === 'failed') fail(state.error.message)
      else say(state.type === 'well' ? 'the store takes writes again' : state.error.message)
    },
    onUnhandled: 'process',
  })
  onStop(cluster.stop)
  say(`serves on ${cluster.url}; the kubeconfig of its administrator is ${cluster.kubeconfigFile}`)
}
