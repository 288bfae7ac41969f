/**
 * The skips that a run which allows none (SKIFF_NO_SKIP=1, CI) lets pass: for each a reason, in the very words of the tests
 * that use it, and a probe that shows on this machine that the reason is true. What CI can install is no excuse.
 */
import { lacks } from '../../test/machine.ts'
import type { Result } from './run.ts'

/** Those of `skipped` that no probe explains. */
export function unexcused(skipped: readonly Result[]): readonly Result[] {
  const excuses = new Set<string | false>(Object.values(lacks).map((probe) => probe()))
  return skipped.filter(({ reason }) => reason === undefined || !excuses.has(reason))
}
