/** What a plugin's answers must be like (KEP-3299), in the words of kube-apiserver. */
import { dns1123Subdomain } from '../../../api/names/name-formats.ts'
import type { WrappedKey } from './encrypted-object.ts'

const MOST_KEY_ID_BYTES = 1024
const MOST_SOURCE_BYTES = 1024
const MOST_ANNOTATION_BYTES = 32 * 1024

/** `kind`: as metrics count it. */
export function keyIdProblem(keyId: string): { readonly kind: string; readonly words: string } | undefined {
  const bytes = Buffer.byteLength(keyId)
  if (bytes === 0) return { kind: 'empty', words: 'keyID is empty' }
  if (bytes > MOST_KEY_ID_BYTES)
    return {
      kind: 'too_long',
      words: `keyID is ${bytes} bytes, which exceeds the max size of ${MOST_KEY_ID_BYTES}`,
    }
  return undefined
}

export function wrappedKeyProblem({ source, keyId, annotations }: WrappedKey): string | undefined {
  if (source.length === 0) return 'failed to validate encrypted DEK source: encrypted DEK source is empty'
  if (source.length > MOST_SOURCE_BYTES)
    return `failed to validate encrypted DEK source: encrypted DEK source is ${source.length} bytes, which exceeds the max size of ${MOST_SOURCE_BYTES}`
  const key = keyIdProblem(keyId)
  if (key !== undefined) return `failed to validate key id: ${key.words}`
  const names = Object.keys(annotations)
  const wrong = names
    .sort()
    .flatMap((name) => wrongName(name).map((why) => `annotations: Invalid value: ${JSON.stringify(name)}: ${why}`))
  if (wrong.length > 0)
    return `failed to validate annotations: ${wrong.length === 1 ? wrong[0] : `[${wrong.join(', ')}]`}`
  const bytes = names.reduce((sum, name) => sum + Buffer.byteLength(name) + (annotations[name]?.length ?? 0), 0)
  if (bytes > MOST_ANNOTATION_BYTES)
    return `failed to validate annotations: total size of annotations is ${bytes}, which exceeds the max size of ${MOST_ANNOTATION_BYTES}`
  return undefined
}

/** A domain's, of two labels at least. */
function wrongName(name: string): readonly string[] {
  const domain = name.replace(/\.$/, '')
  const problems = dns1123Subdomain(domain)
  return problems.length > 0 || domain.includes('.')
    ? problems
    : ['should be a domain with at least two segments separated by dots']
}
