/** One event of the audit log (audit.k8s.io/v1 Event): who asked what, the answer, and as much of both as the level says. */
import { parseExactly } from '../../api/codec/json.ts'
import { asJson, type Fields, type Json, type JsonObject } from '../../api/object.ts'
import type { ApiRequest, ApiResponse, AuditRecord, UserInfo } from '../../api/request.ts'
import type { StatusError } from '../../api/status.ts'
import { ipAddress } from '../../api/validation/names.ts'
import { formatMicroTime } from '../../base/clock.ts'
import { userInfoOf } from '../handlers/reviews.ts'
import type { Level, Stage, Verdict } from './policy.ts'

/** How a request was answered. */
export interface Answered {
  /** A Status without kind and apiVersion. */
  readonly status: JsonObject
  /** What was answered, where the level wants it told. */
  readonly object: Json | undefined
}

export interface EventParts {
  readonly request: ApiRequest
  readonly record: AuditRecord
  readonly verdict: Verdict
  readonly id: string
  /** Milliseconds since the epoch. */
  readonly received: number
  readonly now: number
  readonly stage: Stage
  readonly answered: Answered | undefined
}

const MAX_USER_AGENT = 1024

const atLeastRequest = (level: Level): boolean => level === 'Request' || level === 'RequestResponse'

/** An answer as events tell it. A Status is told in full whatever the level: it is what became of the request. */
export function answeredWith(response: ApiResponse, { level }: Verdict): Answered {
  const code = response.status
  const wanted = level === 'RequestResponse'
  // Only a Status is small enough to be looked into for nothing but its words.
  const object = wanted || isSmall(response) ? objectOf(response) : undefined
  const isStatus = (object as Fields | undefined)?.['kind'] === 'Status'
  return {
    status: isStatus ? statusOf(object as Fields, code) : { metadata: {}, code },
    object: wanted ? object : undefined,
  }
}

export function refusedWith(error: StatusError, { level }: Verdict): Answered {
  const object = asJson(error.toStatus())
  return { status: statusOf(object, error.code), object: level === 'RequestResponse' ? object : undefined }
}

function statusOf({ status, message, reason, details }: Fields, code: number): JsonObject {
  return {
    metadata: {},
    ...(status ? { status } : {}),
    ...(message ? { message } : {}),
    ...(reason ? { reason } : {}),
    ...(details ? { details } : {}),
    code,
  }
}

const STATUS_BYTES = 4096
const STATUS_BEGINS = Buffer.from('{"kind":"Status"')

function isSmall(response: ApiResponse): boolean {
  if (response.kind === 'object') return response.object.kind === 'Status'
  if (response.kind !== 'bytes') return false
  const [first] = response.bytes
  return first !== undefined && first.length < STATUS_BYTES && STATUS_BEGINS.every((byte, i) => first[i] === byte)
}

/** The answer's object, whatever its encoding; undefined for texts and what goes on. */
function objectOf(response: ApiResponse): Json | undefined {
  switch (response.kind) {
    case 'object':
      return asJson(response.object)
    case 'list':
      return { ...asJson(response.list), items: response.items.map((item) => parsed([item.json('item')]) ?? null) }
    case 'bytes':
      if (response.object !== undefined) return asJson(response.object())
      return response.contentType.startsWith('application/json') ? parsed(response.bytes) : undefined
    default:
      return undefined
  }
}

function parsed(bytes: readonly Uint8Array[]): Json | undefined {
  try {
    return parseExactly(Buffer.concat(bytes).toString()) as Json
  } catch {
    return undefined
  }
}

export function eventOf(parts: EventParts): JsonObject {
  const { request, record, verdict, id, received, now, stage, answered } = parts
  const shown = (object: Json | undefined) => (verdict.omitManagedFields ? withoutManagedFields(object) : object)
  const asked = record.requestBody ?? (record.requestObject && asJson(record.requestObject))
  const requestObject = atLeastRequest(verdict.level) ? shown(asked) : undefined
  const responseObject = shown(answered?.object)
  const userAgent = request.headers['user-agent']
  // Written for every request: one literal with what is absent undefined, which JSON leaves out, and no spreads.
  return {
    kind: 'Event',
    apiVersion: 'audit.k8s.io/v1',
    level: verdict.level,
    auditID: id,
    stage,
    requestURI: uriOf(request),
    verb: request.info?.verb,
    user: userOf(request.user),
    impersonatedUser: record.impersonatedUser && userOf(record.impersonatedUser),
    authenticationMetadata: record.impersonationConstraint
      ? { impersonationConstraint: record.impersonationConstraint }
      : undefined,
    sourceIPs: sourcesOf(request),
    userAgent: userAgent ? shortened(userAgent) : undefined,
    objectRef: objectRef(request, record),
    responseStatus: answered?.status,
    requestObject,
    responseObject,
    requestReceivedTimestamp: formatMicroTime(received),
    stageTimestamp: formatMicroTime(now),
    annotations: Object.keys(record.annotations).length > 0 ? record.annotations : undefined,
  }
}

const shortened = (text: string): string =>
  text.length > MAX_USER_AGENT ? `${text.slice(0, MAX_USER_AGENT)}...TRUNCATED` : text

const NOBODY: JsonObject = {}
/** Made once: identities are kept for connections and tokens. */
const users = new WeakMap<UserInfo, JsonObject>()

function userOf(who: UserInfo | undefined): JsonObject {
  if (who === undefined) return NOBODY
  let made = users.get(who)
  if (made === undefined) {
    made = userInfoOf(who) as JsonObject
    users.set(who, made)
  }
  return made
}

/** As it was sent, where it was: a query parsed and put together again may be another text. */
function uriOf({ path, query, target }: ApiRequest): string {
  if (target !== undefined) return target
  const text = query.toString()
  return text === '' ? path : `${path}?${text}`
}

/** A chain of proxies is short; the header is anybody's. */
const MOST_SOURCES = 100

const isAddress = (text: string): boolean => ipAddress(text).length === 0

/** Whom proxies say they speak for, and who is at the other end. Nobody has to believe the first ones. */
function sourcesOf({ headers, connection }: ApiRequest): readonly string[] {
  const remote = connection?.remoteAddress || '127.0.0.1'
  if (headers['x-forwarded-for'] === undefined && headers['x-real-ip'] === undefined) return [remote]
  const sources = (headers['x-forwarded-for'] ?? '')
    .split(',', MOST_SOURCES)
    .map((part) => part.trim())
    .filter(isAddress)
  for (const last of [headers['x-real-ip']?.trim() ?? '', remote])
    if (isAddress(last) && sources.at(-1) !== last) sources.push(last)
  return sources
}

/** What the request names, and where it names nothing, what its body does. */
function objectRef({ info }: ApiRequest, { requestObject }: AuditRecord): JsonObject | undefined {
  if (info?.isResource !== true) return undefined
  const metadata = requestObject?.metadata
  return {
    resource: info.resource,
    namespace: info.namespace || undefined,
    name: info.name || metadata?.name || undefined,
    uid: metadata?.uid || undefined,
    apiGroup: info.group || undefined,
    apiVersion: info.version,
    resourceVersion: metadata?.resourceVersion || undefined,
    subresource: info.subresource || undefined,
  }
}

/** Of an object, of each of a list's, and of those that stand in a Table's rows. */
function withoutManagedFields(value: Json | undefined): Json | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  const { metadata, items, rows, ...rest } = value as Fields
  const cleaned = (list: readonly Json[]) => list.map((item) => withoutManagedFields(item) ?? null)
  return {
    ...rest,
    ...(metadata === undefined ? {} : { metadata: bare(metadata) }),
    ...(items === undefined ? {} : { items: Array.isArray(items) ? cleaned(items) : items }),
    ...(rows === undefined
      ? {}
      : {
          rows: Array.isArray(rows)
            ? rows.map((row: Fields) => ({ ...row, object: withoutManagedFields(row['object']) ?? null }))
            : rows,
        }),
  }
}

function bare(metadata: Json): Json {
  if (typeof metadata !== 'object' || metadata === null || Array.isArray(metadata)) return metadata
  const { managedFields: _, ...others } = metadata as Fields
  return others
}
