/**
 * What is compared of a story: every write of each component with its answer, the Events, the objects in the end, the managers of their
 * fields, and what the user was told. What chance and time decide is replaced by names.
 */
import type { Fields, Json, JsonObject, KubeObject } from '../../src/api/object.ts'
import { sorted } from '../../test/scenarios/recording.ts'

/** As it was seen. */
export interface PlayedStory {
  readonly ns: string
  readonly writes: readonly PlayedWrite[]
  readonly objects: readonly { readonly resource: string; readonly object: KubeObject }[]
  readonly notes: readonly string[]
  readonly timeouts: readonly string[]
}

/** What the audit log tells of a request that is not `get`, `list` or `watch`. */
export interface PlayedWrite {
  /** Without `system:serviceaccount:kube-system:`; `user` and `kwok` are the story's own. */
  readonly user: string
  readonly verb: string
  readonly uri: string
  readonly resource: string
  /** When it was asked for, in milliseconds: not compared. */
  readonly at: number
  readonly code: number
  readonly body: Json
  /** Of a refusal. */
  readonly message?: string
}

export interface Facts {
  readonly notes: readonly string[]
  readonly timeouts: readonly string[]
  /** How often each Event was told. */
  readonly events: readonly (readonly [event: string, count: number])[]
  /** Who did what, with which answer; what was sent each time, where that is compared. */
  readonly writes: readonly { readonly write: string; readonly count: number; readonly bodies?: readonly Json[] }[]
  readonly objects: readonly { readonly key: string; readonly object: JsonObject }[]
}

const STORYS_OWN = new Set(['user', 'kwok', 'observer'])
const CONFLICT = 409

/** What a controller writes on its way depends on what it has seen by then: that it writes is compared, not how often, nor what. */
const ON_THE_WAY: readonly RegExp[] = [
  / (update|patch) .*\/status 200$/,
  /replicaset-controller update .*replicasets\/[^ ]* 200$/,
  /endpoint(slice)?-controller (create|update) /,
  /(node|ttl)-controller patch \/api\/v1\/nodes\//,
  / create .* 403 /,
]

export const isOnTheWay = (write: string): boolean => ON_THE_WAY.some((one) => one.test(write))

export function factsOf({ ns, writes, objects, notes, timeouts }: PlayedStory): Facts {
  const events = new Map<string, number>()
  const left: { key: string; object: JsonObject }[] = []
  for (const { resource, object } of objects) {
    const plain = named(object as unknown as Json, ns) as JsonObject
    if (resource === 'events') {
      const { event, count } = eventOf(plain)
      events.set(event, (events.get(event) ?? 0) + count)
    } else left.push({ key: `${resource}/${(plain['metadata'] as Fields)['name']}`, object: leftOf(resource, plain) })
  }
  const sent = Map.groupBy(
    writes.filter(
      ({ user, resource, code }) =>
        !STORYS_OWN.has(user) && resource !== 'events' && resource !== 'leases' && code !== CONFLICT,
    ),
    ({ user, verb, uri, code, message }) => {
      const path = withoutChance(decodeURIComponent(uri).replaceAll(ns, '$NS')).replace(/\?.*/, '')
      return `${user} ${verb} ${path} ${code}${message === undefined ? '' : ` ${withoutChance(message.replaceAll(ns, '$NS'))}`}`
    },
  )
  return {
    notes: notes.map((note) => withoutChance(note.replaceAll(ns, '$NS'))),
    timeouts: timeouts.map((what) => what.replaceAll(ns, '$NS')),
    events: byText([...events]),
    writes: byText([...sent]).map(([write, list]) => ({
      write,
      count: list.length,
      ...(isOnTheWay(write) ? {} : { bodies: byText(list.map((one) => bodyOf(one, named(one.body, ns)))) }),
    })),
    objects: byText(left),
  }
}

const byText = <T>(items: readonly T[]): readonly T[] =>
  items
    .map((item) => ({ item, text: JSON.stringify(item) }))
    .toSorted((a, b) => (a.text < b.text ? -1 : a.text > b.text ? 1 : 0))
    .map(({ item }) => item)

function eventOf(event: Fields): { event: string; count: number } {
  const about = event['involvedObject'] ?? event['regarding']
  const text = [
    `${about.apiVersion} ${about.kind} ${about.name}${about.fieldPath === undefined ? '' : ` ${about.fieldPath}`}`,
    event['type'],
    event['reason'],
    event['message'] ?? event['note'],
    event['source']?.component || '-',
    event['reportingComponent'] ?? event['reportingController'],
    event['action'] ?? '-',
    event['related']?.name ?? '-',
    `${about.uid === undefined ? 'without' : 'with'} uid, ${about.resourceVersion === undefined ? 'without' : 'with'} version`,
  ]
  return { event: text.join(' | '), count: event['count'] ?? event['series']?.count ?? 1 }
}

/** Of managedFields it is only said whose there are (KWOK's part is played by stages here); heartbeats are no part of a story. */
function leftOf(resource: string, object: JsonObject): JsonObject {
  const { managedFields, ...metadata } = object['metadata'] as Fields
  const managers = ((managedFields ?? []) as readonly Fields[])
    .map(
      ({ manager, operation, subresource }) =>
        `${manager === 'skiff-stages' ? 'kwok' : manager} ${operation}${subresource ? ` ${subresource}` : ''}`,
    )
    .toSorted()
  // A slice is written once for each endpoint, or for several at once.
  const { generation: _, ...sliceMetadata } = metadata
  const kept = resource === 'endpointslices' ? sliceMetadata : metadata
  const left = { ...object, metadata: { ...kept, managers } } as JsonObject
  // They are in the order of a hash of what is in them, uids included.
  if (resource === 'endpoints' && left['subsets'] !== undefined)
    return { ...left, subsets: byText(left['subsets'] as readonly Json[]) }
  if (resource !== 'nodes') return left
  const status = left['status'] as Fields
  const conditions = (status['conditions'] ?? []).map(({ lastHeartbeatTime: __, ...condition }: Fields) => condition)
  return { ...left, status: { ...status, conditions } as JsonObject }
}

/** Of an object sent to its main resource the status is what its controller has seen by then: the server passes over it. */
function bodyOf({ user, verb, uri }: PlayedWrite, body: Json): Json {
  const bare = withoutManagedFields(body)
  if (bare === null || typeof bare !== 'object') return bare
  const { kind, apiVersion, status, ...rest } = bare as Fields
  if (verb.startsWith('delete')) return deletionOf(user, rest) as Json
  const isMain = verb === 'update' && !/\/(status|approval|finalize|scale)(\?|$)/.test(uri)
  return isMain ? ({ kind, apiVersion, ...rest } as Json) : bare
}

/** The collector asks for the version that it has looked at, but when that has changed until its deletion had its turn: chance. */
function deletionOf(user: string, options: Fields): Fields {
  if (user !== 'generic-garbage-collector' || options['preconditions'] === undefined) return options
  const { resourceVersion: _, ...preconditions } = options['preconditions']
  return { ...options, preconditions }
}

function withoutManagedFields(value: Json): Json {
  if (Array.isArray(value)) return value.map(withoutManagedFields)
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => key !== 'managedFields')
      .map(([key, inner]) => [key, withoutManagedFields(inner as Json)]),
  )
}

const VERSIONS = new Set(['resourceVersion', 'observedResourceVersion'])
const PORTS = new Set(['nodePort', 'healthCheckNodePort'])

/** With sorted keys. */
const named = (value: Json, ns: string): Json => sorted(renamed(value, '', ns))

function renamed(value: Json, key: string, ns: string): Json {
  if (typeof value === 'string') {
    if (VERSIONS.has(key)) return '<version>'
    if (key === 'request' || key === 'certificate') return `<${key}>`
    if (key === 'token' && value.length > 100) return '<token>'
    return withoutChance(value.replaceAll(ns, '$NS'))
  }
  if (PORTS.has(key)) return '<port>'
  if (Array.isArray(value)) return value.map((item) => renamed(item, key, ns))
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([field]) => field !== 'fieldsV1' && field !== 'authentication.kubernetes.io/credential-id')
      .map(([field, inner]) => [withoutChance(field.replaceAll(ns, '$NS')), renamed(inner as Json, field, ns)]),
  )
}

function withoutChance(text: string): string {
  return text
    .replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '<uid>')
    .replace(/(?<=[a-z0-9]-)[bcdfghjklmnpqrstvwxz2456789]{5}(?![a-z0-9])/g, '<5>')
    .replace(/-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----(\\n|\n)*/g, '<certificate>')
    .replace(/(?<![A-Za-z0-9+/])LS0tLS1CRUdJTiBDRVJUSUZJQ0FUR[A-Za-z0-9+/=]*/g, '<certificate>')
    .replace(/20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)/g, '<time>')
    .replace(/\b10\.\d+\.\d+\.\d+\b|\b192\.168\.\d+\.\d+\b/g, '<ip>')
    .replace(/\bkwok-\d+\b/g, '<node>')
    .replace(/-2\d{7}\b/g, '-<minute>')
    .replace(/\b\d+(\.\d+)?(ms|µs)\b/g, '<duration>')
}
