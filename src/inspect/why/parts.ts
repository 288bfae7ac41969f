/** What a controller waits for that is there and works: parts of its object that are being deleted as well, and do not go. */
import type { KubeObject } from '../../api/object.ts'
import type { NamedResource } from '../../client/aggregated-discovery.ts'
import { dependentsOf } from './dependents.ts'
import type { Examine } from './examine.ts'
import { isKubernetes, namedObjects } from './failures.ts'
import { type Link, lastLink, type ObjectRef, waitingLink } from './finding.ts'
import { type Look, MOST_ALIKE, refOf } from './look.ts'

/** Requests that are left for what comes after. */
const KEPT = 30

interface Part {
  readonly resource: NamedResource
  readonly object: KubeObject
  readonly how: 'owned' | 'named'
}

/** Of a custom resource: what it owns, and what its spec names, where that is marked. */
export async function partLinks(
  look: Look,
  ref: ObjectRef,
  object: KubeObject,
  examine: Examine,
): Promise<readonly Link[]> {
  if (isKubernetes(ref.group)) return []
  const parts = [...(await ownedParts(look, ref)), ...(await namedParts(look, ref, object))].filter(
    ({ object: { metadata } }) =>
      metadata.deletionTimestamp !== undefined && look.path.every(({ uid }) => uid !== metadata.uid),
  )
  const seen = new Set<string | undefined>()
  const alike = Map.groupBy(
    parts.filter(({ object: { metadata } }) => !seen.has(metadata.uid) && seen.add(metadata.uid)),
    ({ resource, object: { metadata } }) =>
      [resource.resource, resource.group, ...(metadata.finalizers ?? [])].join(' '),
  )
  const links: Link[] = []
  for (const ones of alike.values())
    for (const part of ones.slice(0, MOST_ALIKE)) {
      const cause = { kind: 'part', part: refOf(part.resource, part.object), how: part.how } as const
      links.push(
        waitingLink(cause, [await examine(look, part.resource, part.object)], () => lastLink('slow', cause, true)),
      )
    }
  return links
}

async function ownedParts(look: Look, owner: ObjectRef): Promise<readonly Part[]> {
  const { left } = look.reader
  const all = look.kinds.resources.length
  // Of everything in the cluster, and where few questions are left, kinds of operators alone are looked through.
  const isWide = owner.namespace === '' || all + KEPT > left
  const wanted = (resource: NamedResource) => !isWide || !isKubernetes(resource.group)
  if (look.kinds.resources.filter(wanted).length + KEPT > left) return []
  const { dependents } = await dependentsOf(look, owner, wanted)
  return dependents.map(({ resource, object }) => ({ resource, object, how: 'owned' as const }))
}

async function namedParts(look: Look, { group: own, namespace: within }: ObjectRef, object: KubeObject) {
  const parts: Part[] = []
  const { spec } = object as KubeObject & { readonly spec?: unknown }
  for (const { kind, group, name, namespace } of namedObjects(look, spec, within)) {
    const resource = look.kinds.ofKind(group, kind) ?? (group === '' ? look.kinds.ofKind(own, kind) : undefined)
    if (resource === undefined || !resource.verbs.includes('get') || isKubernetes(resource.group)) continue
    if (resource.namespaced && namespace === '') continue
    const read = await look.reader.get(resource, resource.namespaced ? namespace : '', name)
    if (read.state === 'found') parts.push({ resource, object: read.value, how: 'named' })
  }
  return parts
}
