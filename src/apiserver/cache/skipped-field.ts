/** Where a field of metadata stands in the JSON of an object, so that it need not be parsed. */

import { afterString, afterValue, COMMA, QUOTE } from '../../api/codec/json-text.ts'

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
