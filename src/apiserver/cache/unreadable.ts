/**
 * What is told of stored objects that cannot be read: that cannot be deciphered, that are no object, or that their definition's webhook
 * cannot give in the version asked for (KEP-3926).
 */
import type { ResourceRow } from '../../api/scheme/resource.ts'
import { internalError, StatusError, tooManyRequests } from '../../api/status.ts'

interface Stored {
  /** As storage has it. */
  readonly key: string
  readonly revision: number
}

/** Why what is stored is not read. */
export class UnreadableValue extends Error {
  /** The bytes are as they were written (decrypted, checked), and still no object. */
  readonly isDecoded: boolean
  constructor(message: string, isDecoded: boolean, cause: unknown) {
    super(message, { cause })
    this.isDecoded = isDecoded
  }
}

/** It is encrypted with a key that is not known, or is not what was encrypted. */
export const untransformable = (cause: Error): UnreadableValue =>
  new UnreadableValue(`data from the storage is not transformable revision=0: ${cause.message}`, false, cause)

/** It is no object. */
export const undecodable = ({ revision }: Pick<Stored, 'revision'>, cause: unknown): UnreadableValue =>
  new UnreadableValue(
    `object not decodable revision=${revision}: ${cause instanceof Error ? cause.message : String(cause)}`,
    true,
    cause,
  )

/** Whether this answer is about something that cannot be read. */
export function isUnreadable(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause) if (cause instanceof UnreadableValue) return true
  return false
}

const corrupt = (key: string, { message }: UnreadableValue): string =>
  `StorageError: corrupt object, Code: 7, Key: ${key}, ResourceVersion: 0, AdditionalErrorMsg: ${message}`

/** The answer to a read or a delete of it. */
export const unreadableObject = ({ key }: Pick<Stored, 'key'>, cause: UnreadableValue): StatusError =>
  internalError(new Error(corrupt(key.slice('/registry'.length), cause), { cause }))

/** The error that answers a write to an object which cannot be read. */
export const unwritableObject = (cause: UnreadableValue): StatusError =>
  cause.isDecoded ? new StatusError(500, '', cause.message) : internalError(cause)

/** Seconds, of a watch cache that cannot be filled. */
const RETRY_AFTER = 30

/** The answer to a watch of the resource, as of a Kubernetes whose watch cache cannot be filled. */
export const unwatchable = (resource: Named, failures: readonly Failure[]): StatusError =>
  tooManyRequests(
    `storage is (re)initializing: failed to list <unspecified>: ${unreadableList(resource, failures).message}`,
    RETRY_AFTER,
  )

type Named = Pick<ResourceRow, 'group' | 'resource'>
type Failure = { readonly key: string; readonly cause: UnreadableValue }

/** What cannot be read of these. */
export const failuresOf = (
  entries: readonly { readonly key: string; readonly unreadable?: UnreadableValue }[],
): readonly Failure[] => entries.flatMap(({ key, unreadable: cause }) => (cause === undefined ? [] : [{ key, cause }]))

/** The answer to a list with it among others. */
export function unreadableList({ group, resource }: Named, failures: readonly Failure[]): StatusError {
  const messages = failures.map(({ key, cause }) => corrupt(key, cause))
  const named = group === '' ? resource : `${resource}.${group}`
  return new StatusError(
    500,
    'StorageReadError',
    `failed to read one or more ${named} from the storage: ${messages[0]}${messages.length > 1 ? ` (and ${messages.length - 1} more)` : ''}`,
    {
      name: 'list',
      ...(group === '' ? {} : { group }),
      kind: resource,
      causes: failures.map(({ key }, i) => ({
        reason: 'UnexpectedServerResponse',
        message: messages[i] as string,
        field: key,
      })),
    },
  )
}
