/**
 * Whatever a later filter or the handler throws becomes a Status. To a client in this process it is thrown on, as a StatusError;
 * over a wire it leaves in the encoding that was asked for, with the warnings given before it.
 */

import { encodeYaml } from '../../api/codec/encode-yaml.ts'
import { asKubeObject, type Json, type JsonObject } from '../../api/object.ts'
import { type ApiRequest, type ApiResponse, ConnectionCut } from '../../api/request.ts'
import { internalError, StatusError } from '../../api/status.ts'
import { encodeJson } from '../../api/values/json.ts'
import type { Logger } from '../../base/log.ts'
import { CONTENT_TYPES, type Encoding, errorEncoding, wantsPretty } from '../handlers/negotiate.ts'
import { objectBytes } from '../handlers/protobuf.ts'
import { warningHeaders } from '../handlers/respond.ts'
import { type Filter, whenAnswered } from '../request/server-request.ts'

const NEWLINE = Buffer.from('\n')

export function errorResponses(log: Logger): Filter {
  return (next) => (request) =>
    whenAnswered(
      next,
      request,
      (response) => {
        // To a client in this process there is no connection that could be cut.
        if (response.kind === 'cut' && request.connection === undefined) throw new ConnectionCut()
        return response
      },
      (thrown) => {
        const error = statusErrorOf(thrown, request, log)
        if (request.connection === undefined && request.headers['accept'] === undefined) throw error
        return errorResponse(request, error)
      },
    )
}

/** The code that an error is answered with. */
export const statusCodeOf = (thrown: unknown, { signal }: Pick<ApiRequest, 'signal'>): number =>
  thrown instanceof StatusError ? thrown.code : signal.aborted ? 504 : 500

function statusErrorOf(thrown: unknown, request: ApiRequest, log: Logger): StatusError {
  if (thrown instanceof StatusError) return thrown
  if (request.signal.aborted)
    return new StatusError(504, 'Timeout', 'request did not complete within the allotted timeout')
  log.error('request failed', thrown, { method: request.method, path: request.path })
  return internalError(thrown)
}

/** The Status of an error as an answer. */
export function errorResponse(request: ApiRequest, error: StatusError): ApiResponse {
  const status = error.toStatus()
  const { encoding, pretty } = errorEncoding(request.headers['accept'])
  const retryAfter = error.details?.retryAfterSeconds
  const { headers } = warningHeaders(error.warnings ?? [])
  return {
    kind: 'bytes',
    status: error.code,
    headers: {
      ...error.headers,
      ...headers,
      ...(retryAfter === undefined || retryAfter <= 0 ? {} : { 'retry-after': String(retryAfter) }),
    },
    contentType: CONTENT_TYPES[encoding],
    bytes: statusBytes(status, encoding, pretty || wantsPretty(request)),
  }
}

function statusBytes(status: JsonObject, encoding: Encoding, pretty: boolean): readonly Uint8Array[] {
  if (encoding === 'yaml') return [Buffer.from(encodeYaml(status as Json))]
  const object = asKubeObject(status)
  if (encoding === 'protobuf') return [objectBytes(object)]
  return pretty ? [Buffer.from(JSON.stringify(status, null, 2))] : [encodeJson(object), NEWLINE]
}
