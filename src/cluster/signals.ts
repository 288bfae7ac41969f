/** How a cluster in the foreground ends: by signals. */
import { messageOf } from '../base/errors.ts'

/** One Ctrl-C can arrive more than once: from the terminal, and passed on by npm or an older Node that started this one. */
export const SAME_SIGNAL_S = 0.2

/** What of the process is used, for tests. */
export interface SignalledProcess {
  on(signal: 'SIGINT' | 'SIGTERM', listener: (signal: NodeJS.Signals) => void): unknown
  /** Seconds since it began. */
  uptime(): number
  exit(code: number): void
  readonly stderr: { write(text: string): unknown }
}

/**
 * The first SIGINT or SIGTERM stops in order and ends with code 0, or 1 where that fails; the second ends at once, with 130 or 143.
 * `tell`: that it begins to stop, and that it has stopped. `release`: what the directory is held by.
 */
export function stopOnSignals(
  stop: () => Promise<void>,
  release: () => void,
  tell: (stopped: boolean) => void,
  signalled: SignalledProcess = process,
): void {
  let first: number | undefined
  const onSignal = (signal: NodeJS.Signals) => {
    if (first !== undefined) {
      if (signalled.uptime() - first > SAME_SIGNAL_S) signalled.exit(signal === 'SIGINT' ? 130 : 143)
      return
    }
    first = signalled.uptime()
    tell(false)
    stop().then(
      () => {
        release()
        tell(true)
        signalled.exit(0)
      },
      (error: unknown) => {
        release()
        signalled.stderr.write(`skiff: could not stop in order: ${messageOf(error)}\n`)
        signalled.exit(1)
      },
    )
  }
  signalled.on('SIGINT', onSignal)
  signalled.on('SIGTERM', onSignal)
}
