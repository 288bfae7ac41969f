/** What a call to etcd fails with. */
import { type ServiceError, status } from '@grpc/grpc-js'

/** etcd's answer, or gRPC's where there was none. */
export class EtcdError extends Error {
  readonly code: status
  /** Nothing reached etcd, so that the call may be made again whatever it is. */
  readonly isUnsent: boolean
  /** The member that was asked, where that is known: another may be talked to since. */
  readonly address: string | undefined

  constructor(message: string, code: status, isUnsent: boolean, address?: string) {
    super(message)
    this.address = address
    this.name = 'EtcdError'
    this.code = code
    this.isUnsent = isUnsent
  }
}

/** grpc-js's words for a call that found no connection. */
const UNSENT =
  /^(No connection established|Name resolution failed|Channel has been shut down|The channel has been closed)/

export function etcdError(error: ServiceError, address?: string): EtcdError {
  const message = error.details || error.message
  const isUnsent =
    (error.code === status.UNAVAILABLE && UNSENT.test(message)) || message === 'etcdserver: too many requests'
  // What remains is what the system said.
  const said = message.replace(/^.*Last error: (Error: )?/s, '').replace(/\.? ?Resolution note:.*$/s, '')
  return new EtcdError(said || message, error.code, isUnsent, address)
}

/** Another member may answer, or this one later. What the call was to do may have been done. */
export const isPassing = ({ code, message }: EtcdError): boolean =>
  code === status.UNAVAILABLE ||
  code === status.CANCELLED ||
  code === status.DEADLINE_EXCEEDED ||
  message === 'etcdserver: too many requests'

export const isCompacted = ({ message }: Error): boolean => message.includes('required revision has been compacted')
export const isFutureRevision = ({ message }: Error): boolean =>
  message.includes('required revision is a future revision')
export const isLeaseGone = ({ message }: Error): boolean => message.includes('requested lease not found')
export const isOutOfSpace = ({ message }: Error): boolean => message.includes('database space exceeded')
/** No other try will be answered otherwise. */
export const isFinal = (error: EtcdError): boolean =>
  isDenied(error) ||
  error.code === status.PERMISSION_DENIED ||
  error.code === status.UNAUTHENTICATED ||
  error.code === status.UNIMPLEMENTED

/** The client's role does not allow it. A watch says so in words alone. */
export const isDenied = ({ message }: Error): boolean => message.includes('etcdserver: permission denied')
