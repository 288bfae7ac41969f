/** What the colours of the graph say, with the words that stand on the cards too. */
import type { Tone } from '../graph/looks.ts'
import { panel } from './store.ts'

const PRESENT: readonly (readonly [Tone, string])[] = [
  ['there', 'there'],
  ['waiting', 'not ready'],
  ['failing', 'failing'],
  ['going', 'going'],
  ['held', 'held by a finalizer'],
  ['holds', 'holds another'],
  ['absent', 'owner, not in view'],
]
const PLANNED: readonly (readonly [Tone, string])[] = [
  ['goes', 'goes, in this order'],
  ['maybe', 'may go'],
  ['stays', 'stays, marked'],
  ['orphaned', 'is orphaned'],
  ['gone', 'gone'],
]
const REPLAYED: readonly (readonly [Tone, string])[] = [
  ['there', 'there'],
  ['going', 'going'],
  ['held', 'held by a finalizer'],
  ['gone', 'gone'],
]

export function Legend() {
  const { kind } = panel.value
  const rows = kind === 'plan' ? PLANNED : kind === 'replay' ? REPLAYED : PRESENT
  return (
    <ul class="legend" aria-label="Colours">
      {rows.map(([tone, words]) => (
        <li key={tone}>
          <span class={`dot tone-${tone}`} aria-hidden="true" /> {words}
        </li>
      ))}
    </ul>
  )
}
