/**
 * Races that a rehearsal shows. Of a dependent whose owners are both deleted in the foreground, the second one by a controller, the garbage
 * collector makes one thing or the other: looked at while the second owner is not marked yet, the dependent is taken off the first one
 * alone; looked at later, it is deleted. And what an owner that is deleted in the foreground does not wait for is deleted in the foreground
 * while that owner is there, and in the background once it is gone (open-policies.ts). Each race can be made to end the other way.
 */
import type { ApiRequest } from '../../api/request.ts'
import type { Delays } from '../../client/uneven-transport.ts'
import type { TimelineObject } from '../timeline/timeline-types.ts'
import { openPolicies, type Rehearsed } from './open-policies.ts'

export interface Races {
  /** Owners whose mark or end came before their dependent was looked at. */
  readonly owners: readonly TimelineObject[]
  /** Dependents that were looked at before an owner was marked, or gone. */
  readonly dependents: readonly TimelineObject[]
  /**
   * The deed deletes owners of each other in the foreground, one after the other: the garbage collector breaks their cycle if it looks
   * before the last is marked, and later they wait for each other.
   */
  readonly isBetweenRequests: boolean
}

const COLLECTOR = 'generic-garbage-collector'
const FOREGROUND = 'foregroundDeletion'
/** Longer than what is done meanwhile takes. */
const LATE_MS = 20_000

export function racesIn(rehearsed: Rehearsed): Races {
  const { steps, owners } = rehearsed
  interface Mark {
    readonly place: number
    readonly object: TimelineObject
    readonly isCollected: boolean
  }
  const marks = new Map<string, Mark>()
  const looks = new Map<string, { readonly place: number; readonly object: TimelineObject }>()
  const ends = new Map<string, number>()
  for (const [place, { object, changes, by }] of steps.entries()) {
    const isCollector = by.component === COLLECTOR
    if (changes.some((change) => change.type === 'finalizer-added' && change.finalizer === FOREGROUND))
      marks.set(object.uid, { place, object, isCollected: isCollector })
    if (changes.some(({ type }) => type === 'removed')) ends.set(object.uid, place)
    const isLook = changes.some(({ type }) => type === 'marked' || type === 'removed' || type === 'owner-removed')
    if (isCollector && isLook && !looks.has(object.uid)) looks.set(object.uid, { place, object })
  }
  const [early, late] = [new Map<string, TimelineObject>(), new Map<string, TimelineObject>()]
  for (const [uid, look] of looks) {
    const waiting = (owners.get(uid) ?? []).flatMap((owner) => marks.get(owner.uid) ?? [])
    const [, ...later] = waiting.toSorted((a, b) => a.place - b.place)
    for (const mark of later.filter(({ isCollected }) => isCollected))
      if (mark.place < look.place) early.set(mark.object.uid, mark.object)
      else late.set(uid, look.object)
  }
  for (const [uid, loose] of openPolicies(rehearsed))
    for (const owner of loose) {
      const [look, mark] = [looks.get(uid), marks.get(owner)]
      if (look === undefined || mark === undefined) continue
      if ((ends.get(owner) ?? Number.POSITIVE_INFINITY) < look.place) early.set(owner, mark.object)
      else late.set(uid, look.object)
    }
  const named = [...marks.values()].filter(({ isCollected }) => !isCollected).map(({ object }) => object.uid)
  const isBetweenRequests = named.length > 1 && areInOneCycle(new Set(named), owners)
  return { owners: [...early.values()], dependents: [...late.values()], isBetweenRequests }
}

/**
 * Whether two of these are, through whatever else, owners of each other: strongly connected components of the owners above them, by
 * Tarjan's algorithm, without recursion, for chains of owners may be long.
 */
function areInOneCycle(named: ReadonlySet<string>, owners: Rehearsed['owners']): boolean {
  interface Visit {
    readonly uid: string
    readonly index: number
    /** The first object on the stack that it leads back to. */
    low: number
    next: number
  }
  const indexes = new Map<string, number>()
  const stack: string[] = []
  const onStack = new Set<string>()
  const enter = (uid: string): Visit => {
    const index = indexes.size
    indexes.set(uid, index)
    stack.push(uid)
    onStack.add(uid)
    return { uid, index, low: index, next: 0 }
  }
  for (const start of named) {
    if (indexes.has(start)) continue
    const path = [enter(start)]
    for (let visit = path.at(-1); visit !== undefined; visit = path.at(-1)) {
      const owner = owners.get(visit.uid)?.[visit.next++]?.uid
      if (owner !== undefined) {
        const index = indexes.get(owner)
        if (index === undefined) path.push(enter(owner))
        else if (onStack.has(owner)) visit.low = Math.min(visit.low, index)
        continue
      }
      path.pop()
      const below = path.at(-1)
      if (below !== undefined) below.low = Math.min(below.low, visit.low)
      if (visit.low < visit.index) continue
      const component = stack.splice(stack.lastIndexOf(visit.uid))
      for (const uid of component) onStack.delete(uid)
      if (component.filter((uid) => named.has(uid)).length > 1) return true
    }
  }
  return false
}

/** By which they end the other way; undefined where there are none. */
export function delaysFor({ owners, dependents }: Pick<Races, 'owners' | 'dependents'>): Delays | undefined {
  if (owners.length + dependents.length === 0) return undefined
  const [marked, looked] = [new Set(owners.map(pathKey)), new Set(dependents.map(pathKey))]
  return ({ method, path }: ApiRequest) => {
    const key = keyOf(path)
    // An owner can be asked for as before: it is its mark, or its end, that comes late.
    return looked.has(key) || (method !== 'GET' && marked.has(key)) ? LATE_MS : 0
  }
}

const pathKey = ({ group, resource, namespace, name }: TimelineObject): string =>
  [group, namespace, resource, encodeURIComponent(name)].join('/')

/** The same of a request's path, in whichever version. */
function keyOf(path: string): string {
  const parts = path.split('/').slice(1)
  const [group = '', ...rest] = parts[0] === 'api' ? ['', ...parts.slice(2)] : [parts[1], ...parts.slice(3)]
  const [namespace = '', resource = '', name = ''] =
    rest[0] === 'namespaces' && rest.length > 2 ? rest.slice(1) : ['', ...rest]
  return [group, namespace, resource, name].join('/')
}
