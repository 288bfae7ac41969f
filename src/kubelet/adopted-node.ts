/** A simulated node that takes the place of another one, as it is in a twin of a cluster: what its Node says of the machine stays. */
import type { Node } from '../api/generated/types.ts'
import type { Runtime } from '../base/runtime.ts'
import type { KubeletOptions } from './kubelet.ts'
import { createPodAddresses } from './pod-addresses.ts'
import type { ContainerManner } from './runtimes/simulated/manner.ts'
import { createSimulatedRuntime } from './runtimes/simulated/simulated-runtime.ts'

export interface NodeToAdopt {
  readonly as: Node
  readonly manner?: ContainerManner
  /** Of pods that come to it later. */
  readonly podCIDRs: readonly string[]
}

export function adoptedNode(
  runtime: Runtime,
  { as, manner, podCIDRs }: NodeToAdopt,
): Pick<
  KubeletOptions,
  'simulatedRuntime' | 'capacity' | 'nodeIPs' | 'kubeletVersion' | 'describe' | 'registersAgain'
> {
  const { capacity, addresses = [], nodeInfo } = as.status ?? {}
  const nodeIPs = addresses.filter(({ type }) => type === 'InternalIP').map(({ address }) => address)
  const [name = '', version = ''] = (nodeInfo?.containerRuntimeVersion ?? '').split('://')
  return {
    // One that is told how its containers end stands for a node that skiff does not simulate.
    registersAgain: manner === undefined,
    ...(capacity === undefined ? {} : { capacity }),
    ...(nodeIPs.length === 0 ? {} : { nodeIPs }),
    ...(nodeInfo === undefined
      ? {}
      : {
          kubeletVersion: nodeInfo.kubeletVersion,
          describe: () => ({
            architecture: nodeInfo.architecture,
            machineId: nodeInfo.machineID,
            bootId: nodeInfo.bootID,
          }),
        }),
    simulatedRuntime: createSimulatedRuntime(runtime, createPodAddresses(...podCIDRs), {
      ...(manner === undefined ? {} : { manner }),
      ...(name === '' ? {} : { version: { runtimeName: name, runtimeVersion: version } }),
    }),
  }
}
