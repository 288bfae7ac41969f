/**
 * What a machine may lack that nothing can install, each found by a probe. A test that needs it is skipped with the probe's
 * words (`{ skip: lacks.address() }`), and CI accepts those skips where the probe finds the same (tools/testing/excuses.ts).
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmdirSync } from 'node:fs'
import { networkInterfaces, tmpdir } from 'node:os'
import { join } from 'node:path'

/** Each gives the words of a skip, or false where the machine has it. */
export const lacks = {
  address: () =>
    addressBeyondLoopback() === undefined ? 'this machine has no address but loopback' : (false as const),
  tmpfs: () =>
    canMountTmpfs() ? (false as const) : 'a file system of a chosen size cannot be mounted here (needs root)',
} satisfies Record<string, () => string | false>

/** An IPv4 address of this machine that other machines could reach. */
export const addressBeyondLoopback = (): string | undefined =>
  Object.values(networkInterfaces())
    .flat()
    .find((one) => one?.family === 'IPv4' && !one.internal)?.address

let tmpfs: boolean | undefined

function canMountTmpfs(): boolean {
  if (tmpfs !== undefined) return tmpfs
  const folder = mkdtempSync(join(tmpdir(), 'skiff-probe-'))
  tmpfs = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', folder]).status === 0
  if (tmpfs) spawnSync('umount', [folder])
  rmdirSync(folder)
  return tmpfs
}
