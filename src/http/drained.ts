/** Back-pressure of an answer: when its socket takes more. */
import type { Outgoing } from './respond.ts'

/** Resolves when the socket takes more, or is gone. */
export function drained(outgoing: Pick<Outgoing, 'destroyed' | 'on' | 'off'>): Promise<void> {
  if (outgoing.destroyed === true) return Promise.resolve()
  return new Promise((resolve) => {
    const done = () => {
      outgoing.off('drain', done)
      outgoing.off('close', done)
      resolve()
    }
    outgoing.on('drain', done)
    outgoing.on('close', done)
  })
}
