/** The owner graph as DOT, for finding out why something does not go: `dot -T svg`. Edges lead from dependent to owner. */
import { parseApiVersion } from '../../api/object.ts'
import type { GraphNode, UidToNode } from './graph.ts'

/** Nodes without owners and dependents say nothing and are left out. With `uids`: these and all that is connected with them. */
export function graphAsDot(uidToNode: UidToNode, uids?: readonly string[]): string {
  const nodes = uids === undefined ? [...uidToNode.values()].filter(isConnected) : connectedWith(uidToNode, uids)
  const chosen = new Set(nodes.map((node) => node.identity.uid))
  nodes.sort((a, b) => (a.identity.uid < b.identity.uid ? -1 : 1))
  const lines = ['strict digraph full {', '  // Node definitions.']
  for (const node of nodes) {
    lines.push(`  ${quote(node.identity.uid)} [`)
    for (const [name, value] of attributes(node)) lines.push(`    ${name}=${quote(value)}`)
    lines.push('  ];')
  }
  lines.push('', '  // Edge definitions.')
  for (const node of nodes) {
    for (const owner of node.owners) {
      if (chosen.has(owner.uid)) lines.push(`  ${quote(node.identity.uid)} -> ${quote(owner.uid)};`)
    }
  }
  lines.push('}', '')
  return lines.join('\n')
}

const isConnected = (node: GraphNode) => node.owners.length > 0 || node.dependents.size > 0

function connectedWith(uidToNode: UidToNode, uids: readonly string[]): GraphNode[] {
  const found = new Map<string, GraphNode>()
  const pending = [...uids]
  for (let uid = pending.pop(); uid !== undefined; uid = pending.pop()) {
    const node = uidToNode.get(uid)
    if (node === undefined || found.has(uid)) continue
    found.set(uid, node)
    for (const owner of node.owners) pending.push(owner.uid)
    for (const dependent of node.dependents) pending.push(dependent.identity.uid)
  }
  return [...found.values()]
}

function attributes(node: GraphNode): [string, string][] {
  const { apiVersion, kind, name, namespace, uid } = node.identity
  const { group, version } = parseApiVersion(apiVersion)
  const type = group === '' ? `${kind}.${version}` : `${kind}.${version}.${group}`
  const states = [
    node.beingDeleted ? 'beingDeleted' : '',
    node.deletingDependents ? 'deletingDependents' : '',
    node.virtual ? 'virtual' : '',
  ].filter((state) => state !== '')
  return [
    [
      'label',
      `uid=${uid}\nnamespace=${namespace}\n${type}/${name}\n${states.length > 0 ? `${states.join(',')}\n` : ''}`,
    ],
    ['group', group],
    ['version', version],
    ['kind', kind],
    ['namespace', namespace],
    ['name', name],
    ['uid', uid],
    ['missing', 'false'],
    ['beingDeleted', String(node.beingDeleted)],
    ['deletingDependents', String(node.deletingDependents)],
    ['virtual', String(node.virtual)],
  ]
}

/** A DOT string: only quotes, backslashes and line ends need an escape. */
function quote(text: string): string {
  return `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')}"`
}
