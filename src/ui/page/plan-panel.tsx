/** A delete as a plan: what goes first, what next, what stays, shown in the graph before anything is done; then it may be done. */
import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { countsOf } from '../../inspect/plan/counts.ts'
import { shortSpan } from '../graph/looks.ts'
import {
  CASCADES,
  type Cascade,
  type DeleteQuestion,
  type Plan,
  type PlannedObject,
  type SceneObject,
} from '../protocol.ts'
import { askDelete, askPlan } from './api.ts'
import { Close, Failure, Heading, messageOf, ObjectLink, Section } from './parts.tsx'
import { objects, plan, planDone, said, select, show } from './store.ts'

const CASCADE_WORDS: Readonly<Record<Cascade, string>> = {
  background: 'background: it goes at once, its dependents after it',
  foreground: 'foreground: its dependents go first',
  orphan: 'orphan: its dependents stay',
}
const MOST_SHOWN = 200

export function PlanPanel({ object }: { object: SceneObject }) {
  const cascade = useSignal<Cascade>('background')
  const grace = useSignal('')
  const isBusy = useSignal(false)
  const failure = useSignal('')
  const dialog = useRef<HTMLDialogElement>(null)
  const asked = useRef(0)

  const question = (): DeleteQuestion => {
    const { group, version, resource, namespace, name, uid } = object
    const seconds = grace.value === '' ? {} : { gracePeriodSeconds: Number(grace.value) }
    return { group, version, resource, namespace, name, uid, cascade: cascade.value, ...seconds }
  }

  const preview = async () => {
    const mine = ++asked.current
    isBusy.value = true
    failure.value = ''
    plan.value = undefined
    planDone.value = 0
    try {
      const found = await askPlan(question())
      if (mine !== asked.current) return
      plan.value = found
      said.value = summary(found)
    } catch (error) {
      if (mine === asked.current) failure.value = messageOf(error)
    } finally {
      if (mine === asked.current) isBusy.value = false
    }
  }

  useEffect(() => {
    void preview()
    return () => {
      asked.current++
    }
  }, [object.uid])

  const remove = async () => {
    dialog.current?.close()
    isBusy.value = true
    try {
      const { message } = await askDelete(question())
      said.value = message
      show({ kind: 'object' })
      select(object.uid)
    } catch (error) {
      failure.value = messageOf(error)
      isBusy.value = false
    }
  }

  const found = plan.value
  return (
    <div class="plan">
      <Close />
      <p class="kindline">A plan; nothing has been done</p>
      <Heading>
        Delete {object.kind} {object.name}
      </Heading>
      <fieldset>
        <legend>Its dependents</legend>
        {CASCADES.map((one) => (
          <label key={one}>
            <input
              type="radio"
              name="cascade"
              value={one}
              checked={cascade.value === one}
              onChange={() => {
                cascade.value = one
                void preview()
              }}
            />
            {CASCADE_WORDS[one]}
          </label>
        ))}
        <label class="grace">
          Grace period in seconds
          <input
            type="number"
            min={0}
            max={2147483647}
            value={grace.value}
            placeholder="its own"
            onChange={({ currentTarget }) => {
              grace.value = currentTarget.value
              void preview()
            }}
          />
        </label>
      </fieldset>
      <Failure message={failure.value} />
      {isBusy.value ? <p role="status">Rehearsing it in a twin of the cluster…</p> : null}
      {found === undefined ? null : (
        <>
          <PlanTold plan={found} />
          {found.forbidden.length > 0 ? null : (
            <p class="actions">
              <button type="button" class="danger" onClick={() => dialog.current?.showModal()}>
                Delete…
              </button>
            </p>
          )}
          <dialog ref={dialog} aria-labelledby="sure" role="alertdialog" aria-describedby="sure-what">
            <h2 id="sure">
              Delete {object.kind} {object.name}?
            </h2>
            <p id="sure-what">{summary(found)} This is done in the cluster, and cannot be undone.</p>
            <p class="actions">
              <button type="button" onClick={() => dialog.current?.close()}>
                Cancel
              </button>
              <button type="button" class="danger" onClick={remove}>
                Delete
              </button>
            </p>
          </dialog>
        </>
      )}
    </div>
  )
}

function summary(told: Plan): string {
  const { goes, stays, orphaned } = countsOf(told)
  const isNoneSure = goes.sure === 0 && goes.perhaps + goes.ifOthersAct > 0
  const some = (count: number, one: string, many = one) => (count === 0 ? [] : [`${count} ${count === 1 ? one : many}`])
  const parts = [
    isNoneSure ? 'Nothing goes for sure' : `${goes.sure} ${goes.sure === 1 ? 'object goes' : 'objects go'}`,
    ...some(goes.perhaps, 'may go or not'),
    ...some(goes.ifOthersAct, 'goes only if others act', 'go only if others act'),
    ...some(stays.sure, 'stays, marked as deleted', 'stay, marked as deleted'),
    ...some(stays.perhaps, 'may stay, marked as deleted'),
    ...some(orphaned.sure, 'is orphaned', 'are orphaned'),
    ...some(orphaned.perhaps, 'may be orphaned'),
    ...(told.refused.length > 0 ? ['the delete is refused'] : []),
    ...(told.forbidden.length > 0 ? ['but you may not do it'] : []),
  ]
  return `${parts.join(', ')}.`
}

function PlanTold({ plan: told }: { plan: Plan }) {
  const { goes, stays, beyond: elsewhere, orphaned, appears, refused, outside, unread, assumed } = told
  const beyond = goes.filter(({ object }) => !objects.value.has(object.uid)).length
  return (
    <>
      <p class="summary">{summary(told)}</p>
      {goes.length < 2 ? null : (
        <fieldset class="player" aria-label="Preview">
          <label class="hidden" for="plan-slider">
            So many have gone
          </label>
          <input
            type="range"
            id="plan-slider"
            min={0}
            max={goes.length}
            value={planDone.value}
            aria-valuetext={`${planDone.value} of ${goes.length} have gone`}
            onInput={({ currentTarget }) => {
              planDone.value = Number(currentTarget.value)
            }}
          />
          <span class="faint">
            {planDone.value} of {goes.length} gone
          </span>
        </fieldset>
      )}
      {beyond > 0 ? <p class="faint">{beyond} of them are not in view.</p> : null}
      <Rows
        title="You may not do it (what follows is as if you might)"
        rows={told.forbidden.map(({ verb, group, resource, namespace, names }) => [
          `${verb} ${resource}${group === '' ? '' : `.${group}`} ${names.join(', ')}`,
          namespace === '' ? '' : `in namespace ${namespace}`,
        ])}
      />
      <Rows title="Refused" rows={refused.map(({ what, message }) => [what, message])} />
      {goes.length === 0 ? null : (
        <Section title="Goes, in this order">
          <ol class="order">
            {goes.slice(0, MOST_SHOWN).map(({ object, removed, certainty, why }) => (
              <li key={object.uid} class={certainty === 'goes' ? '' : 'maybe'}>
                <ObjectLink object={object} /> after {shortSpan(removed.least, removed.most)}
                {certainty === 'goes'
                  ? ''
                  : ` (${certainty === 'either' ? 'or not: it depends on programs' : certainty})`}
                <p class="faint">{why}</p>
              </li>
            ))}
          </ol>
          {goes.length > MOST_SHOWN ? <p>and {goes.length - MOST_SHOWN} more</p> : null}
        </Section>
      )}
      {stays.length === 0 ? null : (
        <Section title="Stays, marked as deleted">
          <ul class="plain">
            {stays.slice(0, MOST_SHOWN).map(({ object, finalizers, why }) => (
              <li key={object.uid}>
                <ObjectLink object={object} />
                {finalizers.length === 0 ? '' : `, held by ${finalizers.join(', ')}`}
                <p class="faint">{why}</p>
              </li>
            ))}
          </ul>
        </Section>
      )}
      <Objects title="Goes, if the aggregated API servers that hold it delete it" some={elsewhere} />
      <Objects title="Orphaned" some={orphaned.map(({ object }) => object)} />
      <Objects title="Made meanwhile" some={appears} />
      <Rows
        title="Outside of what skiff knows"
        rows={outside.map(({ kind, name, ifItActs, ifNot }) => [
          `${kind} ${name}`,
          `if it acts: ${ifItActs}; if not: ${ifNot}`,
        ])}
      />
      <Rows title="Could not be read" rows={unread.map(({ what, why }) => [what, why])} />
      <Rows title="Taken for granted" rows={assumed.map((one) => [one, ''])} />
    </>
  )
}

function Rows({ title, rows }: { title: string; rows: readonly (readonly string[])[] }) {
  if (rows.length === 0) return null
  return (
    <Section title={title}>
      <ul class="plain">
        {rows.map(([what = '', more = '']) => (
          <li key={`${what} ${more}`}>
            {what}
            {more === '' ? null : <p class="faint">{more}</p>}
          </li>
        ))}
      </ul>
    </Section>
  )
}

function Objects({ title, some }: { title: string; some: readonly PlannedObject[] }) {
  if (some.length === 0) return null
  return (
    <Section title={title}>
      <ul class="plain">
        {some.slice(0, MOST_SHOWN).map((object) => (
          <li key={object.uid}>
            <ObjectLink object={object} />
          </li>
        ))}
      </ul>
    </Section>
  )
}
