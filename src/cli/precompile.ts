/**
 * Loads what a start of a whole cluster loads, and nothing more: Node keeps what it compiles, so that the first start after
 * `npm ci` is as quick as any later one.
 */
import { loadRooms } from '../cluster/precompile.ts'

export async function precompile(): Promise<void> {
  await Promise.all([import('./up.ts'), import('./detach.ts'), import('./progress.ts'), loadRooms()])
}
