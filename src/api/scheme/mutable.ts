/**
 * A scheme whose rows come and go. What is asked of it for every request (a row by its name, the rows of a group, those that
 * share a store) is kept up with each change, so that a change costs what it touches and not the number of rows there are.
 */
import { getOrInsertComputed } from '../../base/get-or-insert.ts'
import type { ResourceRow, Scheme, SchemeGroup } from './resource.ts'

/** A row of the same group, version and resource takes the place of the one before. */
export interface MutableScheme extends Scheme {
  addRows(rows: readonly ResourceRow[]): void
  removeRows(rows: readonly ResourceRow[]): void
}

const NONE: readonly ResourceRow[] = Object.freeze([])

const keyOf = (group: string, version: string, name: string) => `${group}/${version}/${name}`
const resourceOf = (row: ResourceRow) => keyOf(row.group, row.version, row.resource)
const kindOf = (row: ResourceRow) => keyOf(row.group, row.version, row.kind)

export function createMutableScheme(initial: readonly ResourceRow[]): MutableScheme {
  const byResource = new Map<string, ResourceRow>()
  const byKind = new Map<string, ResourceRow>()
  const groups = new Map<string, Group>()
  /** Rows by where they are stored, in the order in which they came. */
  const byPrefix = new Map<string, readonly ResourceRow[]>()
  let all: readonly ResourceRow[] | undefined
  let generation = 0

  function add(row: ResourceRow): void {
    const before = byResource.get(resourceOf(row))
    byResource.set(resourceOf(row), row)
    if (before !== undefined && byKind.get(kindOf(before)) === before) byKind.delete(kindOf(before))
    byKind.set(kindOf(row), row)
    const group = getOrInsertComputed(groups, row.group, () => new Group(row.group))
    group.put(row, generation)
    if (before !== undefined && before.storagePrefix !== row.storagePrefix) unshare(before)
    if (row.storagePrefix === '') return
    const shared = byPrefix.get(row.storagePrefix) ?? NONE
    const at = before === undefined ? -1 : shared.indexOf(before)
    byPrefix.set(row.storagePrefix, at < 0 ? [...shared, row] : shared.with(at, row))
  }

  function remove(row: ResourceRow): boolean {
    if (byResource.get(resourceOf(row)) !== row) return false
    byResource.delete(resourceOf(row))
    if (byKind.get(kindOf(row)) === row) byKind.delete(kindOf(row))
    if (groups.get(row.group)?.take(row, generation) === 0) groups.delete(row.group)
    unshare(row)
    return true
  }

  function unshare(row: ResourceRow): void {
    const left = (byPrefix.get(row.storagePrefix) ?? NONE).filter((other) => other !== row)
    if (left.length === 0) byPrefix.delete(row.storagePrefix)
    else byPrefix.set(row.storagePrefix, left)
  }

  for (const row of initial) add(row)

  return {
    find: (group, version, resource) => byResource.get(keyOf(group, version, resource)),
    findKind: (group, version, kind) => byKind.get(keyOf(group, version, kind)),
    rows() {
      all ??= [...byResource.values()]
      return all
    },
    groups: () => groups,
    stored: (group, resource) => groups.get(group)?.stored(resource),
    sharing: ({ storagePrefix }) => byPrefix.get(storagePrefix) ?? NONE,
    get generation() {
      return generation
    },
    addRows(added) {
      if (added.length === 0) return
      all = undefined
      generation++
      for (const row of added) add(row)
    },
    removeRows(removed) {
      const present = removed.filter((row) => byResource.get(resourceOf(row)) === row)
      if (present.length === 0) return
      all = undefined
      generation++
      for (const row of present) remove(row)
    },
  }
}

class Group implements SchemeGroup {
  readonly name: string
  generation = 0
  /** By version, then by resource. */
  readonly #versions = new Map<string, Map<string, ResourceRow>>()
  /** By resource: its rows that are stored, in the order in which they came. */
  readonly #stored = new Map<string, readonly ResourceRow[]>()

  constructor(name: string) {
    this.name = name
  }

  get versions(): readonly string[] {
    return [...this.#versions.keys()]
  }

  rows(version: string): readonly ResourceRow[] {
    return [...(this.#versions.get(version)?.values() ?? [])]
  }

  stored(resource: string): ResourceRow | undefined {
    return this.#stored.get(resource)?.[0]
  }

  put(row: ResourceRow, generation: number): void {
    this.generation = generation
    const rows = getOrInsertComputed(this.#versions, row.version, () => new Map())
    const before = rows.get(row.resource)
    rows.set(row.resource, row)
    const stored = this.#stored.get(row.resource) ?? NONE
    const at = before === undefined ? -1 : stored.indexOf(before)
    if (row.storagePrefix !== '') this.#stored.set(row.resource, at < 0 ? [...stored, row] : stored.with(at, row))
    else if (at >= 0) this.#unstore(before as ResourceRow)
  }

  /** Gives how many versions are left. */
  take(row: ResourceRow, generation: number): number {
    this.generation = generation
    const rows = this.#versions.get(row.version)
    rows?.delete(row.resource)
    if (rows?.size === 0) this.#versions.delete(row.version)
    this.#unstore(row)
    return this.#versions.size
  }

  #unstore(row: ResourceRow): void {
    const left = (this.#stored.get(row.resource) ?? NONE).filter((other) => other !== row)
    if (left.length === 0) this.#stored.delete(row.resource)
    else this.#stored.set(row.resource, left)
  }
}
