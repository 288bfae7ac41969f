/** A definition that is being deleted: its instances, which go first. */
import type { CustomResourceDefinition } from '../../api/generated/types.ts'
import type { KubeObject } from '../../api/object.ts'
import type { NamedResource } from '../../client/aggregated-discovery.ts'
import { type Link, lastLink, type ObjectRef, waitingLink } from './finding.ts'
import { deletedAt, type Look, MOST_ALIKE } from './look.ts'
import { listFailure } from './unreadable.ts'
import type { Examine } from './what-holds-an-object.ts'

/**
 * The API server deletes instances itself, straight in its store: webhooks and policies are not asked. It looks again after a failure
 * within minutes: when it has been longer, it is worth a word.
 */
export async function instanceLinks(
  look: Look,
  ref: ObjectRef,
  object: KubeObject,
  examine: Examine,
): Promise<readonly Link[]> {
  const { spec, status } = object as CustomResourceDefinition
  const version = spec.versions.find(({ served }) => served)?.name
  if (version === undefined) return []
  const resource: NamedResource = look.kinds.ofResource(spec.group, spec.names.plural) ?? {
    group: spec.group,
    version,
    resource: spec.names.plural,
    kind: spec.names.kind,
    namespaced: spec.scope === 'Namespaced',
    verbs: ['get', 'list', 'delete'],
    singular: spec.names.singular ?? '',
    shortNames: [],
    categories: [],
  }
  const read = await look.reader.list(resource, { metadataOnly: true })
  if (read.state === 'failed') return listFailure(look, resource, read)
  if (read.state !== 'found') return []
  const links: Link[] = []
  const groups = Map.groupBy(read.value, ({ metadata }) => (metadata.finalizers ?? []).join(' '))
  for (const alike of groups.values()) {
    const finalizers = [...new Set(alike.flatMap(({ metadata }) => metadata.finalizers ?? []))]
    const cause = { kind: 'instances', definition: ref.name, count: alike.length, finalizers } as const
    const marked = alike.filter(({ metadata }) => metadata.deletionTimestamp !== undefined)
    const next = await Promise.all(marked.slice(0, MOST_ALIKE).map((one) => examine(look, resource, one)))
    links.push(waitingLink(cause, next, () => lastLink('slow', cause, true)))
  }
  if (links.length > 0) return links
  const failed = status?.conditions?.find(
    ({ type, status: is, reason }) => type === 'Terminating' && is === 'True' && /Fail/.test(reason ?? ''),
  )
  if (failed === undefined || deletedAt(object.metadata) > look.now) return []
  const { reason = '', message = '' } = failed
  const controller = 'custom resource finalizer of the API server'
  return [lastLink('refused', { kind: 'controller-failing', controller, source: 'condition', reason, message })]
}
