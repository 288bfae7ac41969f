/** One object: what holds it, and for each of these what it waits for. */
import type { Namespace, Pod, Service } from '../../api/generated/types.ts'
import type { KubeObject, SpecAndStatus } from '../../api/object.ts'
import { formatTime } from '../../base/clock.ts'
import type { NamedResource } from '../../client/aggregated-discovery.ts'
import { quotedDeadHook, quotedRefusal, refusalLinks, removalLinks } from './admission.ts'
import { componentLink } from './components.ts'
import { controllerLinks, setterOf, wordsOf } from './controllers.ts'
import { instanceLinks } from './definitions.ts'
import { agentLinks, podLinks } from './deleted-pods.ts'
import { foregroundLinks, orphanLinks } from './dependents.ts'
import { liveDrainLinks, machineLinks } from './drains.ts'
import { failureLinks, isKubernetes, lostOwners, missingNeeds, unnamedController } from './failures.ts'
import { type Cause, type Link, lastLink, type ObjectRef, verdictOf, waitingLink } from './finding.ts'
import { failingJobs, managerOfJob } from './jobs.ts'
import { type KnownFinalizer, knownFinalizer } from './known-finalizers.ts'
import { deletedAt, kubectlName, type Look, MOST_DEEP, MOST_EXAMINED, refOf, timeOf } from './look.ts'
import { namedAsWaitedFor, needsNamedMissing } from './named-in-words.ts'
import { namespaceLinks } from './namespaces.ts'
import { madeObjects, partLinks } from './parts.ts'
import { pausedByOwner, pausedLink } from './paused.ts'
import { addressLinks, copyLinks, volumeClassLinks } from './protected.ts'
import { accountUser, controllerUsers, deletionOf, type WritingUser } from './rules.ts'
import { attachmentLinks, attachmentsOfVolume, claimLinks, volumeLinks } from './storage.ts'
import { reservationLinks, userLinks } from './users.ts'

export type Examine = (look: Look, resource: NamedResource, object: KubeObject) => Promise<Link>

/** `object` may be its metadata alone, as lists give it: it is read whole when there is more to know. */
export const examine: Examine = async (look, resource, object) => {
  const { uid = '' } = object.metadata
  const inPath = look.path.some((one) => one.uid === uid)
  // What is found is remembered when it is whole: two objects that wait for each other must not wait for each other's finding.
  const before = inPath ? undefined : look.examined.get(uid)
  if (before !== undefined) return before
  const found = await examineAnew(look, resource, object)
  if (!inPath) look.examined.set(uid, found)
  return found
}

async function examineAnew(look: Look, resource: NamedResource, given: KubeObject): Promise<Link> {
  const ref = refOf(resource, given)
  if (look.path.some(({ uid }) => uid === ref.uid && uid !== undefined)) {
    const from = look.path.findIndex(({ uid }) => uid === ref.uid)
    return lastLink('cannot-end', { kind: 'owner-cycle', objects: look.path.slice(from) })
  }
  if (look.path.length >= MOST_DEEP || look.examined.size >= MOST_EXAMINED)
    return lastLink(
      'slow',
      { kind: 'more', what: `${kubectlName(ref)} and what it waits for were not looked at` },
      true,
    )
  const inner: Look = { ...look, path: [...look.path, ref] }
  if (given.metadata.deletionTimestamp === undefined) return live(inner, ref, given)
  const isWhole = given.kind !== 'PartialObjectMetadata' && (given as SpecAndStatus).spec !== undefined
  const read = isWhole ? undefined : await look.reader.get(resource, ref.namespace, ref.name)
  const object = read?.state === 'found' && read.value.metadata.uid === ref.uid ? markedAs(given, read.value) : given
  return marked(inner, ref, object)
}

/** What was read, with the mark of what it was read for: that may be looked at before it is deleted. */
function markedAs({ metadata: { deletionTimestamp } }: KubeObject, read: KubeObject): KubeObject {
  if (deletionTimestamp === undefined || read.metadata.deletionTimestamp !== undefined) return read
  return { ...read, metadata: { ...read.metadata, deletionTimestamp } }
}

/** Nothing of it is tried: it is not being deleted. What its delete would meet is told by what is configured. */
async function live(look: Look, ref: ObjectRef, object: KubeObject): Promise<Link> {
  const drains = await liveDrainLinks(look, ref, object, examine)
  const links = drains.length > 0 ? drains : await refusalLinks(look, deletionOf(ref, object))
  const isRefused = drains.length === 0 && links.length > 0
  const cause = { kind: 'not-deleted', note: isRefused ? 'its delete would be refused' : '' } as const
  return waitingLink(cause, links, () => lastLink('not-stuck', cause))
}

async function marked(look: Look, ref: ObjectRef, object: KubeObject): Promise<Link> {
  const { metadata } = object
  const finalizers = metadata.finalizers ?? []
  const isPod = ref.group === '' && ref.resource === 'pods'
  const isNamespace = ref.group === '' && ref.resource === 'namespaces'
  const ofSpec = isNamespace ? ((object as Namespace).spec?.finalizers ?? []) : []
  const holds = await Promise.all([
    isPod ? podLinks(look, ref, object as Pod) : [],
    ...ofSpec.map(async (finalizer) => [await specFinalizer(look, ref, object, finalizer)]),
    ...finalizers.map(async (finalizer) => [await finalizerLink(look, ref, object, finalizer)]),
  ])
  const cause = {
    kind: 'marked',
    object: ref,
    since: formatTime(deletedAt(metadata)),
    graceSeconds: metadata.deletionGracePeriodSeconds ?? 0,
    finalizers: [...ofSpec, ...finalizers],
  } as const
  return waitingLink(cause, holds.flat(), () =>
    lastLink(
      'slow',
      { kind: 'kubelet-at-work', node: '', note: 'nothing holds it: the next write to it removes it' },
      true,
    ),
  )
}

async function specFinalizer(look: Look, ref: ObjectRef, object: KubeObject, finalizer: string): Promise<Link> {
  const isOwn = finalizer === 'kubernetes'
  const cause = {
    kind: 'finalizer',
    object: ref,
    finalizer,
    controller: isOwn ? 'namespace controller' : '',
    does: isOwn ? 'deletes all that is in the namespace, and waits until it is gone' : '',
    inSpec: true,
  } as const
  const next = isOwn
    ? await namespaceLinks(look, ref, object, examine)
    : // Names that mean something among those of metadata mean nothing here.
      await controllerLinks(look, ref, object, finalizer, undefined)
  return waitingLink(cause, next, () => lastLink('slow', cause, true))
}

async function finalizerLink(look: Look, ref: ObjectRef, object: KubeObject, finalizer: string): Promise<Link> {
  const known = ofClass(ref, object, await managerOfJob(look, ref, object, knownFinalizer(finalizer, ref.resource)))
  const setter = setterOf(object, finalizer)
  const cause = {
    kind: 'finalizer',
    object: ref,
    finalizer,
    controller: known?.controller ?? '',
    does: known?.does ?? '',
    ...(setter?.manager === undefined ? {} : { setBy: setter.manager }),
    ...(setter?.time === undefined ? {} : { setAt: setter.time }),
  } as const
  const waits = await followLinks(look, ref, object, finalizer)
  // What it waits for comes before what its controller would do then.
  if (waits.length > 0) return waitingLink(cause, waits, () => lastLink('slow', cause, true))
  const isCollector = known?.follow === 'foreground' || known?.follow === 'orphan'
  const [controllers, said, needs] = await Promise.all([
    isCollector
      ? componentLink(look, 'kube-controller-manager', known.controller, kubectlName(ref)).then((link) => [link])
      : controllerLinks(look, ref, object, finalizer, known),
    isCollector ? [] : failureLinks(look, ref, object, typeof known?.runsIn !== 'string'),
    isCollector ? [] : missingNeeds(look, ref, object),
  ])
  const jobs =
    isCollector || isKubernetes(ref.group)
      ? []
      : await failingJobs(look, ref, object, spacesOf(ref, controllers), madeObjects((object as SpecAndStatus).status))
  const failures = [...jobs, ...said]
  const removal = await removalLinks(look, ref, object, finalizer, usersOf(known, controllers))
  // What a controller said while it was there is not why the object stays once it is gone.
  const isGone = controllers.length > 0 && controllers.every((link) => verdictOf(link) === 'nobody')
  const since = deletedAt(object.metadata)
  const isPast = (link: Link) => isGone && (!controllers.some(({ inferred }) => inferred) || saidBefore(link, since))
  const unknown = removal.filter((link) => verdictOf(link) === 'slow')
  const quoted = await quotedRefusal(look, unknown, [...failures.filter((link) => !isPast(link)), ...controllers])
  const refusals = [
    ...(quoted === undefined ? [] : [quoted.refusal]),
    ...removal.filter((link) => !unknown.includes(link)),
  ]
  const ofFailures = failures
    .filter((link) => !isPast(link) && link !== quoted?.complaint)
    .map((link) => toldByOne(link, ref, controllers))
  const ofControllers = controllers.filter((link) => link !== quoted?.complaint)
  const dead = new Map<Link, Link>()
  for (const link of [...ofFailures, ...ofControllers]) {
    const refusal = await quotedDeadHook(look, ref, object, link)
    if (refusal !== undefined) dead.set(link, refusal)
  }
  const withDead = (link: Link) => [dead.get(link), link].filter((one) => one !== undefined)
  const [complaints, heard] = [ofFailures.flatMap(withDead), ofControllers.flatMap(withDead)]
  // What quotes a refusal says nothing of the object.
  const spoken = [...ofFailures, ...(isGone ? [] : ofControllers)].filter((link) => !dead.has(link))
  const words = isCollector ? '' : wordsIn(spoken)
  if (refusals.length === 0 && words !== '') {
    const named = await namedAsWaitedFor(look, ref, words, examine)
    if (named.length > 0) return waitingLink(cause, named, () => lastLink('slow', cause, true))
  }
  const lacks =
    needs.length > 0 || words === ''
      ? needs
      : (await needsNamedMissing(look, ref, object, words, complaintsIn(spoken))).map((link) =>
          toldByOne(link, ref, controllers),
        )
  // That what it needs is missing is what it complains of.
  const isOfLack = (link: Link) => lacks.some((need) => isNamedBy(link, need))
  const told = [...refusals, ...complaints.filter((link) => !isOfLack(link)), ...lacks]
  // A controller that is there and says nothing waits for something.
  const isAtWork = told.length === 0 && controllers.every((link) => verdictOf(link) === 'slow')
  const waitsFor = isAtWork && !isCollector ? await unsaid(look, ref, object, finalizer) : []
  const overdue = isAtWork && waitsFor.length === 0 ? overdueLink(look, object, known) : undefined
  if (waitsFor.length > 0) return waitingLink(cause, waitsFor, () => lastLink('slow', cause, true))
  const others = heard.filter((link) => !isOfLack(link))
  const next = [...told, ...(overdue === undefined ? [] : [overdue]), ...others, ...unknown]
  return waitingLink(cause, next, () => lastLink('slow', cause, true))
}

/** What controllers say: of failing, and of what they do. */
const wordsIn = (links: readonly Link[]): string =>
  links
    .flatMap(({ cause }) => ('message' in cause ? cause.message : 'says' in cause ? (cause.says ?? '') : ''))
    .filter((text) => text !== '')
    .join('\n')

/** Those of them that tell of a failure. */
const complaintsIn = (links: readonly Link[]): string =>
  wordsIn(links.filter(({ cause }) => cause.kind === 'controller-failing'))

/** Whether a complaint names what is missing. */
const isNamedBy = ({ cause }: Link, need: Link): boolean => {
  const name =
    need.cause.kind === 'needs-missing'
      ? /^kind (\S+)|\/(\S+)/
          .exec(need.cause.what)
          ?.slice(1)
          .find((one) => one !== undefined)
      : undefined
  return name !== undefined && cause.kind === 'controller-failing' && cause.message.includes(name)
}

/** A Service of a class of load balancers is left to the controller of that class. */
function ofClass(ref: ObjectRef, object: KubeObject, known: KnownFinalizer | undefined): KnownFinalizer | undefined {
  if (known?.runsIn !== 'cloud-controller-manager') return known
  const name = (object as Service).spec?.loadBalancerClass
  if (name === undefined) return known
  return { ...known, controller: `the controller of load balancers of class ${name}`, runsIn: wordsOf(name, ref) }
}

/** Where an object's controller makes what it needs to end it. */
function spacesOf({ namespace }: ObjectRef, controllers: readonly Link[]): readonly string[] {
  if (namespace !== '') return [namespace]
  const own = controllers.flatMap(({ cause }) =>
    'controller' in cause && typeof cause.controller === 'object' ? (cause.controller.workload?.namespace ?? []) : [],
  )
  return [...new Set(own)]
}

/** The users of which one takes a finalizer off, where that is known. */
function usersOf(known: KnownFinalizer | undefined, controllers: readonly Link[]): readonly WritingUser[] {
  if (known?.account !== undefined) return controllerUsers(known.account)
  const accounts = controllers.flatMap(({ cause }) =>
    'controller' in cause && typeof cause.controller === 'object' ? (cause.controller.account ?? []) : [],
  )
  return accounts.map(({ namespace, name }) => accountUser(namespace, name))
}

/** What tells of a failure names no program, or the one that was found at work here. */
function toldByOne(link: Link, ref: ObjectRef, controllers: readonly Link[]): Link {
  const { cause } = link
  if (!('verdict' in link) || !('controller' in cause) || typeof cause.controller !== 'string') return link
  // Many controllers report as the kind that they are for.
  const isUnnamed = cause.controller === unnamedController(ref) || isOfKind(cause.controller, ref)
  if (!isUnnamed) return link
  const found = controllers.find((one) => verdictOf(one) === 'slow')?.cause
  if (found === undefined || !('controller' in found) || typeof found.controller !== 'object') return link
  return { ...link, cause: { ...cause, controller: found.controller.name } as Cause }
}

const isOfKind = (component: string, { kind }: ObjectRef): boolean =>
  component.toLowerCase().replaceAll(/[-_.]|controller|reconciler/g, '') === kind.toLowerCase()

/** Clocks of seconds: what was said in the second of the delete may be of its end. */
const saidBefore = ({ cause }: Link, since: number): boolean =>
  'at' in cause && cause.at !== undefined && timeOf(cause.at) < since - 1000

/** What a controller that says nothing may wait for. */
async function unsaid(look: Look, ref: ObjectRef, object: KubeObject, finalizer: string): Promise<readonly Link[]> {
  const paused = pausedLink(ref, object) ?? (await pausedByOwner(look, object))
  const parts = [...(await agentLinks(look, ref, object)), ...(await partLinks(look, ref, object, examine))]
  const copies = knownFinalizer(finalizer, ref.resource)?.follow === 'copies' ? await copyLinks(look, ref, examine) : []
  const users =
    parts.length + copies.length > 0
      ? []
      : await userLinks(look, ref, finalizer, examine, isKnownToWait(finalizer, ref))
  return [...(paused === undefined ? [] : [paused]), ...parts, ...copies, ...users]
}

const isKnownToWait = (finalizer: string, { resource }: ObjectRef): boolean =>
  knownFinalizer(finalizer, resource)?.follow === 'users'

/** A component of Kubernetes takes a finalizer off at once, where there is nothing to wait for: after so long it has lost sight of it. */
const OVERDUE_MS = 600_000

function overdueLink(look: Look, { metadata }: KubeObject, known: KnownFinalizer | undefined): Link | undefined {
  const since = deletedAt(metadata)
  if (known?.runsIn !== 'kube-controller-manager' || !(look.now - since > OVERDUE_MS)) return undefined
  const { controller } = known
  return lastLink(
    'nobody',
    { kind: 'overdue', controller: `${controller} (kube-controller-manager)`, since: formatTime(since) },
    true,
  )
}

/** What a finalizer waits for by what is known of it. */
async function followLinks(
  look: Look,
  ref: ObjectRef,
  object: KubeObject,
  finalizer: string,
): Promise<readonly Link[]> {
  const follow = knownFinalizer(finalizer, ref.resource)?.follow
  switch (follow) {
    case undefined:
    // What uses it is looked for when its controller is there and says nothing.
    case 'users':
    case 'copies':
      return []
    case 'foreground':
      return waiting(await foregroundLinks(look, ref, object, examine))
    case 'orphan':
      return waiting(await orphanLinks(look, ref))
    case 'claim':
      return claimLinks(look, ref, object, examine)
    case 'reservations':
      return reservationLinks(look, ref, object, examine)
    case 'volume':
      return volumeLinks(look, object, examine)
    case 'volume-class':
      return volumeClassLinks(look, ref, examine)
    case 'addresses':
      return addressLinks(look, ref, object, examine)
    case 'attachments':
      return attachmentsOfVolume(look, ref, examine)
    case 'attachment':
      return attachmentLinks(look, object)
    case 'instances':
      return instanceLinks(look, ref, object, examine)
    case 'drain':
      return machineLinks(look, ref, object, examine)
    case 'owners':
      return lostOwners(look, ref, object)
  }
}

/** A collector at work that waits for nothing leaves the question open whether its last write would be accepted. */
function waiting(links: readonly Link[]): readonly Link[] {
  const [only] = links
  return links.length === 1 && only !== undefined && 'verdict' in only && only.cause.kind === 'controller-at-work'
    ? []
    : links
}
