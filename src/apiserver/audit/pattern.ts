/**
 * A line that differs from an earlier one in nothing but its id and its times is written as that one's bytes with those in
 * their places: clients ask for the same again and again, and to make text and then bytes of it costs three times as much.
 */
import { MICRO_TIME_LENGTH, writeMicroTime } from '../../base/clock.ts'

/** What surrounds an event's id and times, as JSON. */
export interface EventParts {
  /** Up to the id. */
  readonly before: string
  /** From the id to the first time. */
  readonly between: string
  /** Between the times. */
  readonly gap: string
  readonly after: string
}

export interface Pattern {
  /** In UTF-8, with the end of the line. */
  readonly bytes: Uint8Array
  readonly idAt: number
  readonly receivedAt: number
  readonly nowAt: number
}

/** Characters of an id that was made here. Clients may bring others. */
export const ID_LENGTH = 36

const QUOTE = 0x22
const BACKSLASH = 0x5c

export function patternOf({ before, between, gap, after }: EventParts): Pattern {
  const time = ' '.repeat(MICRO_TIME_LENGTH)
  const text = `${before}"${' '.repeat(ID_LENGTH)}"${between}"${time}"${gap}"${time}"${after}\n`
  // Memory of its own: a piece of Node's pool would keep all of that.
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(text))
  bytes.write(text)
  const idAt = Buffer.byteLength(before) + 1
  const receivedAt = idAt + ID_LENGTH + 1 + Buffer.byteLength(between) + 1
  return {
    bytes,
    idAt,
    receivedAt,
    nowAt: receivedAt + MICRO_TIME_LENGTH + Buffer.byteLength(gap) + 2,
  }
}

/**
 * The bytes written; 0 where there is no room for them, or where JSON has to escape the id.
 *
 * @param id of `ID_LENGTH` characters
 */
export function writePattern(
  { bytes, idAt, receivedAt, nowAt }: Pattern,
  id: string,
  { received, now }: { readonly received: number; readonly now: number },
  into: Uint8Array,
  at: number,
): number {
  if (at + bytes.length > into.length) return 0
  into.set(bytes, at)
  for (let i = 0; i < ID_LENGTH; i++) {
    const code = id.charCodeAt(i)
    if (code < 0x20 || code > 0x7e || code === QUOTE || code === BACKSLASH) return 0
    into[at + idAt + i] = code
  }
  writeMicroTime(into, at + receivedAt, received)
  writeMicroTime(into, at + nowAt, now)
  return bytes.length
}
