/** YAML answers: keys sorted, as the JSON-through-a-map way of Kubernetes gives them. */
import { stringify } from 'yaml'
import type { Json } from '../object.ts'
import { jsonText, parseExactly } from '../values/json.ts'

export function encodeYaml(value: Json): string {
  const plain = parseExactly(jsonText(value))
  // YAML 1.1 is what Kubernetes' clients read: y, n, yes, no, on and off must be quoted.
  return stringify(plain, {
    version: '1.1',
    sortMapEntries: true,
    lineWidth: 0,
    indentSeq: false,
    aliasDuplicateObjects: false,
  })
}
