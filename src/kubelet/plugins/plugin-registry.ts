/**
 * Plugins of this node (kubelet plugin registration): each puts a socket into the folder of plugins, tells by it what it is, and goes with it. The
 * owner of plugins of that type takes it in.
 */

import { existsSync, type FSWatcher, mkdirSync, readdirSync, statSync, watch } from 'node:fs'
import { join } from 'node:path'
import type { Timer } from '../../base/clock.ts'
import { messageOf } from '../../base/errors.ts'
import { getOrInsertComputed } from '../../base/get-or-insert.ts'
import { oneByOne } from '../../base/one-by-one.ts'
import type { Runtime } from '../../base/runtime.ts'
import { connect } from '../runtimes/cri/connection.ts'

/** As a plugin tells of itself. */
export interface Plugin {
  readonly name: string
  /** The path of the socket at which it serves. */
  readonly endpoint: string
  readonly versions: readonly string[]
}

export interface PluginHandler {
  /** @throws Error what the plugin is told */
  add(plugin: Plugin): Promise<void>
  /** Its socket for registration is gone, and another of its name and endpoint is not there. */
  remove(plugin: Plugin): Promise<void>
  /** The kubelet ends. */
  close(): void
}

export interface PluginRegistry {
  /** Until the signal is aborted. */
  run(signal: AbortSignal): void
}

const LOOK_MS = 10_000
const SETTLE_MS = 100
/** As long as one that says nothing is waited for. */
const CALL_MS = 10_000

interface Told {
  readonly type: string
  readonly name: string
  readonly endpoint: string
  readonly supported_versions: readonly string[]
}

interface Registered {
  /** When its socket was made. */
  readonly made: number
  /** Its type and name. */
  readonly key: string
  readonly handler: PluginHandler
  readonly plugin: Plugin
}

/** `directory`: where plugins put their sockets. `handlers`: by the type of plugins. */
export function createPluginRegistry(
  runtime: Runtime,
  directory: string,
  handlers: Readonly<Record<string, PluginHandler>>,
): PluginRegistry {
  const { clock, log, machineClock } = runtime
  const registered = new Map<string, Registered>()
  /** Their sockets are gone, and what they were taken in for is still there; with the path of the socket. */
  const replaced = new Map<Registered, string>()
  /** Sockets that are being asked. */
  const asking = new Set<string>()
  /** By the type and name of a plugin, of which a machine has few: one is taken in and removed in order. */
  const turns = new Map<string, ReturnType<typeof oneByOne>>()
  const inTurn = (key: string, act: () => Promise<void>) => getOrInsertComputed(turns, key, oneByOne)(act)

  async function register(socket: string, made: number): Promise<void> {
    const registration = connect(clock, `unix://${socket}`, 'registration')
    try {
      const {
        type,
        name,
        endpoint,
        supported_versions: versions,
      } = await registration.call<Told>('GetInfo', {}, { timeoutMs: CALL_MS })
      const plugin = { name, endpoint, versions }
      let failure: unknown
      try {
        const handler = Object.hasOwn(handlers, type) ? handlers[type] : undefined
        if (handler === undefined)
          throw new Error(`plugins of type ${JSON.stringify(type)} are not supported by this node`)
        const one = { made, key: `${type}/${name}`, handler, plugin }
        await inTurn(one.key, async () => {
          await handler.add(plugin)
          // From now on it goes with its socket, whether or not it hears of it.
          registered.set(socket, one)
        })
      } catch (error) {
        failure = error
      }
      const error = failure === undefined ? '' : messageOf(failure)
      const told = { plugin_registered: failure === undefined, error }
      await registration.call('NotifyRegistrationStatus', told, { timeoutMs: CALL_MS })
      if (failure !== undefined) throw failure
    } finally {
      registration.close()
    }
  }

  const isElsewhere = ({ handler, plugin }: Registered): boolean =>
    [...registered.values()].some(
      (other) =>
        other.handler === handler && other.plugin.name === plugin.name && other.plugin.endpoint === plugin.endpoint,
    )

  /** One whose socket was made anew goes once the one that is there now has told what it is, or has failed to. */
  function removeReplaced(): void {
    for (const [one, socket] of replaced) {
      if (asking.has(socket)) continue
      replaced.delete(one)
      inTurn(one.key, async () => {
        if (!isElsewhere(one)) await one.handler.remove(one.plugin)
      }).catch((error: unknown) => {
        log.info(0, 'A plugin that is gone could not be removed', { socket, err: messageOf(error) })
        replaced.set(one, socket)
      })
    }
  }

  function displace(socket: string, made: number | undefined): void {
    const one = registered.get(socket)
    if (one === undefined || one.made === made) return
    registered.delete(socket)
    replaced.set(one, socket)
  }

  /** Again where the socket was made anew meanwhile. What fails is asked again at the next look. */
  async function ask(socket: string): Promise<void> {
    for (let made = madeAt(socket), asked: number | undefined; made !== undefined && made !== asked; ) {
      asked = made
      displace(socket, made)
      if (!registered.has(socket))
        await register(socket, made).catch((error: unknown) =>
          log.info(0, 'A plugin could not be registered', { socket, err: messageOf(error) }),
        )
      made = madeAt(socket)
    }
    asking.delete(socket)
    removeReplaced()
  }

  function look(): void {
    const sockets = namesIn(directory).map((name) => join(directory, name))
    for (const socket of registered.keys()) displace(socket, madeAt(socket))
    for (const socket of sockets) {
      // Each by itself: one that is silent keeps no other waiting.
      if (asking.has(socket)) continue
      asking.add(socket)
      void ask(socket)
    }
    removeReplaced()
  }

  return {
    run(signal) {
      let watcher: FSWatcher | undefined
      let timer: Timer | undefined
      const after = (ms: number) => {
        timer?.cancel()
        timer = machineClock.setTimer(ms, 'plugins are looked for', turn, { everyMs: LOOK_MS, goesOn: true })
      }
      const turn = () => {
        timer = undefined
        if (signal.aborted) return
        try {
          look()
        } catch (error) {
          log.info(0, 'Plugins could not be looked for', { err: messageOf(error) })
        }
        after(LOOK_MS)
      }
      mkdirSync(directory, { recursive: true, mode: 0o750 })
      try {
        watcher = watch(directory, { persistent: false }, () => after(SETTLE_MS))
        watcher.on('error', () => watcher?.close())
      } catch {
        // It is looked at every so often.
      }
      signal.addEventListener(
        'abort',
        () => {
          watcher?.close()
          timer?.cancel()
          for (const handler of Object.values(handlers)) handler.close()
        },
        { once: true },
      )
      turn()
    },
  }
}

/** Undefined: there is no socket. */
function madeAt(path: string): number | undefined {
  const stat = statSync(path, { throwIfNoEntry: false })
  return stat?.isSocket() === true ? stat.ctimeMs : undefined
}

const namesIn = (directory: string): readonly string[] => (existsSync(directory) ? readdirSync(directory) : [])
