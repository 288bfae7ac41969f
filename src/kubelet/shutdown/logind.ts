/**
 * systemd-logind, as a kubelet uses it (its D-Bus interface org.freedesktop.login1.Manager): the holder of a delay lock is told that the machine
 * goes down, and is given some time before it does.
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { type Clock, sleep } from '../../base/clock.ts'
import { type BusOptions, connectBus, holdReply, SYSTEM_BUS, toBus } from './bus.ts'
import type { BusMessage, BusValue } from './bus-messages.ts'

export interface DelayLock {
  release(): void
}

export interface Logind {
  /** How long a machine that goes down waits at most for those that hold locks. Milliseconds. @throws Error */
  longestDelayMs(): Promise<number>
  /** Has it wait so many seconds from now on, if it takes that. @throws Error */
  askForDelay(seconds: number): Promise<void>
  /** One of a process at a time: waits until logind has heard that the one before was released. @throws Error when logind gives none */
  lock(): Promise<DelayLock>
  /** What is asked for and not there yet is given up. A lock that was given stays. */
  close(): void
}

export interface LogindHandlers {
  /** The machine goes down; false: it does not after all. */
  readonly prepareForShutdown: (begins: boolean) => void
  /** Nothing is heard from it any more. */
  readonly lost: () => void
}

export type ConnectLogind = (handlers: LogindHandlers) => Promise<Logind>

export interface LogindOptions {
  /** The machine's. */
  readonly clock: Clock
  /** Default: where DBUS_SYSTEM_BUS_ADDRESS says, or the usual place. */
  readonly address?: string
  /** The file that tells logind how long it is to wait. */
  readonly override?: string
}

const LOGIND = 'org.freedesktop.login1'
const PATH = '/org/freedesktop/login1'
const MANAGER = 'org.freedesktop.login1.Manager'
const OVERRIDE = '/etc/systemd/logind.conf.d/99-kubelet.conf'
/** Of a node that is a guest on its machine: it is gone when the machine starts anew, and with the node (`withdrawDelay`). */
export const guestOverride = (cluster: string): string => `/run/systemd/logind.conf.d/99-skiff-${cluster}.conf`
/** In the words of a kubelet, which `systemd-inhibit --list` shows. */
const WHO = 'kubelet'
const WHY = 'Kubelet needs time to handle node shutdown'
const SIGHUP = 1
const LOCK_POLL_MS = 50
const LOCK_POLLS = 100

const systemBus = () => process.env['DBUS_SYSTEM_BUS_ADDRESS'] ?? SYSTEM_BUS

/** Has logind read its configuration. */
const READ_ANEW = {
  destination: 'org.freedesktop.systemd1',
  path: '/org/freedesktop/systemd1',
  interface: 'org.freedesktop.systemd1.Manager',
  member: 'KillUnit',
  signature: 'ssi',
  body: ['systemd-logind.service', 'all', SIGHUP],
}

/** logind waits as long as it did before it was asked by way of this file. @throws Error when it cannot be told */
export async function withdrawDelay(override: string, { clock, address = systemBus() }: LogindOptions): Promise<void> {
  rmSync(override)
  const bus = await connectBus({ clock, address, signal: () => {}, lost: () => {} })
  try {
    await bus.call(READ_ANEW)
  } finally {
    bus.close()
  }
}

/** @throws Error when there is no message bus */
export async function connectLogind(handlers: LogindHandlers, options: LogindOptions): Promise<Logind> {
  const { clock, address = systemBus(), override = OVERRIDE } = options
  /** The connection that has logind's name: any other may send a signal of its form. */
  let owner: BusValue | undefined
  /** Of this process, as the bus and logind see it: that may be from outside its namespace. */
  let pid: BusValue | undefined
  const heard = ({ sender, interface: from, member, body }: BusMessage): void => {
    if (sender === 'org.freedesktop.DBus' && member === 'NameOwnerChanged' && body[0] === LOGIND) owner = body[2]
    if (sender !== undefined && sender === owner && from === MANAGER && member === 'PrepareForShutdown')
      handlers.prepareForShutdown(body[0] === true)
  }
  const where: Omit<BusOptions, 'signal' | 'lost'> = { clock, address }
  const bus = await connectBus({ ...where, signal: heard, lost: handlers.lost })
  const manager = (member: string, signature?: string, ...body: readonly BusValue[]) => ({
    ...{ destination: LOGIND, path: PATH, interface: MANAGER, member, body },
    ...(signature === undefined ? {} : { signature }),
  })
  const property = {
    ...manager('Get', 'ss', MANAGER, 'InhibitDelayMaxUSec'),
    interface: 'org.freedesktop.DBus.Properties',
  }

  /** Whether this process comes to hold a lock, or no longer does, while it is waited for. */
  async function comesToHold(wanted: boolean): Promise<boolean> {
    for (let polls = 0; polls < LOCK_POLLS; polls++) {
      const [listed = []] = await bus.call(manager('ListInhibitors'))
      const holds = (listed as readonly (readonly BusValue[])[]).some(
        ([, who, reason, , , holder]) => who === WHO && reason === WHY && holder === pid,
      )
      if (holds === wanted) return true
      await sleep(clock, LOCK_POLL_MS)
    }
    return false
  }

  try {
    const matches = [
      `type='signal',sender='${LOGIND}',path='${PATH}',interface='${MANAGER}',member='PrepareForShutdown'`,
      `type='signal',sender='org.freedesktop.DBus',member='NameOwnerChanged',arg0='${LOGIND}'`,
    ]
    for (const match of matches) await bus.call(toBus('AddMatch', 's', match))
    ;[pid] = await bus.call(toBus('GetConnectionUnixProcessID', 's', bus.name))
    // Begins it, where it begins when it is asked.
    await bus.call(property)
    ;[owner] = await bus.call(toBus('GetNameOwner', 's', LOGIND))
  } catch (error) {
    bus.close()
    throw new Error(`failed reading InhibitDelayMaxUSec property from logind: ${(error as Error).message}`, {
      cause: error,
    })
  }
  return {
    async longestDelayMs() {
      const [micros] = await bus.call(property)
      return Number(micros) / 1000
    },
    async askForDelay(seconds) {
      mkdirSync(dirname(override), { recursive: true, mode: 0o755 })
      writeFileSync(override, `# Kubelet logind override\n[Login]\nInhibitDelayMaxSec=${seconds}\n`, { mode: 0o644 })
      await bus.call(READ_ANEW)
    },
    async lock() {
      if (!(await comesToHold(false))) throw new Error('logind still tells of the lock that was released')
      const held = await holdReply(where, manager('Inhibit', 'ssss', 'shutdown', WHO, WHY, 'delay'))
      try {
        if (await comesToHold(true)) return { release: held.release }
        throw new Error(`logind gives no lock: ${(await held.error()) ?? 'it does not say why'}`)
      } catch (error) {
        held.release()
        throw error
      }
    },
    close: bus.close,
  }
}
