/** TaintNodesByCondition: a new node takes no pods until it has shown that it is ready. */
import type { Node } from '../../../api/generated/types.ts'
import type { AdmissionPluginFactory } from '../plugin.ts'

const TAINT = { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' }

export const taintNodesByCondition: AdmissionPluginFactory = () => ({
  name: 'TaintNodesByCondition',
  handles: (operation) => operation === 'CREATE',
  mutate({ object, endpoint, subresource }) {
    const { row } = endpoint
    const node: Node = object!
    if (row.group !== '' || row.resource !== 'nodes' || subresource !== '') return node
    const taints = node.spec?.taints ?? []
    if (taints.some((taint) => taint.key === TAINT.key && taint.effect === TAINT.effect)) return node
    return { ...node, spec: { ...node.spec, taints: [...taints, TAINT] } }
  },
})
