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
