/** One object's timeline out of a journal: which object is meant, its steps, those that led to them, and the whole cascade. */
import { withCauses } from './causes.ts'
import { stepsOf, type ToldRecord, type Written } from './steps.ts'
import type { Timeline, TimelineStep } from './timeline-types.ts'
import { rootsOf } from './tree.ts'

interface Asked {
  readonly group: string
  readonly resource: string
  /** '' for kinds without. */
  readonly namespace: string
  readonly name: string
  /** Which, of several that had the name. Default: the last. */
  readonly uid?: string
  readonly cascade?: boolean
}

/** undefined: the records do not tell of it. */
export function tellTimeline(
  records: readonly ToldRecord[],
  asked: Asked,
  source: Timeline['source'],
): Timeline | undefined {
  const written = stepsOf(records)
  const uids = uidsOf(written, asked)
  const uid = asked.uid === undefined ? uids.at(-1) : uids.find((one) => one === asked.uid)
  if (uid === undefined) return undefined
  const own = written.filter(({ object }) => object.uid === uid)
  const steps = withCauses(written)
  const last = own.at(-1) as Written
  return {
    apiVersion: 'timeline.skiff.dev/v1',
    kind: 'Timeline',
    source,
    object: last.object,
    state: stateAfter(last),
    others: uids.filter((one) => one !== uid),
    cascade: asked.cascade === true,
    steps: asked.cascade === true ? cascadeOf(steps, uid) : leadingTo(steps, uid),
  }
}

/** In the order of their last steps. */
function uidsOf(written: readonly Written[], { group, resource, namespace, name }: Asked): string[] {
  const uids = new Set<string>()
  for (const { object } of written) {
    if (
      object.name !== name ||
      object.resource !== resource ||
      object.group !== group ||
      object.namespace !== namespace
    )
      continue
    uids.delete(object.uid)
    uids.add(object.uid)
  }
  return [...uids]
}

function stateAfter({ after }: Written): Timeline['state'] {
  if (after === undefined) return 'gone'
  return after.deletionTimestamp === undefined ? 'there' : 'deleting'
}

/** The object's steps and, for each, the chain of those before it. */
function leadingTo(steps: readonly TimelineStep[], uid: string): TimelineStep[] {
  const byId = new Map(steps.map((step) => [step.id, step]))
  const kept = new Set<TimelineStep>()
  for (const step of steps) {
    if (step.object.uid !== uid) continue
    for (let at: TimelineStep | undefined = step; at !== undefined && !kept.has(at); at = byId.get(at.cause.step ?? ''))
      kept.add(at)
  }
  return steps.filter((step) => kept.has(step))
}

/** All that came of what the object's own steps came of. */
function cascadeOf(steps: readonly TimelineStep[], uid: string): TimelineStep[] {
  const roots = rootsOf(steps)
  const wanted = new Set(steps.filter(({ object }) => object.uid === uid).map(({ id }) => roots.get(id)))
  return steps.filter(({ id }) => wanted.has(roots.get(id)))
}

/** Each cascade that the records tell of, as the timeline of the object that it began with, in the order of their beginnings. */
export function tellEach(records: readonly ToldRecord[], source: Timeline['source']): Timeline[] {
  const written = stepsOf(records)
  const steps = withCauses(written)
  const roots = rootsOf(steps)
  /** What one object went through is told once, whatever it began with. */
  const groups = new Map<string, TimelineStep[]>()
  const groupOf = new Map<string, string>()
  for (const step of steps) {
    const root = roots.get(step.id) ?? step.id
    const key: string = groupOf.get(`root ${root}`) ?? groupOf.get(`object ${step.object.uid}`) ?? root
    groupOf.set(`root ${root}`, key)
    groupOf.set(`object ${step.object.uid}`, key)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [step])
    else group.push(step)
  }
  const last = new Map(written.map((step) => [step.object.uid, step]))
  return [...groups.values()].map((group) => {
    const { object } = group[0] as TimelineStep
    return {
      apiVersion: 'timeline.skiff.dev/v1',
      kind: 'Timeline',
      source,
      object,
      state: stateAfter(last.get(object.uid) as Written),
      others: [],
      cascade: true,
      steps: group,
    }
  })
}
