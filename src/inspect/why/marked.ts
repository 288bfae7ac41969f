/**
 * What of a kind is being deleted. There is no selector for it, so all of it is listed, by its metadata. Of pods, which are most of a
 * cluster and the largest, the columns that kubectl prints are asked for first (a twentieth of the bytes): they tell of all but those that
 * have ended by themselves.
 */
import type { KubeObject } from '../../api/object.ts'
import type { NamedResource } from '../../client/aggregated-discovery.ts'
import type { Read } from '../cluster-reader.ts'
import { itemsOf, type Look, PODS } from './look.ts'

/** What kubectl's column STATUS says of a pod that is being deleted, its node there or not. */
const GOING = new Set(['Terminating', 'Unknown'])
const IS_ENDED = ['status.phase=Succeeded', 'status.phase=Failed']
const IS_NOT_ENDED = 'status.phase!=Succeeded,status.phase!=Failed'
/** So many are looked for by name, one request each; where there are more of them all are listed. */
const MOST_NAMED = 20

/** `namespace`: in that one alone; '': in all. */
export async function markedOf(
  look: Look,
  resource: NamedResource,
  namespace = '',
): Promise<Read<readonly KubeObject[]>> {
  const isPods = resource.group === PODS.group && resource.resource === PODS.resource
  const isWide = isPods && namespace === ''
  const read =
    (isWide ? await somePods(look, resource) : undefined) ??
    (await look.reader.list(resource, { metadataOnly: true, ...(namespace === '' ? {} : { namespace }) }))
  if (read.state !== 'found') return read
  return { state: 'found', value: read.value.filter(({ metadata }) => metadata.deletionTimestamp !== undefined) }
}

/** Among which are all that are being deleted; undefined: the columns do not tell. */
async function somePods(look: Look, resource: NamedResource): Promise<Read<readonly KubeObject[]> | undefined> {
  const rows = await look.reader.rows(resource, IS_NOT_ENDED, ['Name', 'Status'])
  if (rows.state !== 'found') return undefined
  const names = new Set(rows.value.filter(([, status]) => GOING.has(String(status))).map(([name]) => String(name)))
  if (names.size > MOST_NAMED || rows.value.some((row) => row.includes(undefined))) return undefined
  const selectors = [...IS_ENDED, ...[...names].map((name) => `metadata.name=${name}`)]
  const reads = await Promise.all(
    selectors.map((fieldSelector) => look.reader.list(resource, { metadataOnly: true, fieldSelector })),
  )
  return reads.every(({ state }) => state === 'found') ? { state: 'found', value: reads.flatMap(itemsOf) } : undefined
}
