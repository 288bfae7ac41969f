/**
 * Request bodies on their way. Their senders are not yet authenticated, so that each has a time to arrive in, and all together a size:
 * beyond it the one that has been on its way longest is given up, since a well-behaved client sends its body within moments.
 */
import { StatusError, tooManyRequests } from '../api/status.ts'
import type { Clock } from '../base/clock.ts'
import { createDeadlines } from '../base/deadlines.ts'

export interface Bodies {
  /** `giveUp` hears why, at most once, and not after the end. */
  begin(giveUp: (why: StatusError) => void): ArrivingBody
}

export interface ArrivingBody {
  more(bytes: number): void
  end(): void
}

/** HTTP/2 has no such limit of its own. */
const BODY_MS = 120_000
export const MAX_HELD_BYTES = 256 * 1024 * 1024

export function createBodies(clock: Clock, maxHeldBytes = MAX_HELD_BYTES): Bodies {
  const deadlines = createDeadlines(clock, BODY_MS, 'request body')
  /** In the order in which they began. */
  const arriving = new Set<ArrivingBody & { readonly giveUp: (why: StatusError) => void }>()
  let held = 0

  return {
    begin(giveUp) {
      let size = 0
      let isOver = false
      const late = deadlines.add(() => {
        body.end()
        giveUp(new StatusError(408, 'Timeout', 'the request body did not arrive in time'))
      })
      const body = {
        giveUp,
        more(bytes: number) {
          if (isOver) return
          size += bytes
          held += bytes
          if (held <= maxHeldBytes) return
          for (const oldest of arriving) {
            if (held <= maxHeldBytes) return
            oldest.end()
            oldest.giveUp(tooManyRequests('too many request bodies are on their way', 1))
          }
        },
        end() {
          if (isOver) return
          isOver = true
          arriving.delete(body)
          late.cancel()
          held -= size
        },
      }
      arriving.add(body)
      return body
    },
  }
}
