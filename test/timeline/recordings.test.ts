/**
 * What led to what, in the ends that a real control plane was recorded at: skiff does them again in the recorded order, and its journal
 * names the same writers, changes and causes, step by step, as the recording's own writes and states tell.
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { holdsOf, type KeptRecord } from '../../src/api/journal.ts'
import type { JsonObject, ObjectMeta, OwnerReference } from '../../src/api/object.ts'
import { simulatedRuntime } from '../../src/base/simulated-runtime.ts'
import { type AuditedWrite, deletionAskedOf } from '../../src/inspect/timeline/audit-log.ts'
import { withCauses } from '../../src/inspect/timeline/causes.ts'
import { recordsOf } from '../../src/inspect/timeline/recorded.ts'
import type { SeenState } from '../../src/inspect/timeline/seen.ts'
import { stepsOf, type ToldRecord } from '../../src/inspect/timeline/steps.ts'
import type { TimelineStep } from '../../src/inspect/timeline/timeline-types.ts'
import { changesWords, identityWords } from '../../src/inspect/timeline/words.ts'
import { plays as nodePlays, pace } from '../scenarios/kubelet/plays.ts'
import { podOf } from '../scenarios/kubelet/pods.ts'
import { startNodeStage } from '../scenarios/kubelet/stage.ts'
import { type Recording as GraphRecording, graphPlays, playGraph } from '../scenarios/owner-graphs.ts'
import { plays } from '../scenarios/plays.ts'
import { type Recording, readRecording, type State, type Write } from '../scenarios/recording.ts'
import { replay } from '../scenarios/replay.ts'
import { EXPECTED, EXPECTED_OF_GRAPHS } from './expected-causes.ts'

const graphs: readonly GraphRecording[] = JSON.parse(
  readFileSync(new URL('../scenarios/garbage-collector.json', import.meta.url), 'utf8'),
)

const kinds: Readonly<Record<string, string>> = {
  apps: 'deployments replicasets statefulsets daemonsets controllerrevisions',
  batch: 'jobs cronjobs',
  'discovery.k8s.io': 'endpointslices',
  policy: 'poddisruptionbudgets',
}
const groupOf = (resource: string) =>
  Object.entries(kinds).find(([, resources]) => resources.split(' ').includes(resource))?.[0] ?? ''

/** The recording in the form in which a cluster is seen from outside, without times. */
function seenOf({ states, writes }: Recording) {
  const seen = states.map(seenState)
  return {
    states: [...before(seen, writes), ...seen],
    audited: writes.flatMap((write) => (write.code < 300 ? (auditedWrite(write) ?? []) : [])),
    events: [],
  }
}

/**
 * How objects stood when the recording began: as they are first seen, without the mark, and with the owner references that the first
 * write to them took off.
 */
function before(seen: readonly SeenState[], writes: readonly Write[]): SeenState[] {
  const first = new Map<string, SeenState>()
  for (const state of seen) if (!first.has(state.object.uid)) first.set(state.object.uid, state)
  return [...first.values()]
    .filter(({ type }) => type !== 'ADDED')
    .map((state) => {
      const { finalizers = [], ownerReferences = [] } = state.holds
      const own = finalizers.filter((finalizer) => finalizer !== 'orphan' && finalizer !== 'foregroundDeletion')
      const owners = [...ownerReferences, ...takenOff(state, writes)]
      return {
        ...state,
        type: 'ADDED',
        revision: 0,
        holds: {
          ...(own.length === 0 ? {} : { finalizers: own }),
          ...(owners.length === 0 ? {} : { ownerReferences: owners }),
        },
      }
    })
}

function takenOff({ object }: SeenState, writes: readonly Write[]): OwnerReference[] {
  const first = writes.find(({ verb, uri }) => verb === 'patch' && uri.endsWith(`/${object.resource}/${object.name}`))
  const { metadata } = (first?.body ?? {}) as { readonly metadata?: ObjectMeta }
  return (metadata?.ownerReferences ?? [])
    .filter((owner) => '$patch' in owner)
    .map(({ uid }) => {
      const [, kind = '', name = ''] = /^<uid (\S+) (.*)>$/.exec(uid) ?? []
      return { apiVersion: '', kind, name, uid }
    })
}

function seenState({ type, resource, object }: State, at: number): SeenState {
  const metadata = object['metadata'] as unknown as ObjectMeta
  const { name = '', namespace = '', uid = '' } = metadata
  const own = resource === 'namespaces' ? (((object['spec'] as JsonObject)['finalizers'] as string[]) ?? []) : []
  return {
    type: type as SeenState['type'],
    object: { group: groupOf(resource), resource, kind: object['kind'] as string, namespace, name, uid },
    revision: at + 1,
    time: 0,
    holds: holdsOf(metadata, own),
  }
}

const USERS: Readonly<Record<string, string>> = { user: 'kubernetes-admin', kwok: 'kubernetes-admin' }

function auditedWrite({ user, verb, uri, body }: Write): AuditedWrite | undefined {
  const [path = ''] = uri.split('?')
  const [, root, ...parts] = path.split('/')
  const [group = '', , ...rest] = root === 'api' ? ['', ...parts] : parts
  const isPlaced = rest[0] === 'namespaces' && rest.length > 2 && rest[2] !== 'finalize' && rest[2] !== 'status'
  const [resource = '', name = '', subresource = ''] = isPlaced ? rest.slice(2) : rest
  if (verb === 'create' || subresource === 'status') return undefined
  const isDelete = verb.startsWith('delete')
  const node = /^node:(.*)$/.exec(user)?.[1]
  return {
    time: 0,
    user: USERS[user] ?? (node === undefined ? `system:serviceaccount:kube-system:${user}` : `system:node:${node}`),
    userAgent: user,
    verb,
    group,
    resource,
    subresource,
    namespace: isPlaced ? '$NS' : '',
    name,
    auditId: '',
    ...(isDelete ? { options: deletionAskedOf((body ?? {}) as JsonObject) } : { asked: JSON.stringify(body) }),
  }
}

function told(records: readonly ToldRecord[], kept: ReadonlySet<string>): TimelineStep[] {
  return withCauses(stepsOf(records)).filter(({ object }) => kept.has(object.resource))
}

const one = (step: TimelineStep) => `${identityWords(step.object)} ${changesWords(step)}`

const ledTo = (steps: readonly TimelineStep[], step: TimelineStep) => {
  const led = steps.find(({ id }) => id === step.cause.step)
  return led === undefined ? 'begins' : one(led)
}

/** As recorded and as done again have it in common: the order of different objects' steps is chance, but for what causes say. */
const compared = (steps: readonly TimelineStep[]) =>
  steps.map((step) => `${step.by.component}: ${one(step)} <- ${ledTo(steps, step)}`).sort()

const whole = (steps: readonly TimelineStep[]) =>
  steps.map((step) => `${step.by.component}: ${one(step)} <- ${ledTo(steps, step)} (${step.cause.certainty})`)

function compare(name: string, journal: readonly KeptRecord[], recording: Recording): void {
  const kept = new Set(recording.states.map(({ resource }) => resource))
  const theirs = told(recordsOf(seenOf(recording)), kept)
  const ours = told(journal, kept)
  assert.ok(theirs.length > 0)
  assert.deepEqual(compared(ours), compared(theirs))
  const suffix = /a-565f7894b6-(\w+)/.exec(JSON.stringify(journal))?.[1] ?? ''
  const expected = EXPECTED[name]?.(suffix)
  if (expected !== undefined) assert.deepEqual(whole(ours), expected)
}

const scenarios = [
  'S1-orphan',
  'S2-background',
  'S3-foreground',
  'S5-finalizer-pod',
  'daemonset-orphan',
  'pvc-protection',
  'job-goes-foreground',
  'job-goes-background',
  'job-goes-orphaning',
  'rc-scale-and-delete',
]

for (const name of scenarios) {
  test(`${name}: writers, changes and causes as recorded`, async () => {
    const recording = readRecording(name)
    const isOurs = ({ namespace, resource }: KeptRecord) => namespace === '$NS' || resource === 'persistentvolumes'
    let journal: readonly KeptRecord[] = []
    for (let seed = 0; seed < 8; seed++) {
      const played = await replay(recording, plays[name]!, seed)
      journal = played.journal.filter(isOurs)
      if (played.guide.missing.length === 0) break
    }
    compare(name, journal, recording)
  })
}

for (const [name, play] of Object.entries(nodePlays).filter(([scenario]) => /^S[45]/.test(scenario))) {
  test(`${name}, with a kubelet: writers, changes and causes as recorded`, async () => {
    const recording = readRecording(`kubelet/${name}`)
    const stage = await startNodeStage(simulatedRuntime(1, { order: 'fifo' }))
    await stage.run(podOf(recording.states[0]!.object, { ...pace, ...play.annotations }))
    await stage.runtime.advance(20_000)
    await play.act?.(stage)
    await stage.runtime.advance(play.seconds * 1000)
    const journal = await stage.journal()
    await stage.stop()
    compare(name, journal, recording)
  })
}

for (const [name, expected] of Object.entries(EXPECTED_OF_GRAPHS)) {
  test(`${name}: causes as the recorded order of states and writes shows them`, async () => {
    const recording = graphs.find(({ scenario }) => scenario === name)
    const wanted = JSON.stringify(recording!.states)
    let played = await playGraph(graphPlays[name]!, simulatedRuntime(0, { order: 'fifo' }))
    for (let seed = 1; seed < 200 && JSON.stringify(played.states) !== wanted; seed++)
      played = await playGraph(graphPlays[name]!, simulatedRuntime(seed))
    const steps = withCauses(stepsOf(played.journal))
    const short = (text: string) => text.replaceAll('configmaps/', '')
    const ours = steps.map((step) => short(`${one(step)} <- ${ledTo(steps, step)} (${step.cause.certainty})`))
    // The cycle is closed before the recording begins.
    assert.deepEqual(
      ours.filter((line) => !/owner ConfigMap \w+ added/.test(line)),
      expected,
    )
    for (const { by, cause } of steps)
      if (cause.step !== undefined) assert.equal(by.component, 'generic-garbage-collector')
    const fromOutside = fromWatches(played.journal)
    assert.deepEqual(fromOutside.map(one), steps.map(one))
    // That a user took a finalizer off is not seen: it looks like a step of the controller of that.
    for (const [at, step] of fromOutside.entries())
      if (steps[at]?.by.component === 'generic-garbage-collector')
        assert.equal(ledTo(fromOutside, step), ledTo(steps, steps[at] as TimelineStep))
  })
}

/** The steps of a journal as --record sees them in watches, without an audit log. */
function fromWatches(journal: readonly KeptRecord[]): TimelineStep[] {
  const known = new Set<string>()
  const states = journal.flatMap(({ before, between, after, revision, time, ...more }): SeenState[] => {
    const { group, resource, kind, namespace, name, uid } = more
    const at = { object: { group, resource, kind, namespace, name, uid }, time }
    const first = known.has(uid) ? [] : [{ ...at, type: 'ADDED', revision: 0, holds: before } as const]
    known.add(uid)
    const marked = between === undefined ? [] : [{ ...at, type: 'MODIFIED', revision, holds: between } as const]
    const last =
      after === undefined
        ? ({ ...at, type: 'DELETED', revision, holds: between ?? before } as const)
        : ({ ...at, type: 'MODIFIED', revision, holds: after } as const)
    return [...first, ...marked, last]
  })
  return withCauses(stepsOf(recordsOf({ states, audited: [], events: [] })))
}

test('S7: a shorter grace period is a step of its own, and what the node ends by; a longer one is none', async () => {
  const stage = await startNodeStage(simulatedRuntime(1, { order: 'fifo' }))
  const { object } = readRecording('kubelet/S4-ignores-sigterm').states[0]!
  await stage.run(podOf(object, { ...pace, 'sim.skiff.dev/ignore-sigterm': 'true' }))
  await stage.runtime.advance(20_000)
  for (const seconds of [30, 60, 5]) {
    await stage.ask('DELETE', `/api/v1/namespaces/t-kubelet/pods/p?gracePeriodSeconds=${seconds}`)
    await stage.runtime.advance(1000)
  }
  await stage.runtime.advance(10_000)
  const journal = await stage.journal()
  const steps = withCauses(stepsOf(journal))
  await stage.stop()
  assert.deepEqual(whole(steps), [
    'user: pods/p marked, grace period 30 s <- begins (known)',
    'user: pods/p grace period shortened to 5 s <- begins (known)',
    'kubelet: pods/p grace period shortened to 0 s <- pods/p grace period shortened to 5 s (known)',
    'kubelet: pods/p removed <- pods/p grace period shortened to 0 s (known)',
  ])
  assert.deepEqual(
    whole(fromWatches(journal)).map((line) => line.replace(/ \(\w+\)$/, '')),
    whole(steps).map((line) => line.replace(/^user/, '').replace(/ \(\w+\)$/, '')),
  )
  const [, , shortened] = steps
  assert.ok((shortened?.cause.waitedMs ?? 0) > 2000 && (shortened?.cause.waitedMs ?? 0) < 6000)
})

const ofKubelets = Object.keys(nodePlays)
  .filter((scenario) => /^S[45]/.test(scenario))
  .map((scenario) => `kubelet/${scenario}`)

/** A stand-in of a kubelet ends pods of its nodes as one, and nothing but the log tells that it is none. */
const agentOf = (component: string) => (component === 'kwok' ? 'kubelet' : component)

for (const name of [...scenarios, ...ofKubelets, 'S9-namespace-delete']) {
  test(`${name}: as --record sees it without an audit log, controllers and what led to their steps are as recorded`, () => {
    const recording = readRecording(name)
    const kept = new Set(recording.states.map(({ resource }) => resource))
    const seen = seenOf(recording)
    const known = told(recordsOf(seen), kept)
    const inferred = told(recordsOf({ ...seen, audited: [] }), kept)
    assert.deepEqual(inferred.map(one), known.map(one))
    assert.ok(known.length > 0)
    for (const [at, step] of inferred.entries()) {
      assert.equal(step.by.certainty, 'inferred')
      assert.equal(step.cause.step !== undefined && step.cause.certainty === 'known', false)
      // What a user does by hand looks like a step of whichever controller does the same.
      const recorded = known[at] as TimelineStep
      if (recorded.by.component === 'user') continue
      assert.equal(step.by.component, agentOf(recorded.by.component), one(step))
      assert.equal(ledTo(inferred, step), ledTo(known, recorded), one(step))
    }
  })
}
