/**
 * How the writes of one scenario may differ with the order in which its components get their turns. What is made, deleted
 * or patched is so as often as recorded, with the recorded values. A status is what its author knew when it wrote: one
 * in between may be left out as changes fall together, and every one that is written is one of those recorded. What else
 * the order decides is in exceptions.ts.
 */
import type { Fields, Json, JsonObject } from '../../src/api/object.ts'
import type { Exception } from './exceptions.ts'
import { sorted, type Write } from './recording.ts'

export interface Unlike {
  /** What may not be, in words. */
  readonly told: readonly string[]
  /** The parts of the exceptions that were made use of, as `partsOf` names them. */
  readonly used: ReadonlySet<string>
}

/** Compares the writes of the components, by value, with those of the recording. */
export function unlikeRecorded(
  recorded: readonly Write[],
  writes: readonly Write[],
  exceptions: readonly Exception[] = [],
): Unlike {
  const used = new Set<string>()
  const known = Map.groupBy(recorded.filter(isOfInterest), kindOf)
  const happened = Map.groupBy(writes.filter(isOfInterest), kindOf)
  const told = [...new Set([...known.keys(), ...happened.keys()])].flatMap((kind) => {
    const exception = exceptions.find(({ writes }) => kind.startsWith(writes)) ?? { writes: kind, why: '' }
    return unlikeKind(kind, known.get(kind) ?? [], happened.get(kind) ?? [], exception, used)
  })
  return { told: told.sort(), used }
}

/** Every part of an exception that has to occur. */
export const partsOf = ({ writes, less, more, counts = [], also = [] }: Exception): readonly string[] => [
  ...(less === undefined ? [] : [`${writes}: less`]),
  ...(more === undefined ? [] : [`${writes}: more`]),
  ...counts.map((field) => `${writes}: ${field}`),
  ...also.map((body) => `${writes}: ${JSON.stringify(sorted(body))}`),
]

const isOfInterest = ({ code, user }: Write): boolean => code < 400 && user !== 'kwok' && user !== 'user'

const GENERATED = /-[bcdfghjklmnpqrstvwxz2456789]{5}(?![a-z0-9])/g
export const withoutGenerated = (text: string): string => text.replace(GENERATED, '-<5>')

/** Who did what to which object. */
export const kindOf = ({ user, verb, uri }: Write): string => `${user} ${verb} ${withoutGenerated(uri)}`
const isStatus = (kind: string): boolean => / update .*\/status$/.test(kind)

/** What a write says: of a status its status alone, of the rest of an object all but its status. */
function whatIsSaid({ verb, uri, body }: Write): Json {
  if (verb !== 'update') return body
  const { status, ...rest } = body as Fields
  if (!/\/(status|finalize)$/.test(uri)) return rest as JsonObject
  // Conditions stand in the order in which they came to be true or false.
  const conditions = (status?.conditions as readonly Fields[] | undefined)?.toSorted((a, b) =>
    a['type'] < b['type'] ? -1 : 1,
  )
  return (status === undefined || conditions === undefined ? (status ?? null) : { ...status, conditions }) as Json
}
const textOf = (write: Write): string => withoutGenerated(JSON.stringify(sorted(whatIsSaid(write))))

function unlikeKind(
  kind: string,
  recorded: readonly Write[],
  happened: readonly Write[],
  exception: Exception,
  used: Set<string>,
): readonly string[] {
  const { writes, less = 0, more = 0, counts = [], between = 0, also = [] } = exception
  const [was, is] = [recorded.length, happened.length]
  const least = isStatus(kind) && exception.less === undefined ? Math.min(was, 1) : was - less
  if (is < was) used.add(`${writes}: less`)
  if (is > was) used.add(`${writes}: more`)
  const told = is < least || is > was + more ? [`${kind}: ${is} times instead of ${was}`] : []

  const left = recorded.map(textOf)
  const others = also.map((body) => JSON.stringify(sorted(body)))
  let unlike = 0
  for (const write of happened) {
    const text = textOf(write)
    const at = left.indexOf(text)
    if (at >= 0) {
      left.splice(at, 1)
      continue
    }
    const differing = others.includes(text) ? [text] : differingCounts(write, recorded, counts)
    if (differing !== undefined && differing.length > 0) unlike++
    // What is the same as recorded is one of the `more`.
    const isMore = differing?.length === 0 && more > 0 && is <= was + more
    const isAllowed = differing !== undefined && differing.length > 0 && unlike <= between + others.length
    if (!isMore && !isAllowed) told.push(`${kind}: ${text}`)
    for (const field of differing ?? []) used.add(`${writes}: ${field}`)
  }
  return told
}

/** The fewest counts in which a recorded value is other than this one; undefined where none differs in counts alone. */
function differingCounts(
  write: Write,
  recorded: readonly Write[],
  counts: readonly string[],
): readonly string[] | undefined {
  const own: Fields = JSON.parse(textOf(write)) ?? {}
  const others = recorded.map((one): Fields => JSON.parse(textOf(one)) ?? {})
  const numbers = others.flatMap((other) => Object.values(other).filter((value) => typeof value === 'number'))
  const highest = Math.max(0, ...numbers)
  if (counts.some((field) => (own[field] ?? 0) > highest)) return undefined
  return others
    .map((other) =>
      [...new Set([...Object.keys(other), ...Object.keys(own)])].filter(
        (field) => JSON.stringify(other[field]) !== JSON.stringify(own[field]),
      ),
    )
    .filter((fields) => fields.every((field) => counts.includes(field)))
    .sort((a, b) => a.length - b.length)[0]
}
