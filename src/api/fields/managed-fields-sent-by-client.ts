/** What a client's own metadata.managedFields count for in an update. */
import { asJson, type KubeObject } from '../object.ts'
import { sameJson } from '../same.ts'
import { type Managed, readForeignManaged, readManaged } from './managed.ts'

/** The entries an update begins with: `[{}]` clears them, a valid list replaces them, anything else counts as what is stored. */
export function knownEntries(live: KubeObject | undefined, next: KubeObject, subresource: string): Managed[] {
  const stored = live?.metadata?.managedFields
  const sent = next.metadata?.managedFields
  if (subresource !== '' || sent === undefined || sent === null || sent === stored) return readManaged(stored)
  if (sent.length === 1 && Object.keys(sent[0]!).length === 0) return []
  if (stored !== undefined && sameJson(asJson(sent), asJson(stored))) return readManaged(stored)
  const read = readForeignManaged(sent)
  return read === undefined || read.length === 0 ? readManaged(stored) : read
}
