/**
 * Tells the kernel what a table must hold, as that changes: changes that come together are told together, once a second at most, and what fails is
 * made whole again. A table that others have taken away, as a firewall does that is started again, is found missing and made anew.
 */

import type { IPFamily } from '../api/values/ip.ts'
import type { Timer } from '../base/clock.ts'
import type { command } from '../base/command.ts'
import { messageOf } from '../base/errors.ts'
import type { Runtime } from '../base/runtime.ts'
import { WORDS } from './families.ts'
import type { NftTable } from './table.ts'

export interface KeepOptions {
  readonly runtime: Runtime
  readonly table: NftTable
  readonly tableName: string
  readonly family: IPFamily
  /** For the log: `Services`. */
  readonly what: string
  readonly run: typeof command
  readonly signal: AbortSignal
  /** Puts what is due into the table, then tells it. */
  readonly work: (tell: () => Promise<void>) => Promise<void>
  readonly isDue: () => boolean
}

export interface KeptTable {
  /** Something is due. */
  changed(): void
  /** The first time: the kernel holds what there is when it resolves. @throws Error when the kernel does not take it */
  start(): Promise<void>
  /** How far the kernel has been told. */
  state(): TableState
  /** Resolves when nothing is under way any more, once the signal is aborted. */
  stopped(): Promise<void>
}

export interface TableState {
  /** When the kernel was told last, in milliseconds since the epoch. */
  readonly toldMs: number
  /** How long that took. */
  readonly tookMs: number
  /** For how long something has been due that the kernel was not told. */
  readonly behindMs: number
  /** How often it was told so far, and how often that failed. */
  readonly times: number
  readonly failures: number
}

/** As kube-proxy's --nftables-min-sync-period. */
const MIN_SYNC_MS = 1000
/** What one change brings with it comes within this time. */
const GATHER_MS = 10
const RETRY_MS = 5000
const LOOK_MS = 30_000

export function keepTable(options: KeepOptions): KeptTable {
  const { runtime, table, tableName, family, what, run, signal, work, isDue } = options
  const { clock, log } = runtime
  /** The kernel's handle of the table that this proxy made: a table with another handle was made by another process. */
  let handle: number | undefined
  let isWhole = false
  let started = false
  let lastSync = Number.NEGATIVE_INFINITY
  let timer: Timer | undefined
  let running: Promise<void> | undefined
  const state = { toldMs: 0, tookMs: 0, times: 0, failures: 0 }
  let dueSince: number | undefined

  function schedule(ms = Math.max(GATHER_MS, lastSync + MIN_SYNC_MS - clock.monotonic())): void {
    if (!started || timer !== undefined || running !== undefined || signal.aborted) return
    timer = clock.setTimer(ms, `rules of ${what}`, () => {
      timer = undefined
      running = sync()
        .then(() => undefined)
        .catch((error: unknown) => {
          state.failures += 1
          log.error('The kernel was not told its rules', error, { what, retryMs: RETRY_MS })
          isWhole = false
          return RETRY_MS
        })
        .then((again) => {
          running = undefined
          if (again !== undefined) schedule(again)
          else if (isDue()) schedule()
        })
    })
  }

  const sync = async () => {
    const since = dueSince
    lastSync = clock.monotonic()
    dueSince = undefined
    try {
      await work(tell)
    } catch (error) {
      dueSince = since ?? lastSync
      throw error
    }
    Object.assign(state, { toldMs: clock.now(), tookMs: clock.monotonic() - lastSync, times: state.times + 1 })
  }

  async function tell(): Promise<void> {
    const begun = clock.monotonic()
    if (!isWhole) await makeWhole()
    else {
      const script = table.changes()
      if (script === '') return
      await run('nft', ['-f', '-'], script).catch(async (error: unknown) => {
        log.info(0, 'A table is not as it was left, and is made again', { what, err: messageOf(error) })
        await makeWhole()
      })
    }
    log.info(3, 'The kernel was told its rules', { what, ms: Math.round(clock.monotonic() - begun) })
  }

  async function makeWhole(): Promise<void> {
    isWhole = false
    await run('nft', ['-f', '-'], table.whole())
    handle = await handleOf()
    isWhole = true
  }

  async function handleOf(): Promise<number | undefined> {
    const said = JSON.parse(await run('nft', ['-j', 'list', 'tables'])) as {
      readonly nftables: readonly { readonly table?: { family: string; name: string; handle: number } }[]
    }
    return said.nftables.find((one) => one.table?.family === WORDS[family].ip && one.table.name === tableName)?.table
      ?.handle
  }

  function look(): void {
    const again = clock.setTimer(LOOK_MS, `table of ${what}`, () => {
      void handleOf()
        .then((found) => {
          if (!isWhole || running !== undefined || found === handle || signal.aborted) return
          log.info(0, 'A table was taken away, and is made again', { what, table: tableName })
          isWhole = false
          timer?.cancel()
          timer = undefined
          schedule(0)
        })
        .catch((error: unknown) => log.info(0, 'A table cannot be looked at', { what, err: messageOf(error) }))
        .finally(() => {
          if (!signal.aborted) look()
        })
    })
    signal.addEventListener('abort', again.cancel, { once: true })
  }

  return {
    changed() {
      dueSince ??= clock.monotonic()
      schedule()
    },
    state: () => ({ ...state, behindMs: dueSince === undefined ? 0 : clock.monotonic() - dueSince }),
    async start() {
      await sync()
      started = true
      if (isDue()) schedule()
      look()
      signal.addEventListener('abort', () => timer?.cancel(), { once: true })
    },
    async stopped() {
      await running
    },
  }
}
