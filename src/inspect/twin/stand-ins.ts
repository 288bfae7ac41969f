/** What a twin has in place of namespaces and nodes that its caller may not read. */
import type { Namespace, Node, Pod } from '../../api/generated/types.ts'
import { type StoredItem, storedItem } from '../../cluster/twin.ts'

export const standInNamespace = (name: string): StoredItem => {
  const namespace: Namespace = {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name, uid: `stand-in-of-namespace-${name}`, labels: { 'kubernetes.io/metadata.name': name } },
    spec: { finalizers: ['kubernetes'] },
    status: { phase: 'Active' },
  }
  return storedItem(namespace)
}

const ROOM = { cpu: '1000', memory: '4Ti', 'ephemeral-storage': '4Ti', pods: '1000' }

/** One for each node that a pod is on. */
export function standInNodes(pods: readonly StoredItem[]): readonly StoredItem[] {
  const names = new Set(pods.flatMap((item) => (item.object() as Pod).spec?.nodeName || []))
  return [...names].sort().map((name) => {
    const node: Node = {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name, uid: `stand-in-of-node-${name}`, labels: { 'kubernetes.io/hostname': name } },
      spec: {},
      status: { capacity: ROOM, allocatable: ROOM, conditions: [{ type: 'Ready', status: 'True' }] },
    }
    return storedItem(node)
  })
}
