/** serviceaccounts/token: a TokenRequest is answered with a token (API concept: TokenRequest). */

import { updateManagedFields } from '../../../api/fields/update.ts'
import type { AuthenticationV1TokenRequest as TokenRequest } from '../../../api/generated/types.ts'
import { apiVersionOf } from '../../../api/object.ts'
import type { ApiResponse } from '../../../api/request.ts'
import { notAllowed } from '../../../api/status.ts'
import { parseJws } from '../../auth/jws.ts'
import { inNamespace } from '../../registry/metadata.ts'
import { decodeObject } from '../body.ts'
import type { ResourceRequest } from '../context.ts'
import { negotiate } from '../negotiate.ts'
import { writeOptions } from '../options.ts'
import { encoded, shaped } from '../respond.ts'
import { admissionAttributes, managerOf, optionsObject, writeContext } from '../write.ts'

export async function createToken(resource: ResourceRequest): Promise<ApiResponse> {
  const { context, request, endpoint, subresource, info, warnings } = resource
  if (context.answerTokenRequest === undefined || subresource === undefined) throw notAllowed()
  const representation = negotiate(request, { kind: endpoint, tables: false })
  const options = writeOptions('CreateOptions', request.query)
  const write = writeContext(resource, { dryRun: options.dryRun })
  const decoded = inNamespace(decodeObject(resource, subresource, options.fieldValidation), true, info.namespace)
  const tracked = updateManagedFields({
    live: undefined,
    next: decoded,
    schema: subresource.schema,
    manager: managerOf(request, options),
    apiVersion: apiVersionOf(subresource.group, subresource.version),
    subresource: 'token',
    time: write.now,
  })
  const attributes = { dryRun: options.dryRun, options: optionsObject(options) }
  const admitted = await context.admission.mutate(
    admissionAttributes(resource, 'CREATE', attributes, tracked, undefined),
  )
  await context.admission.validate(admissionAttributes(resource, 'CREATE', attributes, admitted, undefined))
  const answer = await context.answerTokenRequest(info.namespace, info.name, admitted, (message) =>
    resource.warnings.push(message),
  )
  if (request.served?.audit !== undefined) {
    const id = parseJws((answer as TokenRequest).status?.token ?? '')?.claims['jti']
    request.served.audit.annotations['authentication.kubernetes.io/issued-credential-id'] = `JTI=${id}`
  }
  return encoded(201, shaped(context, request, endpoint, answer, representation), representation, warnings)
}
