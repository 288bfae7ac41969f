/**
 * What a test has started does not outlive it: when the process that started this one is gone, though killed with -9, this one
 * ends too.
 */
import type { Clock } from '../base/clock.ts'

const LOOK_MS = 200
/** Whoever has no other parent: what was meant to stay. */
const INIT = 1

/**
 * Calls `onGone` once. SKIFF_KEEP=1 switches it off, and so does a parent that was the init process from the beginning: a
 * daemon has no other. `SKIFF_PARENT`: that process when the launcher began, since it may be gone by now.
 */
export function watchParent(clock: Clock, env: Readonly<Record<string, string | undefined>>, onGone: () => void): void {
  if (env['SKIFF_KEEP'] === '1') return
  const parent = Number(env['SKIFF_PARENT'] ?? process.ppid)
  if (parent === INIT) return
  const look = () => {
    if (process.ppid !== parent) onGone()
    else clock.setTimer(LOOK_MS, 'parent', look)
  }
  look()
}
