/** One question for a timeline, asked of a cluster of skiff, which keeps a journal. */
import { type Clock, formatTime } from '../../base/clock.ts'
import type { Transport } from '../../client/transport.ts'
import { type ClusterReader, createClusterReader, type Read } from '../cluster-reader.ts'
import { type Kinds, readKinds } from '../kinds.ts'
import { QuestionError, type QuestionTarget, servedResource } from '../question.ts'
import { timelineOtlp } from './otlp.ts'
import { timelineJson, timelineText } from './report.ts'
import type { ToldRecord } from './steps.ts'
import { timelineSvg } from './svg.ts'
import { tellEach, tellTimeline } from './timeline-of.ts'
import type { Timeline, TimelineStep } from './timeline-types.ts'
import { identityWords, placeWords } from './words.ts'

export const TIMELINE_FORMS = ['text', 'json', 'otlp', 'svg'] as const
export type TimelineForm = (typeof TIMELINE_FORMS)[number]

export interface TimelineQuestion {
  /** Without one every cascade is told in which anything was deleted. */
  readonly target?: QuestionTarget
  /** Without a target: those that have to do with this namespace. */
  readonly namespace?: string
  readonly uid?: string
  readonly cascade: boolean
}

interface Asking {
  readonly clock: Clock
  readonly transport: Transport
  readonly userAgent: string
}

/** Whatever the journal holds, it comes within this, in milliseconds. */
const LONGEST_MS = 60_000

/** @throws QuestionError where the cluster keeps no journal, it may not be read, or it does not tell of the object */
export async function askTimeline(asking: Asking, question: TimelineQuestion): Promise<Timeline[]> {
  const reader = readerOf(asking)
  const read = await readJournal(reader)
  if (read.state === 'missing')
    throw new QuestionError(
      'this cluster keeps no journal of deletions (it is none of skiff): watch it with skiff timeline --record',
    )
  if (read.state === 'forbidden')
    throw new QuestionError(
      `the journal may not be read: ${read.message} (a cluster that is none of skiff's keeps none: watch it with skiff timeline --record)`,
    )
  if (read.state !== 'found') throw new Error(read.message)
  return tell(read.value, await readKinds(reader), question, 'journal')
}

export const readerOf = ({ clock, transport, userAgent }: Asking): ClusterReader =>
  createClusterReader(clock, transport, { budget: 100, requestMs: LONGEST_MS, totalMs: LONGEST_MS, userAgent })

/** The journal that a cluster of skiff keeps; others have none. */
export async function readJournal(reader: ClusterReader): Promise<Read<readonly ToldRecord[]>> {
  const read = await reader.document<{ readonly records?: readonly ToldRecord[] }>(
    '/skiff.dev/journal',
    'application/json',
  )
  return read.state === 'found' ? { state: 'found', value: read.value.records ?? [] } : read
}

/** @throws QuestionError where the records do not tell of the object */
export function tell(
  records: readonly ToldRecord[],
  kinds: Kinds,
  { target, namespace, uid, cascade }: TimelineQuestion,
  source: Timeline['source'],
): Timeline[] {
  if (target === undefined)
    return tellEach(records, source).filter(
      ({ steps }) => steps.some(isOfDelete) && (namespace === undefined || steps.some((step) => isIn(step, namespace))),
    )
  const { group, resource, namespaced } =
    kinds.find(target.kind) ?? kindNoLongerServed(records, target.kind) ?? servedResource(kinds, target.kind)
  const { name } = target
  const asked = { group, resource, namespace: namespaced ? target.namespace : '', name, cascade }
  const told = tellTimeline(records, uid === undefined ? asked : { ...asked, uid }, source)
  if (told !== undefined) return [told]
  const which = `${identityWords({ ...asked, kind: '', uid: '' })}${placeWords({ ...asked, kind: '', uid: '' })}`
  const [first] = records
  throw new QuestionError(
    `the ${source} tells nothing of ${which}${uid === undefined ? '' : ` with uid ${uid}`}: ` +
      (first === undefined ? 'it is empty' : `it has ${records.length} records, from ${formatTime(first.time)} on`),
  )
}

/** Changes of finalizers and owners alone are no end of anything. */
const isOfDelete = ({ changes }: TimelineStep): boolean =>
  changes.some(({ type }) => type === 'marked' || type === 'removed')

const isIn = ({ object }: TimelineStep, namespace: string): boolean =>
  object.namespace === namespace ||
  (object.group === '' && object.resource === 'namespaces' && object.name === namespace)

/** A kind whose definition is gone too. */
function kindNoLongerServed(records: readonly ToldRecord[], kind: string) {
  const wanted = kind.toLowerCase()
  const record = records.findLast(
    (one) => one.resource === wanted || `${one.resource}.${one.group}` === wanted || one.kind.toLowerCase() === wanted,
  )
  return record && { group: record.group, resource: record.resource, namespaced: record.namespace !== '' }
}

/** @throws QuestionError for a picture of several */
export function timelineAs(form: TimelineForm, told: readonly Timeline[], version: string): string {
  const [first] = told
  switch (form) {
    case 'text':
      return told.length === 0 ? 'nothing was deleted\n' : told.map(timelineText).join('\n')
    case 'json':
      return timelineJson(told)
    case 'otlp':
      return timelineOtlp(
        told.flatMap(({ steps }) => steps),
        version,
      )
    case 'svg':
      if (first === undefined || told.length > 1)
        throw new QuestionError(`a picture is of one cascade, and there are ${told.length}: say KIND/NAME`)
      return timelineSvg(first)
  }
}
