/** GET pods/NAME/log. Logs are with the node; where none can be asked, that is the answer. */
import { badRequest, notFound, serviceUnavailable } from '../../../api/status.ts'
import type { ResourceHandler } from '../context.ts'

export const getLog: ResourceHandler = async ({ context, info }) => {
  const pod = context.reads.get('', 'pods', info.namespace, info.name)
  if (pod === undefined) throw notFound({ group: '', resource: 'pods' }, info.name)
  const node: string = pod['spec']?.nodeName ?? ''
  if (node === '') throw badRequest(`pod ${info.name} does not have a host assigned`)
  throw serviceUnavailable(`the logs of node ${node} cannot be read from this server: simulated containers write none`)
}
