/** The end of an object as something to replay: the objects that it is about, and each step with what it left of one of them. */
import type { Holds } from '../api/journal.ts'
import { stepsOf, type ToldRecord } from '../inspect/timeline/steps.ts'
import { tellEach } from '../inspect/timeline/timeline-of.ts'
import type { Timeline, TimelineStep } from '../inspect/timeline/timeline-types.ts'
import { changesWords, identityWords, placeWords } from '../inspect/timeline/words.ts'
import { writerWords } from '../inspect/timeline/writers.ts'
import type { Endings, Replay, ReplayStep, SceneObject } from './protocol.ts'

export function replayOf(timeline: Timeline, records: readonly ToldRecord[]): Replay {
  const { steps, source, object } = timeline
  const about = new Map(steps.map((step) => [step.id, step.object.uid]))
  const uids = new Set(about.values())
  const first = new Map<string, ToldRecord>()
  for (const record of records) if (uids.has(record.uid) && !first.has(record.uid)) first.set(record.uid, record)
  const afterOf = new Map(stepsOf(records).map(({ id, after }) => [id, after]))
  return {
    title: `The end of ${identityWords(object)}${placeWords(object)}`,
    source,
    objects: [...first.values()].map(objectOf),
    steps: steps.map((step) => replayStep(step, afterOf.get(step.id), about.get(step.cause.step ?? ''))),
  }
}

function objectOf({ group, resource, kind, namespace, name, uid, before }: ToldRecord): SceneObject {
  return {
    group,
    version: '',
    resource,
    kind,
    namespace,
    name,
    uid,
    created: '',
    ...(before.deletionTimestamp === undefined ? {} : { deleted: before.deletionTimestamp }),
    finalizers: before.finalizers ?? [],
    owners: (before.ownerReferences ?? []).map((owner) => ({
      uid: owner.uid,
      kind: owner.kind,
      name: owner.name,
      controller: owner.controller === true,
      blocks: owner.blockOwnerDeletion === true,
    })),
  }
}

function replayStep(step: TimelineStep, after: Holds | undefined, cause: string | undefined): ReplayStep {
  const { id, time, object, by } = step
  return {
    id,
    time,
    uid: object.uid,
    what: changesWords(step),
    by: writerWords(by),
    why: step.cause.why,
    inferred: by.certainty === 'inferred' || step.cause.certainty === 'inferred',
    ...(cause === undefined || cause === object.uid ? {} : { cause }),
    ...(step.cause.waitedMs === undefined ? {} : { waitedMs: step.cause.waitedMs }),
    after: after === undefined ? 'gone' : after.deletionTimestamp === undefined ? 'there' : 'going',
    finalizers: after?.finalizers ?? [],
  }
}

const MOST_ENDINGS = 200

/** @param namespace '': of all */
export function endingsOf(records: readonly ToldRecord[], source: Timeline['source'], namespace: string): Endings {
  const items = tellEach(records, source)
    .filter(({ steps }) =>
      steps.some(({ changes }) => changes.some(({ type }) => type === 'marked' || type === 'removed')),
    )
    .filter(({ steps }) => namespace === '' || steps.some(({ object }) => isIn(object, namespace)))
    .map(({ object, state, steps }) => ({
      object,
      state,
      time: steps[0]?.time ?? '',
      steps: steps.length,
      objects: new Set(steps.map((step) => step.object.uid)).size,
    }))
  return { source, items: items.toReversed().slice(0, MOST_ENDINGS) }
}

const isIn = (object: TimelineStep['object'], namespace: string) =>
  object.namespace === namespace || (object.resource === 'namespaces' && object.name === namespace)
