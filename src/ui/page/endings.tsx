/** The endings that can be told, newest first. */
import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { Endings as Told } from '../protocol.ts'
import { askEndings, askReplay } from './api.ts'
import { Close, Failure, Heading, messageOf, timeWords } from './parts.tsx'
import { replay, replayDone, scope, show } from './store.ts'

export function Endings() {
  const told = useSignal<Told | undefined>(undefined)
  const failure = useSignal('')
  const place = scope.value
  useEffect(() => {
    askEndings(place).then(
      (endings) => {
        told.value = endings
      },
      (error) => {
        failure.value = messageOf(error)
      },
    )
  }, [place])
  const play = async (object: Told['items'][number]['object']) => {
    try {
      const found = await askReplay(place, { ...object, version: '' }, object.uid)
      replayDone.value = 0
      show({ kind: 'replay' })
      replay.value = found
    } catch (error) {
      failure.value = messageOf(error)
    }
  }
  return (
    <div>
      <Close />
      <Heading>Timelines</Heading>
      <Failure message={failure.value} />
      {told.value?.source === 'recording' ? (
        <p class="faint">
          This cluster keeps no journal that may be read: what was seen while this page was open is told.
        </p>
      ) : null}
      {told.value === undefined ? (
        failure.value === '' ? (
          <p role="status">Reading…</p>
        ) : null
      ) : told.value.items.length === 0 ? (
        <p>Nothing was deleted.</p>
      ) : (
        <ul class="cards">
          {told.value.items.map(({ object, state, time, steps, objects }) => (
            <li key={`${object.uid} ${time}`}>
              <button type="button" class="link" onClick={() => play(object)}>
                {object.kind} {object.name}
              </button>
              {object.namespace === '' ? '' : ` in ${object.namespace}`}
              <p class="faint">
                {timeWords(time)}: {steps} steps of {objects} objects; it is {state === 'there' ? 'still there' : state}
              </p>
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}
