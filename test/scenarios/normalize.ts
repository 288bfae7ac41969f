/** What differs from run to run (uids, versions, times, addresses, ports, nodes) takes one form, in recordings and in replays. */
import type { Fields, Json, JsonObject } from '../../src/api/object.ts'
import { type Recording, type SeenEvent, sorted, type Write } from './recording.ts'

/** As the recorder and the stage give them. */
export interface RawWrite {
  readonly user: string
  readonly userAgent: string
  readonly verb: string
  readonly uri: string
  readonly code: number
  readonly body?: Json
}
export interface RawEvent {
  readonly type: string
  readonly reason: string
  readonly message: string
  readonly component: string
  readonly about: { readonly kind: string; readonly name: string }
}

export interface Normalizer {
  json(value: Json): Json
  text(value: string): string
  write(write: RawWrite): Write
  event(event: RawEvent): SeenEvent
  /** Uids in here are known by their object's kind and name from now on. */
  learn(value: Json): void
}

const uid = /<uid\d+>|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g

/** `namespace` is what `$NS` stands for. */
export function createNormalizer(namespace: string): Normalizer {
  const owners = new Map<string, string>()
  /** Cron jobs name their jobs by the minute. */
  let firstMinute: number | undefined
  const sinceFirst = (minute: number): number => {
    firstMinute ??= minute
    return minute - firstMinute
  }

  const text = (value: string): string =>
    value
      .replaceAll(namespace, '$NS')
      .replace(uid, (found) => owners.get(found) ?? '<uid>')
      .replace(/<microtime>|20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)/g, '<time>')
      .replace(/\b10\.\d+\.\d+\.\d+\b|<podip>/g, '<ip>')
      .replace(/kube-api-access-[a-z0-9]{5}\b/g, 'kube-api-access-<5>')
      .replace(/-----BEGIN CERTIFICATE-----[\s\S]*-----END CERTIFICATE-----\n?/g, '<certificate>')
      .replace(/\bkwok-\d+\b/g, 'kwok-N')
      .replace(/-(\d{8})\b/g, (_, minute) => `-<minute ${sinceFirst(Number(minute))}>`)

  const walk = (value: Json, key: string): Json => {
    if (typeof value === 'string') return key === 'resourceVersion' ? '<rv>' : text(value)
    if (key === 'nodePort' && typeof value === 'number') return '<port>'
    if (Array.isArray(value)) {
      const items = value.map((item) => walk(item, key))
      // Uids in the order in which an informer happens to hold their pods.
      return key === 'failed' || key === 'succeeded' ? items.sort() : items
    }
    if (typeof value !== 'object' || value === null) return value
    const object = value as JsonObject
    return Object.fromEntries(
      Object.keys(object)
        .filter((name) => name !== 'managedFields' && object[name] !== undefined)
        .map((name) => [text(name), walk(object[name] as Json, name)]),
    )
  }
  const json = (value: Json): Json => sorted(walk(value, ''))

  const learn = (value: Json): void => {
    if (Array.isArray(value)) {
      for (const part of value) learn(part)
      return
    }
    if (typeof value !== 'object' || value === null) return
    const object = value as { readonly [key: string]: Json }
    const metadata = (object['metadata'] ?? object) as JsonObject
    const { kind } = object
    const { name, uid: own } = metadata
    // Bindings and scales go by the uid of what they are of.
    const named = typeof kind === 'string' && kind !== 'Binding' && kind !== 'Scale'
    if (named && typeof name === 'string' && typeof own === 'string') owners.set(own, `<uid ${kind} ${text(name)}>`)
    for (const part of Object.values(object)) learn(part)
  }

  return {
    json,
    text,
    learn,
    write({ user, userAgent, verb, uri, code, body = null }) {
      return { user: shortUser(user, userAgent), verb, uri: text(uri), code, body: json(bodyOf(user, verb, body)) }
    },
    event: ({ type, reason, message, component, about }) => ({
      type,
      reason,
      message: text(message),
      component,
      about: `${about.kind} ${text(about.name)}`,
    }),
  }
}

/** The node's stand-in and the user share a name in some recordings. */
function shortUser(user: string, userAgent: string): string {
  if (userAgent === 'kwok' || userAgent === 'user') return userAgent
  return user.replace('system:serviceaccount:kube-system:', '').replace('system:', '')
}

/**
 * A recorder gives delete options the version of the server's inside. Whether the garbage collector still asks for the version that it has
 * looked at is chance: it does not when that has changed until its deletion had its turn.
 */
function bodyOf(user: string, verb: string, body: Json): Json {
  if (!verb.startsWith('delete') || typeof body !== 'object' || body === null || Array.isArray(body)) return body
  const { kind: _, apiVersion: __, ...options } = body as JsonObject
  const { preconditions } = options
  if (user.endsWith(':generic-garbage-collector') && preconditions !== undefined)
    return { ...options, preconditions: { resourceVersion: '', ...(preconditions as JsonObject) } }
  return Object.keys(options).length === 0 ? null : options
}

/** A recording as the recorder wrote it. */
export interface RawRecording {
  readonly scenario: string
  readonly writes: readonly RawWrite[]
  readonly states: readonly { readonly type: string; readonly resource: string; readonly object: JsonObject }[]
  readonly events: readonly JsonObject[]
}

export function normalizeRecording(raw: RawRecording): Recording {
  const normalizer = createNormalizer('$NS')
  normalizer.learn(raw as unknown as Json)
  return {
    scenario: raw.scenario,
    writes: raw.writes.map((write) => normalizer.write(write)),
    states: raw.states.map(({ type, resource, object }) => ({
      type,
      resource,
      object: normalizer.json(object) as JsonObject,
    })),
    events: raw.events.map((event) => normalizer.event(rawEvent(event))),
  }
}

/** Of a core/v1 or an events.k8s.io/v1 Event. */
export function rawEvent(event: Fields): RawEvent {
  const about: Fields = event['involvedObject'] ?? event['regarding']
  return {
    type: event['type'],
    reason: event['reason'],
    message: event['message'] ?? event['note'],
    component: event['reportingController'] ?? event['reportingComponent'] ?? event['source']?.component ?? '',
    about: { kind: about['kind'], name: about['name'] },
  }
}
