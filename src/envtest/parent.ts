/**
 * What a test has started does not outlive it: when the process that started this one is gone, though killed with -9, this one
 * ends too.
 */
import type { Clock } from '../base/clock.ts'
import { processOf } from './processes.ts'

export const LOOK_MS = 200
/** The parent of a process whose own has ended: it was meant to stay. */
const INIT = 1

/** The processes that started this executable. */
export interface Ancestors {
  /** The one that this process is to end with; undefined where it stays. */
  readonly parent?: number
  /** The launcher's shell, where it has not become this process but stays between it and `parent` (hand-over.ts). */
  readonly shell?: number
}

/**
 * SKIFF_KEEP=1 switches it off, and so does a parent that was the init process from the beginning: a daemon has no other.
 * `SKIFF_PARENT`: that process when the launcher began, since it may be gone by now. `SKIFF_SHELL`: the launcher, where it stays.
 */
export function ancestorsOf(env: Readonly<Record<string, string | undefined>>): Ancestors {
  const shell = env['SKIFF_SHELL'] === undefined ? undefined : Number(env['SKIFF_SHELL'])
  const parent = Number(env['SKIFF_PARENT'] ?? process.ppid)
  return {
    ...(shell === undefined ? {} : { shell }),
    ...(env['SKIFF_KEEP'] === '1' || parent === INIT ? {} : { parent }),
  }
}

/** Calls `onGone` once. A shell between is never outlived. */
export function watchParent(clock: Clock, { parent, shell }: Ancestors, onGone: () => void): void {
  if (parent === undefined && shell === undefined) return
  const look = () => {
    const isThere =
      shell === undefined
        ? process.ppid === parent
        : process.ppid === shell && (parent === undefined || processOf(shell)?.parent === parent)
    if (isThere) clock.setTimer(LOOK_MS, 'parent', look)
    else onGone()
  }
  look()
}
