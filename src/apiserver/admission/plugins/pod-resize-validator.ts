/** PodResizeValidator: a pod may not ask for more CPU or memory than its node has for pods at all. */
import type { Node, Pod } from '../../../api/generated/types.ts'
import { podRequests } from '../../../api/objects/pod-requests.ts'
import { sameJson } from '../../../api/same.ts'
import { StatusError } from '../../../api/status.ts'
import { quantityMilliValue, quantityValue } from '../../../api/values/quantity.ts'
import type { AdmissionPluginFactory } from '../plugin.ts'
import { refused } from './pods.ts'

/** By which these are compared and told: thousandths of a CPU, bytes. */
const RESOURCES = [
  ['cpu', quantityMilliValue],
  ['memory', quantityValue],
] as const

export const podResizeValidator: AdmissionPluginFactory = (reads) => ({
  name: 'PodResizeValidator',
  handles: (operation) => operation === 'UPDATE',
  validate(attributes) {
    const { endpoint, subresource } = attributes
    const { row } = endpoint
    if (row.group !== '' || row.resource !== 'pods' || subresource !== 'resize') return
    const { spec } = attributes.object as Pod
    const { spec: old } = attributes.oldObject as Pod
    if (spec === undefined || sameJson(spec, old)) return
    const { nodeName = '' } = spec
    if (nodeName === '') return
    const node = reads.get<Node>('', 'nodes', '', nodeName)
    if (node === undefined) throw refused(attributes, `node ${JSON.stringify(nodeName)} not found`)
    const requests = podRequests(spec)
    const lacks: string[] = []
    for (const [name, amountOf] of RESOURCES) {
      const requested = amountOf(requests[name] ?? '0')
      const allocatable = amountOf(node.status?.allocatable?.[name] ?? '0')
      if (requested > allocatable) lacks.push(`${name}, requested: ${requested}, allocatable: ${allocatable}`)
    }
    if (lacks.length === 0) return
    const { code, reason, message, details } = refused(
      attributes,
      `node didn't have enough allocatable resources: ${lacks.join('; ')}`,
    )
    throw new StatusError(code, reason, message, { ...details, causes: [{ reason: 'NodeCapacity' }] })
  },
})
