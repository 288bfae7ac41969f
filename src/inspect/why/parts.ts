/**
 * What a controller waits for that is there and works: parts of its object that are being deleted as well, and do not go, and objects that
 * it made for the end of its own (Hive's ClusterDeprovision) and that say of failing.
 */
import { type Json, type JsonObject, type KubeObject, parseApiVersion, type SpecAndStatus } from '../../api/object.ts'
import { asList, asObject, asText } from '../../api/unchecked.ts'
import type { NamedResource } from '../../client/aggregated-discovery.ts'
import { dependentsOf } from './dependents.ts'
import { failureLinks, isKubernetes, type Named, namedObjects } from './failures.ts'
import { type Link, lastLink, type ObjectRef, waitingLink } from './finding.ts'
import { deletedAt, KEPT, type Look, MOST_ALIKE, NAMESPACES, refOf, timeOf } from './look.ts'
import type { Examine } from './what-holds-an-object.ts'

interface Part {
  readonly resource: NamedResource
  readonly object: KubeObject
  readonly how: 'owned' | 'named'
}

/** So many of those that were made for an object's end are read. */
const MOST_READ = 8

/** Of a custom resource: what it owns, what its spec names, and what its status says that it made, where that is marked. */
export async function partLinks(
  look: Look,
  ref: ObjectRef,
  object: KubeObject,
  examine: Examine,
): Promise<readonly Link[]> {
  if (isKubernetes(ref.group)) return []
  const { spec, status } = object as SpecAndStatus
  const named = [...namedObjects(look, spec, ref), ...madeObjects(status)]
  const owned = await ownedParts(look, ref)
  const parts = [...owned, ...(await namedParts(look, ref, named)), ...(await namesake(look, ref))].filter(
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
  return links.length > 0 ? links : failingWork(look, object, owned)
}

/**
 * What it owns, is of no kind of Kubernetes and is not deleted itself, and was made for its end by all appearance, where that says of failing.
 * An owner that goes may go on with its daily work: what was made since it was deleted is of its end where it had none of that kind
 * before, or where its conditions have named the kind since.
 */
async function failingWork(look: Look, object: KubeObject, owned: readonly Part[]): Promise<readonly Link[]> {
  const since = deletedAt(object.metadata) - 1000
  const madeAt = (part: Part) => timeOf(part.object.metadata.creationTimestamp)
  const kindOf = ({ resource: { group, kind } }: Part) => `${kind}.${group}`
  const kindsBefore = new Set(owned.filter((part) => !(madeAt(part) >= since)).map(kindOf))
  const words = conditionsSince(object, since).toLowerCase()
  const works = owned.filter(
    (part) =>
      !isKubernetes(part.resource.group) &&
      part.object.metadata.deletionTimestamp === undefined &&
      madeAt(part) >= since &&
      (!kindsBefore.has(kindOf(part)) || words.includes(part.resource.kind.toLowerCase())),
  )
  const links: Link[] = []
  for (const { resource, object: work } of works.toSorted((a, b) => madeAt(b) - madeAt(a)).slice(0, MOST_READ)) {
    if (look.reader.left < KEPT) break
    const part = refOf(resource, work)
    const read = await look.reader.get(resource, part.namespace, part.name)
    const says = read.state === 'found' ? await failureLinks(look, part, read.value, true) : []
    const cause = { kind: 'part', part, how: 'made' } as const
    const inferred = says.map((link) => ({ ...link, inferred: true }))
    if (says.length > 0) links.push(waitingLink(cause, inferred, () => lastLink('slow', cause, true)))
  }
  return links
}

/** What conditions of an object say that were written since then. */
const conditionsSince = ({ status }: SpecAndStatus, since: number): string =>
  asList(asObject(status)['conditions'])
    .map(asObject)
    .filter(({ lastTransitionTime }) => timeOf(asText(lastTransitionTime)) >= since)
    .map(({ type, reason, message }) => [type, reason, message].map(asText).join(' '))
    .join('\n')

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

async function namedParts(look: Look, { group: own }: ObjectRef, named: readonly Omit<Named, 'field'>[]) {
  const parts: Part[] = []
  for (const { kind, group, name, namespace } of named) {
    const resource = look.kinds.ofKind(group, kind) ?? (group === '' ? look.kinds.ofKind(own, kind) : undefined)
    if (resource === undefined || !resource.verbs.includes('get')) continue
    if (resource.namespaced && namespace === '') continue
    if (look.reader.left < KEPT) break
    const read = await look.reader.get(resource, resource.namespaced ? namespace : '', name)
    if (read.state === 'found') parts.push({ resource, object: read.value, how: 'named' })
  }
  return parts
}

/** The namespace of the same name that its software has marked as its own: of an anchor, a tenant, a member cluster. */
async function namesake(look: Look, { group, namespace, name }: ObjectRef): Promise<readonly Part[]> {
  // Its own namespace waits for it.
  if (namespace === name) return []
  const resource = look.kinds.ofResource('', NAMESPACES.resource)
  if (resource === undefined || look.reader.left < KEPT) return []
  const read = await look.reader.get(resource, '', name)
  if (read.state !== 'found') return []
  const { annotations = {}, labels = {} } = read.value.metadata
  const isOwn = Object.keys({ ...annotations, ...labels }).some((key) => `.${key.split('/')[0]}`.endsWith(`.${group}`))
  return isOwn ? [{ resource, object: read.value, how: 'named' }] : []
}

/** So many of a status are looked at. */
const MOST_MADE = 40

/**
 * What a status says that its controller made: entries with a kind and a name (Argo CD's `resources`, `objects`, `components.refs`), or an
 * id of namespace, name, group and kind with lines between (Flux's `inventory.entries`).
 */
export function madeObjects(status: unknown): readonly Omit<Named, 'field'>[] {
  const found: Omit<Named, 'field'>[] = []
  const visit = (value: Json | undefined, deep: number): void => {
    if (deep > 5 || found.length >= MOST_MADE || typeof value !== 'object' || value === null) return
    if (!Array.isArray(value)) {
      for (const inner of Object.values(value as JsonObject)) visit(inner, deep + 1)
      return
    }
    for (const entry of value as readonly Json[]) {
      const { kind, name, namespace, group, apiGroup, apiVersion, id } = asObject(entry)
      const [, space = '', called = '', ofGroup = '', ofKind = ''] = INVENTORY.exec(asText(id)) ?? []
      if (ofKind !== '') found.push({ kind: ofKind, group: ofGroup, name: called, namespace: space })
      else if (asText(kind) !== '' && asText(name) !== '') {
        const ofVersion = apiVersion === undefined ? '' : parseApiVersion(asText(apiVersion)).group
        const wanted = asText(group) || asText(apiGroup) || ofVersion
        found.push({ kind: asText(kind), group: wanted, name: asText(name), namespace: asText(namespace) })
      } else visit(entry, deep + 1)
    }
  }
  visit(status as Json | undefined, 0)
  return found
}

const INVENTORY = /^([a-z0-9-]*)_([^_]+)_([a-z0-9.-]*)_([A-Za-z]\w*)$/
