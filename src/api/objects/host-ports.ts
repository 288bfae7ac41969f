/** Ports of the node's own addresses that a pod's containers ask for (`hostPort`): scheduler and kubelet judge them alike. */
import type { Container, PodSpec } from '../generated/types.ts'

export interface HostPort {
  /** ANY where none is named. */
  readonly ip: string
  readonly protocol: string
  readonly port: number
}

/** All addresses of the node. No other address means several: `::` is one of its own, as `127.0.0.1` is. */
const ANY = '0.0.0.0'

/** Of containers that run as long as the pod does: init containers give theirs back, but for sidecars. */
export function hostPortsOf({ containers, initContainers }: Partial<PodSpec>): readonly HostPort[] {
  const found: HostPort[] = []
  const collect = ({ ports }: Container) => {
    if (ports === undefined) return
    for (const { hostPort = 0, hostIP = '', protocol = 'TCP' } of ports)
      if (hostPort > 0) found.push({ ip: hostIP === '' ? ANY : hostIP, protocol, port: hostPort })
  }
  if (containers !== undefined) for (const container of containers) collect(container)
  if (initContainers !== undefined)
    for (const container of initContainers) if (container.restartPolicy === 'Always') collect(container)
  return found
}

const clash = (a: HostPort, b: HostPort): boolean =>
  a.port === b.port && a.protocol === b.protocol && (a.ip === b.ip || a.ip === ANY || b.ip === ANY)

/** Whether one of `wanted` is taken by one of `others`. */
export const portsClash = (wanted: readonly HostPort[], others: readonly HostPort[]): boolean =>
  wanted.some((port) => others.some((used) => clash(port, used)))
