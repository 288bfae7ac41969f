/** Keys that the JSON text of a patch has twice in one object. */
import { type JsonNode, ObjectNode, parseJson, scanJson } from '../codec/json.ts'
import type { Json } from '../object.ts'
import { countKeys } from '../schema/walk.ts'

/** Their paths, as `data.a` and `[0].value`, each once and in the order of the text. `value` is what the text was parsed to. */
export function repeatedKeys(text: Uint8Array, value: Json): readonly string[] {
  const kept = countKeys(value)
  // One that is too deep is refused for that.
  if (kept === scanJson(text).keys || Number.isNaN(kept)) return []
  const paths = new Set<string>()
  collect(parseJson(Buffer.from(text).toString('utf8')), '', paths)
  return [...paths]
}

function collect(node: JsonNode, path: string, paths: Set<string>): void {
  if (Array.isArray(node)) for (const [index, item] of node.entries()) collect(item, `${path}[${index}]`, paths)
  if (!(node instanceof ObjectNode)) return
  const seen = new Set<string>()
  for (const [key, inner] of node.entries) {
    const at = path === '' ? key : `${path}.${key}`
    if (seen.has(key)) paths.add(at)
    seen.add(key)
    collect(inner, at, paths)
  }
}
