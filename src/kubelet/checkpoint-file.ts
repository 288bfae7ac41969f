/**
 * A kubelet's checkpoints of what its managers have given out, in the form that a real one writes and reads: JSON with a checksum, which is
 * the FNV hash of how Go prints the value; and, since v1.37, the same once more as text, with a checksum of that.
 */
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import type { Timer } from '../base/clock.ts'
import { messageOf } from '../base/errors.ts'
import type { Runtime } from '../base/runtime.ts'

export interface Checkpoint {
  readonly policyName: string
  readonly checksum: number
  readonly data?: string
  readonly dataChecksum?: number
}

/** FNV-1a of 32 bits. */
export function checksumOf(printed: string): number {
  let hash = 0x811c9dc5
  for (const byte of Buffer.from(printed)) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0
  return hash
}

/** A map as Go prints it. */
export const printedMap = (entries: Iterable<readonly [key: string, printed: string]>): string =>
  `map[${[...entries]
    .sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
    .map(([key, printed]) => `${key}:${printed}`)
    .join(' ')}]`

const dataChecksumOf = (data: string) => checksumOf(`(string)${data}`)

/** `contents`: all but the checksums. */
export const checkpointOf = <T extends { readonly policyName: string }>(
  contents: T,
  checksum: number,
): T & Checkpoint => {
  const data = JSON.stringify(contents)
  return { ...contents, checksum, data, dataChecksum: dataChecksumOf(data) }
}

/** `checksum`: of the contents, where they are not there as text. Undefined where there is no file. @throws Error */
export function readCheckpoint<T extends { readonly policyName: string }>(
  file: string,
  checksum: (contents: T) => number,
): T | undefined {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
  const checkpoint = JSON.parse(text) as T & Checkpoint
  const { data } = checkpoint
  const isWhole =
    data === undefined ? checksum(checkpoint) === checkpoint.checksum : dataChecksumOf(data) === checkpoint.dataChecksum
  if (!isWhole) throw new Error('checkpoint is corrupted')
  return data === undefined ? checkpoint : (JSON.parse(data) as T)
}

export function writeCheckpoint(file: string, checkpoint: Checkpoint): void {
  replaceFile(file, JSON.stringify(checkpoint))
}

/** After a power cut it is as before or as it is now, never empty. @throws Error */
export function replaceFile(file: string, text: string): void {
  writeFileSync(`${file}.new`, text, { mode: 0o600, flush: true })
  renameSync(`${file}.new`, file)
}

/** Writes what a manager keeps, at once if it can be: what ended pods had is free in any case. `what`: as it is named in the log. */
export type PatientWrite = (what: string, write: () => void) => void

const RETRY_MS = 10_000

/** A write that has failed is tried again until it succeeds, the signal is aborted or a newer one of the same name is there. */
export function createPatientWrite({ clock, log }: Pick<Runtime, 'clock' | 'log'>, signal: AbortSignal): PatientWrite {
  const due = new Map<string, Timer>()
  return function attempt(what, write) {
    due.get(what)?.cancel()
    due.delete(what)
    try {
      write()
    } catch (error) {
      log.error(`Writing ${what} failed`, error)
      const again = () => {
        if (!signal.aborted) attempt(what, write)
      }
      due.set(what, clock.setTimer(RETRY_MS, 'a checkpoint is written again', again))
    }
  }
}

/** What a manager does at its start with what was kept. @throws Error */
export function startManager<T>(manager: string, start: () => T): T {
  try {
    return start()
  } catch (cause) {
    throw new Error(`start ${manager} manager error: ${messageOf(cause)}`, { cause })
  }
}
