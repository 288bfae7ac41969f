/**
 * How the writes of one scenario may differ with the order in which its components get their turns. Everything that is made,
 * deleted or patched is so as often as recorded. A status is what its author knew when it wrote: it is written once more, or
 * less often, as more or fewer changes fall together; but every value in it is one that was recorded, and a number lies
 * between the recorded ones. What else may vary is in `exceptions`, by scenario.
 */
import type { Fields, Json, JsonObject } from '../../src/api/object.ts'
import { readRecording, type Write } from './recording.ts'

export type KindOf = (write: Write) => string

/** How much more often, and how much less, than recorded a kind of write may occur: kinds by how they begin. */
const exceptions: Readonly<Record<string, Readonly<Record<string, readonly [less: number, more: number]>>>> = {
  // The collector comes while dependents go by themselves, and asks once more; or finds that they have gone.
  'job-goes-foreground': { 'generic-garbage-collector delete /api/v1/namespaces/$NS/pods/': [0, 2] },
  'S3-foreground': { 'generic-garbage-collector delete ': [1, 1] },
  'S9-namespace-delete': {
    'generic-garbage-collector delete ': [1, 0],
    'namespace-controller deletecollection ': [1, 0],
  },
  'statefulset-claims-deleted': { 'generic-garbage-collector delete ': [0, 1] },
  // Two of them see that a slice is no longer wanted.
  'mirror-follows': {
    'generic-garbage-collector delete ': [0, 1],
    'endpointslicemirroring-controller delete ': [1, 0],
  },
  'consumer-elsewhere': {
    'kube-scheduler patch ': [1, 1],
    'pvc-protection-controller update ': [1, 0],
  },
  'daemonset-adopts': { 'daemon-set-controller patch ': [0, 1] },
  'service-endpoints': { 'endpointslice-controller update ': [1, 0] },
  // A budget counts each pod that becomes ready by itself.
  'pdb-status': { 'disruption-controller update ': [0, 3] },
  // What admission has counted need not be counted again.
  'quota-usage': { 'apiserver update ': [2, 0] },
  'quota-replenished': { 'apiserver update ': [3, 0] },
  'statefulset-quota': { 'apiserver update ': [1, 0] },
  // Whether the node is gone before it is found silent.
  'only-node-goes-silent': { 'node-controller ': [1, 0] },
}

/** One more status than recorded, between two recorded ones. */
const MORE_STATUSES = 1

/** What of `writes` may not be, in words; `mayAlso` begin kinds of writes that need not be as recorded. */
export function unlikeRecorded(
  name: string,
  writes: readonly Write[],
  kindOf: KindOf,
  mayAlso: readonly string[] = [],
): readonly string[] {
  const recorded = Map.groupBy(readRecording(name).writes.filter(succeeded), kindOf)
  const happened = Map.groupBy(writes.filter(succeeded), kindOf)
  const told: string[] = []
  for (const kind of new Set([...recorded.keys(), ...happened.keys()])) {
    if (mayAlso.some((beginning) => kind.startsWith(beginning))) continue
    const [was, is] = [recorded.get(kind)?.length ?? 0, happened.get(kind)?.length ?? 0]
    const [least, most] = bounds(name, kind, was)
    if (is < least || is > most) told.push(`${kind}: ${is} times instead of ${was}`)
    if (isStatus(kind) && was > 0) told.push(...strangeValues(kind, recorded.get(kind) ?? [], happened.get(kind) ?? []))
  }
  return told.sort()
}

const succeeded = ({ code, user }: Write): boolean => code < 400 && user !== 'kwok' && user !== 'user'
const isStatus = (kind: string): boolean => kind.includes(' update ') && kind.endsWith('/status')

function bounds(name: string, kind: string, was: number): readonly [number, number] {
  const own = Object.entries(exceptions[name] ?? {}).find(([beginning]) => kind.startsWith(beginning))?.[1]
  if (own !== undefined) return [was - own[0], was + own[1]]
  return isStatus(kind) ? [Math.min(was, 1), was === 0 ? 0 : was + MORE_STATUSES] : [was, was]
}

type Leaf = string | number | boolean

function strangeValues(kind: string, recorded: readonly Write[], happened: readonly Write[]): readonly string[] {
  const known = new Map<string, Set<Leaf>>()
  for (const { body } of recorded)
    for (const [path, value] of leaves(statusOf(body))) {
      if (!known.has(path)) known.set(path, new Set(typeof value === 'number' ? [0] : []))
      known.get(path)?.add(value)
      // A pod that runs may be seen ready before it is seen to have ended.
      if (path === '.active') known.set('.ready', new Set([...(known.get('.ready') ?? [0]), value]))
    }
  const strange = happened.flatMap(({ body }) =>
    [...leaves(statusOf(body))]
      .filter(([path, value]) => !isAmong(value, known.get(path)))
      .map(([path, value]) => `${kind}: ${path} is ${value}`),
  )
  return [...new Set(strange)]
}

function isAmong(value: Leaf, known: ReadonlySet<Leaf> | undefined): boolean {
  if (known === undefined) return false
  if (typeof value !== 'number') return known.has(value)
  const numbers = [...known].filter((one) => typeof one === 'number')
  return value >= Math.min(...numbers) && value <= Math.max(...numbers)
}

const statusOf = (body: Json): Json => ((body as Fields | null)?.['status'] ?? null) as Json

const COUNT = /\d+/g
const GENERATED = /-[bcdfghjklmnpqrstvwxz2456789]{5}\b/g

const plain = (text: string, path: string): string => {
  const named = text.replace(GENERATED, '-<5>')
  return path.endsWith('.message') ? named.replace(COUNT, '<n>') : named
}

/** Conditions go by their type; counts in messages and generated names are anything. */
function* leaves(value: Json, path = ''): Generator<readonly [string, Leaf]> {
  if (value === null) return
  if (typeof value === 'string') yield [path, plain(value, path)]
  else if (typeof value !== 'object') yield [path, value as Leaf]
  else if (Array.isArray(value))
    for (const item of value) {
      const type = (item as Fields | null)?.['type']
      yield* leaves(item as Json, `${path}[${typeof type === 'string' ? type : ''}]`)
    }
  else
    for (const [name, inner] of Object.entries(value as JsonObject))
      if (name !== 'uncountedTerminatedPods') yield* leaves(inner as Json, `${path}.${name}`)
}
