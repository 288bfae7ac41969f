import { createRequire } from 'node:module'

/** What is used of node:http's classes and functions. An `import` of it would load Node's fetch too: 30 ms of every start. */
export const { Agent, request, ServerResponse } = createRequire(import.meta.url)(
  'node:http',
) as typeof import('node:http')
