/** Request bodies: objects of the resource's (or subresource's) kind with their defaults, and delete options. */

import type { ProtobufDecoder } from '../../api/codec/body-source.ts'
import { decodeOptions } from '../../api/codec/decode.ts'
import type { DeleteOptions as SentDeleteOptions } from '../../api/generated/types.ts'
import { asJson, type Given, type KubeObject } from '../../api/object.ts'
import type { RequestBody } from '../../api/request.ts'
import { strictWarnings } from '../../api/schema/strict-problem.ts'
import type { ResourceRow, SubresourceRow } from '../../api/scheme/resource.ts'
import type { DeleteOptions } from '../registry/strategy.ts'
import type { ServerRequest } from '../request/server-request.ts'
import type { ResourceRequest } from './context.ts'
import { deleteOptionsOfQuery, type WriteQuery } from './options.ts'

/** The object in the body, canonical and defaulted, in the version of the row. What Warn finds becomes warnings. */
export function decodeObject(
  { request, warnings, context, endpoint }: ResourceRequest,
  kind: ResourceRow | SubresourceRow,
  fieldValidation: WriteQuery['fieldValidation'],
): KubeObject {
  const reader = endpoint.readerOf(kind)
  const decoded = reader.decode(bodyOf(request), decodeWith(context.decodeProtobuf, fieldValidation))
  warnings.push(...decoded.strict.flatMap(strictWarnings))
  request.served?.trace?.step('decoding')
  const object = reader.taken(reader.defaulted(decoded.object))
  if (request.served?.audit !== undefined) request.served.audit.requestObject = object
  return object
}

function decodeWith(decodeProtobuf: ProtobufDecoder | undefined, fieldValidation: WriteQuery['fieldValidation']) {
  return { fieldValidation, ...(decodeProtobuf === undefined ? {} : { decodeProtobuf }) }
}

/** A request without a body still has a content type. */
function bodyOf(request: ServerRequest): RequestBody | undefined {
  if (request.body !== undefined) return request.body
  return { kind: 'bytes', bytes: new Uint8Array(), contentType: request.headers['content-type'] ?? '' }
}

/** Delete options from the body, or without one from the query. @throws StatusError 400, 415 */
export function decodeDeleteOptions({ request, context }: ResourceRequest): DeleteOptions {
  const decoded: Given<SentDeleteOptions> | undefined = decodeOptions(
    request.body,
    decodeWith(context.decodeProtobuf, 'Ignore'),
  )
  if (decoded === undefined) return deleteOptionsOfQuery(request.query)
  if (request.served?.audit !== undefined)
    request.served.audit.requestBody = {
      ...asJson(decoded),
      kind: 'DeleteOptions',
      apiVersion: 'meta.k8s.io/__internal',
    }
  const { gracePeriodSeconds, preconditions, orphanDependents, propagationPolicy, dryRun, ...others } = decoded
  const ignoring = others.ignoreStoreReadErrorWithClusterBreakingPotential
  return {
    ...(gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }),
    ...(preconditions === undefined ? {} : { preconditions }),
    ...(orphanDependents === undefined ? {} : { orphanDependents }),
    ...(propagationPolicy === undefined ? {} : { propagationPolicy }),
    ...(dryRun === undefined || dryRun.length === 0 ? {} : { dryRun }),
    ...(ignoring === true ? { ignoreStoreReadErrorWithClusterBreakingPotential: true } : {}),
  }
}
