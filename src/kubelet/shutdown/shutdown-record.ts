/** The times of a node's last graceful shutdown, in the file that a kubelet keeps them in. */
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { formatMicroTime } from '../../base/clock.ts'
import type { ShutdownRecord } from './node-shutdown.ts'

/** As Go writes a time that is none. */
const NONE = '0001-01-01T00:00:00Z'

interface Kept {
  readonly startTime?: unknown
  readonly endTime?: unknown
}

/** What cannot be read tells of none. */
export function shutdownRecord(file: string): ShutdownRecord {
  const text = (ms: number | undefined) => (ms === undefined ? NONE : formatMicroTime(ms))
  return {
    read() {
      try {
        const { startTime, endTime } = JSON.parse(readFileSync(file, 'utf8')) as Kept
        const time = (value: unknown) => (typeof value === 'string' && value !== NONE ? Date.parse(value) : Number.NaN)
        const [start, end] = [time(startTime), time(endTime)]
        return { ...(Number.isNaN(start) ? {} : { start }), ...(Number.isNaN(end) ? {} : { end }) }
      } catch {
        return {}
      }
    },
    write({ start, end }) {
      writeFileSync(`${file}.new`, JSON.stringify({ startTime: text(start), endTime: text(end) }), { mode: 0o644 })
      renameSync(`${file}.new`, file)
    },
  }
}
