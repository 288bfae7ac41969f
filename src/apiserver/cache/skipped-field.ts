/** Where a field of metadata stands in the JSON of an object, so that it need not be parsed. */

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
const OPEN_LIST = 0x5b
const CLOSE_LIST = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d

/** The place behind the string whose first quote is at `at`. */
function afterString(json: Uint8Array, at: number): number {
  for (let i = at + 1; i < json.length; i++) {
    const byte = json[i]
    if (byte === BACKSLASH) i++
    else if (byte === QUOTE) return i + 1
  }
  return json.length
}

/** The place behind the value that begins at `at`. */
function afterValue(json: Uint8Array, at: number): number {
  let depth = 0
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

/**
 * The text of compact JSON without one field of the object whose first field begins at `at`; all of it where it has no such
 * field. `name` as it stands there, with its quotes and colon.
 */
export function withoutField(json: Buffer, at: number, name: Buffer): string {
  for (let start = at; json[start] === QUOTE; ) {
    const value = afterString(json, start) + 1
    const end = afterValue(json, value)
    const isLast = json[end] !== COMMA
    if (value - start === name.length && json.compare(name, 0, name.length, start, value) === 0) {
      // A comma goes with it: the one behind it, or of the last field that before it.
      const from = isLast && json[start - 1] === COMMA ? start - 1 : start
      const to = isLast ? end : end + 1
      return json.toString('utf8', 0, from) + json.toString('utf8', to)
    }
    if (isLast) break
    start = end + 1
  }
  return json.toString('utf8')
}
