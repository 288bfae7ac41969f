/** All that is being deleted, worst first. */
import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { SurveyShown } from '../protocol.ts'
import { askSurvey } from './api.ts'
import { Close, Failure, Heading, messageOf, ObjectLink, timeWords, VerdictMark } from './parts.tsx'

export function Stuck() {
  const found = useSignal<SurveyShown | undefined>(undefined)
  const failure = useSignal('')
  useEffect(() => {
    askSurvey().then(
      (survey) => {
        found.value = survey
      },
      (error) => {
        failure.value = messageOf(error)
      },
    )
  }, [])
  const survey = found.value
  return (
    <div>
      <Close />
      <Heading>What hangs</Heading>
      <Failure message={failure.value} />
      {survey === undefined ? (
        failure.value === '' ? (
          <p role="status">Looking at the whole cluster…</p>
        ) : null
      ) : survey.items.length === 0 ? (
        <p>Nothing is being deleted, and no drain waits.</p>
      ) : (
        <ul class="cards">
          {survey.items.map(({ object, verdict, words, sentence, since }) => (
            <li key={`${object.resource} ${object.namespace} ${object.name}`}>
              <VerdictMark verdict={verdict} words={words} /> <ObjectLink object={object} />
              {object.namespace === '' ? '' : ` in ${object.namespace}`}
              <p>{sentence}</p>
              {since === undefined ? null : <p class="faint">deleted at {timeWords(since)}</p>}
            </li>
          ))}
          {survey.alike > 0 ? <li>and {survey.alike} more like those</li> : null}
        </ul>
      )}
    </div>
  )
}
