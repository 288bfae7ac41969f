/**
 * The names that definitions have been given (status.acceptedNames), by group: plural, singular and short names share one
 * space, kinds and list kinds another. Kept up with each definition that changes.
 */

import type {
  CustomResourceDefinition,
  CustomResourceDefinitionCondition,
  CustomResourceDefinitionNames,
  CustomResourceDefinitionStatus,
} from '../../api/generated/types.ts'
import type { Given } from '../../api/object.ts'
import { getOrInsertComputed } from '../../base/get-or-insert.ts'

export interface NamesInUse {
  /** Whether another definition than the one of the name `own` has this name. */
  isResource(group: string, name: string, own: string): boolean
  isKind(group: string, name: string, own: string): boolean
}

export interface NameTable extends NamesInUse {
  /**
   * Takes what a definition has been given, in place of what it had; undefined: it is gone. Returns the definitions that wait for a
   * name that it no longer has: those of its group whose names are not all accepted.
   */
  put(name: string, definition: Given<CustomResourceDefinition> | undefined): readonly string[]
}

interface GivenNames {
  readonly group: string
  readonly resources: readonly string[]
  readonly kinds: readonly string[]
  readonly accepted: boolean
}

interface Group {
  /** Names to the definitions that have them: one each, but for what was stored by other means than the API. */
  readonly resources: Map<string, Set<string>>
  readonly kinds: Map<string, Set<string>>
  readonly waiting: Set<string>
}

export function createNameTable(): NameTable {
  const given = new Map<string, GivenNames>()
  const groups = new Map<string, Group>()

  const isTaken = (names: ReadonlyMap<string, ReadonlySet<string>> | undefined, name: string, own: string): boolean => {
    const owners = names?.get(name)
    return owners !== undefined && (owners.size > 1 || !owners.has(own))
  }

  function groupOf(name: string): Group {
    return getOrInsertComputed(groups, name, () => ({ resources: new Map(), kinds: new Map(), waiting: new Set() }))
  }

  function enter(name: string, now: GivenNames): void {
    const group = groupOf(now.group)
    for (const one of now.resources) addTo(group.resources, one, name)
    for (const one of now.kinds) addTo(group.kinds, one, name)
    if (!now.accepted) group.waiting.add(name)
    given.set(name, now)
  }

  function leave(name: string, before: GivenNames): void {
    const group = groupOf(before.group)
    for (const one of before.resources) takeFrom(group.resources, one, name)
    for (const one of before.kinds) takeFrom(group.kinds, one, name)
    group.waiting.delete(name)
    if (group.resources.size + group.kinds.size + group.waiting.size === 0) groups.delete(before.group)
    given.delete(name)
  }

  return {
    isResource: (group, name, own) => isTaken(groups.get(group)?.resources, name, own),
    isKind: (group, name, own) => isTaken(groups.get(group)?.kinds, name, own),
    put(name, definition) {
      const before = given.get(name)
      const now = definition && givenTo(definition)
      if (before !== undefined) leave(name, before)
      if (now !== undefined) enter(name, now)
      if (before === undefined) return []
      const isFree = (one: string) => now === undefined || !(now.resources.includes(one) || now.kinds.includes(one))
      if (![...before.resources, ...before.kinds].some(isFree)) return []
      return [...(groups.get(before.group)?.waiting ?? [])].filter((one) => one !== name)
    },
  }
}

function givenTo(definition: Given<CustomResourceDefinition>): GivenNames {
  const status: Partial<CustomResourceDefinitionStatus> = definition.status ?? {}
  const acceptedNames: Partial<CustomResourceDefinitionNames> = status.acceptedNames ?? {}
  // Null before the names are judged.
  const conditions: readonly CustomResourceDefinitionCondition[] = status.conditions ?? []
  const present = (names: readonly (string | undefined)[]): readonly string[] =>
    names.filter((name): name is string => name !== undefined && name !== '')
  const shortNames: readonly string[] = acceptedNames.shortNames ?? []
  return {
    group: definition.spec?.group ?? '',
    resources: present([acceptedNames.plural, acceptedNames.singular, ...shortNames]),
    kinds: present([acceptedNames.kind, acceptedNames.listKind]),
    accepted: conditions.some((one) => one.type === 'NamesAccepted' && one.status === 'True'),
  }
}

function addTo(names: Map<string, Set<string>>, name: string, owner: string): void {
  const owners = names.get(name)
  if (owners === undefined) names.set(name, new Set([owner]))
  else owners.add(owner)
}

function takeFrom(names: Map<string, Set<string>>, name: string, owner: string): void {
  const owners = names.get(name)
  owners?.delete(owner)
  if (owners?.size === 0) names.delete(name)
}
