/** Where values stand in compact JSON, so that not all of it need be parsed. Nothing here says whether it is JSON at all. */

export const QUOTE = 0x22
export const COLON = 0x3a
export const COMMA = 0x2c
export const OPEN_LIST = 0x5b
export const CLOSE_LIST = 0x5d
export const OPEN_OBJECT = 0x7b
export const CLOSE_OBJECT = 0x7d
const BACKSLASH = 0x5c

/** The place behind the string whose first quote is at `at`. */
export function afterString(json: Uint8Array, at: number): number {
  for (let i = at + 1; i < json.length; i++) {
    const byte = json[i]
    if (byte === BACKSLASH) i++
    else if (byte === QUOTE) return i + 1
  }
  return json.length
}

/** The place behind the value that begins at `at`, or, with a depth, behind what so many open brackets before `at` enclose. */
export function afterValue(json: Uint8Array, at: number, depth = 0): number {
  for (let i = at; i < json.length; ) {
    const byte = json[i]
    if (byte === QUOTE) {
      i = afterString(json, i)
      if (depth === 0) return i
      continue
    }
    if (byte === OPEN_OBJECT || byte === OPEN_LIST) depth++
    else if (byte === CLOSE_OBJECT || byte === CLOSE_LIST) {
      if (depth === 0) return i
      depth--
      if (depth === 0) return i + 1
    } else if (byte === COMMA && depth === 0) return i
    i++
  }
  return json.length
}

/** Whether these bytes stand at `at`. Mostly they do not, which the first one tells. */
export function standsAt(json: Uint8Array, at: number, bytes: Uint8Array): boolean {
  for (let i = 0; i < bytes.length; i++) if (json[at + i] !== bytes[i]) return false
  return true
}
