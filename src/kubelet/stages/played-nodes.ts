/**
 * Nodes that users make for KWOK (annotation kwok.x-k8s.io/node: fake): their Leases are kept here, since there is no kubelet of theirs.
 * Everything else of them is what stages say.
 */
import type { Node } from '../../api/generated/types.ts'
import { heartOf, type Timer } from '../../base/clock.ts'
import { messageOf } from '../../base/errors.ts'
import type { Runtime } from '../../base/runtime.ts'
import type { Client } from '../../client/client.ts'
import type { EventHandlers } from '../../client/informer.ts'
import { createNodeLease, RENEW_MS } from '../node-lease.ts'

const ANNOTATION = 'kwok.x-k8s.io/node'
const RETRY_MS = 1000

export const isFakeNode = ({ metadata }: Node): boolean => metadata.annotations?.[ANNOTATION] === 'fake'

/** Handlers of all Nodes. */
export function keepLeases(runtime: Runtime, client: Client, signal: AbortSignal): EventHandlers<Node> {
  const { clock, log } = runtime
  const beats = new Map<string, { uid: string | undefined; timer?: Timer }>()

  function begin(node: Node): void {
    const name = node.metadata.name ?? ''
    if (beats.has(name) || !isFakeNode(node)) return
    const beat: { uid: string | undefined; timer?: Timer } = { uid: node.metadata.uid }
    beats.set(name, beat)
    const lease = createNodeLease(clock, client, name, () => beat.uid)
    const renew = () => {
      if (signal.aborted || beats.get(name) !== beat) return
      lease.renew().then(
        () => arm(RENEW_MS),
        (error) => {
          log.info(2, 'Failed to renew lease', { node: name, err: messageOf(error) })
          arm(RETRY_MS)
        },
      )
    }
    const arm = (ms: number) => {
      beat.timer = clock.setTimer(ms, 'node heartbeat', renew, { everyMs: RENEW_MS, keeps: heartOf(name) })
    }
    renew()
  }

  function end({ metadata: { name = '' } }: Node): void {
    beats.get(name)?.timer?.cancel()
    beats.delete(name)
  }

  return {
    added: begin,
    updated(old, node) {
      if (old.metadata.uid !== node.metadata.uid || !isFakeNode(node)) end(old)
      begin(node)
    },
    deleted: end,
  }
}
