/** Back-pressure of an answer: when its socket takes more, and whether there is one still. */
import type { Outgoing } from './respond.ts'

/** Whether nothing more can be written. HTTP/2's answers do not say so themselves: their streams do. */
export const isGone = ({ destroyed, stream }: Pick<Outgoing, 'destroyed' | 'stream'>): boolean =>
  destroyed === true || stream?.destroyed === true

/** Resolves when the socket takes more, or is gone. */
export function drained(outgoing: Pick<Outgoing, 'destroyed' | 'stream' | 'on' | 'off'>): Promise<void> {
  if (isGone(outgoing)) return Promise.resolve()
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
