/**
 * Clients that have ended their half of an HTTP/1.1 connection. One that waits for an answer and one that is gone look alike until something
 * is written, so answers with an end are sent whole, and those that may go on for ever are ended.
 */
import type { Socket } from 'node:net'
import type { ApiResponse } from '../api/request.ts'
import type { Outgoing } from './respond.ts'

/** Whether the answer may go on for ever. */
export const goesOn = ({ kind }: ApiResponse): boolean => kind === 'watch' || kind === 'stream'

/** Tells the source of an answer that goes on, by its signal, of the client's end. */
export function endWithClient(socket: Socket, outgoing: Outgoing, controller: AbortController): void {
  const end = () => controller.abort()
  if (socket.readableEnded) end()
  else {
    socket.once('end', end)
    outgoing.once('close', () => socket.off('end', end))
  }
}
