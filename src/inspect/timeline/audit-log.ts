/** The writes in an audit log of kube-apiserver (or of skiff): lines of JSON, audit.k8s.io/v1. */
import type { DeletionAsked } from '../../api/journal.ts'

export interface AuditedWrite {
  /** Milliseconds since the epoch. */
  readonly time: number
  readonly user: string
  readonly userAgent: string
  readonly verb: string
  readonly group: string
  readonly resource: string
  readonly subresource: string
  readonly namespace: string
  /** '' for a collection. */
  readonly name: string
  readonly uid?: string
  readonly auditId: string
  /** Of the answer, where the log's level has it. */
  readonly resourceVersion?: string
  /** Of a delete, where the log's level has it. */
  readonly options?: DeletionAsked
  /** The body as JSON, where the log's level has it. */
  readonly asked?: string
}

const WRITES: ReadonlySet<unknown> = new Set(['delete', 'deletecollection', 'update', 'patch', 'create'])

type Part = Readonly<Record<string, unknown>>

const part = (value: unknown): Part => (typeof value === 'object' && value !== null ? (value as Part) : {})
const text = (value: unknown): string => (typeof value === 'string' ? value : '')

export interface ReadAuditLog {
  readonly writes: readonly AuditedWrite[]
  /** Lines that are no audit events: the last one of a log that is being written, or something else. */
  readonly unread: number
}

export function readAuditLog(log: string): ReadAuditLog {
  const writes: AuditedWrite[] = []
  let unread = 0
  for (const line of log.split('\n')) {
    if (line.trim() === '') continue
    let event: Part
    try {
      event = part(JSON.parse(line))
    } catch {
      unread++
      continue
    }
    if (!text(event['apiVersion']).startsWith('audit.k8s.io/')) unread++
    else {
      const write = writeOf(event)
      if (write !== undefined) writes.push(write)
    }
  }
  return { writes, unread }
}

/** undefined: it changed nothing that a timeline tells of. */
function writeOf(event: Part): AuditedWrite | undefined {
  const { verb, stage, user, impersonatedUser, requestObject } = event
  const code = Number(part(event['responseStatus'])['code'] ?? 200)
  const { apiGroup, resource, subresource, namespace, name, uid } = part(event['objectRef'])
  if (stage !== 'ResponseComplete' || !WRITES.has(verb) || code >= 300) return undefined
  if (verb === 'create' && subresource !== 'eviction') return undefined
  const time = Date.parse(text(event['stageTimestamp']))
  if (Number.isNaN(time)) return undefined
  const { resourceVersion } = part(part(event['responseObject'])['metadata'])
  const isDelete = verb === 'delete' || verb === 'deletecollection'
  const options = isDelete && requestObject !== undefined ? part(requestObject) : part(requestObject)['deleteOptions']
  return {
    time,
    user: text(part(impersonatedUser ?? user)['username']),
    userAgent: text(event['userAgent']),
    verb: text(verb),
    group: text(apiGroup),
    resource: text(resource),
    subresource: text(subresource),
    namespace: resource === 'namespaces' ? '' : text(namespace),
    name: text(name),
    ...(text(uid) === '' || isDelete ? {} : { uid: text(uid) }),
    auditId: text(event['auditID']),
    ...(text(resourceVersion) === '' ? {} : { resourceVersion: text(resourceVersion) }),
    ...(options === undefined ? {} : { options: askedOf(part(options)) }),
    ...(requestObject === undefined ? {} : { asked: JSON.stringify(requestObject) }),
  }
}

export function askedOf({ propagationPolicy, gracePeriodSeconds, preconditions }: Part): DeletionAsked {
  const { uid, resourceVersion } = part(preconditions)
  return {
    ...(typeof propagationPolicy === 'string' ? { propagationPolicy } : {}),
    ...(typeof gracePeriodSeconds === 'number' ? { gracePeriodSeconds } : {}),
    ...(uid === undefined && resourceVersion === undefined
      ? {}
      : { preconditions: { uid: text(uid), resourceVersion: text(resourceVersion) } }),
  }
}
