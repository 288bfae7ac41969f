/** Keys that the JSON text of a patch has twice in one object. */
import type { Json } from '../object.ts'
import { countKeys } from '../schema/walk.ts'
import { type JsonNode, JsonSyntaxError, ObjectNode, parseJson, scanJson } from '../values/json.ts'
import { notJson } from './patch.ts'

/**
 * Their paths, as `data.a` and `[0].value`, each once and in the order of the text. `value` is what the text was parsed to.
 *
 * @throws StatusError 400 for a text that nests deeper than JSON may
 */
export function repeatedKeys(text: Uint8Array, value: Json): readonly string[] {
  try {
    const kept = countKeys(value)
    // One that is too deep is refused for that.
    if (kept === scanJson(text).keys || Number.isNaN(kept)) return []
    return pathsIn(parseJson(Buffer.from(text).toString('utf8')))
  } catch (error) {
    throw error instanceof JsonSyntaxError ? notJson() : error
  }
}

interface Found {
  readonly node: JsonNode
  readonly path: string
  readonly isRepeated: boolean
}

/** Without recursion: a value that the last of its key replaced may nest deeper than an object. */
function pathsIn(root: JsonNode): readonly string[] {
  const paths = new Set<string>()
  const open: Found[] = [{ node: root, path: '', isRepeated: false }]
  for (let found = open.pop(); found !== undefined; found = open.pop()) {
    if (found.isRepeated) paths.add(found.path)
    const inner = innerOf(found)
    for (let i = inner.length - 1; i >= 0; i--) open.push(inner[i]!)
  }
  return [...paths]
}

function innerOf({ node, path }: Found): readonly Found[] {
  if (Array.isArray(node))
    return node.map((item, index) => ({ node: item, path: `${path}[${index}]`, isRepeated: false }))
  if (!(node instanceof ObjectNode)) return []
  const seen = new Set<string>()
  return node.entries.map(([key, inner]) => {
    const isRepeated = seen.has(key)
    seen.add(key)
    return { node: inner, path: path === '' ? key : `${path}.${key}`, isRepeated }
  })
}
