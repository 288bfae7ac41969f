/** The cluster's simulated nodes: one kubelet each, skiff-1 and up, under its own user. */
import type { UserInfo } from '../api/request.ts'
import type { Runtime } from '../base/runtime.ts'
import type { Client } from '../client/client.ts'

export const nodeName = (index: number): string => `skiff-${index + 1}`

export function nodeUser(name: string): UserInfo {
  return { name: `system:node:${name}`, groups: ['system:nodes', 'system:authenticated'] }
}

/** Resolves when all nodes are registered and Ready. */
export async function startNodes(
  runtime: Runtime,
  count: number,
  clientFor: (user: UserInfo, userAgent?: string) => Client,
  signal: AbortSignal,
): Promise<void> {
  const { startKubelet } = await import('../kubelet/kubelet.ts')
  const { nodeIPOf, podCIDROf } = await import('../kubelet/pod-addresses.ts')
  const own = { ...runtime, log: runtime.log.named('kubelet') }
  await Promise.all(
    Array.from({ length: count }, (_, index) => {
      const name = nodeName(index)
      const client = clientFor(nodeUser(name), 'kubelet')
      return startKubelet({
        runtime: own,
        client,
        nodeName: name,
        nodeIP: nodeIPOf(index),
        podCIDR: podCIDROf(index),
        signal,
      })
    }),
  )
}
