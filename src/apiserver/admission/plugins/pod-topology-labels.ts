/** PodTopologyLabels (KEP-4742): a pod that is given a node carries the node's zone and region as labels of its own. */
import type { Binding, Node, ObjectReference, Pod } from '../../../api/generated/types.ts'
import type { Given } from '../../../api/object.ts'
import type { AdmissionPluginFactory } from '../plugin.ts'

const LABELS = ['topology.kubernetes.io/zone', 'topology.kubernetes.io/region']

export const podTopologyLabels: AdmissionPluginFactory = (reads) => ({
  name: 'PodTopologyLabels',
  handles: (operation) => operation === 'CREATE',
  mutate({ endpoint, subresource, object: given }) {
    const { row } = endpoint
    const object = given!
    if (row.group !== '') return object
    const isPod = row.resource === 'pods' && subresource === ''
    const isBinding = (row.resource === 'pods' && subresource === 'binding') || row.resource === 'bindings'
    if (!isPod && !isBinding) return object
    const target: ObjectReference | undefined = isBinding ? (object as Given<Binding>).target : undefined
    const node = (isPod ? (object as Pod).spec?.nodeName : target?.name) ?? ''
    if (node === '' || (target?.kind ?? 'Node') !== 'Node') return object
    const labels = reads.get<Node>('', 'nodes', '', node)?.metadata.labels
    if (labels === undefined) return object
    const added = LABELS.filter((label) => Object.hasOwn(labels, label)).map((label) => [label, labels[label]])
    if (added.length === 0) return object
    return {
      ...object,
      metadata: { ...object.metadata, labels: { ...object.metadata.labels, ...Object.fromEntries(added) } },
    }
  },
})
