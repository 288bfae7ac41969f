/** What the page knows, as signals: whatever shows a part of it is drawn anew when that part changes. */
import { batch, computed, effect, signal } from '@preact/signals'
import { type Appearance, lookOf, type Overlay, plannedLooks, replayedLooks } from '../graph/looks.ts'
import { type Graph, graphOf } from '../graph/model.ts'
import type { ChainObject, Plan, Replay, SceneChange, SceneObject, SessionInfo, Why } from '../protocol.ts'
import { follow } from './api.ts'

/** How long the light of what has gone stays. */
const FADE_MS = 1500

export const session = signal<SessionInfo | undefined>(undefined)
export const problem = signal('')
/** '': all namespaces. */
export const scope = signal('')
export const isLive = signal(false)
export const isLoaded = signal(false)
/** Grows with each first state: there is something else to look at as a whole. */
export const loads = signal(0)
export const unseen = signal<NonNullable<SceneChange['unseen']>>([])
export const search = signal('')
export const showsAlone = signal(true)
export const selected = signal<string | undefined>(undefined)
/** What is read out. */
export const said = signal('')

/** What is shown at the side. */
export type Panel =
  | { readonly kind: 'object' }
  | { readonly kind: 'stuck' }
  | { readonly kind: 'endings' }
  | { readonly kind: 'plan'; readonly object: SceneObject }
  | { readonly kind: 'replay' }
export const panel = signal<Panel>({ kind: 'object' })

export const why = signal<Why | undefined>(undefined)
export const plan = signal<Plan | undefined>(undefined)
/** So many of those that go in the plan are shown as gone. */
export const planDone = signal(0)
export const replay = signal<Replay | undefined>(undefined)
/** So many of its steps are done. */
export const replayDone = signal(0)

const present = new Map<string, SceneObject>()
/** Grows with each change of the objects. */
const revision = signal(0)
/** What has just gone, until its light is out: with the time at which it is. */
export const fading = new Map<string, { readonly object: SceneObject; readonly until: number }>()

/** As they are, or those of a replay. */
export const objects = computed<ReadonlyMap<string, SceneObject>>(() => {
  revision.value
  const told = replay.value
  return told === undefined ? new Map(present) : new Map(told.objects.map((object) => [object.uid, object]))
})

export const graph = computed<Graph>(() =>
  replay.value === undefined
    ? graphOf(objects.value, { hideAlone: !showsAlone.value, search: search.value })
    : graphOf(objects.value),
)

export const overlay = computed<Overlay>(() => {
  const [told, planned] = [replay.value, plan.value]
  if (told !== undefined) return { replayed: replayedLooks(told, replayDone.value) }
  if (planned !== undefined) return { planned: plannedLooks(planned, planDone.value) }
  return {}
})

export function lookAt(uid: string): Appearance | undefined {
  const node = graph.value.nodes.get(uid)
  return node === undefined ? undefined : lookOf(node, overlay.value)
}

export const counts = computed(() => {
  let [going, held] = [0, 0]
  for (const { deleted, finalizers } of objects.value.values()) {
    if (deleted === undefined) continue
    if (finalizers.length > 0) held++
    else going++
  }
  return { all: objects.value.size, going, held }
})

/** A chain as it is drawn: from object to object, and the verdict where it ends. */
export interface DrawnChain {
  readonly pairs: readonly (readonly [from: string, to: string])[]
  readonly end?: { readonly uid: string; readonly words: string }
}

export const chain = computed<DrawnChain>(() => {
  const answer = why.value
  if (answer === undefined || panel.value.kind !== 'object') return { pairs: [] }
  const byName = new Map([...objects.value.values()].map((object) => [keyOf(object), object.uid]))
  const pairs: (readonly [string, string])[] = []
  let end: DrawnChain['end']
  const walk = (link: Why['chain'], from: readonly string[]) => {
    const here = link.objects.map((object) => byName.get(keyOf(object))).filter((uid) => uid !== undefined)
    for (const a of from) for (const b of here) if (a !== b) pairs.push([a, b])
    const next = here.length > 0 ? here : from
    const last = next.at(-1)
    if (link.verdict === answer.verdict && last !== undefined) end ??= { uid: last, words: answer.words }
    for (const one of link.next) walk(one, next)
  }
  const first = byName.get(keyOf(answer.object))
  walk(answer.chain, first === undefined ? [] : [first])
  return end === undefined || answer.verdict === 'not-stuck' ? { pairs } : { pairs, end }
})

export const keyOf = ({ group, resource, namespace, name }: ChainObject) => `${group}/${resource}/${namespace}/${name}`

export function uidOf(object: ChainObject): string | undefined {
  for (const one of objects.value.values()) if (keyOf(one) === keyOf(object)) return one.uid
  return undefined
}

export function select(uid: string | undefined): void {
  if (selected.value !== uid) why.value = undefined
  selected.value = uid
  if (panel.value.kind !== 'replay' && panel.value.kind !== 'plan') panel.value = { kind: 'object' }
}

/** Chosen as soon as it comes into view. */
let wanted: string | undefined

/** To an object that is not in view: what it is in is shown instead. */
export function goTo(object: ChainObject): void {
  const isSpace = object.group === '' && object.resource === 'namespaces'
  select(undefined)
  show({ kind: 'object' })
  wanted = keyOf(object)
  search.value = ''
  scope.value = isSpace ? object.name : object.namespace
}

function chooseWanted(): void {
  if (wanted === undefined) return
  const found = [...present.values()].find((object) => keyOf(object) === wanted)
  wanted = undefined
  if (found !== undefined) select(found.uid)
}

export function show(next: Panel): void {
  if (next.kind !== 'plan') plan.value = undefined
  if (next.kind !== 'replay') replay.value = undefined
  panel.value = next
}

let isFirst = true

const take = (change: SceneChange) => batch(() => takeChange(change))

function takeChange({ reset, partial, put, gone, unseen: notSeen }: SceneChange): void {
  if (reset) {
    present.clear()
    isFirst = true
  }
  const begins: SceneObject[] = []
  const ends: SceneObject[] = []
  for (const object of put) {
    const before = present.get(object.uid)
    if (!isFirst && object.deleted !== undefined && before?.deleted === undefined) begins.push(object)
    present.set(object.uid, object)
  }
  for (const uid of gone) {
    const object = present.get(uid)
    if (object === undefined) continue
    present.delete(uid)
    ends.push(object)
    fading.set(uid, { object, until: performance.now() + FADE_MS })
  }
  if (notSeen !== undefined) unseen.value = notSeen
  if (partial) return
  if (isFirst) {
    isFirst = false
    revision.value++
    if (!isLoaded.value) loads.value++
    isLoaded.value = true
    chooseWanted()
    said.value = `${present.size} objects`
  }
  announce(begins, ends)
  draw()
}

/** Of more objects than this changes are drawn together, so that a cascade of thousands leaves time for the hand that looks at it. */
const MANY = 1000
const TOGETHER_MS = 150
let waits = false

function draw(): void {
  if (present.size <= MANY) {
    revision.value++
    return
  }
  if (waits) return
  waits = true
  setTimeout(() => {
    waits = false
    revision.value++
  }, TOGETHER_MS)
}

/** One sentence for all that came together. */
function announce(begins: readonly SceneObject[], ends: readonly SceneObject[]): void {
  const parts = [told(begins, 'being deleted'), told(ends, 'gone')].filter((part) => part !== '')
  if (parts.length > 0) said.value = parts.join('; ')
}

function told(some: readonly SceneObject[], what: string): string {
  if (some.length === 0) return ''
  const [first] = some
  return some.length === 1 ? `${first?.kind} ${first?.name} is ${what}` : `${some.length} objects are ${what}`
}

/** Follows the part of the cluster that is chosen. */
export function watchScope(): () => void {
  let end = () => {}
  const stop = effect(() => {
    end()
    const namespace = scope.value
    isLoaded.value = false
    present.clear()
    fading.clear()
    revision.value = revision.peek() + 1
    end = follow(namespace, {
      change: take,
      live: (now) => {
        isLive.value = now
      },
    })
  })
  return () => {
    stop()
    end()
  }
}
