import type { ServerResponse as Answer } from 'node:http'
import { createRequire } from 'node:module'
import type { Socket } from 'node:net'

/** What is used of node:http's classes and functions. An `import` of it would load Node's fetch too: 30 ms of every start. */
export const { Agent, createServer, request, ServerResponse } = createRequire(import.meta.url)(
  'node:http',
) as typeof import('node:http')

/** The answer that node:http has given the socket to; there is no public name for it. undefined once it is sent whole. */
export const answerOn = (socket: Socket & { readonly _httpMessage?: Answer | null }): Answer | undefined =>
  socket._httpMessage ?? undefined

/** What comes on a socket while answers to its earlier requests are on their way, or just sent, waits for them. */
export function whenFree(socket: Socket, begin: () => void): void {
  const before = answerOn(socket)
  if (before === undefined) begin()
  else afterAnswer(socket, before, () => whenFree(socket, begin))
}

/** Once this answer is sent, where its connection is kept. */
export function afterAnswer(socket: Socket, answer: Answer, begin: () => void): void {
  answer.once('close', () => {
    if (socket.destroyed) return
    // Set for the next request of a connection that is kept.
    socket.setTimeout(0)
    begin()
  })
}
