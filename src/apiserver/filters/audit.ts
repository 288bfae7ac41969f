/**
 * Tells the audit log what is asked and how it was answered. Stands right behind authentication, so that what is refused is
 * told as well; authentication itself sends here whom it refuses, without a user.
 *
 * A request that changes something is answered only once its event is in the log; when the log cannot be written it is
 * answered with an error, and the server's own log says so. One that only reads is answered at once, unless the log is too
 * far behind; that its event could not be written is in the server's own log.
 */
import { jsonText, parseExactly } from '../../api/codec/json.ts'
import type { Fields, Json, JsonObject } from '../../api/object.ts'
import {
  type ApiRequest,
  type ApiResponse,
  type AuditRecord,
  type Filter,
  type UserInfo,
  whenAnswered,
} from '../../api/request.ts'
import { internalError, StatusError } from '../../api/status.ts'
import { formatMicroTime } from '../../base/clock.ts'
import type { Runtime } from '../../base/runtime.ts'
import type { AuditLog } from '../audit/log.ts'
import type { Level, Policy, Stage, Verdict } from '../audit/policy.ts'
import { userInfoOf } from '../handlers/reviews.ts'

const READS = new Set(['get', 'list', 'watch', 'head'])
/** Lines on their way to the log up to which reads do not wait for theirs. */
const MOST_BEHIND = 1000

export function audit(runtime: Runtime, policy: Policy, log: AuditLog): Filter {
  const { clock, random } = runtime
  const serverLog = runtime.log.named('audit')
  return (next) => (request) => {
    const { info } = request
    if (info === undefined) throw internalError('the request has not passed request info')
    const verdict = policy.verdict(request.user, info)
    if (verdict.level === 'None') return next(request)
    const record: AuditRecord = { annotations: {} }
    const id = request.headers['audit-id'] || random.uuid()
    const received = clock.now()
    const append = async (event: JsonObject, when: 'now' | 'soon') => {
      try {
        await log.append(jsonText(event), when)
      } catch (error) {
        serverLog.error('the audit log cannot be written', error, { auditID: id })
        throw new StatusError(500, 'InternalError', 'Internal error occurred: the audit event could not be written')
      }
    }
    /** undefined: nobody has to wait for it. */
    const tell = (stage: Stage, response?: JsonObject, responseObject?: Json): Promise<void> | undefined => {
      if (verdict.omitStages.has(stage)) return undefined
      const now = clock.now()
      const event = eventOf({ request, record, verdict, id, received, now, stage, response, responseObject })
      if (!READS.has(info.verb) || log.behind > MOST_BEHIND) return append(event, 'now')
      append(event, 'soon').catch(() => {})
      return undefined
    }
    const ask = () =>
      whenAnswered(
        next,
        { ...request, audit: record },
        (response) => {
          if (response.kind === 'watch') return after(watched(response), () => response)
          const body = verdict.level === 'RequestResponse' ? bodyOf(response) : undefined
          return after(tell('ResponseComplete', { metadata: {}, code: response.status }, body), () => response)
        },
        (error) => {
          const status = error instanceof StatusError ? error : internalError(error)
          const refused = request.user === undefined ? 'ResponseStarted' : 'ResponseComplete'
          return after(tell(error instanceof StatusError ? refused : 'Panic', status.toStatus()), (): ApiResponse => {
            throw error
          })
        },
      )
    const watched = ({ status }: ApiResponse) => {
      const { signal } = request
      const ended = () => void tell('ResponseComplete', { metadata: {}, code: status })?.catch(() => {})
      const told = tell('ResponseStarted', { metadata: {}, code: status })
      if (signal.aborted) ended()
      else signal.addEventListener('abort', ended, { once: true })
      return told
    }
    return after(request.user === undefined ? undefined : tell('RequestReceived'), ask)
  }
}

const after = <T>(told: Promise<void> | undefined, then: () => T | Promise<T>): T | Promise<T> =>
  told === undefined ? then() : told.then(then)

/** The answer's object, where it is JSON or an object of this process. */
function bodyOf(response: ApiResponse): Json | undefined {
  if (response.kind === 'object') return response.object as Json
  if (response.kind !== 'bytes' || !response.contentType.startsWith('application/json')) return undefined
  try {
    return parseExactly(Buffer.concat(response.bytes).toString()) as Json
  } catch {
    return undefined
  }
}

interface EventParts {
  readonly request: ApiRequest
  readonly record: AuditRecord
  readonly verdict: Verdict
  readonly id: string
  readonly received: number
  readonly now: number
  readonly stage: Stage
  readonly response: JsonObject | undefined
  readonly responseObject: Json | undefined
}

const atLeast = (level: Level, wanted: 'Request' | 'RequestResponse') =>
  level === wanted || (wanted === 'Request' && level === 'RequestResponse')

function eventOf({
  request,
  record,
  verdict,
  id,
  received,
  now,
  stage,
  response,
  responseObject,
}: EventParts): JsonObject {
  const query = request.query.toString()
  const body = (object: Json | undefined) => (verdict.omitManagedFields ? withoutManagedFields(object) : object)
  const requestObject = atLeast(verdict.level, 'Request') ? body(record.requestObject as Json | undefined) : undefined
  const answered = body(responseObject)
  return {
    kind: 'Event',
    apiVersion: 'audit.k8s.io/v1',
    level: verdict.level,
    auditID: id,
    stage,
    requestURI: query === '' ? request.path : `${request.path}?${query}`,
    verb: request.info?.verb,
    user: user(request.user),
    ...(record.impersonatedUser ? { impersonatedUser: user(record.impersonatedUser) } : {}),
    ...(record.impersonationConstraint
      ? { authenticationMetadata: { impersonationConstraint: record.impersonationConstraint } }
      : {}),
    sourceIPs: [request.connection?.remoteAddress || '127.0.0.1'],
    ...(request.headers['user-agent'] ? { userAgent: request.headers['user-agent'] } : {}),
    ...objectRef(request, record),
    ...(response ? { responseStatus: response } : {}),
    ...(requestObject === undefined ? {} : { requestObject }),
    ...(answered === undefined ? {} : { responseObject: answered }),
    requestReceivedTimestamp: formatMicroTime(received),
    stageTimestamp: formatMicroTime(now),
    ...(Object.keys(record.annotations).length ? { annotations: record.annotations } : {}),
  }
}

const user = (who: UserInfo | undefined): JsonObject => (who ? (userInfoOf(who) as JsonObject) : {})

/** What the request names, and where it names nothing, what its body does. */
function objectRef({ info }: ApiRequest, { requestObject }: AuditRecord): { objectRef?: JsonObject } {
  if (!info?.isResource) return {}
  const { name: given, uid, resourceVersion } = requestObject?.metadata ?? {}
  const name = info.name || given
  return {
    objectRef: {
      resource: info.resource,
      ...(info.namespace ? { namespace: info.namespace } : {}),
      ...(name ? { name } : {}),
      ...(uid ? { uid } : {}),
      ...(info.group ? { apiGroup: info.group } : {}),
      apiVersion: info.version,
      ...(resourceVersion ? { resourceVersion } : {}),
      ...(info.subresource ? { subresource: info.subresource } : {}),
    },
  }
}

function withoutManagedFields(object: Json | undefined): Json | undefined {
  const metadata = (object as Fields | undefined)?.['metadata']
  if (metadata?.managedFields === undefined) return object
  const { managedFields: _, ...rest } = metadata
  return { ...(object as JsonObject), metadata: rest }
}
