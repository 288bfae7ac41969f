/** The cluster's node of real containers: looked at before anything starts, started with the components, taken down with them. */
import { existsSync, realpathSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { messageOf } from '../base/errors.ts'
import { liveRuntime } from '../base/live.ts'
import type { Runtime } from '../base/runtime.ts'
import type { Client } from '../client/client.ts'
import type { FoundRuntime } from '../kubelet/machine/machine-requirements.ts'
import type { RealNode } from '../kubelet/machine/real-node.ts'
import { issue } from './certificate.ts'
import { StartError } from './errors.ts'
import { nodeName } from './nodes.ts'
import type { Pki } from './pki.ts'

export interface RealNodeChoice {
  readonly found: FoundRuntime
  /** Where the node keeps what it has. */
  readonly directory: string
}

/**
 * Below the cluster's own directory, by the path that the kernel knows it by: what is mounted below is found by comparing paths, and
 * one that leads over a symbolic link would find nothing.
 */
export const nodeDirectory = (dataDir: string, name: string): string => join(realPath(dataDir), 'kubelet', name)

/** Also of what is not there yet. */
function realPath(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    const parent = dirname(path)
    return parent === path ? path : join(realPath(parent), basename(path))
  }
}

/** @throws StartError with a line for each thing that the machine lacks */
export async function findContainerRuntime(endpoint: string | undefined, nodes: number): Promise<FoundRuntime> {
  if (nodes > 1) throw new StartError(`--runtime cri runs one node on this machine, not ${nodes}`)
  const { checkMachine } = await import('../kubelet/machine/machine-requirements.ts')
  const { runtime, problems } = await checkMachine(liveRuntime().clock, endpoint)
  if (problems.length > 0 || runtime === undefined)
    throw new StartError(['this machine cannot run real containers yet:', ...problems].join('\n  '))
  return runtime
}

/** The node of a cluster whose process was killed: false where nothing of it is left. @throws StartError */
export async function takeDownLeftNode(dataDir: string): Promise<boolean> {
  const directory = nodeDirectory(dataDir, nodeName(0))
  if (!existsSync(directory)) return false
  const { takeDownNode } = await import('../kubelet/machine/real-node.ts')
  // A live timer keeps no process alive by itself.
  const awake = new BroadcastChannel('skiff down')
  try {
    await takeDownNode(liveRuntime(), directory)
  } catch (cause) {
    throw new StartError(messageOf(cause), { cause })
  } finally {
    awake.close()
  }
  return true
}

/** @throws StartError */
export async function startNode(
  runtime: Runtime,
  name: string,
  client: Client,
  { found, directory }: RealNodeChoice,
  pki: Pick<Pki, 'ca'>,
  signal: AbortSignal,
): Promise<RealNode> {
  const { startRealNode } = await import('../kubelet/machine/real-node.ts')
  try {
    const certificate = (hosts: readonly string[]) => {
      const commonName = `system:node:${name}`
      const serving = issue(
        runtime,
        { commonName, organizations: ['system:nodes'], usage: 'server', hosts, validDays: 365 },
        pki.ca,
      )
      return { ...serving, clientCa: pki.ca.cert }
    }
    return await startRealNode({ runtime, client, nodeName: name, signal, found, directory, certificate })
  } catch (cause) {
    throw new StartError(`the node cannot start: ${messageOf(cause)}`, { cause })
  }
}
