/**
 * Plugins of this node (kubelet plugin registration): each puts a socket into the folder of plugins, tells by it what it is, and goes with it. Whoever
 * looks after plugins of that type takes it in.
 */
import { existsSync, type FSWatcher, mkdirSync, readdirSync, statSync, watch } from 'node:fs'
import { join } from 'node:path'
import type { Timer } from '../../base/clock.ts'
import { messageOf } from '../../base/errors.ts'
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
/** One that says nothing is not to keep others waiting. */
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
  /** Their sockets are gone, and what they were taken in for is still there. */
  const replaced = new Set<Registered>()
  let working = false

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
        await handler.add(plugin)
        // From now on it goes with its socket, whether or not it hears of it.
        registered.set(socket, { made, handler, plugin })
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

  async function look(): Promise<void> {
    const found = new Map<string, number>()
    for (const name of namesIn(directory)) {
      const stat = statSync(join(directory, name), { throwIfNoEntry: false })
      if (stat?.isSocket() === true) found.set(join(directory, name), stat.ctimeMs)
    }
    for (const [socket, made] of found) {
      const before = registered.get(socket)
      if (before?.made === made) continue
      // Its place is taken: it goes once the one that is there now has told what it is, or has failed to.
      if (before !== undefined) {
        registered.delete(socket)
        replaced.add(before)
      }
      try {
        await register(socket, made)
      } catch (error) {
        // It is asked again.
        log.info(0, 'A plugin could not be registered', { socket, err: messageOf(error) })
      }
    }
    for (const [socket, one] of registered)
      if (!found.has(socket)) {
        registered.delete(socket)
        replaced.add(one)
      }
    for (const one of replaced) {
      if (!isElsewhere(one)) await one.handler.remove(one.plugin)
      replaced.delete(one)
    }
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
        if (working) return after(SETTLE_MS)
        working = true
        look()
          .catch((error: unknown) => log.info(0, 'Plugins could not be looked for', { err: messageOf(error) }))
          .finally(() => {
            working = false
            if (!signal.aborted && timer === undefined) after(LOOK_MS)
          })
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

const namesIn = (directory: string): readonly string[] => (existsSync(directory) ? readdirSync(directory) : [])
