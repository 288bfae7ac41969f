/** Users that put a finalizer on an object, or wrote it, by what was kept of past requests: the journal of a cluster of skiff, an audit log. */
import type { KeptRecord } from '../../api/journal.ts'
import type { AuditedWrite } from '../timeline/audit-log.ts'
import type { ObjectRef } from './finding.ts'
import { foundOf, type Look } from './look.ts'

export interface PastUser {
  readonly user: string
  /** The program by its agent, without its version: `kube-controller-manager`. */
  readonly program: string
  readonly did: 'added it' | 'wrote the object'
}

/** Those that added the finalizer first, where any are known. */
export async function pastUsers(look: Look, ref: ObjectRef, finalizer: string): Promise<readonly PastUser[]> {
  const kept = foundOf(await look.reader.journal(ref.uid ?? '')) ?? []
  const users = [
    ...kept.flatMap((record) => inJournal(record, finalizer)),
    ...look.audited.filter((write) => isAbout(write, ref)).map((write) => inLog(write, finalizer)),
  ]
  const adders = users.filter(({ did }) => did === 'added it')
  return adders.length > 0 ? adders : users
}

const programOf = (userAgent: string): string => /^[^/\s]*/.exec(userAgent)?.[0] ?? ''

function inJournal({ user, userAgent, before, after }: KeptRecord, finalizer: string): readonly PastUser[] {
  const has = (finalizers: readonly string[] | undefined) => finalizers?.includes(finalizer) === true
  if (has(before.finalizers) || !has(after?.finalizers)) return []
  return [{ user, program: programOf(userAgent), did: 'added it' }]
}

const isAbout = (write: AuditedWrite, ref: ObjectRef): boolean =>
  write.group === ref.group &&
  write.resource === ref.resource &&
  write.namespace === ref.namespace &&
  (write.name === ref.name || write.uid === ref.uid) &&
  (write.verb === 'create' || write.verb === 'update' || write.verb === 'patch')

function inLog({ user, userAgent, asked = '', subresource }: AuditedWrite, finalizer: string): PastUser {
  const isAdded = subresource === '' && asked.includes(JSON.stringify(finalizer))
  return { user, program: programOf(userAgent), did: isAdded ? 'added it' : 'wrote the object' }
}

/** `namespace/name` of a service account; undefined: it is another user. */
export const accountIn = (user: string): string | undefined => {
  const [, namespace, name] = /^system:serviceaccount:([^:]+):([^:]+)$/.exec(user) ?? []
  return namespace === undefined ? undefined : `${namespace}/${name}`
}
