/** Time by injection. Units are milliseconds everywhere unless a name says `Seconds`. */
export interface Timer {
  cancel(): void
}

export interface Clock {
  /** Milliseconds since the Unix epoch; may be fractional (microsecond resolution). */
  now(): number
  /** Milliseconds from an arbitrary origin; never goes back. For durations. */
  monotonic(): number
  /** Runs `task` once, `ms` from now, as a hand-over named `label`. A live timer never keeps the process alive. */
  setTimer(ms: number, label: string, task: () => void, recurrence?: Recurrence): Timer
  /** Whether a timer of this clock keeps what is so named alive. */
  keeps?(name: string): boolean
}

/**
 * Of a timer whose task sets it again, and does nothing new where nothing else has happened: renews what must not grow old, or
 * looks whether there is something to do. A clock that is moved may leave such turns out but the last of them, as long as no
 * other timer lies between.
 */
export interface Recurrence {
  readonly everyMs: number
  /** When it has something to do at the earliest, as `now()` counts. Default: never, by itself. */
  readonly nothingBefore?: () => number
  /** It goes on for ever, whatever happens: a cluster that waits for nothing else is idle. */
  readonly goesOn?: boolean
  /** Nothing else depends on what it does: others need not wait until that is done. */
  readonly isAlone?: boolean
  /** The thing that it keeps alive: a controller that watches over that need not fear its silence. */
  readonly keeps?: string
}

/** What keeps a node alive, as `Recurrence` names it. */
export const heartOf = (node: string): string => `node ${node}`

/** Resolves after `ms`; rejects with the signal's reason if it is aborted first. */
export function sleep(
  clock: Pick<Clock, 'setTimer'>,
  ms: number,
  signal?: AbortSignal,
  recurrence?: Recurrence & { readonly label: string },
): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason)
    const onAbort = () => {
      timer.cancel()
      reject(signal?.reason)
    }
    const task = () => {
      signal?.removeEventListener('abort', onAbort)
      resolve()
    }
    const timer = clock.setTimer(ms, recurrence?.label ?? 'sleep', task, recurrence)
    signal?.addEventListener('abort', onAbort, { once: true })
  })
}

/** `2026-01-02T03:04:05Z`, the form of metav1.Time. */
export function formatTime(ms: number): string {
  const second = Math.floor(ms / 1000)
  // Every request of a second asks for the same.
  if (second !== lastSecond) {
    beforePoint = new Date(ms).toISOString().slice(0, 19)
    lastTime = `${beforePoint}Z`
    lastSecond = second
  }
  return lastTime
}

let lastSecond = Number.NaN
let lastTime = ''
let beforePoint = ''
/** All of it but the digits behind the point. */
const beforePointBytes = Buffer.from('0000-00-00T00:00:00.000000Z')
let bytesOf = ''

/** `2026-01-02T03:04:05.123456Z`, the form of metav1.MicroTime. */
export function formatMicroTime(ms: number): string {
  const micros = microsOf(ms)
  return `${beforePoint}.${String(1_000_000 + micros).slice(1)}Z`
}

/** Microseconds of the second, whose text `beforePoint` is then. */
function microsOf(ms: number): number {
  const micros = Math.floor(ms * 1000)
  const second = Math.floor(micros / 1_000_000)
  formatTime(second * 1000)
  return micros - second * 1_000_000
}

export const MICRO_TIME_LENGTH = 27

/** Writes what `formatMicroTime` gives as ASCII. */
export function writeMicroTime(into: Uint8Array, at: number, ms: number): void {
  // In 32 bits, which divide by ten in a tenth of the time.
  let rest = microsOf(ms) | 0
  if (bytesOf !== beforePoint) {
    for (let i = 0; i < beforePoint.length; i++) beforePointBytes[i] = beforePoint.charCodeAt(i)
    bytesOf = beforePoint
  }
  into.set(beforePointBytes, at)
  for (let i = at + 25; i > at + 19; i--) {
    into[i] = 0x30 + (rest % 10)
    rest = (rest / 10) | 0
  }
}
