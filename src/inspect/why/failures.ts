/** What an object's controllers say about it: warnings in Events, conditions, and what its spec names that is not there. */

import type { Event } from '../../api/generated/types.ts'
import type { Fields, JsonObject, KubeObject, SpecAndStatus } from '../../api/object.ts'
import { builtinScheme } from '../../api/scheme/scheme.ts'
import { asList, asObject, asText } from '../../api/unchecked.ts'
import { asTold } from './as-told.ts'
import { isBadWhenTrue, meaningOf, tellsOfFailedEnd, tellsOfFailure } from './failing-words.ts'
import { type Cause, type Link, lastLink, type ObjectRef } from './finding.ts'
import { deletedAt, EVENTS, itemsOf, KEPT, type Look, refOf, timeOf } from './look.ts'

export interface Warning {
  readonly source: 'Event' | 'condition' | 'log' | 'status'
  readonly controller: string
  readonly reason: string
  readonly message: string
  readonly at: string
}

/** Warnings about an object in its Events, the newest first. */
export const warningsAbout = async (look: Look, ref: ObjectRef): Promise<readonly Warning[]> =>
  (await eventsAbout(look, ref)).filter(({ type }) => type === 'Warning').map(toldBy)

const timeOfEvent = ({ series, lastTimestamp, eventTime, firstTimestamp }: Event): string =>
  series?.lastObservedTime ?? lastTimestamp ?? eventTime ?? firstTimestamp ?? ''

const toldBy = (event: Event): Warning => ({
  source: 'Event',
  controller: event.reportingComponent || event.source?.component || '',
  reason: asTold(event.reason ?? ''),
  message: asTold(event.message ?? ''),
  at: timeOfEvent(event),
})

/** The newest first. */
async function eventsAbout(look: Look, ref: ObjectRef): Promise<readonly Event[]> {
  const by = ref.uid === undefined ? `involvedObject.name=${ref.name}` : `involvedObject.uid=${ref.uid}`
  const events = await look.reader.list<Event>(EVENTS, {
    namespace: ref.namespace === '' ? 'default' : ref.namespace,
    fieldSelector: by,
  })
  return itemsOf(events)
    .filter(({ involvedObject }) => involvedObject.kind === ref.kind)
    .toSorted((a, b) => timeOf(timeOfEvent(b)) - timeOf(timeOfEvent(a)))
}

/** Conditions by which a controller says that it fails at this object. */
function badConditions({ group }: ObjectRef, object: SpecAndStatus & KubeObject): readonly Warning[] {
  const status = asObject(object.status)
  const since = deletedAt(object.metadata)
  // Conditions of Kubernetes' own kinds are of their own controllers, which are asked about where their finalizers are.
  const conditions = isKubernetes(group) ? [] : asList(status['conditions'])
  const found: Warning[] = []
  for (const one of conditions) {
    const { type, status: is, lastTransitionTime, severity, ...said } = asObject(one)
    const [reason, message] = [asTold(asText(said['reason'])), asTold(asText(said['message']))]
    if (typeof type !== 'string' || message === '') continue
    const saysSo = tellsOfFailure(`${reason} ${message}`)
    const meaning = meaningOf(type)
    // Where a controller tells how bad it is (Cluster API), that counts.
    // Of a type that tells nothing, what was said since the object was deleted counts where the words leave no doubt (`Uninstalled`).
    const isOfEnd =
      is === 'False' && tellsOfFailedEnd(`${reason} ${message}`) && timeOf(asText(lastTransitionTime)) >= since - 1000
    const tells = meaning === undefined ? isOfEnd : !meaning.isOfPart || saysSo
    if (severity !== 'Error' && !tells) continue
    // Argo CD's conditions are all problems, and have no status.
    const isBad =
      is === undefined
        ? /error/i.test(type)
        : isBadWhenTrue(type)
          ? is === 'True'
          : is === 'False' || (is === 'Unknown' && saysSo)
    if (!isBad) continue
    // That it is going is no failure. Of a part not even that something is not found.
    const isGoing = /^(deleting|terminating|deletion)$/i.test(reason)
    if (isGoing && !(meaning?.isOfPart === true ? tellsOfFailedEnd : tellsOfFailure)(message)) continue
    found.push({
      source: 'condition',
      controller: '',
      reason: reason === '' ? asTold(type) : reason,
      message,
      at: typeof lastTransitionTime === 'string' ? lastTransitionTime : '',
    })
  }
  for (const field of ['detachError', 'attachError', 'error', 'lastError', 'failureMessage', 'errorMessage']) {
    const value = status[field]
    const message = asTold(asText(typeof value === 'string' ? value : asObject(value)['message']))
    if (message !== '' && field !== 'attachError')
      found.push({
        source: 'status',
        controller: '',
        reason: field,
        message,
        at: asText(asObject(value)['time']),
      })
  }
  const message = asTold(asText(status['message']))
  if (!isKubernetes(group) && tellsOfFailure(message) && isBadStatus(status))
    found.push({ source: 'status', controller: '', reason: 'message', message, at: '' })
  return found
}

/** Whether a field beside a status' `message` says that things are bad: `applied: false`, `state: error`. */
const isBadStatus = (status: JsonObject): boolean =>
  ['applied', 'ready', 'synced', 'succeeded', 'success'].some((field) => status[field] === false) ||
  ['state', 'phase', 'status'].some((field) => /err|fail|degrad|invalid/i.test(asText(status[field])))

/** What the newest condition that was written since the object was deleted says of its end; undefined: none does. */
export function conditionSays({ group }: ObjectRef, object: SpecAndStatus): string | undefined {
  if (isKubernetes(group)) return undefined
  const since = deletedAt(object.metadata)
  const said = asList(asObject(object.status)['conditions'])
    .map(asObject)
    .filter(
      ({ lastTransitionTime, message }) => asText(message) !== '' && timeOf(asText(lastTransitionTime)) >= since - 1000,
    )
    .toSorted((a, b) => timeOf(asText(b['lastTransitionTime'])) - timeOf(asText(a['lastTransitionTime'])))[0]
  return said === undefined ? undefined : asTold(asText(said['message']))
}

/** What another program than Kubernetes' own said last of an object's end in an Event that is no warning, since it was deleted. */
export async function eventSays(look: Look, ref: ObjectRef, object: KubeObject): Promise<string | undefined> {
  const since = deletedAt(object.metadata)
  const said = (await eventsAbout(look, ref))
    .filter(({ type }) => type === 'Normal')
    .map(toldBy)
    .find(({ at, controller }) => timeOf(at) >= since - 1000 && controller !== '' && !OF_KUBERNETES.test(controller))
  return said === undefined ? undefined : said.message || said.reason
}

/** What an object's controllers say of failing at its end, as last causes. `isForeign`: it is not Kubernetes' own that holds it. */
export async function failureLinks(
  look: Look,
  ref: ObjectRef,
  object: KubeObject,
  isForeign: boolean,
): Promise<readonly Link[]> {
  const since = deletedAt(object.metadata)
  const warnings = [...badConditions(ref, object), ...(await warningsAbout(look, ref))]
    // What was said before the object was deleted is about its life. Clocks of seconds: a second of doubt.
    .filter(({ at, source }) => source !== 'Event' || !(timeOf(at) < since - 1000))
    .filter((warning) => isOfEnd(ref, warning) || (isForeign && isForeignWord(warning)))
  const [first] = warnings
  // A condition tells of the present, and keeps the time of its last change.
  const isOlder = first?.source === 'condition' && timeOf(first.at) < since - 1000
  return first === undefined ? [] : [lastLink(...classify(ref, first), isOlder)]
}

/** Warnings that tell nothing of an object's end. */
const OF_LIFE =
  /^(FailedScheduling|BackOff|Unhealthy|ProbeWarning|FailedToUpdateEndpoint.*|NodeNotReady|ImageGCFailed)$/
const OF_END = /delet|detach|unmount|clean|terminat|remov|finali|recycl|releas|SyncLoadBalancer/i

/** Of other software that has to do with an object of Kubernetes; its Events after the mark are about its end. */
const isForeignWord = ({ controller, reason }: Warning): boolean =>
  controller !== '' && !OF_KUBERNETES.test(controller) && !OF_LIFE.test(reason)
const OF_KUBERNETES =
  /^(kubelet|.*scheduler|kube-.*|(deployment|replicaset|replication|statefulset|daemonset|job|cronjob|service|node|node-lifecycle|taint-eviction|endpoint-slice|persistentvolume|attachdetach|garbage-collector|controllermanager|resource-claim|horizontal-pod-autoscaler)(-controller)?)$/i

/** A kind of Kubernetes has several controllers, most of which have nothing to do with its end. */
function isOfEnd({ group }: ObjectRef, { reason, message }: Warning): boolean {
  if (isKubernetes(group)) return OF_END.test(`${reason} ${message}`)
  return !OF_LIFE.test(reason)
}

/** Whether a group is of Kubernetes itself: others have names like its own (snapshot.storage.k8s.io, gateway.networking.k8s.io). */
export const isKubernetes = (group: string): boolean => !group.includes('.') || builtinScheme().groups().has(group)

/** Groups of one software: `karpenter.sh` and `karpenter.k8s.aws`. */
export function isSibling(a: string, b: string): boolean {
  const [first = '', other] = [a.split('.')[0], b.split('.')[0]]
  return first === other && first.length >= 4 && !isKubernetes(a) && !isKubernetes(b)
}

/** What is said where a condition or a field of a status tells of a failure, which names no program. */
export const unnamedController = ({ kind }: ObjectRef): string => `the controller of ${kind}`

/** What a complaint of a controller comes to. */
export function classify(
  ref: ObjectRef,
  { source, controller, reason, message, at }: Warning,
): [verdict: 'refused' | 'cannot-end', cause: Cause] {
  const who = controller || unnamedController(ref)
  if (/because it is being terminated|unable to create new content in namespace/.test(message)) {
    const namespace = /in namespace (\S+)/.exec(message)?.[1] ?? ref.namespace
    return ['cannot-end', { kind: 'namespace-terminating', namespace, controller: who, message }]
  }
  return [
    'refused',
    { kind: 'controller-failing', controller: who, source, reason, message, ...(at === '' ? {} : { at }) },
  ]
}

export interface Named {
  readonly field: string
  readonly kind: string
  readonly group: string
  readonly name: string
  readonly namespace: string
}

/** Fields of a spec that name another object, by the habits of custom resources: `xRef`, `secretName`, … */
export function namedObjects(
  look: Look,
  spec: unknown,
  { group, namespace }: Pick<ObjectRef, 'group' | 'namespace'>,
): readonly Named[] {
  const found: Named[] = []
  const visit = (value: unknown, field: string, deep: number): void => {
    if (deep > 6 || found.length >= MOST_NAMED || typeof value !== 'object' || value === null) return
    if (Array.isArray(value)) {
      for (const one of value.slice(0, 20)) visit(one, field, deep + 1)
      return
    }
    const fields = value as Fields
    const named = referenceIn(look, field, fields, namespace) ?? kinNamed(look, field, fields, group, namespace)
    if (named !== undefined) found.push(named)
    for (const [key, inner] of Object.entries(fields)) {
      if (typeof inner === 'string') {
        const kind = PLAIN_NAMES.get(key)
        // Directly in a spec it is more often one that is to be made.
        const isMade = field === 'spec' && key === 'secretName'
        if (kind !== undefined && inner !== '' && !isMade)
          found.push({ field: key, kind, group: '', name: inner, namespace })
        const kin = kind === undefined && inner !== '' ? kinOfField(look, key, group) : undefined
        if (kin !== undefined) found.push({ field: key, kind: kin, group, name: inner, namespace })
      } else visit(inner, key, deep + 1)
    }
  }
  visit(spec, 'spec', 0)
  return found
}

const PLAIN_NAMES: ReadonlyMap<string, string> = new Map([
  ['secretName', 'Secret'],
  ['credentialsSecretName', 'Secret'],
  ['serviceAccountName', 'ServiceAccount'],
])

/** `providerConfigRef: {name}`, `issuerRef: {name, kind, group}`, `secretRef: {name, namespace}`. */
function referenceIn(look: Look, field: string, fields: JsonObject, namespace: string): Named | undefined {
  const { name, kind, apiGroup, group = apiGroup, apiVersion, namespace: other } = fields
  const word = /^(.*?)(KeyRef|Ref|Reference)s?$/.exec(field)?.[1]
  // What the controller writes to is made by it.
  if (word === undefined || /^(write|output|publish|target)/i.test(word) || typeof name !== 'string' || name === '')
    return undefined
  const ofVersion = typeof apiVersion === 'string' && apiVersion.includes('/') ? apiVersion.split('/')[0] : undefined
  const space = typeof other === 'string' && other !== '' ? other : namespace
  if (typeof kind === 'string' && kind !== '') {
    const wanted = typeof group === 'string' && group !== '' ? group : (ofVersion ?? '')
    return { field, kind, group: wanted, name, namespace: space }
  }
  // The kind is in the field's name.
  const plain = word.toLowerCase()
  if (/secret|credential/.test(plain)) return { field, kind: 'Secret', group: '', name, namespace: space }
  const kinds = look.kinds.resources.filter((one) => one.kind.toLowerCase() === plain)
  const only = kinds.length === 1 ? kinds[0] : undefined
  return only === undefined ? undefined : { field, kind: only.kind, group: only.group, name, namespace: space }
}

/** `cluster: {name}` of a Database, where a kind Cluster is of the same group, and the field has nothing but what names one. */
function kinNamed({ kinds }: Look, field: string, fields: JsonObject, group: string, namespace: string) {
  const { name, namespace: other } = fields
  const names = Object.keys(fields).every((key) => key === 'name' || key === 'namespace')
  if (!names || typeof name !== 'string' || name === '' || isKubernetes(group)) return undefined
  const kind = kinds.resources.find(
    (one) => one.group === group && one.kind.toLowerCase() === field.toLowerCase(),
  )?.kind
  if (kind === undefined) return undefined
  return { field, kind, group, name, namespace: typeof other === 'string' && other !== '' ? other : namespace }
}

/** `clusterName` of a MachinePool, `vaultConnectionRef` that is a name alone, where a kind Cluster or VaultConnection is of the same group. */
function kinOfField({ kinds }: Look, field: string, group: string): string | undefined {
  const word = /^([a-z][A-Za-z]{3,})(?:Name|Ref)$/.exec(field)?.[1]?.toLowerCase()
  if (word === undefined || isKubernetes(group)) return undefined
  return kinds.resources.find((one) => one.group === group && one.kind.toLowerCase() === word)?.kind
}

/**
 * `serviceoperator.azure.com/credential-from: NAME`, `acme.test/secret-name: NAME`, `acme.test/secret: NAME`; what other words stand before
 * a secret says more often what is done with it (`generate-secret`).
 */
const NAMES_SECRET = /([./-](credentials?|secret)(-from|-name|-ref)|\/(credentials?|secret))$/
const IS_NAME = /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/
/** Switches, numbers and dates, which would do as names. */
const IS_VALUE = /^(true|false|yes|no|on|off|none|[\d.-]+)$/

function annotatedSecrets({ metadata }: KubeObject, { namespace }: ObjectRef): readonly Named[] {
  return Object.entries(metadata.annotations ?? {}).flatMap(([key, name]) =>
    NAMES_SECRET.test(key) && IS_NAME.test(name) && !IS_VALUE.test(name)
      ? [{ field: `annotation ${key}`, kind: 'Secret', group: '', name, namespace }]
      : [],
  )
}

/** So many of an object's names are looked at. */
const MOST_NAMED = 20

/**
 * What the spec or an annotation of a custom resource names and is not there: what its controller needs to do its work. Only metadata is read, a
 * Secret's too.
 */
export async function missingNeeds(look: Look, ref: ObjectRef, object: SpecAndStatus): Promise<readonly Link[]> {
  // Kinds of Kubernetes live without what they name.
  if (isKubernetes(ref.group)) return []
  const links: Link[] = []
  const named = [...namedObjects(look, object.spec, ref), ...annotatedSecrets(object, ref)]
  for (const { field, kind, group, name, namespace } of named.slice(0, MOST_NAMED)) {
    if (look.reader.left < KEPT) break
    const resource = look.kinds.ofKind(group, kind) ?? (group === '' ? look.kinds.ofKind(ref.group, kind) : undefined)
    if (resource === undefined || !resource.verbs.includes('get')) continue
    if (resource.namespaced && namespace === '') continue
    const read = await look.reader.list(resource, {
      namespace: resource.namespaced ? namespace : '',
      fieldSelector: `metadata.name=${name}`,
      metadataOnly: true,
    })
    if (read.state !== 'found' || read.value.length > 0) continue
    links.push(
      lastLink(
        'nobody',
        {
          kind: 'needs-missing',
          controller: `the controller of ${ref.kind}`,
          what: `${resource.resource}/${name}${resource.namespaced ? ` in namespace ${namespace}` : ''}`,
          named: `${ref.kind} names it in ${field}`,
        },
        true,
      ),
    )
  }
  return links
}

/** Owners that are named and are not there: what the controller of a dependent often needs to end it. */
export async function lostOwners(look: Look, ref: ObjectRef, object: KubeObject): Promise<readonly Link[]> {
  const links: Link[] = []
  for (const owner of object.metadata.ownerReferences ?? []) {
    const group = owner.apiVersion.includes('/') ? (owner.apiVersion.split('/')[0] ?? '') : ''
    const resource = look.kinds.ofKind(group, owner.kind)
    const named = `${owner.kind} ${owner.name}`
    if (resource === undefined) {
      if (!look.kinds.stale.some((version) => version.startsWith(`${group}/`)))
        links.push(lost(ref, named, `no kind ${owner.kind} of ${owner.apiVersion} is served any more`))
      continue
    }
    const read = await look.reader.get(resource, resource.namespaced ? ref.namespace : '', owner.name)
    if (read.state === 'missing') links.push(lost(ref, named, 'it does not exist'))
    else if (read.state === 'found' && read.value.metadata.uid !== owner.uid)
      links.push(lost(ref, named, `another of that name exists, with another uid (${refOf(resource, read.value).uid})`))
  }
  return links
}

const lost = (object: ObjectRef, owner: string, note: string): Link =>
  lastLink('cannot-end', { kind: 'lost-owner', object, owner, note }, true)
