/** The live Runtime: the machine's own time, chance and event loop. Only this file, live-clock.ts, manual.ts and simulated.ts touch them. */
import { randomBytes, randomFillSync, randomUUID } from 'node:crypto'
import { type Logger as PinoLogger, pino } from 'pino'
import type { Clock } from './clock.ts'
import { behindReadyIoInTurns, liveClock, type TaskGuard } from './live-clock.ts'
import type { Logger } from './log.ts'
import { logSink } from './log-sink.ts'
import { processMetrics } from './process-metrics.ts'
import { type Random, suffixOf } from './random.ts'
import type { Runtime } from './runtime.ts'
import type { Scheduler } from './scheduler.ts'

export interface LiveRuntimeOptions {
  /** Kubernetes' -v. Default 0. */
  readonly level?: number
  /** A file's path, or something lines are written to. Default: standard error. */
  readonly log?: string | { write(line: string): void }
  /** Given what a timer or a hand-over throws, which is an uncaught exception of the process otherwise. */
  readonly onUncaught?: (error: unknown) => void
}

export function liveRuntime(options: LiveRuntimeOptions = {}): Runtime {
  const guard = guarding(options.onUncaught)
  const clock = liveClock(guard)
  return {
    clock,
    machineClock: clock,
    random: liveRandom(),
    scheduler: liveScheduler(guard, clock),
    log: liveLogger(clock, options.level ?? 0, options.log),
    metrics: processMetrics(),
  }
}

export function guarding(onUncaught: LiveRuntimeOptions['onUncaught']): TaskGuard {
  if (onUncaught === undefined) return (task) => task
  return (task) => () => {
    try {
      task()
    } catch (error) {
      onUncaught(error)
    }
  }
}

function liveScheduler(guard: TaskGuard, clock: Clock): Scheduler {
  const later = behindReadyIoInTurns()
  return {
    handOver: (_label, task) => queueMicrotask(guard(task)),
    later: (_label, task) => later(guard(task)),
    soon: clock.setTimer,
    during: (work) => work,
  }
}

/** Longer ones are worth a call of their own. */
const MOST_OF_POOL = 256

function liveRandom(): Random {
  // Out of a pool, no byte of which is given twice or kept: crypto is slow when asked for a few bytes.
  const pool = new Uint8Array(4096)
  const words = new Uint32Array(pool.buffer)
  /** Of the pool, in bytes. */
  let used = pool.length
  const taken = (length: number) => {
    if (used + length > pool.length) {
      randomFillSync(pool)
      used = 0
    }
    const at = used
    // What comes next is on a word's boundary.
    used += Math.ceil(length / 4) * 4
    return at
  }
  const next = () => words[taken(4) / 4] as number
  const bytes = (length: number) => {
    if (length > MOST_OF_POOL) return new Uint8Array(randomBytes(length))
    const at = taken(length)
    const given = pool.slice(at, at + length)
    pool.fill(0, at, at + length)
    return given
  }
  const float = () => next() / 2 ** 32
  const random: Random = {
    float,
    uuid: () => randomUUID(),
    passingUuid: passingUuids(),
    suffix: (length) => suffixOf(length, float),
    bytes,
    apart: () => random,
  }
  return random
}

const UUID_LENGTH = 36
const UUIDS_TOGETHER = 64
const HEX = Buffer.from('0123456789abcdef')

/** Parts of one text, which is one piece of memory: what is put together of many is a tree, and made one again by its first reader. */
function passingUuids(): () => string {
  const digits = Buffer.alloc(UUID_LENGTH * UUIDS_TOGETHER)
  let text = ''
  let used = 0
  const renew = () => {
    const bytes = randomBytes(16 * UUIDS_TOGETHER)
    for (let i = 0, at = 0; i < bytes.length; i++) {
      const place = i % 16
      let byte = bytes[i] as number
      if (place === 6) byte = (byte & 0x0f) | 0x40
      else if (place === 8) byte = (byte & 0x3f) | 0x80
      if (place === 4 || place === 6 || place === 8 || place === 10) digits[at++] = 0x2d
      digits[at++] = HEX[byte >> 4] as number
      digits[at++] = HEX[byte & 0x0f] as number
    }
    text = digits.toString('latin1')
    used = 0
  }
  return () => {
    if (used === text.length) renew()
    used += UUID_LENGTH
    return text.slice(used - UUID_LENGTH, used)
  }
}

const STANDARD_ERROR = 2

function liveLogger(clock: Clock, level: number, log: LiveRuntimeOptions['log']): Logger {
  const target = typeof log === 'object' ? log : logSink(log ?? STANDARD_ERROR, clock)
  const root = pino(
    { base: null, timestamp: pino.stdTimeFunctions.isoTime, messageKey: 'msg', errorKey: 'err' },
    target,
  )
  return wrap(root, root, { level }, '')
}

/** `logger` is of `root` and not of the one above it, whose name would be in its lines too. */
function wrap(root: PinoLogger, logger: PinoLogger, verbosity: { level: number }, name: string): Logger {
  return {
    get level() {
      return verbosity.level
    },
    setLevel(level) {
      verbosity.level = level
    },
    info(v, message, fields) {
      if (v <= verbosity.level) logger.info({ v, ...fields }, message)
    },
    error(message, error, fields) {
      logger.error({ ...fields, err: error }, message)
    },
    named(part) {
      const full = name === '' ? part : `${name}.${part}`
      return wrap(root, root.child({ logger: full }), verbosity, full)
    },
  }
}
