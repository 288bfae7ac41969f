/** What is told of a stored object that its definition's webhook cannot give in the version asked for. */
import type { ResourceRow } from '../../api/scheme/resource.ts'
import { internalError, StatusError } from '../../api/status.ts'

interface Stored {
  /** As storage has it. */
  readonly key: string
  readonly revision: number
}

const notDecodable = ({ revision }: Stored, cause: unknown): string =>
  `object not decodable revision=${revision}: ${cause instanceof Error ? cause.message : String(cause)}`

const corrupt = (key: string, stored: Stored, cause: unknown): string =>
  `StorageError: corrupt object, Code: 7, Key: ${key}, ResourceVersion: 0, AdditionalErrorMsg: ${notDecodable(stored, cause)}`

/** The answer to a read or a delete of it. */
export const unreadableObject = (stored: Stored, cause: unknown): StatusError =>
  internalError(new Error(corrupt(stored.key.slice('/registry'.length), stored, cause), { cause }))

/** The error that answers a write to an object which cannot be decoded. */
export const unwritableObject = (stored: Stored, cause: unknown): StatusError =>
  new StatusError(500, '', notDecodable(stored, cause))

/** The answer to a list with it among others. */
export function unreadableList(
  { group, resource }: ResourceRow,
  failures: readonly { readonly stored: Stored; readonly cause: unknown }[],
): StatusError {
  const messages = failures.map(({ stored, cause }) => corrupt(stored.key, stored, cause))
  return new StatusError(
    500,
    'StorageReadError',
    `failed to read one or more ${resource}.${group} from the storage: ${messages[0]}${messages.length > 1 ? ` (and ${messages.length - 1} more)` : ''}`,
    {
      name: 'list',
      group,
      kind: resource,
      causes: failures.map(({ stored }, i) => ({
        reason: 'UnexpectedServerResponse',
        message: messages[i] as string,
        field: stored.key,
      })),
    },
  )
}
