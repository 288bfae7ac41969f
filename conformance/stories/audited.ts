/** Writes as the audit log tells of them, of kube-apiserver and of ours alike. */
import type { Fields } from '../../src/api/object.ts'
import type { PlayedWrite } from './facts.ts'

/** What the log must tell; it may tell more. */
export const auditPolicy = {
  apiVersion: 'audit.k8s.io/v1',
  kind: 'Policy',
  omitStages: ['RequestReceived'],
  rules: [
    { level: 'None', resources: [{ group: 'coordination.k8s.io', resources: ['leases'] }] },
    { level: 'Request', verbs: ['create', 'update', 'patch', 'delete', 'deletecollection'] },
    { level: 'None' },
  ],
}

/** A write, and what it is about. */
export interface AuditedWrite extends PlayedWrite {
  readonly namespace: string
  readonly name: string
}

const READS = new Set(['get', 'list', 'watch'])
const OWN_AGENTS = new Set(['user', 'kwok', 'observer'])
const REFUSED = 400

export function writesOf(events: readonly Fields[]): readonly AuditedWrite[] {
  return events
    .filter(({ stage, verb, objectRef }) => stage === 'ResponseComplete' && !READS.has(verb) && objectRef !== undefined)
    .map(
      ({ userAgent, user, verb, requestURI, objectRef, responseStatus, requestObject, requestReceivedTimestamp }) => {
        const agent = String(userAgent).split('/')[0] ?? ''
        const code: number = responseStatus?.code ?? 0
        return {
          user: OWN_AGENTS.has(agent) ? agent : user.username.replace('system:serviceaccount:kube-system:', ''),
          verb,
          uri: requestURI,
          resource: objectRef.resource ?? '',
          namespace: objectRef.namespace ?? '',
          name: objectRef.name ?? '',
          code,
          body: requestObject ?? null,
          at: Date.parse(requestReceivedTimestamp),
          ...(code >= REFUSED ? { message: responseStatus.message ?? '' } : {}),
        }
      },
    )
}
