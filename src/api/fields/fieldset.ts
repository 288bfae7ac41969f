/**
 * fields: which manager owns which field of an object. Field sets and their algebra, comparison of two objects, metadata.managedFields
 * as Kubernetes writes them, and server-side apply (KEP-555). Called by the registry and the patch handler. Pure functions
 * over Schema: they know neither kinds nor storage nor the clock.
 *
 * A FieldSet is kept in the very form of FieldsV1, so that nothing is decoded or encoded on the way from and to storage:
 * a key is a path element (`f:name`, `k:{"name":"x"}`, `v:"x"`, `i:0`), `{}` is a member without members below it, `.`
 * marks a node that is a member itself beside what is below it. Keys are in Kubernetes' order (see pathelement.ts). The
 * set without members is `undefined`; the root itself is never a member.
 */
import { comparePathElements } from './pathelement.ts'

export type FieldSet = { readonly [pathElement: string]: FieldSet }
export type MutableFieldSet = { [pathElement: string]: FieldSet }

/** The one leaf: a member with nothing below it. */
export const MEMBER: FieldSet = Object.freeze({})

function isLeaf(node: FieldSet): boolean {
  if (node === MEMBER) return true
  for (const _ in node) return false
  return true
}

export function isMember(node: FieldSet | undefined): boolean {
  return node !== undefined && (node['.'] !== undefined || isLeaf(node))
}

/** A node from its parts; `undefined` when nothing is left. */
function close(member: boolean, children: MutableFieldSet | undefined): FieldSet | undefined {
  if (children === undefined) return member ? MEMBER : undefined
  return member ? { '.': MEMBER, ...children } : children
}

/** Members of `a` that are not members of `b`. Gives `a` itself when nothing changes. */
export function difference(a: FieldSet | undefined, b: FieldSet | undefined): FieldSet | undefined {
  if (a === undefined || b === undefined) return a
  const wasMember = isMember(a)
  const member = wasMember && !isMember(b)
  let changed = member !== wasMember
  let children: MutableFieldSet | undefined
  for (const key in a) {
    if (key === '.') continue
    const mine = a[key]!
    const rest = difference(mine, b[key])
    if (rest !== mine) changed = true
    if (rest !== undefined) {
      children ??= {}
      children[key] = rest
    }
  }
  return changed ? close(member, children) : a
}

/** As `difference`, but a member of `b` takes away everything below it too. */
export function recursiveDifference(a: FieldSet | undefined, b: FieldSet | undefined): FieldSet | undefined {
  if (a === undefined || b === undefined) return a
  if (isMember(b)) return undefined
  let changed = false
  let children: MutableFieldSet | undefined
  for (const key in a) {
    if (key === '.') continue
    const mine = a[key]!
    const rest = recursiveDifference(mine, b[key])
    if (rest !== mine) changed = true
    if (rest !== undefined) {
      children ??= {}
      children[key] = rest
    }
  }
  return changed ? close(isMember(a), children) : a
}

/** Members of both. */
export function intersection(a: FieldSet | undefined, b: FieldSet | undefined): FieldSet | undefined {
  if (a === undefined || b === undefined) return undefined
  let children: MutableFieldSet | undefined
  for (const key in a) {
    if (key === '.') continue
    const common = intersection(a[key], b[key])
    if (common !== undefined) {
      children ??= {}
      children[key] = common
    }
  }
  return close(isMember(a) && isMember(b), children)
}

/** Members of either, in canonical order. Gives `a` itself when it holds all of `b`. */
export function union(a: FieldSet | undefined, b: FieldSet | undefined): FieldSet | undefined {
  if (a === undefined) return b
  if (b === undefined || a === b) return a
  const wasMember = isMember(a)
  const member = wasMember || isMember(b)
  let changed = member !== wasMember
  let added: string[] | undefined
  const merged: MutableFieldSet = {}
  let below = false
  for (const key in a) {
    if (key === '.') continue
    below = true
    const mine = a[key]!
    const both = union(mine, b[key])!
    if (both !== mine) changed = true
    merged[key] = both
  }
  for (const key in b) {
    if (key === '.' || merged[key] !== undefined) continue
    added ??= []
    added.push(key)
    merged[key] = b[key]!
  }
  if (added !== undefined) return close(member, sortedElements(merged))
  if (!changed) return a
  return close(member, below ? merged : undefined)
}

/** The same node with its keys in canonical order. */
export function sortedElements(node: MutableFieldSet): MutableFieldSet {
  const out: MutableFieldSet = {}
  for (const key of Object.keys(node).sort(comparePathElements)) out[key] = node[key]!
  return out
}

/** The set of these paths (`[['f:status'], ['f:metadata', 'f:labels']]`). */
export function fieldSetOfPaths(paths: readonly (readonly string[])[]): FieldSet | undefined {
  let set: FieldSet | undefined
  for (const path of paths) {
    let node: FieldSet = MEMBER
    for (let i = path.length - 1; i >= 0; i--) node = { [path[i]!]: node }
    if (path.length > 0) set = union(set, node)
  }
  return set
}

/** Calls `visit` for every member: of each place first the members themselves, then what is below them; both in canonical order. */
export function forEachPath(set: FieldSet | undefined, visit: (path: readonly string[]) => void): void {
  const path: string[] = []
  const each = (node: FieldSet, step: (below: FieldSet) => void) => {
    for (const key in node) {
      if (key === '.') continue
      path.push(key)
      step(node[key]!)
      path.pop()
    }
  }
  const walk = (node: FieldSet) => {
    each(node, (below) => {
      if (isMember(below)) visit([...path])
    })
    each(node, walk)
  }
  if (set !== undefined) walk(set)
}
