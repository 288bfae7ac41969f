/** An object of the corpus by its group and kind. */
import type { CorpusEntry } from '../mutations.ts'

// biome-ignore lint/suspicious/noExplicitAny: objects as a client would send them
export type Any = any

/** `group`: `apps/v1`, or `apps/v1 ns` for kinds that live in a namespace. */
export const entry = (
  group: string,
  plural: string,
  kind: string,
  name: string,
  rest: Any,
  metadata: Any = {},
): CorpusEntry => {
  const [apiVersion, scope] = group.split(' ') as [string, string | undefined]
  const base = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`
  return {
    path: `${base}${scope === 'ns' ? '/namespaces/$NS' : ''}/${plural}`,
    object: { apiVersion, kind, metadata: { name, ...metadata }, ...rest },
  }
}
