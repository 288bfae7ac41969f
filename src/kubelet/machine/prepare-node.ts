/** What a node of real containers has of its machine before it starts: its record and its network. */
import { familyOf } from '../../api/values/ip.ts'
import type { GivenRanges } from './network-ranges.ts'
import { type RecordedOptions, recordOf } from './node-record.ts'
import { type PodNetwork, setUpNetwork } from './pod-network.ts'

export interface PrepareOptions extends RecordedOptions {
  /** Default: chosen by what this machine routes. */
  readonly ranges?: readonly GivenRanges[]
  /** What pods of all nodes are to have their addresses of, where this node is the first. Default: chosen likewise. */
  readonly clusterRanges?: readonly string[]
  /** Other nodes will have addresses of the cluster's range. */
  readonly hasOtherNodes?: boolean
  /** What is known of images is kept there, as long as they are, beyond the node's end. */
  readonly imagesDirectory: string
}

/** A machine whose network is there, so that servers can listen on it before the first pod comes. */
export interface PreparedNode extends Pick<PrepareOptions, 'nodeName' | 'found' | 'directory' | 'imagesDirectory'> {
  readonly cluster: string
  readonly network: PodNetwork
}

/** Whatever becomes of it, `takeDownNode` ends it. @throws Error when the machine does not let it */
export function prepareNode(options: PrepareOptions): PreparedNode {
  const {
    found,
    directory,
    imagesDirectory,
    nodeName,
    serviceRanges,
    ranges,
    clusterRanges,
    hasOtherNodes = false,
  } = options
  const { cluster } = recordOf(options)
  return {
    found,
    directory,
    imagesDirectory,
    nodeName,
    cluster,
    network: setUpNetwork({
      runtime: found,
      cluster,
      directory,
      serviceRanges,
      hasOtherNodes,
      ...(ranges === undefined ? {} : { ranges }),
      ...(clusterRanges === undefined ? {} : { clusterRanges }),
    }),
  }
}

/** A node on a machine whose network others make: nothing of it is touched. @throws Error */
export function prepareNodeOfOthers(
  options: Pick<PrepareOptions, 'runtime' | 'nodeName' | 'found' | 'directory'> & { readonly nodeIP: string },
): PreparedNode {
  const { found, directory, nodeName, nodeIP } = options
  const none = { podCIDR: undefined, podRanges: [], clusterRange: undefined, nodeRange: undefined }
  const family = familyOf(nodeIP) ?? 'IPv4'
  const { cluster } = recordOf({ ...options, serviceRanges: [] })
  return {
    found,
    directory,
    imagesDirectory: directory,
    nodeName,
    cluster,
    network: [{ family, nodeIP, address: nodeIP, ...none }],
  }
}
