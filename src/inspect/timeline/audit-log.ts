/** The writes in an audit log of kube-apiserver (or of skiff): lines of JSON, audit.k8s.io/v1. */

import type { DeletionAsked } from '../../api/journal.ts'
import type { JsonObject } from '../../api/object.ts'
import { asObject, asText } from '../../api/unchecked.ts'

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

const ENDS: ReadonlySet<unknown> = new Set(['ResponseComplete', 'Panic'])

export interface ReadAuditLog {
  readonly writes: readonly AuditedWrite[]
  /** Lines that are no audit events: the last one of a log that is being written, or something else. */
  readonly unread: number
  /** Writes of which no stage tells what became of them: a policy leaves ResponseComplete out. */
  readonly unanswered: number
}

/** `creates too`: creates end nothing, but tell by which user an object was made. */
export function readAuditLog(log: string, which?: 'creates too'): ReadAuditLog {
  const writes: AuditedWrite[] = []
  let unread = 0
  const begun = new Set<string>()
  const ended = new Set<string>()
  for (const line of log.split('\n')) {
    if (line.trim() === '') continue
    try {
      const event = asObject(JSON.parse(line))
      if (!asText(event['apiVersion']).startsWith('audit.k8s.io/')) unread++
      else {
        const { stage, verb, auditID } = event
        if (WRITES.has(verb) && verb !== 'create') (ENDS.has(stage) ? ended : begun).add(asText(auditID))
        const write = writeOf(event, which !== undefined)
        if (write !== undefined) writes.push(write)
      }
    } catch {
      // No JSON, or a body too deep for it.
      unread++
    }
  }
  return { writes, unread, unanswered: begun.difference(ended).size }
}

/** undefined: it changed nothing that a timeline tells of. */
function writeOf(event: JsonObject, creates: boolean): AuditedWrite | undefined {
  const { verb, stage, user, impersonatedUser, requestObject } = event
  const code = Number(asObject(event['responseStatus'])['code'] ?? 200)
  const { apiGroup, resource, subresource, namespace, name, uid } = asObject(event['objectRef'])
  if (stage !== 'ResponseComplete' || !WRITES.has(verb) || code >= 300) return undefined
  if (verb === 'create' && subresource !== 'eviction' && !creates) return undefined
  const time = Date.parse(asText(event['stageTimestamp']))
  if (Number.isNaN(time)) return undefined
  const { resourceVersion } = asObject(asObject(event['responseObject'])['metadata'])
  const isDelete = verb === 'delete' || verb === 'deletecollection'
  const options =
    isDelete && requestObject !== undefined ? asObject(requestObject) : asObject(requestObject)['deleteOptions']
  return {
    time,
    user: asText(asObject(impersonatedUser ?? user)['username']),
    userAgent: asText(event['userAgent']),
    verb: asText(verb),
    group: asText(apiGroup),
    resource: asText(resource),
    subresource: asText(subresource),
    namespace: resource === 'namespaces' ? '' : asText(namespace),
    name: asText(name),
    ...(asText(uid) === '' || isDelete ? {} : { uid: asText(uid) }),
    auditId: asText(event['auditID']),
    ...(asText(resourceVersion) === '' ? {} : { resourceVersion: asText(resourceVersion) }),
    ...(options === undefined ? {} : { options: deletionAskedOf(asObject(options)) }),
    ...(requestObject === undefined ? {} : { asked: JSON.stringify(requestObject) }),
  }
}

export function deletionAskedOf({ propagationPolicy, gracePeriodSeconds, preconditions }: JsonObject): DeletionAsked {
  const { uid, resourceVersion } = asObject(preconditions)
  return {
    ...(typeof propagationPolicy === 'string' ? { propagationPolicy } : {}),
    ...(typeof gracePeriodSeconds === 'number' ? { gracePeriodSeconds } : {}),
    ...(uid === undefined && resourceVersion === undefined
      ? {}
      : { preconditions: { uid: asText(uid), resourceVersion: asText(resourceVersion) } }),
  }
}
