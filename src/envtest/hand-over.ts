/**
 * etcd's process stands for a port and nothing else, and need not be Node for as long as kube-apiserver runs. So kube-apiserver takes the port
 * over: it listens beside Node there (SO_REUSEPORT, which only processes of one user may share), and then Node ends. What stays of etcd is
 * the shell that started Node, the process that its starter knows: it reads the pipe that was Node's output, whose writing end
 * kube-apiserver has opened meanwhile. When kube-apiserver is gone the shell reads the end, and starts Node again; when the shell is gone,
 * or the one that started it, kube-apiserver sees it. On Linux alone: what is known of other processes is read in /proc.
 */

import { closeSync, constants, fstatSync, openSync } from 'node:fs'
import type { Server } from 'node:net'
import type { Clock } from '../base/clock.ts'
import { isLoopback } from '../base/loopback.ts'
import { createEtcdPort, type EtcdHere, listenOn, type Pages } from './etcd-port.ts'
import { LOOK_MS } from './parent.ts'
import { processOf } from './processes.ts'

/** What etcd tells of itself to the kube-apiserver that attaches itself. */
export interface EtcdPlace {
  /** Node, whose output the shell reads. */
  readonly node: number
  readonly shell: number
  /** The one that started the shell, where etcd is to end with it. */
  readonly parent?: number
  readonly addresses: readonly { readonly host: string; readonly port: number }[]
}

/** What Node says to the shell before it ends for that reason (bin/launch/launch.sh). */
export const TO_SHELL = 'handed-over\n'

/** In a header of etcd's answer. `port`: at which etcd gave it. Undefined for what is none, or is not of that port. */
export function readPlace(text: string | undefined, port: number): EtcdPlace | undefined {
  try {
    const place = JSON.parse(text ?? '') as EtcdPlace
    const ids = [place.node, place.shell, ...(place.parent === undefined ? [] : [place.parent])]
    const isWhole =
      ids.every((id) => Number.isSafeInteger(id) && id > 0) &&
      place.addresses.some((address) => address.port === port) &&
      place.addresses.every((address) => isLoopback(address.host) && Number.isSafeInteger(address.port))
    return isWhole ? place : undefined
  } catch {
    return undefined
  }
}

export interface HandedOver {
  /** Resolves when the shell is gone, or has lost the one that started it. */
  readonly gone: Promise<void>
  /** The port is free, and the shell starts etcd again. */
  close(): void
}

/**
 * Resolves when connections to etcd's port come here; undefined when that cannot be, and all stays as it is. `here`: what answers clients of etcd.
 */
export async function takeOver(
  clock: Clock,
  place: EtcdPlace,
  pages: Pages,
  here: EtcdHere,
): Promise<HandedOver | undefined> {
  const shell = processOf(place.shell)
  if (shell === undefined || !isAsTold(place)) return undefined
  const servers: Server[] = []
  let pipe: number | undefined
  try {
    const port = createEtcdPort(pages, { here })
    // First: that it may listen there shows that what listens there is of the same user.
    for (const { host, port: number } of place.addresses)
      servers.push(await listenOn(port.server(), host, number, { reusePort: true }))
    pipe = openSync(`/proc/${place.node}/fd/1`, constants.O_WRONLY | constants.O_NONBLOCK)
    if (!fstatSync(pipe).isFIFO() || !isAsTold(place)) throw new Error('its output is no pipe to its shell')
  } catch {
    for (const server of servers) server.close()
    if (pipe !== undefined) closeSync(pipe)
    return undefined
  }
  const held = pipe
  const gone = new Promise<void>((resolve) => {
    const look = () => {
      const now = processOf(place.shell)
      const isThere = now?.began === shell.began && (place.parent === undefined || now.parent === place.parent)
      if (isThere) clock.setTimer(LOOK_MS, 'etcd', look)
      else resolve()
    }
    look()
  })
  let isClosed = false
  return {
    gone,
    close() {
      if (isClosed) return
      isClosed = true
      for (const server of servers) server.close()
      closeSync(held)
    },
  }
}

/** Processes of this user, each started by the next. */
function isAsTold({ node, shell, parent }: EtcdPlace): boolean {
  const [lower, upper] = [processOf(node), processOf(shell)]
  const own = process.geteuid?.()
  return (
    lower?.user === own && upper?.user === own && lower?.parent === shell && upper?.parent === (parent ?? upper?.parent)
  )
}
