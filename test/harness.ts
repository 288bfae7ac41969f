/** An API server over the memory store, in this process, for tests of any room. */
import { decodeRecord, type KeptRecord } from '../src/api/journal.ts'
import type { Json, KubeObject } from '../src/api/object.ts'
import type { ApiRequest, ApiResponse, Handler, UserInfo, WatchEvent } from '../src/api/request.ts'
import { builtinScheme } from '../src/api/scheme/scheme.ts'
import { StatusError } from '../src/api/status.ts'
import { encodeJson, jsonText } from '../src/api/values/json.ts'
import { builtinAdmissionPlugins } from '../src/apiserver/admission/plugins/by-name.ts'
import { type ApiServer, type ApiServerOptions, createApiServer } from '../src/apiserver/server.ts'
import { builtinStrategies } from '../src/apiserver/strategies/builtin.ts'
import { liveRuntime } from '../src/base/live-runtime.ts'
import type { Runtime } from '../src/base/runtime.ts'
import { openStorage } from '../src/storage/open.ts'
import type { Storage } from '../src/storage/storage.ts'

export const ADMIN: UserInfo = { name: 'kubernetes-admin', groups: ['system:masters', 'system:authenticated'] }

export interface TestAnswer {
  readonly code: number
  readonly headers: Readonly<Record<string, string | readonly string[]>>
  /** The body as JSON, or as text when it is none. A watch's body is its events' lines. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into whatever came
  readonly body: any
  readonly text: string
}

export interface TestApi {
  readonly server: ApiServer
  readonly storage: Storage
  readonly handler: Handler
  /** Asks as kubernetes-admin with JSON in and out, as over a wire. Errors are answers. */
  request(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<TestAnswer>
  /** Opens a watch: its events as they come. */
  watch(path: string, signal: AbortSignal): Promise<AsyncIterable<WatchEvent>>
  /** Makes the namespace and its default service account. */
  namespace(name: string): Promise<void>
  stop(): Promise<void>
}

/** `options` replace the built-in ones. The server's requests have no authentication: who is named is believed. */
export async function startTestApi(
  runtime: Runtime = liveRuntime(),
  options: Partial<ApiServerOptions> = {},
): Promise<TestApi> {
  const storage = options.storage ?? (await openStorage({ runtime, driver: 'memory' }))
  const server = await createApiServer({
    runtime,
    storage,
    scheme: builtinScheme(),
    strategies: builtinStrategies(),
    admission: { plugins: builtinAdmissionPlugins(runtime) },
    ...options,
  })
  const { handler } = server

  async function request(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<TestAnswer> {
    const response = await handler(requestOf(method, path, body, headers, new AbortController().signal))
    const text = await textOf(response)
    return { code: response.status, headers: response.headers ?? {}, text, body: parsed(text) }
  }

  return {
    server,
    storage,
    handler,
    request,
    async watch(path, signal) {
      const response = await handler(requestOf('GET', path, undefined, {}, signal))
      if (response.kind !== 'watch') throw new Error(`no watch: ${await textOf(response)}`)
      const { events } = response
      return {
        async *[Symbol.asyncIterator]() {
          for (let event = await events.next(); event !== undefined; event = await events.next()) yield event
        },
      }
    },
    async namespace(name) {
      await request('POST', '/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
      await request('POST', `/api/v1/namespaces/${name}/serviceaccounts`, {
        apiVersion: 'v1',
        kind: 'ServiceAccount',
        metadata: { name: 'default' },
      })
    },
    async stop() {
      await server.stop()
      await storage.close()
    },
  }
}

/** The records of the journal of deletions. */
export async function journalOf(storage: Storage): Promise<readonly KeptRecord[]> {
  const entries = await storage.journal(0)
  return entries.map(({ revision, value }) => decodeRecord(value, revision)).filter((record) => record !== undefined)
}

function requestOf(
  method: string,
  path: string,
  body: unknown,
  headers: Record<string, string>,
  signal: AbortSignal,
): ApiRequest {
  const at = path.indexOf('?')
  const contentType = headers['content-type'] ?? (body === undefined ? '' : 'application/json')
  const bytes =
    body === undefined
      ? new Uint8Array()
      : typeof body === 'string'
        ? Buffer.from(body)
        : body instanceof Uint8Array
          ? body
          : encodeJson(body)
  return {
    method,
    path: at < 0 ? path : path.slice(0, at),
    query: new URLSearchParams(at < 0 ? '' : path.slice(at + 1)),
    headers: { 'user-agent': 'probe/1', accept: 'application/json', ...headers },
    ...(body === undefined ? {} : { body: { kind: 'bytes' as const, bytes, contentType } }),
    user: ADMIN,
    signal,
  }
}

/** An answer's body as text, a watch read to its end. */
export async function textOf(response: ApiResponse): Promise<string> {
  switch (response.kind) {
    case 'bytes':
      return Buffer.concat(response.bytes).toString()
    case 'object':
      return jsonText(response.object)
    case 'pieces':
      return Buffer.concat([...response.pieces()]).toString()
    case 'list': {
      const items = response.items.map((item) =>
        Buffer.from(item.json(response.whole === true ? 'full' : 'item')).toString(),
      )
      const { kind, apiVersion, metadata } = response.list
      return `${JSON.stringify({ kind, apiVersion, metadata }).slice(0, -1)},"items":[${items.join(',')}]}`
    }
    case 'watch': {
      const lines: string[] = []
      const { events, encode } = response
      for (let event = await events.next(); event !== undefined; event = await events.next())
        lines.push(Buffer.from(encode(event)).toString())
      return lines.join('')
    }
    case 'stream': {
      const chunks: Uint8Array[] = []
      for await (const chunk of response.chunks) chunks.push(chunk)
      return Buffer.concat(chunks).toString()
    }
    case 'upgrade':
    case 'cut':
      return ''
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

export type { Json, KubeObject }
export { StatusError }
