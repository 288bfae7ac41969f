/**
 * Where audit events go, and whether a request waits for that (API concept: audit backends): the log (log.ts) and a webhook
 * (webhook.ts), each in the mode of its own.
 */
import type { Json, JsonObject } from '../../api/object.ts'
import { asObject } from '../../api/unchecked.ts'
import { parseExactly } from '../../api/values/json.ts'
import type { AuditLog, Noted } from './log.ts'

/**
 * `batch`: no request waits. `blocking`: a request waits until its events are there, or are lost. `blocking-strict`: the same, and one whose
 * first event is lost is refused.
 */
export type AuditMode = 'batch' | 'blocking' | 'blocking-strict'

export interface AuditEvent extends Noted {
  /** `plugin`: what lost it. */
  lost(error: unknown, plugin?: string): void
}

export interface AuditBackend {
  /** What the request is to wait for: whether it may go on. undefined: it need not wait. */
  take(event: AuditEvent, isRead: boolean): Promise<boolean> | undefined
  close(): Promise<void>
}

/** Bytes of an event from which on it is told without the objects that were sent and answered. */
export type LongestEvent = number | undefined

/** Events on their way to the log up to which reads do not wait for theirs. */
const MOST_BEHIND = 5000

/** With `blocking` only what changes something waits: what is read is as good while its events are on their way. */
export function logBackend(log: AuditLog, mode: AuditMode = 'blocking', longest?: LongestEvent): AuditBackend {
  return {
    take(event, isRead) {
      const told = shortened(event, longest)
      const waits = mode === 'blocking-strict' || (mode === 'blocking' && (!isRead || log.behind > MOST_BEHIND))
      if (!waits) {
        log.note(told)
        return undefined
      }
      return log.append(told).then(
        () => true,
        (error) => {
          event.lost(error)
          return mode === 'blocking'
        },
      )
    },
    close: () => log.close(),
  }
}

class TooLarge extends Error {}

/** The event, told in fewer words if it would be longer. Its text throws where that does not help. */
export function shortened(event: AuditEvent, longest: LongestEvent): AuditEvent {
  if (longest === undefined) return event
  return {
    text: () => {
      const text = event.text()
      if (Buffer.byteLength(text) <= longest) return text
      const shorter = withoutObjects(asObject(parseExactly(text) as Json))
      if (Buffer.byteLength(shorter) > longest) throw new TooLarge('event is too large even after truncating')
      return shorter
    },
    lost: (error, plugin) => event.lost(error, error instanceof TooLarge ? 'truncate' : plugin),
  }
}

function withoutObjects({ requestObject, responseObject, annotations, ...rest }: JsonObject): string {
  return JSON.stringify({ ...rest, annotations: { ...asObject(annotations), 'audit.k8s.io/truncated': 'true' } })
}
