/**
 * The one client every server is measured with: node:https over kept connections, so that ratios between servers hold.
 * It does as little as a client can; what it cannot do faster against a bare server is its own ceiling.
 */
import { Agent, type RequestOptions, request as send } from 'node:https'
import type { HttpsEndpoint } from '../src/http/client.ts'

export interface Answer {
  readonly code: number
  readonly body: Buffer
}

export interface RequestBody {
  readonly bytes: Buffer
  /** Default application/json. */
  readonly contentType?: string
}

export interface BenchClient {
  readonly endpoint: HttpsEndpoint
  /** `accept` is a media type; without it the server answers as it likes (JSON). */
  request(method: string, path: string, body?: RequestBody, accept?: string): Promise<Answer>
  /** Opens a watch that counts lines; resolves when its head has come. */
  watch(path: string, onLines: (count: number) => void): Promise<{ close(): void }>
  close(): void
}

/** `connections` kept open at most, apart from watches, which get one each; `headers` go with every request. */
export function createBenchClient(
  endpoint: HttpsEndpoint,
  connections = 64,
  headers: Readonly<Record<string, string | readonly string[]>> = {},
): BenchClient {
  const url = new URL(endpoint.server)
  const identity = {
    ca: endpoint.ca,
    cert: endpoint.cert,
    key: endpoint.key,
    rejectUnauthorized: endpoint.insecureSkipTlsVerify !== true,
    ...(endpoint.serverName === undefined ? {} : { servername: endpoint.serverName }),
  }
  const agent = new Agent({ keepAlive: true, maxSockets: connections, ...identity })
  const watching = new Agent({ keepAlive: false, ...identity })
  const own = {
    ...(typeof endpoint.token === 'string' ? { authorization: `Bearer ${endpoint.token}` } : {}),
    ...headers,
  }
  const at = { host: url.hostname.replace(/^\[|\]$/g, ''), port: url.port === '' ? 443 : Number(url.port) }

  return {
    endpoint,
    request: (method, path, body, accept) =>
      new Promise((resolve, reject) => {
        const options: RequestOptions = {
          ...at,
          agent,
          method,
          path,
          headers: {
            ...own,
            ...(accept === undefined ? {} : { accept }),
            ...(body === undefined
              ? {}
              : { 'content-type': body.contentType ?? 'application/json', 'content-length': body.bytes.length }),
          },
        }
        const sent = send(options, (answer) => {
          const chunks: Buffer[] = []
          answer.on('data', (chunk: Buffer) => chunks.push(chunk))
          answer.on('end', () => resolve({ code: answer.statusCode ?? 0, body: Buffer.concat(chunks) }))
          answer.on('error', reject)
        })
        sent.on('error', reject)
        sent.end(body?.bytes)
      }),
    watch: (path, onLines) =>
      new Promise((resolve, reject) => {
        const sent = send({ ...at, agent: watching, path, headers: own }, (answer) => {
          if (answer.statusCode !== 200) return reject(new Error(`watch answered ${answer.statusCode}`))
          answer.on('data', (chunk: Buffer) => onLines(linesIn(chunk)))
          answer.on('error', () => {})
          resolve({ close: () => sent.destroy() })
        })
        sent.on('error', reject)
        sent.end()
      }),
    close: () => {
      agent.destroy()
      watching.destroy()
    },
  }
}

function linesIn(chunk: Buffer): number {
  let lines = 0
  for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, at + 1)) lines++
  return lines
}

export const json = (value: unknown): RequestBody => ({ bytes: Buffer.from(JSON.stringify(value)) })

/** @throws Error with the server's words when the code is not one of the 200s */
export function expectOk(answer: Answer): Answer {
  if (answer.code >= 200 && answer.code < 300) return answer
  throw new Error(`the server answered ${answer.code}: ${answer.body.toString('utf8', 0, 300)}`)
}
