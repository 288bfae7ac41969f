/** GET pods/NAME/log. Logs are with the node; where none can be asked, that is the answer. */
import { notFound, StatusError } from '../../../api/status.ts'
import { type FieldError, forbiddenField, invalid, invalidError } from '../../../api/validation/errors.ts'
import type { ResourceHandler } from '../context.ts'
import { int64Parameter } from '../options.ts'
import { checkContainer, checkHost } from './pod-location.ts'

export const getLog: ResourceHandler = async ({ context, info, request }) => {
  checkOptions(request.query, info.name)
  const pod = context.reads.get('', 'pods', info.namespace, info.name)
  if (pod === undefined) throw notFound({ group: '', resource: 'pods' }, info.name)
  checkContainer(pod, request.query.get('container') ?? '')
  const node: string = pod['spec']?.nodeName ?? ''
  // Nothing has run yet, so nothing was written.
  if (node === '') return { kind: 'bytes', status: 204, contentType: '', bytes: [] }
  checkHost(context.reads, pod)
  // Not 503, on which clients ask again and again.
  const message = `the logs of node ${node} cannot be read from this server: simulated containers write none`
  throw new StatusError(501, 'NotImplemented', message)
}

/** @throws StatusError 422 for PodLogOptions that contradict themselves, 400 for what is no number */
function checkOptions(query: URLSearchParams, name: string): void {
  if (query.size === 0) return
  const errors: FieldError[] = []
  const tail = int64Parameter(query, 'tailLines')
  const bytes = int64Parameter(query, 'limitBytes')
  const seconds = int64Parameter(query, 'sinceSeconds')
  if (tail !== undefined && tail < 0) errors.push(invalid('tailLines', tail, 'must be greater than or equal to 0'))
  if (bytes !== undefined && bytes < 1) errors.push(invalid('limitBytes', bytes, 'must be greater than 0'))
  if (seconds !== undefined && query.has('sinceTime'))
    errors.push(forbiddenField('', 'at most one of `sinceTime` or `sinceSeconds` may be specified'))
  else if (seconds !== undefined && seconds < 1) errors.push(invalid('sinceSeconds', seconds, 'must be greater than 0'))
  if (errors.length > 0) throw invalidError({ group: '', kind: 'PodLogOptions' }, name, errors)
}
