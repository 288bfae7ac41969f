/** How long a node takes to start, from the machine's own start until it is Ready. */
import { readFileSync } from 'node:fs'
import type { Runtime } from '../../base/runtime.ts'

export interface NodeStartMetrics {
  /** The kubelet registers its Node from now on; it is registered; it is Ready. */
  registering(): void
  registered(): void
  ready(): void
}

export function createNodeStartMetrics({ clock, metrics }: Runtime): NodeStartMetrics {
  const began = clock.monotonic()
  const set = (part: string, help: string, ms: number) =>
    metrics
      ?.gauge(`kubelet_node_startup_${part}duration_seconds`, help)
      .child()
      .set(Math.max(0, ms) / 1000)
  const beforeMs = upMs()
  let [from, until] = [began, began]
  return {
    registering() {
      from = clock.monotonic()
      set('pre_kubelet_', 'Seconds from the machine’s start to the kubelet’s.', beforeMs)
      set('pre_registration_', 'Seconds from the kubelet’s start until it registers its Node.', from - began)
    },
    registered() {
      until = clock.monotonic()
      set('registration_', 'Seconds that registering took.', until - from)
    },
    ready() {
      const now = clock.monotonic()
      set('post_registration_', 'Seconds from there until the Node was Ready.', now - until)
      set('', 'Seconds from the machine’s start until the Node was Ready.', beforeMs + now - began)
    },
  }
}

/** How long the machine has been up, in milliseconds. */
function upMs(): number {
  try {
    return Number(readFileSync('/proc/uptime', 'utf8').split(' ')[0]) * 1000
  } catch {
    return 0
  }
}
