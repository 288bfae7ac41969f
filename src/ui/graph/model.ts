/**
 * The owner graph of a set of objects: which node stands below which, what goes, what is held, and what holds it. Pure: the page draws it,
 * as a picture and as a tree.
 */
import type { SceneObject } from '../protocol.ts'

/**
 * `going`: marked, and nothing of it is known to hold it. `held`: marked, and a finalizer is on it. `absent`: an owner that is not among
 * the objects (another place, or gone).
 */
export type Standing = 'there' | 'going' | 'held' | 'absent'

export interface DrawnNode {
  readonly uid: string
  readonly kind: string
  readonly namespace: string
  readonly name: string
  /** Absent of an owner that is not among the objects. */
  readonly object?: SceneObject
  readonly standing: Standing
  /** The objects that cannot end before this one: by uid. */
  readonly holds: readonly string[]
  /** Under which it is drawn. */
  readonly parent?: string
  /** Drawn under it, in order. */
  readonly children: readonly string[]
  /** Its other owners. */
  readonly alsoOwnedBy: readonly string[]
}

export interface Graph {
  readonly nodes: ReadonlyMap<string, DrawnNode>
  /** By namespace ('' for what is in none), in order; each with its nodes that have no parent. */
  readonly frames: readonly NamespaceFrame[]
}

export interface NamespaceFrame {
  readonly namespace: string
  /** The Namespace object itself, where it is among the objects. */
  readonly space?: string
  readonly roots: readonly string[]
}

export interface GraphChoice {
  /** Without objects that own nothing and are owned by nothing, unless they are going. */
  readonly hideAlone?: boolean
  /** Those whose kind or name contains it, and all they are connected with. */
  readonly search?: string
}

const FOREGROUND = 'foregroundDeletion'
const { compare: byName } = new Intl.Collator('en', { numeric: true })
const compare = (a: DrawnNode, b: DrawnNode) => (a.kind === b.kind ? byName(a.name, b.name) : byName(a.kind, b.kind))

export const isNamespace = ({ group, resource }: Pick<SceneObject, 'group' | 'resource'>): boolean =>
  group === '' && resource === 'namespaces'

export function graphOf(objects: ReadonlyMap<string, SceneObject>, choice: GraphChoice = {}): Graph {
  const holds = holdsIn(objects)
  const parents = parentsOf(objects)
  const children = new Map<string, string[]>()
  const absent = new Map<string, Pick<DrawnNode, 'uid' | 'kind' | 'namespace' | 'name'>>()
  for (const object of objects.values())
    for (const { uid, kind, name } of object.owners)
      if (!objects.has(uid) && !absent.has(uid)) absent.set(uid, { uid, kind, name, namespace: object.namespace })
  for (const [uid, parent] of parents) {
    const list = children.get(parent)
    if (list === undefined) children.set(parent, [uid])
    else list.push(uid)
  }
  const all = new Map<string, DrawnNode>()
  for (const object of objects.values()) {
    const parent = parents.get(object.uid)
    all.set(object.uid, {
      uid: object.uid,
      kind: object.kind,
      namespace: object.namespace,
      name: object.name,
      object,
      standing: standingOf(object),
      holds: holds.get(object.uid) ?? [],
      ...(parent === undefined ? {} : { parent }),
      children: children.get(object.uid) ?? [],
      alsoOwnedBy: object.owners.map(({ uid }) => uid).filter((uid) => uid !== parent),
    })
  }
  for (const node of absent.values())
    all.set(node.uid, {
      ...node,
      standing: 'absent',
      holds: [],
      children: children.get(node.uid) ?? [],
      alsoOwnedBy: [],
    })
  for (const [uid, node] of all)
    if (node.children.length > 1) all.set(uid, { ...node, children: sorted(node.children, all) })
  const nodes = chosen(all, choice)
  return { nodes, frames: framesOf(nodes) }
}

const sorted = (uids: readonly string[], nodes: ReadonlyMap<string, DrawnNode>): string[] =>
  uids.toSorted((a, b) => compare(nodes.get(a) as DrawnNode, nodes.get(b) as DrawnNode))

function standingOf({ deleted, finalizers }: SceneObject): Standing {
  if (deleted === undefined) return 'there'
  return finalizers.length > 0 ? 'held' : 'going'
}

/** The owner that manages it, else the first; what would close a circle has none. */
function parentsOf(objects: ReadonlyMap<string, SceneObject>): ReadonlyMap<string, string> {
  const parents = new Map<string, string>()
  for (const { uid, owners } of objects.values()) {
    const among = owners.filter((owner) => owner.uid !== uid)
    const chosenOwner =
      among.find(({ controller }) => controller) ?? among.find((one) => objects.has(one.uid)) ?? among[0]
    if (chosenOwner === undefined) continue
    let at: string | undefined = chosenOwner.uid
    while (at !== undefined && at !== uid) at = parents.get(at)
    if (at === undefined) parents.set(uid, chosenOwner.uid)
  }
  return parents
}

/** What cannot end before it: owners that wait for blocking dependents, namespaces that wait for what is held in them. */
function holdsIn(objects: ReadonlyMap<string, SceneObject>): ReadonlyMap<string, readonly string[]> {
  const holds = new Map<string, string[]>()
  const spaces = new Map<string, SceneObject>()
  for (const object of objects.values())
    if (object.deleted !== undefined && isNamespace(object)) spaces.set(object.name, object)
  for (const { uid, owners, namespace, deleted, finalizers } of objects.values()) {
    const waiting = owners.filter((owner) => {
      const found = objects.get(owner.uid)
      return owner.blocks && found?.deleted !== undefined && found.finalizers.includes(FOREGROUND)
    })
    const held = waiting.map((owner) => owner.uid)
    const space = namespace === '' ? undefined : spaces.get(namespace)
    if (space !== undefined && deleted !== undefined && finalizers.length > 0) held.push(space.uid)
    if (held.length > 0) holds.set(uid, held)
  }
  return holds
}

function chosen(all: ReadonlyMap<string, DrawnNode>, { hideAlone = false, search = '' }: GraphChoice) {
  const wanted = search.trim().toLowerCase()
  if (!hideAlone && wanted === '') return all
  const kept = new Set<string>()
  if (wanted === '') {
    for (const node of all.values()) if (!isAlone(node)) kept.add(node.uid)
  } else {
    for (const node of all.values())
      if (`${node.kind}/${node.name}`.toLowerCase().includes(wanted)) keepConnected(all, node, kept)
  }
  const nodes = new Map<string, DrawnNode>()
  for (const [uid, node] of all) {
    if (!kept.has(uid)) continue
    const children = node.children.filter((child) => kept.has(child))
    nodes.set(uid, children.length === node.children.length ? node : { ...node, children })
  }
  return nodes
}

function isAlone({ object, children, parent, holds }: DrawnNode): boolean {
  if (parent !== undefined || children.length > 0 || holds.length > 0) return false
  if (object === undefined) return true
  return object.deleted === undefined && object.resource !== 'nodes' && !isNamespace(object)
}

/** The node, what it is under, and what is under it. */
function keepConnected(all: ReadonlyMap<string, DrawnNode>, node: DrawnNode, kept: Set<string>): void {
  for (let at: DrawnNode | undefined = node; at !== undefined && !kept.has(at.uid); at = all.get(at.parent ?? ''))
    kept.add(at.uid)
  const below = [...node.children]
  for (let uid = below.pop(); uid !== undefined; uid = below.pop()) {
    if (kept.has(uid)) continue
    kept.add(uid)
    below.push(...(all.get(uid)?.children ?? []))
  }
}

function framesOf(nodes: ReadonlyMap<string, DrawnNode>): readonly NamespaceFrame[] {
  const spaces = new Map<string, string>()
  const roots = new Map<string, string[]>()
  for (const { uid, object, namespace, name, parent } of nodes.values()) {
    if (object !== undefined && isNamespace(object)) {
      spaces.set(name, uid)
      if (!roots.has(name)) roots.set(name, [])
      continue
    }
    if (parent !== undefined && nodes.has(parent)) continue
    const list = roots.get(namespace)
    if (list === undefined) roots.set(namespace, [uid])
    else list.push(uid)
  }
  return [...roots]
    .map(([namespace, uids]) => {
      const space = namespace === '' ? undefined : spaces.get(namespace)
      return { namespace, ...(space === undefined ? {} : { space }), roots: sorted(uids, nodes) }
    })
    .toSorted((a, b) => Number(a.namespace === '') - Number(b.namespace === '') || byName(a.namespace, b.namespace))
}
