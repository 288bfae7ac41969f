/** node-options: what a cluster's options say of its nodes: the ranges of their pods, their static pods, and which of them need real containers. */

import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { overlap, parseIPRange } from '../api/objects/ip-range.ts'
import type { ServiceNetwork } from '../apiserver/registry/allocators/service-network.ts'
import { messageOf } from '../base/errors.ts'
import { nodeMaskSizeOf, nodeRanges } from '../controllers/node-ipam/node-ranges.ts'
import { evictionConfig } from '../kubelet/eviction/thresholds.ts'
import { imageGcPolicy } from '../kubelet/images/image-gc.ts'
import { type NodeSettings, nodeSettings } from '../kubelet/node-settings.ts'
import { checkRealRanges, simulatedNetwork } from '../kubelet/pod-addresses.ts'
import { shutdownGroupsOf } from '../kubelet/shutdown/shutdown-groups.ts'
import { checkManifestUrl } from '../kubelet/static-pods/manifest-url.ts'
import { checkUnsafeSysctls } from '../kubelet/sysctls.ts'
import type { ClusterOptions } from './cluster-options.ts'
import type { ClusterDirectory } from './directory.ts'
import { StartError } from './errors.ts'
import { fromFlags } from './read-file.ts'

/** @throws StartError for ranges of other families than the Services', without room for the nodes, too large, or with addresses of Services */
export function clusterCidrsOf(
  { clusterCidr, containerRuntime }: ClusterOptions,
  network: ServiceNetwork,
  nodes: number,
): readonly string[] | undefined {
  if (clusterCidr === undefined) return undefined
  const clusterCidrs = clusterCidr.split(',')
  try {
    const families = network.ranges.map(({ family }) => family)
    if (containerRuntime === 'cri') checkRealRanges({ families, clusterCidrs, nodes })
    else simulatedNetwork({ families, clusterCidrs, nodes })
    for (const cidr of clusterCidrs) {
      nodeRanges(cidr, nodeMaskSizeOf(cidr))
      for (const services of network.ranges) {
        const range = parseIPRange(cidr)
        if (range !== undefined && overlap(range, services))
          throw new Error(`${cidr} and the range of Services, ${services.cidr}, have addresses in common`)
      }
    }
  } catch (cause) {
    throw new StartError(`--cluster-cidr: ${messageOf(cause)}`, { cause })
  }
  return clusterCidrs
}

/**
 * Nodes of real containers evict pods later than a kubelet does of itself: on the disk of a laptop or of a CI machine a twentieth is
 * often all that is free.
 */
const EVICTION_HARD =
  'memory.available<100Mi,nodefs.available<5%,nodefs.inodesFree<5%,imagefs.available<5%,imagefs.inodesFree<5%'

/** What the nodes of a cluster that runs here are told. */
export function settingsOfNodes(options: ClusterOptions): NodeSettings {
  const settings = nodeSettings(options)
  if (options.containerRuntime !== 'cri') return settings
  return { ...settings, eviction: { evictionHard: EVICTION_HARD, ...settings.eviction } }
}

/** What the nodes run as static pods. */
export function staticPodManifests(
  { podManifestPath }: ClusterOptions,
  { manifests }: ClusterDirectory,
): Pick<NodeSettings, 'podManifestPath'> {
  const path = podManifestPath ?? (existsSync(manifests) ? manifests : undefined)
  return path === undefined ? {} : { podManifestPath: resolve(path) }
}

/** @throws StartError for what cannot be read, or would change nothing */
export function checkNodeOptions({
  eviction,
  imageGc,
  manifestUrl,
  containerRuntime,
  allowedUnsafeSysctls = [],
  shutdown,
}: ClusterOptions): void {
  if (eviction !== undefined && containerRuntime !== 'cri')
    throw new StartError('simulated nodes evict no pods: --eviction-… needs --runtime cri')
  if (imageGc !== undefined && containerRuntime !== 'cri')
    throw new StartError('simulated nodes have no images that take space: --image-… needs --runtime cri')
  if (shutdown !== undefined && containerRuntime !== 'cri')
    throw new StartError('no machine goes down under simulated nodes: --shutdown-grace-period… needs --runtime cri')
  fromFlags(() => evictionConfig(eviction))
  fromFlags(() => imageGcPolicy(imageGc))
  fromFlags(() => shutdownGroupsOf(shutdown ?? {}))
  fromFlags(() => checkUnsafeSysctls(allowedUnsafeSysctls))
  if (manifestUrl !== undefined) fromFlags(() => checkManifestUrl(manifestUrl))
}
