/** The JSON of a document in small steps: its parts by their names, and of a large part what it has by name, one after another. */
import type { Json, JsonObject } from '../../api/object.ts'
import { jsonText } from '../../api/values/json.ts'
import type { Steps } from '../../base/turns.ts'

/** Of `components` too each schema is a step. */
const DEPTH = 3
/** So many characters become bytes together. */
const PIECE = 65_536

/** Pieces of the very text that would be made of it at once. */
export function* jsonInSteps(document: JsonObject): Steps<readonly Uint8Array[]> {
  const done: Uint8Array[] = []
  let texts: string[] = []
  let length = 0
  const flush = () => {
    done.push(Buffer.from(texts.join('')))
    texts = []
    length = 0
  }
  yield* write(document, DEPTH, (text) => {
    texts.push(text)
    length += text.length
    if (length >= PIECE) flush()
  })
  flush()
  return done
}

function* write(value: Json, depth: number, out: (text: string) => void): Steps<void> {
  if (depth === 0 || typeof value !== 'object' || value === null || Array.isArray(value)) {
    out(jsonText(value))
    yield
    return
  }
  let before = '{'
  for (const [key, inner] of Object.entries(value)) {
    if (inner === undefined) continue
    out(`${before}${JSON.stringify(key)}:`)
    yield* write(inner, depth - 1, out)
    before = ','
  }
  out(before === '{' ? '{}' : '}')
}
