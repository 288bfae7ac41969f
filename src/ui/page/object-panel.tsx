/** What is told of the chosen object: how it stands, its owners and dependents, why it hangs, and what can be asked of it. */
import { signal, useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { ObjectDetails, SceneObject } from '../protocol.ts'
import { askDetails, askReplay, askWhy } from './api.ts'
import { reveal } from './graph-view.tsx'
import { Failure, messageOf, Section, timeWords } from './parts.tsx'
import { graph, lookAt, objects, replay, replayDone, scope, select, selected, show, why } from './store.ts'
import { WhyTold } from './why-told.tsx'

/** Of objects that are gone through quickly the last alone is asked about. */
const PAUSE_MS = 250
/** An object that changes again and again is asked about no more often. */
const AGAIN_MS = 1500

export function ObjectPanel() {
  const uid = selected.value
  const object = uid === undefined ? undefined : objects.value.get(uid)
  if (object === undefined) return uid === undefined ? <Nothing /> : <Gone uid={uid} />
  return <Told key={object.uid} object={object} />
}

function Nothing() {
  return (
    <div class="nothing">
      <h2>Nothing is chosen</h2>
      <p>
        Choose an object in the graph or in the tree. Of one that is being deleted it is told at once what it waits for.
      </p>
    </div>
  )
}

function Gone({ uid }: { uid: string }) {
  const node = graph.value.nodes.get(uid)
  return (
    <div class="nothing">
      <h2>{node === undefined ? 'It is gone' : `${node.kind} ${node.name}`}</h2>
      <p>
        {node === undefined
          ? 'The object that was chosen is not there any more. Timelines tells how it ended.'
          : 'An owner that is not in view: it is in another namespace, it may not be seen, or it is gone.'}
      </p>
    </div>
  )
}

const asking = signal(false)

function Told({ object }: { object: SceneObject }) {
  const failure = useSignal('')
  const details = useSignal<ObjectDetails | undefined>(undefined)
  const detailsFailure = useSignal('')
  const isDeleted = object.deleted !== undefined

  const explain = async () => {
    asking.value = true
    try {
      const answer = await askWhy(object)
      if (selected.value === object.uid) why.value = answer
      failure.value = ''
    } catch (error) {
      failure.value = messageOf(error)
    } finally {
      asking.value = false
    }
  }

  useEffect(() => {
    if (!isDeleted) return
    const timer = setTimeout(explain, why.value === undefined ? PAUSE_MS : AGAIN_MS)
    return () => clearTimeout(timer)
  }, [object])

  useEffect(() => {
    const timer = setTimeout(() => {
      askDetails(object).then(
        (told) => {
          details.value = told
          detailsFailure.value = ''
        },
        (error) => {
          detailsFailure.value = `Labels and writers are not told: ${messageOf(error)}`
        },
      )
    }, PAUSE_MS)
    return () => clearTimeout(timer)
  }, [object])

  const tell = async () => {
    try {
      const told = await askReplay(scope.value, object, object.uid)
      replayDone.value = 0
      show({ kind: 'replay' })
      replay.value = told
    } catch (error) {
      failure.value = messageOf(error)
    }
  }

  const look = lookAt(object.uid)
  return (
    <div>
      <p class="kindline">
        {object.kind}
        {object.namespace === '' ? '' : ` in ${object.namespace}`}
      </p>
      <h2 class="title">{object.name}</h2>
      <p class="standing">
        <span class={`dot tone-${look?.tone ?? 'there'}`} aria-hidden="true" />{' '}
        {look?.words === '' ? 'there' : look?.words}
      </p>
      <p class="actions">
        <button type="button" onClick={explain} disabled={asking.value}>
          {asking.value ? 'Asking…' : 'Why'}
        </button>
        <button type="button" onClick={() => show({ kind: 'plan', object })}>
          Plan a delete
        </button>
        <button type="button" onClick={tell}>
          Timeline
        </button>
      </p>
      <Failure message={failure.value} />
      {why.value === undefined ? null : <WhyTold why={why.value} />}
      <Facts object={object} />
      <Relatives object={object} />
      <Failure message={detailsFailure.value} />
      {details.value === undefined ? null : <Written details={details.value} />}
    </div>
  )
}

function Facts({ object }: { object: SceneObject }) {
  const { created, deleted, graceSeconds, finalizers, state, node, nature } = object
  const rows: readonly (readonly [string, string])[] = [
    ...(state === undefined ? [] : ([['State', state]] as const)),
    ...(nature === undefined ? [] : ([['Its pods', NATURES[nature]]] as const)),
    ...(node === undefined ? [] : ([['Node', node]] as const)),
    ...(created === '' ? [] : ([['Made', timeWords(created)]] as const)),
    ...(deleted === undefined
      ? []
      : ([['Ends', `${timeWords(deleted)}${graceSeconds ? ` (grace period ${graceSeconds} s)` : ''}`]] as const)),
    ...finalizers.map((finalizer) => ['Finalizer', finalizer] as const),
  ]
  return (
    <Section title="Object">
      <dl class="facts">
        {rows.map(([name, value]) => (
          <div key={`${name} ${value}`}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </Section>
  )
}

const NATURES = {
  simulated: 'are simulated by skiff',
  kwok: 'are played by KWOK',
  real: 'are run by a kubelet',
} as const

const MOST_SHOWN = 12

function Relatives({ object }: { object: SceneObject }) {
  const node = graph.value.nodes.get(object.uid)
  const onNode =
    object.resource === 'nodes' && object.group === ''
      ? [...objects.value.values()].filter((one) => one.node === object.name).map(({ uid }) => uid)
      : []
  return (
    <>
      <List title="Owners" uids={object.owners.map(({ uid }) => uid)} />
      <List title="Owns" uids={node?.children ?? []} />
      <List title="Holds" uids={node?.holds ?? []} />
      <List title="Pods on it" uids={onNode} />
    </>
  )
}

function List({ title, uids }: { title: string; uids: readonly string[] }) {
  if (uids.length === 0) return null
  const { nodes } = graph.value
  return (
    <Section title={`${title} (${uids.length})`}>
      <ul class="plain">
        {uids.slice(0, MOST_SHOWN).map((uid) => {
          const one = nodes.get(uid)
          const words = one === undefined ? 'not in view' : `${one.kind} ${one.name}`
          return (
            <li key={uid}>
              <span class={`dot tone-${lookAt(uid)?.tone ?? 'absent'}`} aria-hidden="true" />
              <button
                type="button"
                class="link"
                onClick={() => {
                  select(uid)
                  reveal(uid)
                }}
              >
                {words}
              </button>
            </li>
          )
        })}
        {uids.length > MOST_SHOWN ? <li>and {uids.length - MOST_SHOWN} more</li> : null}
      </ul>
    </Section>
  )
}

function Written({ details: { labels, managers } }: { details: ObjectDetails }) {
  return (
    <>
      {labels.length === 0 ? null : (
        <Section title="Labels">
          <ul class="plain">
            {labels.map(([name, value]) => (
              <li key={name}>
                {name}={value}
              </li>
            ))}
          </ul>
        </Section>
      )}
      {managers.length === 0 ? null : (
        <Section title="Written by">
          <ul class="plain">
            {managers.map(({ manager, what, time }) => (
              <li key={`${manager} ${what}`}>
                {manager} ({what}
                {time === '' ? '' : `, ${timeWords(time)}`})
              </li>
            ))}
          </ul>
        </Section>
      )}
    </>
  )
}
