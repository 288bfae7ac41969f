/** An ending, step by step: a slider goes through it, and the graph shows what was there after each step. */
import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { shortWait } from '../graph/looks.ts'
import type { Replay, ReplayStep } from '../protocol.ts'
import { reveal } from './graph-view.tsx'
import { Close, Heading, timeWords } from './parts.tsx'
import { replayDone, said, select } from './store.ts'

const PLAY_MS = 700

export function ReplayPanel({ replay }: { replay: Replay }) {
  const { steps, objects, source, title } = replay
  const names = new Map(objects.map(({ uid, kind, name }) => [uid, `${kind} ${name}`]))
  const isPlaying = useSignal(false)
  const done = replayDone.value
  const list = useRef<HTMLOListElement>(null)

  const goTo = (next: number) => {
    const to = Math.max(0, Math.min(steps.length, next))
    replayDone.value = to
    const step = steps[to - 1]
    if (step === undefined) return
    said.value = stepWords(step, names)
    select(step.uid)
    reveal(step.uid)
  }

  useEffect(() => {
    if (!isPlaying.value) return
    if (done >= steps.length) {
      isPlaying.value = false
      return
    }
    const timer = setTimeout(() => goTo(done + 1), PLAY_MS)
    return () => clearTimeout(timer)
  }, [isPlaying.value, done])

  useEffect(() => {
    list.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest' })
  }, [done])

  const now = steps[done - 1]
  return (
    <div class="replay">
      <Close />
      <Heading>{title}</Heading>
      {source === 'recording' ? (
        <p class="faint">Of what was seen while this page was open; writers are inferred.</p>
      ) : null}
      <fieldset class="player" aria-label="Replay">
        <button
          type="button"
          onClick={() => {
            if (done >= steps.length) replayDone.value = 0
            isPlaying.value = !isPlaying.value
          }}
        >
          {isPlaying.value ? 'Pause' : 'Play'}
        </button>
        <button type="button" aria-label="Step back" onClick={() => goTo(done - 1)} disabled={done === 0}>
          ‹
        </button>
        <input
          type="range"
          id="replay-slider"
          min={0}
          max={steps.length}
          value={done}
          aria-label="Step of the ending"
          aria-valuetext={
            now === undefined ? 'before it began' : `step ${done} of ${steps.length}: ${stepWords(now, names)}`
          }
          onInput={({ currentTarget }) => goTo(Number(currentTarget.value))}
        />
        <button type="button" aria-label="Step on" onClick={() => goTo(done + 1)} disabled={done >= steps.length}>
          ›
        </button>
      </fieldset>
      <p class="now">{now === undefined ? 'Before it began' : `${done} of ${steps.length}, ${timeWords(now.time)}`}</p>
      <ol class="steps" ref={list}>
        {steps.map((step, at) => (
          <li key={step.id} aria-current={at + 1 === done ? 'step' : undefined} class={at < done ? 'done' : ''}>
            <button type="button" class="link" onClick={() => goTo(at + 1)}>
              {names.get(step.uid) ?? step.uid}: {step.what}
            </button>
            <p class="faint">
              {step.by}
              {step.inferred ? ' (inferred)' : ''}: {step.why}
              {step.waitedMs === undefined ? '' : `, after ${shortWait(step.waitedMs)}`}
            </p>
          </li>
        ))}
      </ol>
    </div>
  )
}

const stepWords = ({ uid, what, by }: ReplayStep, names: ReadonlyMap<string, string>) =>
  `${names.get(uid) ?? 'an object'}: ${what}, by ${by}`
