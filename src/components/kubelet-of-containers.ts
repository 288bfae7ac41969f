/**
 * skiff kubelet --container-runtime-endpoint: a node of real containers of any cluster, as a process of its own. As with kubelet, the pods'
 * network, the ways to Services and names are made by others; its containers run on when it stops, and its next start finds them.
 */
import { cpus } from 'node:os'
import { resolve } from 'node:path'
import { messageOf } from '../base/errors.ts'
import type { Client } from '../client/client.ts'
import type { KubeconfigText } from '../client/kubeconfig-text.ts'
import { realPath } from '../cluster/real-node.ts'
import { type EvictionFlags, evictionConfig, withDefaultHard } from '../kubelet/eviction/thresholds.ts'
import { DEFAULT_IMAGE_GC, type ImageGcPolicy } from '../kubelet/images/image-gc.ts'
import { checkMachine } from '../kubelet/machine/machine-requirements.ts'
import { prepareNodeOfOthers } from '../kubelet/machine/prepare-node.ts'
import { startRealNode } from '../kubelet/machine/real-node.ts'
import type { NodeSettings } from '../kubelet/node-settings.ts'
import { KUBELET_PORT } from '../kubelet/server/server.ts'
import type { ManifestPeriods } from '../kubelet/static-pods/manifest-sources.ts'
import { FlagError, type ReadFlags } from './flags.ts'
import { describedKubelet, describedRealKubelet } from './kubelet-configuration/told.ts'
import { configurationOfValues } from './kubelet-configuration/values.ts'
import {
  addressTowards,
  clientAuthority,
  healthzOf,
  hostOf,
  keepServingCertificate,
  servingCertificate,
} from './kubelet-server.ts'
import type { ComponentProcess } from './process.ts'

export interface NodeToStart {
  readonly client: Client
  readonly nodeName: string
  /** Of the API server. */
  readonly server: string
  readonly kubeconfig: KubeconfigText | undefined
  readonly signal: AbortSignal
  readonly settings: NodeSettings
  readonly manifestPeriods: ManifestPeriods
}

/** kubelet's own defaults. */
const ROOT = '/var/lib/kubelet'
const MOST_PODS = 110

/** Resolves once the node is Ready. @throws FlagError, Error in a line for each thing that the machine lacks */
export async function startKubeletOfContainers(
  flags: ReadFlags,
  process: ComponentProcess,
  { client, nodeName, kubeconfig, server, signal, settings, manifestPeriods }: NodeToStart,
): Promise<void> {
  const eviction = evictionOf(flags)
  const runtime = { ...process.runtime, log: process.runtime.log.named('kubelet') }
  const clientCa = clientAuthority(flags, kubeconfig)
  if (clientCa === undefined)
    throw new FlagError('--client-ca-file is not given, and the kubeconfig names no authority of the cluster')
  const { runtime: found, problems } = await checkMachine(runtime.clock, flags.text('container-runtime-endpoint'), {
    hasNetworkOfOthers: true,
  })
  if (problems.length > 0 || found === undefined)
    throw new Error(['this machine cannot run real containers yet:', ...problems].join('\n  '))
  const nodeIP = flags.text('node-ip') ?? (await addressTowards(server, runtime))
  if (nodeIP === undefined) throw new Error(`the API server at ${server} is not reached: say --node-ip`)
  const prepared = prepareNodeOfOthers({
    runtime,
    nodeName,
    found,
    // What is mounted below is found by comparing paths with those that the kernel knows.
    directory: realPath(resolve(flags.text('root-dir') ?? ROOT)),
    nodeIP,
  })
  const clusterDomain = flags.text('cluster-domain')
  const node = await startRealNode({
    ...settings,
    ...describedKubelet(flags),
    ...describedRealKubelet(flags),
    imageGc: imageGcOf(flags),
    configuration: configurationOfValues(flags.values),
    ...(eviction === undefined ? {} : { eviction }),
    runtime,
    client,
    signal,
    prepared,
    dnsServers: flags.list('cluster-dns') ?? [],
    ...(clusterDomain === undefined || clusterDomain === '' ? {} : { clusterDomain }),
    maxPods: mostPods(flags),
    listen: { host: hostOf(flags, nodeIP), port: flags.number('port') ?? KUBELET_PORT },
    healthz: healthzOf(flags),
    certificate: (hosts) => ({ ...servingCertificate(flags, { runtime, nodeName }, hosts), clientCa }),
    keepCertificate: (hosts, show) =>
      keepServingCertificate(flags, { runtime, client, nodeName, say: process.say, signal, clientCa }, hosts, show),
    manifestPeriods,
  })
  process.onStop(() => node.leave())
}

/** With --pods-per-core no more than so many for each of the machine's CPUs. */
function mostPods(flags: ReadFlags): number {
  const [most, perCore] = [flags.number('max-pods') ?? MOST_PODS, flags.number('pods-per-core') ?? 0]
  return perCore === 0 ? most : Math.min(most, perCore * cpus().length)
}

const imageGcOf = (flags: ReadFlags): Partial<ImageGcPolicy> => ({
  imageGCHighThresholdPercent: flags.number('image-gc-high-threshold') ?? DEFAULT_IMAGE_GC.imageGCHighThresholdPercent,
  imageGCLowThresholdPercent: flags.number('image-gc-low-threshold') ?? DEFAULT_IMAGE_GC.imageGCLowThresholdPercent,
  imageMinimumGCAgeMs: flags.ms('minimum-image-ttl-duration'),
  imageMaximumGCAgeMs: flags.ms('imageMaximumGCAge'),
})

/** Of --eviction-hard and its like. */
function evictionOf(flags: ReadFlags): EvictionFlags | undefined {
  const [hard, evictionSoft] = [flags.list('eviction-hard')?.join(), flags.list('eviction-soft')?.join()]
  const evictionHard = hard !== undefined && flags.bool('mergeDefaultEvictionSettings') ? withDefaultHard(hard) : hard
  const grace = flags.list('eviction-soft-grace-period')?.join()
  const reclaim = flags.list('eviction-minimum-reclaim')?.join()
  const transition = flags.text('eviction-pressure-transition-period')
  const most = flags.number('eviction-max-pod-grace-period')
  const eviction: EvictionFlags = {
    ...(evictionHard === undefined ? {} : { evictionHard }),
    ...(evictionSoft === undefined ? {} : { evictionSoft }),
    ...(grace === undefined ? {} : { evictionSoftGracePeriod: grace }),
    ...(reclaim === undefined ? {} : { evictionMinimumReclaim: reclaim }),
    ...(transition === undefined
      ? {}
      : { evictionPressureTransitionPeriodMs: flags.ms('eviction-pressure-transition-period') }),
    ...(most === undefined ? {} : { evictionMaxPodGracePeriod: most }),
  }
  try {
    evictionConfig(eviction)
  } catch (cause) {
    throw new FlagError(messageOf(cause), { cause })
  }
  return Object.keys(eviction).length === 0 ? undefined : eviction
}
