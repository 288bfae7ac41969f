/**
 * One thread of a crowd of clients (overload.ts): each of its connections asks again as soon as it was answered, whatever the
 * answer: most patch a pod, some read one, some list all of them.
 */
import { Agent, request as send } from 'node:https'
import { parentPort, workerData } from 'node:worker_threads'
import type { HttpsEndpoint } from '../../src/http/client.ts'
import { podsPath } from '../pods.ts'

export interface CrowdOptions {
  readonly endpoint: HttpsEndpoint
  readonly tokens: readonly string[]
  readonly namespace: string
  readonly connections: number
  /** Shares of requests, of one; what is left patches. */
  readonly lists: number
  readonly gets: number
  /** How many pods there are, p0 to p(pods - 1). */
  readonly pods: number
}

/** Since the thread began. */
export interface Told {
  /** By code; 0 is a connection that was cut. */
  readonly answered: Readonly<Record<number, number>>
  readonly bytes: number
  /** Clients that were answered at least once. */
  readonly served: number
}

const { endpoint, tokens, namespace, connections, lists, gets, pods } = workerData as CrowdOptions
const url = new URL(endpoint.server)
const agent = new Agent({ keepAlive: true, maxSockets: connections, ca: endpoint.ca })
const path = podsPath(namespace)
const answered: Record<number, number> = {}
let bytes = 0
let asked = 0
/** Connections that were answered once. */
let served = 0
let over = false

function ask(token: string): Promise<void> {
  const chance = Math.random()
  const patches = chance >= lists + gets
  const body = patches
    ? Buffer.from(JSON.stringify({ metadata: { annotations: { 'bench/asked': String(asked++) } } }))
    : undefined
  const at = chance < lists ? path : `${path}/p${Math.floor(Math.random() * pods)}`
  return new Promise((resolve) => {
    const done = (code: number) => {
      answered[code] = (answered[code] ?? 0) + 1
      resolve()
    }
    const sent = send(
      {
        host: url.hostname,
        port: Number(url.port),
        agent,
        method: patches ? 'PATCH' : 'GET',
        path: at,
        headers: {
          authorization: `Bearer ${token}`,
          ...(body === undefined
            ? {}
            : { 'content-type': 'application/merge-patch+json', 'content-length': body.length }),
        },
      },
      (answer) => {
        answer.on('data', (chunk: Buffer) => {
          bytes += chunk.length
        })
        answer.on('end', () => done(answer.statusCode ?? 0))
        answer.on('error', () => done(0))
      },
    )
    sent.on('error', () => done(0))
    sent.end(body)
  })
}

for (let index = 0; index < connections; index++) {
  const token = tokens[index % tokens.length] as string
  void (async () => {
    await ask(token)
    served++
    while (!over) await ask(token)
  })()
}
parentPort?.on('message', (message: 'tell' | 'end') => {
  if (message === 'end') {
    over = true
    agent.destroy()
    parentPort?.close()
  } else parentPort?.postMessage({ answered, bytes, served } satisfies Told)
})
