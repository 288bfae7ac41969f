/** What uses an object whose controller protects it as long as it is used: pods of a claim of devices, objects that name it. */

import type { Pod } from '../../api/generated/types.ts'
import { asJson, type Json, type JsonObject, type KubeObject, parseApiVersion } from '../../api/object.ts'
import { asList, asObject, asText } from '../../api/unchecked.ts'
import type { NamedResource } from '../../client/aggregated-discovery.ts'
import { isTerminated } from '../../controllers/pods/pod.ts'
import { isKubernetes, isSibling } from './failures.ts'
import { type Link, lastLink, type ObjectRef, waitingLink } from './finding.ts'
import { itemsOf, KEPT, type Look, MOST_ALIKE, refOf } from './look.ts'
import type { Examine } from './what-holds-an-object.ts'

/** Of a ResourceClaim (API concept: dynamic resource allocation): those that it is reserved for and that are still there. */
export async function reservationLinks(
  look: Look,
  ref: ObjectRef,
  object: KubeObject,
  examine: Examine,
): Promise<readonly Link[]> {
  const { status } = object as KubeObject & { readonly status?: Json }
  const links: Link[] = []
  for (const consumer of asList(asObject(status)['reservedFor']).slice(0, MOST_ALIKE)) {
    const { apiGroup, resource, name, uid } = asObject(consumer)
    const named = look.kinds.ofResource(asText(apiGroup), asText(resource))
    if (named === undefined) continue
    const read = await look.reader.get(named, named.namespaced ? ref.namespace : '', asText(name))
    if (read.state !== 'found' || read.value.metadata.uid !== uid) continue
    if (named.group === '' && named.resource === 'pods' && isTerminated(read.value as Pod)) continue
    links.push(await usedBy(look, named, read.value, 'the claim is reserved for it', examine))
  }
  return links
}

/** Finalizers whose names say that they protect what is in use. */
const PROTECTS = /in-?use|used|protect|exists|referenc|depend|guard/i

/**
 * Objects of the same group, or of the finalizer's, that name this one, where its finalizer protects it as long as there are any. `always`:
 * it is known to do so, though its name does not say it.
 */
export async function userLinks(
  look: Look,
  ref: ObjectRef,
  finalizer: string,
  examine: Examine,
  always = false,
): Promise<readonly Link[]> {
  if (!always && !PROTECTS.test(finalizer)) return []
  // What protects a Secret or the like is named after the software whose objects use it.
  const domain = finalizer.includes('/') ? (finalizer.split('/')[0] ?? '') : finalizer
  const isOwn = (group: string) =>
    isKubernetes(ref.group)
      ? !isKubernetes(group) && (domain === group || domain.endsWith(`.${group}`) || group.endsWith(`.${domain}`))
      : group === ref.group || isSibling(group, ref.group)
  const kinds = look.kinds.resources.filter(({ group, verbs }) => isOwn(group) && verbs.includes('list'))
  if (kinds.length + KEPT > look.reader.left) return []
  const links: Link[] = []
  for (const resource of kinds) {
    const namespace = resource.namespaced ? ref.namespace : ''
    const users = itemsOf(await look.reader.list(resource, { namespace })).filter(
      (one) => one.metadata.uid !== ref.uid && isNamedIn(one, ref),
    )
    for (const user of users.slice(0, MOST_ALIKE - links.length))
      links.push(await usedBy(look, resource, user, `it names the ${ref.kind}`, examine))
  }
  return links
}

/** Kinds of the software that a custom resource is of. */
export const kindsOfSoftware = ({ kinds }: Look, ref: ObjectRef): readonly NamedResource[] =>
  isKubernetes(ref.group)
    ? []
    : kinds.resources.filter(
        ({ group, verbs }) => (group === ref.group || isSibling(group, ref.group)) && verbs.includes('list'),
      )

/** `how`: in which way it uses what is asked about. */
export async function usedBy(
  look: Look,
  resource: NamedResource,
  user: KubeObject,
  how: string,
  examine: Examine,
): Promise<Link> {
  const isDeleted = user.metadata.deletionTimestamp !== undefined
  const cause = { kind: 'in-use', by: refOf(resource, user), how, isDeleted } as const
  // One that waits for this in turn ends its use before it goes: a pod that is deleted in the foreground, and a claim that it owns.
  const isInPath = look.path.some(({ uid }) => uid === user.metadata.uid)
  if (!isDeleted || isInPath) return lastLink('will-end', cause)
  return waitingLink(cause, [await examine(look, resource, user)], () => lastLink('will-end', cause))
}

/** Whether a field of it names that object: by its kind (`gatewayClassName`, `providerConfigRef`, `boundSnapshotContentName`, `flavors: [{name}]`). */
export function isNamedIn(object: KubeObject, ref: ObjectRef): boolean {
  const { metadata: _, apiVersion: _v, ...rest } = asJson(object)
  const kind = ref.kind.toLowerCase()
  const isNamed = (field: string, value: Json | undefined): boolean => {
    const word = field.replace(/(Refs?|References?|Names?|s)$/, '').toLowerCase()
    const isOfKind = (word.length >= 4 && kind.endsWith(word)) || (kind.length >= 4 && word.endsWith(kind))
    if (typeof value === 'string') return isOfKind && value === ref.name
    const object = asObject(value)
    if (object['name'] !== ref.name) return false
    const { kind: given, namespace, apiGroup, group = apiGroup, apiVersion } = object
    if (namespace !== undefined && namespace !== ref.namespace) return false
    const ofGroup = apiVersion === undefined ? group : parseApiVersion(asText(apiVersion)).group
    return given === undefined ? isOfKind : given === ref.kind && (ofGroup === undefined || ofGroup === ref.group)
  }
  const visit = (value: Json | undefined, deep: number): boolean => {
    if (deep > 8 || typeof value !== 'object' || value === null) return false
    if (Array.isArray(value)) return value.some((one) => visit(one as Json, deep + 1))
    return Object.entries(value as JsonObject).some(
      ([field, inner]) => [inner].flat().some((one) => isNamed(field, one as Json)) || visit(inner, deep + 1),
    )
  }
  return visit(rest, 0)
}
