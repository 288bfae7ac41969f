/**
 * A namespace that is being deleted. It is emptied in an order: pods first, and while any is left nothing else; then everything else
 * that discovery knows, all at once; then its own finalizer goes.
 */
import type { Namespace, Pod } from '../../api/generated/types.ts'
import type { KubeObject } from '../../api/object.ts'
import { formatTime } from '../../base/clock.ts'
import type { NamedResource } from '../../client/aggregated-discovery.ts'
import { refusalIn, refusalLinks } from './admission.ts'
import { asTold } from './as-told.ts'
import { componentLink } from './components.ts'
import {
  type Cause,
  type ContentTurn,
  type Link,
  lastLink,
  type ObjectRef,
  type Verdict,
  verdictOf,
  waitingLink,
} from './finding.ts'
import { isOf, itemsOf, KEPT, kubectlName, type Look, MOST_ALIKE, PODS, refOf } from './look.ts'
import { controllerUsers, deletionOf, updateOf } from './rules.ts'
import { unavailableApis } from './unavailable.ts'
import { listFailure } from './unreadable.ts'
import type { Examine } from './what-holds-an-object.ts'

/** What the finalizer `kubernetes` of a namespace's spec waits for. */
export async function namespaceLinks(
  look: Look,
  ref: ObjectRef,
  object: KubeObject,
  examine: Examine,
): Promise<readonly Link[]> {
  const { name } = ref
  const { status } = object as Namespace
  const controller = componentLink(look, 'kube-controller-manager', 'namespace controller', kubectlName(ref))
  const told = (status?.conditions ?? []).filter(({ type, status: is }) => is === 'True' && TOLD.test(type))
  // What became of the controller's deletes, in the words of a webhook, a policy or the API server.
  const failures = await Promise.all(
    told.map(async ({ reason = '', message: whole = '' }) => {
      const message = asTold(whole)
      return (
        (await refusalIn(look, message, 'DELETE')) ??
        lastLink('refused', {
          kind: 'controller-failing',
          controller: 'namespace controller',
          source: 'condition',
          reason,
          message,
        })
      )
    }),
  )
  const work = failures.length > 0 ? failures : [await controller]
  const [down, pods] = await Promise.all([unavailableApis(look), podsFirst(look, name, examine, work)])
  const apis = down.length > 0 ? down : undiscovered(object as Namespace)
  if (pods.length > 0)
    return [...pods, ...apis, ...(await behindPods(look, name, examine)), ...onlyBad([await controller])]
  const { links, count, unlisted } = await content(look, name, examine, work)
  const known = [...links, ...apis]
  if (known.length === 0 && failures.length > 0) return [...failures, ...onlyBad([await controller])]
  if (count > 0 || known.length > 0) return [...known, ...onlyBad([await controller])]
  const remaining = (status?.conditions ?? []).filter(
    ({ type, status: is }) => is === 'True' && (REMAINING as readonly string[]).includes(type),
  )
  if (unlisted === undefined || remaining.length === 0)
    return [
      ...(await refusalLinks(look, updateOf(ref, object, 'finalize', controllerUsers('namespace-controller')))),
      await controller,
    ]
  // The namespace controller has seen what this caller could not.
  const what = remaining.map(({ message = '' }) => asTold(message)).join('; ')
  return [lastLink('slow', { kind: 'unseen', what, why: unlisted }, true), ...onlyBad([await controller])]
}

/** What the namespace controller could not discover, where the APIServices do not tell (any more, or not to this caller). */
function undiscovered({ status }: Namespace): readonly Link[] {
  return (status?.conditions ?? []).flatMap(({ type, status: is, reason = '', message: whole = '' }) => {
    if (type !== 'NamespaceDeletionDiscoveryFailure' || is !== 'True') return []
    const message = asTold(whole)
    const named = [...whole.matchAll(/(?<![a-z0-9.-])([a-z0-9.-]+)\/(v\d{1,3}\w{0,9}): /g)].map(
      ([, group, version]) => `${version}.${group}`,
    )
    return [...new Set(named)].map((apiService) =>
      lastLink('nobody', { kind: 'api-unavailable', apiService, reason, message }, true),
    )
  })
}

/** Conditions of a namespace that tell what of its content is left, by resource and by finalizer. */
const REMAINING = ['NamespaceContentRemaining', 'NamespaceFinalizersRemaining'] as const

/** Those that tell what its controller failed at. */
const TOLD = /^NamespaceDeletion(ContentFailure|GroupVersionParsingFailure)$/

const onlyBad = (links: readonly Link[]) => links.filter((link) => 'verdict' in link && link.verdict !== 'slow')

async function podsFirst(
  look: Look,
  namespace: string,
  examine: Examine,
  work: readonly Link[],
): Promise<readonly Link[]> {
  const resource = look.kinds.ofResource('', 'pods')
  const read = await look.reader.list<Pod>(PODS, { namespace })
  if (resource === undefined || read.state !== 'found' || read.value.length === 0) return []
  return [await groupLink(look, namespace, resource, read.value, 'first', examine, work)]
}

/**
 * What would hold the namespace once its pods are gone: objects with finalizers that none would take away then. One that is marked is looked
 * at as it is; one that is not as if it were deleted now, and nothing is tried. What holds the namespace now comes first: where requests are
 * short, that this was not looked at is all that is told.
 */
async function behindPods(look: Look, namespace: string, examine: Examine): Promise<readonly Link[]> {
  if (contentResources(look).length + KEPT > look.reader.left) {
    const what = `what would hold namespace ${namespace} once its pods are gone`
    return [lastLink('slow', { kind: 'unseen', what, why: 'too few requests are left to look at it' }, true)]
  }
  const then: Look = { ...look, dryRun: false, examined: new Map() }
  const deletionTimestamp = formatTime(look.now)
  const links = await Promise.all(
    contentResources(look).map(async (resource): Promise<readonly Link[]> => {
      if (isOf(resource, PODS)) return []
      const read = await look.reader.list(resource, { namespace, metadataOnly: true })
      const held = itemsOf(read)
        .filter(({ metadata: { finalizers = [] } }) => finalizers.length > 0)
        .sort((a, b) => Number(isMarked(b)) - Number(isMarked(a)))
      const groups = Map.groupBy(held, ({ metadata }) => (metadata.finalizers ?? []).join(' '))
      return Promise.all(
        [...groups.values()].map(async (alike) => {
          const holds = await Promise.all(
            alike.slice(0, MOST_ALIKE).map(async (object) => {
              if (isMarked(object)) return [await examine(look, resource, object)]
              const metadata = { ...object.metadata, deletionTimestamp }
              const link = await examine(then, resource, { ...object, metadata })
              // That it was deleted is not true yet.
              return link.next.length === 0 ? [link] : link.next
            }),
          )
          const cause = contentCause(namespace, resource, alike, 'next')
          return waitingLink(
            cause,
            holds.flat().map((link) => withoutPodsOf(namespace, link)),
            () => lastLink('slow', cause, true),
          )
        }),
      )
    }),
  )
  return onlyStuck(links.flat())
}

const isMarked = ({ metadata }: KubeObject): boolean => metadata.deletionTimestamp !== undefined

/** The object that a link says is waited for. */
function waitedFor(cause: Cause): ObjectRef | undefined {
  switch (cause.kind) {
    case 'in-use':
      return cause.by
    case 'blocking-dependent':
      return cause.dependent
    case 'part':
      return cause.part
    case 'marked':
      return cause.object
    default:
      return undefined
  }
}

/** A controller whose pods are in that namespace goes before what it would have to do there; what waits for these pods waits no longer. */
function withoutPodsOf(namespace: string, link: Link): Link {
  const { cause } = link
  const about = waitedFor(cause)
  if (about !== undefined && isOf(about, PODS) && about.namespace === namespace) return lastLink('slow', cause, true)
  if ('verdict' in link && cause.kind === 'controller-at-work' && cause.controller.workload?.namespace === namespace) {
    const reason = `its pods are in namespace ${namespace}, and are deleted first`
    return lastLink('nobody', { kind: 'controller-not-running', controller: cause.controller, reason }, true)
  }
  return 'verdict' in link
    ? link
    : waitingLink(
        cause,
        link.next.map((next) => withoutPodsOf(namespace, next)),
        () => link,
      )
}

const STUCK: ReadonlySet<Verdict> = new Set(['nobody', 'refused', 'cannot-end'])
const onlyStuck = (links: readonly Link[]) => links.filter((link) => STUCK.has(verdictOf(link)))

const contentResources = (look: Look): readonly NamedResource[] =>
  look.kinds.resources.filter(
    // Events are the same objects in both of their groups.
    ({ group, namespaced, verbs }) =>
      namespaced && verbs.includes('list') && verbs.includes('delete') && group !== 'events.k8s.io',
  )

/** `work`: what those wait for that are not even marked yet. */
async function content(look: Look, namespace: string, examine: Examine, work: readonly Link[]) {
  let count = 0
  /** Why a resource was not listed, of the first one. */
  let unlisted: string | undefined
  const links = await Promise.all(
    contentResources(look).map(async (resource): Promise<readonly Link[]> => {
      const read = await look.reader.list(resource, { namespace, metadataOnly: true })
      if (read.state === 'failed') return listFailure(look, resource, read)
      if (read.state === 'forbidden' || read.state === 'not-asked') unlisted ??= read.message
      if (read.state !== 'found' || read.value.length === 0) return []
      count += read.value.length
      const groups = Map.groupBy(read.value, ({ metadata }) => (metadata.finalizers ?? []).join(' '))
      return Promise.all(
        [...groups.values()].map((alike) => groupLink(look, namespace, resource, alike, 'now', examine, work)),
      )
    }),
  )
  return { links: links.flat(), count, unlisted }
}

function contentCause(namespace: string, resource: NamedResource, alike: readonly KubeObject[], turn: ContentTurn) {
  const finalizers = [...new Set(alike.flatMap(({ metadata }) => metadata.finalizers ?? []))]
  const named = (name: string) => (resource.group === '' ? name : `${name}.${resource.group}`)
  return {
    kind: 'namespace-content',
    namespace,
    resource: named(resource.resource),
    singular: named(resource.singular || resource.kind.toLowerCase()),
    count: alike.length,
    finalizers,
    turn,
  } as const
}

async function groupLink(
  look: Look,
  namespace: string,
  resource: NamedResource,
  alike: readonly KubeObject[],
  turn: ContentTurn,
  examine: Examine,
  work: readonly Link[],
): Promise<Link> {
  const cause = contentCause(namespace, resource, alike, turn)
  const marked = alike.filter(isMarked)
  const next = await Promise.all(marked.slice(0, MOST_ALIKE).map((object) => examine(look, resource, object)))
  // One that is not even marked is the controller's next work, or its delete was refused.
  const unmarked = alike.find((one) => !isMarked(one))
  if (unmarked === undefined) return waitingLink(cause, next, () => lastLink('slow', cause, true))
  const refused = await refusalLinks(
    look,
    deletionOf(refOf(resource, unmarked), unmarked, controllerUsers('namespace-controller')),
  )
  return waitingLink(cause, [...next, ...(refused.length > 0 ? refused : work)], () => lastLink('slow', cause, true))
}
