/**
 * A scene as a stream of server-sent events: all of it first, then what changes. What a browser has not taken yet is told by its newest
 * state alone, so that one that is slow costs no more than what is there.
 */
import type { Clock } from '../base/clock.ts'
import { plainValue } from '../base/plain-text.ts'
import type { SceneChange, SceneObject } from './protocol.ts'
import type { Scene } from './scene.ts'

/** Of one event. */
const MOST_TOGETHER = 400
/** What comes within this goes together, in milliseconds: a cascade is many changes at once. */
const TOGETHER_MS = 40
/** A connection of which nothing is heard for long is taken for broken on the way. */
const ALIVE_MS = 15_000

const event = (change: SceneChange) => Buffer.from(`data: ${JSON.stringify(plainValue(change))}\n\n`)
const COMMENT = Buffer.from(':\n\n')

/** Ends with the signal. */
export async function* feed(clock: Clock, scene: Scene, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  const pending = new Set<string>()
  let newUnseen = true
  let wake: (() => void) | undefined
  const end = scene.subscribe((uid) => {
    if (uid === undefined) newUnseen = true
    else pending.add(uid)
    wake?.()
  })
  const abort = () => wake?.()
  signal.addEventListener('abort', abort, { once: true })
  const woken = (ms: number, byChange: boolean) =>
    new Promise<void>((resolve) => {
      const timer = clock.setTimer(ms, 'ui feed', resolve)
      const stop = () => {
        timer.cancel()
        resolve()
      }
      wake = byChange ? stop : undefined
    })
  try {
    // Those that come meanwhile are told after it.
    const first = [...scene.objects.values()]
    pending.clear()
    for (let at = 0; at === 0 || at < first.length; at += MOST_TOGETHER) {
      const isLast = at + MOST_TOGETHER >= first.length
      yield event({
        ...(at === 0 ? { reset: true } : {}),
        ...(isLast ? {} : { partial: true }),
        put: first.slice(at, at + MOST_TOGETHER),
        gone: [],
      })
    }
    while (!signal.aborted) {
      if (pending.size === 0 && !newUnseen) {
        await woken(ALIVE_MS, true)
        if (signal.aborted) return
        if (pending.size === 0 && !newUnseen) yield COMMENT
        else await woken(TOGETHER_MS, false)
        continue
      }
      const withUnseen = newUnseen
      newUnseen = false
      yield event(changeOf(scene, pending, withUnseen))
    }
  } finally {
    signal.removeEventListener('abort', abort)
    end()
  }
}

/** Takes them off `pending`. */
function changeOf({ objects, unseen }: Scene, pending: Set<string>, withUnseen: boolean): SceneChange {
  const put: SceneObject[] = []
  const gone: string[] = []
  for (const uid of pending) {
    pending.delete(uid)
    const object = objects.get(uid)
    if (object === undefined) gone.push(uid)
    else put.push(object)
    if (put.length + gone.length >= MOST_TOGETHER) break
  }
  return {
    put,
    gone,
    ...(withUnseen ? { unseen: [...unseen].map(([kind, why]) => ({ kind, why })) } : {}),
  }
}
