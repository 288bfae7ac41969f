/** One event of the audit log (audit.k8s.io/v1 Event): the user, the request, the answer, and as much of both as the level says. */

import { ipAddress } from '../../api/names/name-formats.ts'
import { asJson, type Fields, type Json, type JsonObject, type ObjectMeta } from '../../api/object.ts'
import type { ApiRequest, ApiResponse, RequestInfo, UserInfo } from '../../api/request.ts'
import type { StatusError } from '../../api/status.ts'
import { asObject } from '../../api/unchecked.ts'
import { jsonText, parseExactly } from '../../api/values/json.ts'
import { formatMicroTime } from '../../base/clock.ts'
import { getOrInsertComputed } from '../../base/get-or-insert.ts'
import { setBounded } from '../../base/set-bounded.ts'
import { decodeHeader } from '../../http/header-text.ts'
import { userInfoOf } from '../auth/user-info.ts'
import type { AuditRecord } from '../request/served.ts'
import { type EventParts, ID_LENGTH, type Pattern, patternOf, writePattern } from './pattern.ts'
import type { AuditLevel, AuditStage, AuditVerdict } from './policy.ts'

/** How a request was answered. */
export interface Answered {
  /** JSON of a Status without kind and apiVersion. */
  readonly status: string
  /** What was answered, where the level wants it told. */
  readonly object: Json | undefined
}

/** A request as its events tell it. */
export interface Audited {
  readonly asked: AuditedRequest
  /** What is found out on its way: its events are written later. */
  readonly record: AuditRecord
  readonly verdict: AuditVerdict
  readonly id: string
  /** Milliseconds since the epoch. */
  readonly received: number
}

/** How far a request has come. */
export interface StageReached {
  readonly stage: AuditStage
  /** Milliseconds since the epoch. */
  readonly now: number
  readonly answered: Answered | undefined
}

const NOTHING_YET: AuditRecord = { annotations: {} }

const MAX_USER_AGENT = 1024

export const atLeastRequest = (level: AuditLevel): boolean => level === 'Request' || level === 'RequestResponse'

/** An answer as events tell it. A Status is told in full whatever the level: it is what became of the request. */
export function answeredWith(response: ApiResponse, { level }: AuditVerdict): Answered {
  const code = response.status
  const wanted = level === 'RequestResponse'
  // Only a Status is small enough to be looked into for nothing but its words.
  const object = wanted || isSmall(response) ? objectOf(response) : undefined
  const status = asObject(object)
  const isStatus = status['kind'] === 'Status'
  return {
    status: isStatus ? statusText(status, code) : plainStatus(code),
    object: wanted ? object : undefined,
  }
}

export function refusedWith(error: StatusError, { level }: AuditVerdict): Answered {
  const object = asJson(error.toStatus())
  return { status: statusText(object, error.code), object: level === 'RequestResponse' ? object : undefined }
}

const plainStatuses = new Map<number, string>()

function plainStatus(code: number): string {
  return getOrInsertComputed(plainStatuses, code, () => `{"metadata":{},"code":${code}}`)
}

function statusText({ status, message, reason, details }: JsonObject, code: number): string {
  return jsonText({
    metadata: {},
    status: status || undefined,
    message: message || undefined,
    reason: reason || undefined,
    details: details || undefined,
    code,
  })
}

const STATUS_BYTES = 4096
const STATUS_BEGINS = Buffer.from('{"kind":"Status"')
/** Where it differs from the beginning of nearly every other object. */
const STATUS_S = 9

function isSmall(response: ApiResponse): boolean {
  if (response.kind === 'object') return response.object.kind === 'Status'
  if (response.kind !== 'bytes') return false
  const [first] = response.bytes
  if (first === undefined || first.length >= STATUS_BYTES || first[STATUS_S] !== STATUS_BEGINS[STATUS_S]) return false
  return STATUS_BEGINS.every((byte, i) => first[i] === byte)
}

/** The answer's object, whatever its encoding; undefined for texts and what goes on. */
function objectOf(response: ApiResponse): Json | undefined {
  switch (response.kind) {
    case 'object':
      return asJson(response.object)
    case 'list':
      return { ...asJson(response.list), items: response.items.map((item) => parsed([item.json('item')]) ?? null) }
    case 'pieces':
      return asJson(response.object())
    case 'bytes':
      if (response.object !== undefined) return asJson(response.object())
      return response.contentType.startsWith('application/json') ? parsed(response.bytes) : undefined
    case 'cut':
      return response.lost && objectOf(response.lost)
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

/** The event as JSON. Written for every request: so it is put together as text, of as few pieces as can be. */
export function eventText(audited: Audited, progress: StageReached): string {
  const { before, between, gap, after } = partsOf(audited, progress)
  const received = formatMicroTime(audited.received)
  return `${before}${quoted(audited.id)}${between}"${received}"${gap}"${formatMicroTime(progress.now)}"${after}`
}

export interface EventWriter {
  /**
   * Writes the event and the end of its line where the two before it at this stage were like it.
   *
   * @returns the bytes written, 0 when it is to be written as text
   */
  write(audited: Audited, progress: StageReached, into: Uint8Array, at: number): number
}

/** Remembers the last lines of one server's log. */
export function createEventWriter(): EventWriter {
  /** The last line about what was asked, at each stage. Clients may ask for anything: so all are forgotten when they are too many. */
  const lastLines = new Map<AuditedRequest, LastLines>()
  let keptBytes = 0

  function linesAbout(asked: AuditedRequest): LastLines {
    let lines = lastLines.get(asked)
    if (lines === undefined) {
      if (keptBytes > MOST_KEPT_BYTES) {
        lastLines.clear()
        keptBytes = 0
      }
      lines = {}
      lastLines.set(asked, lines)
      keptBytes += OVERHEAD_BYTES + 2 * asked.all.length
    }
    return lines
  }

  return {
    write(audited, progress, into, at) {
      const { asked, id, verdict } = audited
      if (!asked.isFlat || verdict.level !== 'Metadata' || id.length !== ID_LENGTH) return 0
      const { stage, answered } = progress
      const record = recordAt(stage, audited.record)
      if (!saysNoMore(record)) return 0
      const status = answered?.status
      const lines = linesAbout(asked)
      const last = lines[stage]
      if (last === undefined || last.status !== status || !sameTexts(last.annotations, record.annotations)) {
        lines[stage] = { status, annotations: { ...record.annotations }, pattern: undefined }
        return 0
      }
      if (last.pattern === undefined) {
        last.pattern = patternOf(partsOf(audited, progress))
        keptBytes += last.pattern.bytes.length
      }
      return writePattern(last.pattern, id, { received: audited.received, now: progress.now }, into, at)
    },
  }
}

interface LastLine {
  readonly status: string | undefined
  readonly annotations: Texts
  /** Made when a second record has the same fields as this one. */
  pattern: Pattern | undefined
}

type LastLines = { [stage in AuditStage]?: LastLine }

const MOST_KEPT_BYTES = 8 << 20
/** Of what is asked and of each of its lines, without their texts. */
const OVERHEAD_BYTES = 1024

const recordAt = (stage: AuditStage, latest: AuditRecord): AuditRecord =>
  stage === 'RequestReceived' ? NOTHING_YET : latest

/** Than what the request itself says, but for annotations. */
const saysNoMore = ({ impersonatedUser, impersonationConstraint, requestObject }: AuditRecord): boolean =>
  impersonatedUser === undefined && impersonationConstraint === undefined && requestObject === undefined

type Texts = Readonly<Record<string, string>>

function sameTexts(some: Texts, others: Texts): boolean {
  let count = 0
  for (const name in some) {
    if (some[name] !== others[name]) return false
    count++
  }
  for (const _ in others) count--
  return count === 0
}

function partsOf({ asked, record: latest, verdict }: Audited, { stage, answered }: StageReached): EventParts {
  const { level } = verdict
  const record = recordAt(stage, latest)
  const { impersonatedUser, impersonationConstraint: constraint, requestObject, annotations } = record
  const before = `{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"${level}","auditID":`
  let text = `,"stage":"${stage}"`
  if (saysNoMore(record)) text += asked.all
  else {
    text += asked.what
    if (impersonatedUser !== undefined) text += `,"impersonatedUser":${userText(impersonatedUser)}`
    if (constraint) text += `,"authenticationMetadata":{"impersonationConstraint":${quoted(constraint)}}`
    text += asked.from
    text += requestObject === undefined ? asked.objectRef : objectRefText(asked.info, requestObject.metadata)
  }
  if (answered !== undefined) text += `,"responseStatus":${answered.status}`
  if (atLeastRequest(level)) text += objectsText(record, verdict, answered)
  const between = `${text},"requestReceivedTimestamp":`
  return { before, between, gap: ',"stageTimestamp":', after: `${annotationsText(annotations)}}` }
}

function objectsText(record: AuditRecord, { omitManagedFields }: AuditVerdict, answered: Answered | undefined): string {
  const { requestObject, requestBody = requestObject && asJson(requestObject) } = record
  const shown = (object: Json) => jsonText(omitManagedFields ? withoutManagedFields(object) : object)
  const sent = requestBody === undefined ? '' : `,"requestObject":${shown(requestBody)}`
  return answered?.object === undefined ? sent : `${sent},"responseObject":${shown(answered.object)}`
}

/** What an event says of a request whatever becomes of it, as fields of its JSON; nothing else of the request is kept for it. */
export interface AuditedRequest {
  readonly info: RequestInfo | undefined
  readonly uri: string
  readonly user: UserInfo | undefined
  readonly userAgent: string | undefined
  readonly remote: string
  /** The URI, the verb and the user. */
  readonly what: string
  /** Addresses and the user agent. */
  readonly from: string
  /** What the path names. */
  readonly objectRef: string
  /** All three. */
  readonly all: string
  /** Whether each is one piece of memory. Text put together of many is a tree of them, which is walked each time it is written. */
  readonly isFlat: boolean
}

/** Clients ask for the same again and again: the text of the last such request. */
const lastAsked = new WeakMap<RequestInfo, AuditedRequest>()
/** Characters up to which it is kept, the user's among them: with the number of infos kept, a bound for what clients can fill. */
const LONGEST_ASKED = 2048

export function auditedRequest(request: ApiRequest): AuditedRequest {
  const { info, user, headers } = request
  const uri = uriOf(request)
  const userAgent = headers['user-agent']
  const remote = request.connection?.remoteAddress || '127.0.0.1'
  const isProxied = headers['x-forwarded-for'] !== undefined || headers['x-real-ip'] !== undefined
  const last = info === undefined || isProxied ? undefined : lastAsked.get(info)
  if (last?.uri === uri && last.user === user && last.userAgent === userAgent && last.remote === remote)
    return last.isFlat ? last : kept(flattened(last))
  const what = `,"requestURI":${quoted(uri)}${field('verb', info?.verb)},"user":${userText(user)}`
  const sources = isProxied ? sourcesText(headers, remote) : quoted(remote)
  const from = `,"sourceIPs":[${sources}]${field('userAgent', userAgent && decodeHeader(shortened(userAgent)))}`
  const objectRef = objectRefText(info, NO_METADATA)
  const all = what + from + objectRef
  const asked: AuditedRequest = { info, uri, user, userAgent, remote, what, from, objectRef, all, isFlat: false }
  return isProxied ? asked : kept(asked)
}

function kept(asked: AuditedRequest): AuditedRequest {
  const { info, all, userAgent } = asked
  if (info !== undefined && all.length + (userAgent?.length ?? 0) <= LONGEST_ASKED) lastAsked.set(info, asked)
  return asked
}

/** Worth its price for what is asked again. */
function flattened({ what, from, all: tree, ...others }: AuditedRequest): AuditedRequest {
  const all = flat(tree)
  const objectAt = what.length + from.length
  return {
    ...others,
    what: all.slice(0, what.length),
    from: all.slice(what.length, objectAt),
    objectRef: all.slice(objectAt),
    all,
    isFlat: true,
  }
}

function annotationsText(annotations: AuditRecord['annotations']): string {
  let text = ''
  for (const name in annotations)
    text += `${text === '' ? ',"annotations":{' : ','}${quotedAgain(name)}:${quotedAgain(annotations[name] as string)}`
  return text === '' ? '' : `${text}}`
}

/** The same text as one piece of memory. */
const flat = (text: string): string => Buffer.from(text).toString()

/** Texts and their quoted form, of those that come again and again: names of annotations, and why something is allowed. */
const known = new Map<string, string>()
const MOST_KNOWN = 512
const LONGEST_KNOWN = 512

function quotedAgain(text: string): string {
  let made = known.get(text)
  if (made === undefined) {
    made = flat(quoted(text))
    if (text.length > LONGEST_KNOWN) return made
    setBounded(known, MOST_KNOWN, text, made)
  }
  return made
}

/** What needs no escaping, as nearly everything that names something. */
const plain = /^[ !#-[\]-~]*$/

const quoted = (text: string): string => (plain.test(text) ? `"${text}"` : JSON.stringify(text))

/** A further field; nothing where there is no text. */
const field = (name: string, text: string | undefined): string => (text ? `,"${name}":${quoted(text)}` : '')

const shortened = (userAgent: string): string =>
  userAgent.length > MAX_USER_AGENT ? `${userAgent.slice(0, MAX_USER_AGENT)}...TRUNCATED` : userAgent

/** Made once: identities are kept for connections and tokens. */
const users = new WeakMap<UserInfo, string>()

function userText(who: UserInfo | undefined): string {
  if (who === undefined) return '{}'
  return getOrInsertComputed(users, who, () => JSON.stringify(userInfoOf(who)))
}

/** As it was sent, where it was: a query parsed and put together again may be another text. */
function uriOf({ path, query, target }: ApiRequest): string {
  if (target !== undefined) return target
  const text = query.toString()
  return text === '' ? path : `${path}?${text}`
}

/** So many addresses of X-Forwarded-For are noted: clients may send any number. */
const MOST_SOURCES = 100

const isAddress = (text: string): boolean => ipAddress(text).length === 0

/** Addresses that proxies name in headers, and the one at the other end of the connection. The first are not to be believed. */
function sourcesText(headers: ApiRequest['headers'], remote: string): string {
  const sources = (headers['x-forwarded-for'] ?? '')
    .split(',', MOST_SOURCES)
    .map((part) => part.trim())
    .filter(isAddress)
  for (const last of [headers['x-real-ip']?.trim() ?? '', remote])
    if (isAddress(last) && sources.at(-1) !== last) sources.push(last)
  return sources.map(quoted).join()
}

/** The event's objectRef: the object that the path names; where the path has no name or uid, those of the body. */
function objectRefText(info: RequestInfo | undefined, { name, uid, resourceVersion }: ObjectMeta): string {
  if (info?.isResource !== true) return ''
  const named = field('namespace', info.namespace) + field('name', info.name || name) + field('uid', uid)
  const api = field('apiGroup', info.group) + field('apiVersion', info.version)
  const rest = field('resourceVersion', resourceVersion) + field('subresource', info.subresource)
  return `,"objectRef":{"resource":${quoted(info.resource)}${named}${api}${rest}}`
}

const NO_METADATA: ObjectMeta = {}

/** Of an object, of each of a list's, and of those that stand in a Table's rows. */
function withoutManagedFields(value: Json | undefined): Json | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  const { metadata, items, rows, ...rest } = asObject(value)
  const cleaned = (list: readonly Json[]) => list.map((item) => withoutManagedFields(item) ?? null)
  return {
    ...rest,
    ...(metadata === undefined ? {} : { metadata: bare(metadata) }),
    ...(items === undefined ? {} : { items: Array.isArray(items) ? cleaned(items) : items }),
    ...(rows === undefined
      ? {}
      : {
          rows: Array.isArray(rows)
            ? rows.map(asObject).map((row) => ({ ...row, object: withoutManagedFields(row['object']) ?? null }))
            : rows,
        }),
  }
}

function bare(metadata: Json): Json {
  if (typeof metadata !== 'object' || metadata === null || Array.isArray(metadata)) return metadata
  const { managedFields: _, ...others } = metadata as Fields
  return others
}
