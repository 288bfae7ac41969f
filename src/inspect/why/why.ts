/**
 * why: what an object's deletion waits for, followed to the last cause, with a verdict and the ways out. Called by the command. It
 * reads any cluster through a ClusterReader and knows no case by name: an object has holds (grace, finalizers), each hold has
 * something that takes it away, and that is there or not, works or fails, and waits for other objects in turn.
 */
import type { Event } from '../../api/generated/types.ts'
import type { KubeObject } from '../../api/object.ts'
import { messageOf } from '../../base/errors.ts'
import type { NamedResource } from '../../client/aggregated-discovery.ts'
import type { ClusterReader, Read } from '../cluster-reader.ts'
import { readKinds } from '../kinds.ts'
import { type QuestionTarget, servedResource } from '../question.ts'
import type { AuditedWrite } from '../timeline/audit-log.ts'
import { clusterTime } from './cluster-time.ts'
import { type Cause, type Link, lastCause, lastLink, type ObjectRef, pathToCause, type Verdict } from './finding.ts'
import { deletedAt, EVENTS, INVALID_NAMESPACE, itemsOf, kubectlName, type Look, NAMESPACES, refOf } from './look.ts'
import { unavailableApis } from './unavailable.ts'
import { conversionFailure, isBusy, isDecryption } from './unreadable.ts'
import { type WayOut, waysOut } from './ways-out.ts'
import { examine } from './what-holds-an-object.ts'
import { responsibleFor, sentenceOf } from './words.ts'

type State = 'there' | 'deleting' | 'missing' | 'not-visible' | 'unreadable'

export interface Explanation {
  readonly object: ObjectRef
  readonly state: State
  /** When it was deleted, as metav1.Time; '' when it is not. */
  readonly since: string
  readonly verdict: Verdict
  /** Whether something has to be done; false for what ends by itself or is worked on. */
  readonly stuck: boolean
  /** The verdict does not follow from what was told, but from what was seen or not seen. */
  readonly inferred: boolean
  readonly cause: Cause
  readonly sentence: string
  readonly responsible: string
  readonly chain: Link
  readonly waysOut: readonly WayOut[]
  /** Of the object as it was looked at; '' where it could not be read. */
  readonly resourceVersion: string
}

/** @param local this machine's clock, in milliseconds since the epoch */
export async function startLook(
  reader: ClusterReader,
  local: number,
  dryRun: boolean,
  audited: readonly AuditedWrite[] = [],
): Promise<Look> {
  const [kinds, now] = await Promise.all([readKinds(reader), clusterTime(reader, local)])
  return { reader, kinds, now, dryRun, audited, path: [], examined: new Map() }
}

/** @throws QuestionError */
export async function explain(look: Look, target: QuestionTarget): Promise<Explanation> {
  const resource = servedResource(look.kinds, target.kind)
  const namespace = resource.namespaced ? target.namespace : ''
  const ref: ObjectRef = {
    group: resource.group,
    version: resource.version,
    resource: resource.resource,
    kind: resource.kind,
    namespace,
    name: target.name,
  }
  const read = await look.reader.get(resource, namespace, target.name)
  switch (read.state) {
    case 'found':
      return explainObject(look, resource, read.value)
    case 'missing':
      return conclude(ref, 'missing', '', await missingLink(look, ref))
    case 'forbidden':
    case 'not-asked':
      return conclude(
        ref,
        'not-visible',
        '',
        lastLink('slow', { kind: 'unseen', what: `${ref.resource}/${ref.name}`, why: read.message }, true),
      )
    case 'failed':
      return explainUnreadable(look, resource, ref, read)
  }
}

export async function explainObject(look: Look, resource: NamedResource, object: KubeObject): Promise<Explanation> {
  return concludeOf(resource, object, await examine(look, resource, object))
}

/** An object that could not be looked at to the end, for a fault in looking. */
export function unexplained(resource: NamedResource, object: KubeObject, thrown: unknown): Explanation {
  const why = `it could not be looked at: ${messageOf(thrown)}`
  const cause = { kind: 'unseen', what: `what ${kubectlName(refOf(resource, object))} waits for`, why } as const
  return concludeOf(resource, object, lastLink('slow', cause, true))
}

function concludeOf(resource: NamedResource, object: KubeObject, chain: Link): Explanation {
  const { deletionTimestamp, resourceVersion = '' } = object.metadata
  const since =
    deletionTimestamp === undefined ? '' : new Date(deletedAt(object.metadata)).toISOString().replace('.000', '')
  const state = deletionTimestamp === undefined ? 'there' : 'deleting'
  return { ...conclude(refOf(resource, object), state, since, chain), resourceVersion }
}

export function conclude(object: ObjectRef, state: State, since: string, chain: Link): Explanation {
  const last = lastCause(chain)
  return {
    object,
    state,
    since,
    verdict: last.verdict,
    stuck: last.verdict === 'nobody' || last.verdict === 'refused' || last.verdict === 'cannot-end',
    inferred: last.inferred,
    cause: last.cause,
    sentence: sentenceOf(last.cause),
    responsible: responsibleFor(last.cause),
    chain,
    waysOut: waysOut(pathToCause(chain)),
    resourceVersion: '',
  }
}

/** An object that is not there: was it removed for a reason that its Events still tell? */
async function missingLink(look: Look, ref: ObjectRef): Promise<Link> {
  if (ref.namespace !== '') {
    const space = await look.reader.get(NAMESPACES, '', ref.namespace)
    if (space.state === 'missing')
      return lastLink('not-stuck', {
        kind: 'gone',
        note: `it does not exist, and neither does its namespace ${ref.namespace}`,
      })
  }
  const events = await look.reader.list<Event>(EVENTS, {
    namespace: ref.namespace === '' ? 'default' : ref.namespace,
    fieldSelector: `involvedObject.name=${ref.name}`,
  })
  const own = itemsOf(events).filter(({ involvedObject }) => involvedObject.kind === ref.kind)
  const invalid = own.find(({ reason }) => reason === INVALID_NAMESPACE)
  if (invalid !== undefined) {
    const note = `the garbage collector deleted it: its owner reference names an owner that is not in its namespace, which counts as absent (${invalid.reason}: ${invalid.message})`
    return lastLink('not-stuck', { kind: 'lost-owner', object: ref, owner: 'of another namespace', note })
  }
  const last = own.toSorted((a, b) =>
    String(b.lastTimestamp ?? b.eventTime).localeCompare(String(a.lastTimestamp ?? a.eventTime)),
  )[0]
  const told = last === undefined ? '' : `; the last Event about it: ${last.reason}: ${last.message}`
  return lastLink('not-stuck', { kind: 'gone', note: `it does not exist${told}` })
}

async function explainUnreadable(
  look: Look,
  resource: NamedResource,
  ref: ObjectRef,
  { code, message }: Extract<Read<never>, { state: 'failed' }>,
): Promise<Explanation> {
  const named = ref.group === '' ? ref.resource : `${ref.resource}.${ref.group}`
  const conversion = await conversionFailure(look, resource, message)
  if (conversion !== undefined) return conclude(ref, 'unreadable', '', conversion)
  if (code === 503 || look.kinds.stale.includes(`${resource.group}/${resource.version}`)) {
    const apis = await unavailableApis(look)
    const own = apis.find(
      ({ cause }) => cause.kind === 'api-unavailable' && cause.apiService === `${resource.version}.${resource.group}`,
    )
    if (own !== undefined) return conclude(ref, 'unreadable', '', own)
  }
  if (isBusy(code))
    return conclude(
      ref,
      'not-visible',
      '',
      lastLink('slow', { kind: 'unseen', what: kubectlName(ref), why: message }, true),
    )
  const cause = {
    kind: 'unreadable',
    object: `${named}/${ref.name}`,
    isDecryption: isDecryption(message),
    message,
  } as const
  return conclude(ref, 'unreadable', '', lastLink('refused', cause))
}
