/**
 * Answers /openapi/v2 and /openapi/v3: content negotiation, ETags, and URLs with a hash that clients may keep for a year.
 * Called by the dispatcher with every path that names no resource.
 */

import type { JsonObject } from '../../api/object.ts'
import type { ApiRequest, ApiResponse, Headers } from '../../api/request.ts'
import type { Scheme } from '../../api/scheme/resource.ts'
import type { Runtime } from '../../base/runtime.ts'
import { setBounded } from '../../base/set-bounded.ts'
import { type Steps, stepsInTurns } from '../../base/turns.ts'
import { parseAccept } from '../../http/media-range.ts'
import type { CustomSchema } from './custom.ts'
import { createDocuments, type ReturnsDeleted } from './documents-by-group-version.ts'
import { jsonInSteps } from './json-in-steps.ts'
import { encodeV2, V2_PROTOBUF } from './protobuf-v2.ts'
import { encodeV3, V3_PROTOBUF } from './protobuf-v3.ts'
import { served } from './served.ts'

export interface OpenApiOptions {
  readonly scheme: Scheme
  readonly runtime: Runtime
  readonly customSchema?: CustomSchema
  readonly returnsDeleted?: ReturnsDeleted
}

type Form = 'json' | 'protobuf'

const CONTENT_TYPES = {
  v2: { json: 'application/json', protobuf: V2_PROTOBUF },
  v3: { json: 'application/json', protobuf: V3_PROTOBUF },
} as const

const MOST_KNOWN = 1000
const YEAR_MS = 365 * 24 * 3600 * 1000
const V2 = '/openapi/v2'
const V3 = '/openapi/v3'
const LABEL = 'openapi'
const LATER = { 'cache-control': 'no-cache, private' }

/** undefined for any other path. */
export function createOpenApi(options: OpenApiOptions): (request: ApiRequest) => Promise<ApiResponse> | undefined {
  const { runtime } = options
  const { clock } = runtime
  const documents = createDocuments(options.scheme, options.customSchema ?? (() => undefined), options.returnsDeleted)
  /** Since when a document is as it is, by its hash. */
  const since = new Map<string, number>()
  const modified = (hash: string): number => {
    const known = since.get(hash) ?? clock.now()
    setBounded(since, MOST_KNOWN, hash, known)
    return known
  }

  /** A document with the hash that the index has for it: of the same moment, whatever changes while it is made. */
  const opened = (steps: () => Steps<Opened | undefined>) => stepsInTurns(runtime, LABEL, steps())
  /** By the path, hash and form of a document: made once for all that ask for it meanwhile. */
  const underWay = new Map<string, Promise<readonly Uint8Array[]>>()
  function made(key: string, steps: () => Steps<readonly Uint8Array[]>): Promise<readonly Uint8Array[]> {
    const known = underWay.get(key)
    if (known !== undefined) return known
    const making = stepsInTurns(runtime, LABEL, steps()).finally(() => underWay.delete(key))
    underWay.set(key, making)
    return making
  }

  async function v3(request: ApiRequest, name: string): Promise<ApiResponse> {
    const found = await opened(function* () {
      const hash = (yield* documents.index()).get(name)
      const document = hash === undefined ? undefined : documents.v3(name)
      return hash === undefined || document === undefined ? undefined : { hash, document }
    })
    if (found === undefined) return nothing(404)
    const { hash, document } = found
    const form = formOf(request.headers['accept'], V3_PROTOBUF)
    if (form === undefined) return nothing(406, { vary: 'Accept' })
    const asked = request.query.get('hash') ?? ''
    const headers: Record<string, string> = { vary: 'Accept', etag: `"${hash}"`, ...LATER }
    if (asked !== '' && asked !== hash)
      return {
        ...nothing(301, { ...headers, location: `${V3}/${name}?hash=${hash}` }),
        contentType: 'application/json',
      }
    if (asked !== '') {
      headers['cache-control'] = 'public, immutable'
      headers['expires'] = httpDate(clock.now() + YEAR_MS)
    }
    return served(request, {
      headers,
      contentType: CONTENT_TYPES.v3[form],
      modified: modified(hash),
      bytes: () => made(`${name} ${hash} ${form}`, () => bytesOf(document, form === 'protobuf' ? encodeV3 : undefined)),
    })
  }

  async function v2(request: ApiRequest): Promise<ApiResponse> {
    const vary = ['Accept-Encoding', 'Accept']
    const form = formOf(request.headers['accept'], V2_PROTOBUF)
    if (form === undefined) return nothing(406, { vary })
    const { hash, document } = (await opened(function* () {
      return { hash: documents.v2Hash(yield* documents.index()), document: documents.v2() }
    })) as Opened
    const headers = { vary, etag: `"${hash}"`, ...LATER }
    return served(request, {
      headers,
      contentType: CONTENT_TYPES.v2[form],
      modified: modified(hash),
      bytes: () => made(`${V2} ${hash} ${form}`, () => bytesOf(document, form === 'protobuf' ? encodeV2 : undefined)),
    })
  }

  /** The index as it was last asked for, and the second since the epoch in which it was first seen so. */
  let index = { text: '', second: 0 }
  async function v3Index(request: ApiRequest): Promise<ApiResponse> {
    const known = await stepsInTurns(runtime, LABEL, documents.index())
    const paths = Object.fromEntries(
      [...known].map(([name, hash]) => [name, { serverRelativeURL: `${V3}/${name}?hash=${hash}` }]),
    )
    const text = JSON.stringify({ paths })
    const now = clock.now()
    if (text !== index.text) index = { text, second: Math.floor(now / 1000) }
    // Its time is that of the answer, in seconds: a copy of the second in which it changed may be the one from before.
    const { 'if-modified-since': _, ...unconditional } = request.headers
    const isSure = index.second < Math.floor(now / 1000)
    return served(isSure ? request : { ...request, headers: unconditional }, {
      headers: LATER,
      contentType: 'text/plain; charset=utf-8',
      modified: now,
      bytes: () => [Buffer.from(text)],
    })
  }

  return (request) => {
    const { path } = request
    if (path === V2) return v2(request)
    if (path === V3) return v3Index(request)
    return path.startsWith(`${V3}/`) ? v3(request, path.slice(V3.length + 1)) : undefined
  }
}

interface Opened {
  readonly hash: string
  readonly document: Steps<JsonObject>
}

/** As protobuf where that is encoded, otherwise as JSON. */
function* bytesOf(
  document: Steps<JsonObject>,
  encode: ((document: JsonObject) => Steps<readonly Uint8Array[]>) | undefined,
): Steps<readonly Uint8Array[]> {
  const whole = yield* document
  return yield* encode === undefined ? jsonInSteps(whole) : encode(whole)
}

const nothing = (status: number, headers: Headers = {}) => ({
  kind: 'bytes' as const,
  status,
  headers: { ...LATER, ...headers },
  contentType: '',
  bytes: [],
})

/** `Sun, 21 Nov 2027 11:26:01 UTC`: kube-apiserver's way to write it. */
const httpDate = (ms: number) => new Date(ms).toUTCString().replace('GMT', 'UTC')

/** The form for this Accept header, by its q-values; undefined when it admits none of the forms that are served. */
function formOf(accept: string | undefined, protobuf: string): Form | undefined {
  if (accept === undefined || accept === '') return 'json'
  // An older spelling of the same type.
  const older = protobuf.replace('.v1.0+', '@v1.0+')
  for (const range of parseAccept(accept)) {
    if (range.matches('application/json')) return 'json'
    if (range.matches(protobuf) || range.matches(older)) return 'protobuf'
  }
  return undefined
}
