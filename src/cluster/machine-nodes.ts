/** Nodes whose containers are real: this machine, and further ones in namespaces of their own. Their code is loaded only where there are any. */
import type { Runtime } from '../base/runtime.ts'
import type { PreparedNode } from '../kubelet/machine/prepare-node.ts'
import type { ClusterOptions } from './cluster-options.ts'
import type { ClusterDirectory } from './directory.ts'
import type { FurtherNodesOptions } from './namespaced-nodes/start-nodes.ts'
import type { RealNodeChoice, WantedNetwork } from './real-node.ts'

/** The node's network comes first: servers listen on it. It goes last. */
export async function prepareMachine(
  runtime: Runtime,
  { path }: ClusterDirectory,
  choice: RealNodeChoice,
  network: WantedNetwork,
  undo: (() => void | Promise<void>)[],
): Promise<PreparedNode> {
  const { endLeftNamespaces, prepareRealNode, takeDownLeftNodes } = await import('./real-node.ts')
  undo.push(async () => {
    await takeDownLeftNodes(path)
  })
  await endLeftNamespaces(path, false)
  return prepareRealNode(runtime, choice, network)
}

type FurtherNodesChoice = Omit<FurtherNodesOptions, 'runtime' | 'verbosity'>

export async function furtherNodesOf(runtime: Runtime, { logLevel = 0 }: ClusterOptions, choice: FurtherNodesChoice) {
  const { furtherNodes } = await import('./namespaced-nodes/start-nodes.ts')
  const { realPath } = await import('./real-node.ts')
  const own = { ...runtime, log: runtime.log.named('nodes') }
  return furtherNodes({ ...choice, runtime: own, dataDir: realPath(choice.dataDir), verbosity: logLevel })
}

export async function realNode(
  { path }: ClusterDirectory,
  endpoint: string | undefined,
  nodes: number,
  hasIPv6: boolean,
) {
  const { findContainerRuntime, keptDirectory, nodeDirectory, realPath } = await import('./real-node.ts')
  const { nodeName } = await import('./nodes.ts')
  const name = nodeName(0)
  return {
    found: await findContainerRuntime(endpoint, nodes, hasIPv6),
    directory: nodeDirectory(path, name),
    imagesDirectory: keptDirectory(realPath(path), name),
  }
}
