/** Kubernetes' Status object as a thrown error: the one way any room says that a request failed. */
import type { DecodeProblem } from './decode-problem.ts'
import type { JsonObject } from './object.ts'
import { goQuote } from './quote.ts'

export interface StatusCause {
  readonly reason?: string
  readonly message?: string
  readonly field?: string
}

export interface StatusDetails {
  readonly name?: string
  readonly group?: string
  readonly kind?: string
  readonly uid?: string
  readonly causes?: readonly StatusCause[]
  readonly retryAfterSeconds?: number
}

export class StatusError extends Error {
  readonly code: number
  /** Empty when the server gives none. */
  readonly reason: string
  readonly details: StatusDetails | undefined
  /** Warnings given before the request failed; they leave as headers beside the Status. */
  warnings?: readonly string[]
  /** Headers that leave beside the Status, lower-case names. */
  headers?: Readonly<Record<string, string | readonly string[]>>
  /** A list whose continue token has expired may go on with this one. */
  continueToken?: string
  /** What a decoder found wrong with a body, without the words about its kind around it (codec/refusals.ts). */
  decoderProblem?: DecodeProblem
  constructor(code: number, reason: string, message: string, details?: StatusDetails, options?: ErrorOptions) {
    // Refusals are answers, and controllers get many: a stack trace costs more than the rest of them, and is never read.
    const { stackTraceLimit } = Error
    if (code < 500) Error.stackTraceLimit = 0
    super(message, options)
    Error.stackTraceLimit = stackTraceLimit
    this.name = 'StatusError'
    this.code = code
    this.reason = reason
    this.details = details
  }

  /** The Status as it is served: kind, apiVersion, metadata {}, status Failure, message, reason, details, code. */
  toStatus(): JsonObject {
    return {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: this.continueToken === undefined ? {} : { continue: this.continueToken },
      status: 'Failure',
      ...(this.message === '' ? {} : { message: this.message }),
      ...(this.reason === '' ? {} : { reason: this.reason }),
      ...(this.details === undefined ? {} : { details: this.details as JsonObject }),
      code: this.code,
    }
  }
}

export interface GroupResource {
  readonly group: string
  readonly resource: string
}

/** `deployments.apps`, or `pods` for the core group. */
export function qualified({ group, resource }: GroupResource): string {
  return group === '' ? resource : `${resource}.${group}`
}

function details(gr: GroupResource, name: string): StatusDetails {
  return { ...(name === '' ? {} : { name }), ...(gr.group === '' ? {} : { group: gr.group }), kind: gr.resource }
}

export const badRequest = (message: string, cause?: unknown) =>
  new StatusError(400, 'BadRequest', message, undefined, { cause })
export const unauthorized = (message = 'Unauthorized') => new StatusError(401, 'Unauthorized', message)
export const notFound = (gr: GroupResource, name: string) =>
  new StatusError(404, 'NotFound', `${qualified(gr)} ${goQuote(name)} not found`, details(gr, name))
export const alreadyExists = (gr: GroupResource, name: string) =>
  new StatusError(409, 'AlreadyExists', `${qualified(gr)} ${goQuote(name)} already exists`, details(gr, name))
export const conflict = (gr: GroupResource, name: string, message: string) =>
  new StatusError(
    409,
    'Conflict',
    `Operation cannot be fulfilled on ${qualified(gr)} ${goQuote(name)}: ${message}`,
    details(gr, name),
  )
export const forbidden = (gr: GroupResource, name: string, message: string) =>
  new StatusError(
    403,
    'Forbidden',
    name === ''
      ? `${qualified(gr)} is forbidden: ${message}`
      : `${qualified(gr)} ${goQuote(name)} is forbidden: ${message}`,
    details(gr, name),
  )
export const methodNotSupported = (gr: GroupResource, action: string) =>
  new StatusError(405, 'MethodNotAllowed', `${action} is not supported on resources of kind "${qualified(gr)}"`, {
    ...(gr.group === '' ? {} : { group: gr.group }),
    kind: gr.resource,
  })
export const expired = (message: string) => new StatusError(410, 'Expired', message)
export const internalError = (cause: unknown) =>
  new StatusError(
    500,
    'InternalError',
    `Internal error occurred: ${cause instanceof Error ? cause.message : String(cause)}`,
    { causes: [{ message: cause instanceof Error ? cause.message : String(cause) }] },
    { cause },
  )
export const serviceUnavailable = (message: string) => new StatusError(503, 'ServiceUnavailable', message)
export const tooManyRequests = (message: string, retryAfterSeconds: number) =>
  new StatusError(429, 'TooManyRequests', message, { retryAfterSeconds })

export const isBadRequest = (error: unknown): boolean => error instanceof StatusError && error.code === 400
export const isUnauthorized = (error: unknown): boolean => error instanceof StatusError && error.code === 401
export const isForbidden = (error: unknown): boolean => error instanceof StatusError && error.code === 403
/** A path that is not served is answered without a reason: what was asked for is not there either. */
export const isNotFound = (error: unknown): boolean =>
  error instanceof StatusError && (error.reason === 'NotFound' || (error.reason === '' && error.code === 404))
export const isConflict = (error: unknown): boolean => error instanceof StatusError && error.reason === 'Conflict'
export const isAlreadyExists = (error: unknown): boolean =>
  error instanceof StatusError && error.reason === 'AlreadyExists'
export const isExpired = (error: unknown): boolean =>
  error instanceof StatusError && (error.reason === 'Expired' || error.reason === 'Gone')
/** Something was to be made in a namespace that goes: nothing can be, and nothing need be. */
export const isNamespaceTerminating = (error: unknown): boolean =>
  error instanceof StatusError &&
  error.code === 403 &&
  (error.details?.causes ?? []).some((cause) => cause.reason === 'NamespaceTerminating')

/** A path at which nothing is served. */
export const noSuchResource = () =>
  new StatusError(404, 'NotFound', 'the server could not find the requested resource', {})

/** A method that what is served at a path does not know. */
export const notAllowed = () =>
  new StatusError(405, 'MethodNotAllowed', 'the server does not allow this method on the requested resource', {})
