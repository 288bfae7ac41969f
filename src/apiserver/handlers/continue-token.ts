/** Continue tokens: opaque to clients, the same JSON inside as kube-apiserver's. */
import { badRequest, StatusError } from '../../api/status.ts'
import {
  type JsonNode,
  JsonSyntaxError,
  jsonWordFor,
  NumberNode,
  ObjectNode,
  parseJsonBytes,
} from '../../api/values/json.ts'

export interface Continuation {
  /** The revision the first page was read at. */
  readonly revision: number
  /** The first key not yet listed. */
  readonly start: string
}

const VERSION = 'meta.k8s.io/v1'

/**
 * `key` is the last one listed. Kubernetes' watch cache writes where to go on with a slash in front, its store, where events are listed from,
 * without (`fromStore`); either reads both.
 */
export function encodeContinue(key: string, prefix: string, revision: number, fromStore: boolean): string {
  const start = `${fromStore ? '' : '/'}${key.slice(prefix.length)}`
  return Buffer.from(JSON.stringify({ v: VERSION, rv: revision, start: `${start}\u0000` })).toString('base64url')
}

/** @throws StatusError 400 in Go's words */
export function decodeContinue(token: string, prefix: string): Continuation {
  const invalid = (message: string) => badRequest(`invalid continue token: continue key is not valid: ${message}`)
  const bad = /[^A-Za-z0-9_-]/.exec(token)
  if (bad !== null) throw invalid(`illegal base64 data at input byte ${bad.index}`)
  if (token.length % 4 === 1) throw invalid(`illegal base64 data at input byte ${token.length - 1}`)
  const { v, rv, start } = fieldsIn(Buffer.from(token, 'base64url'), invalid)
  if (v !== VERSION) throw invalid(`server does not recognize this encoded version ${v}`)
  if (rv === 0) throw invalid(`incorrect encoded start resourceVersion (version ${VERSION})`)
  if (start === '') throw invalid(`encoded start key empty (version ${VERSION})`)
  const path = start.startsWith('/') ? start : `/${start}`
  // Only a path that needs no cleaning cannot lead out of the prefix.
  if (path !== '/' && /\/(\.{0,2})(\/|$)/.test(path)) throw invalid(start)
  return { revision: rv, start: prefix + path.slice(1) }
}

interface TokenFields {
  v: string
  rv: number
  start: string
}

/** As Go reads a struct: keys in any case, null and what is absent leave the zero value, and the first value of a wrong type is told. */
function fieldsIn(bytes: Buffer, invalid: (message: string) => StatusError): TokenFields {
  const fields: TokenFields = { v: '', rv: 0, start: '' }
  let node: JsonNode
  try {
    node = parseJsonBytes(bytes)
  } catch (error) {
    if (error instanceof JsonSyntaxError) throw invalid(error.message)
    throw error
  }
  if (node === null) return fields
  if (!(node instanceof ObjectNode))
    throw invalid(`json: cannot unmarshal ${jsonWordFor(node)} into Go value of type storage.continueToken`)
  for (const [key, value] of node.entries) {
    const name = key.toLowerCase()
    if (value === null) continue
    if (name === 'rv') {
      if (value instanceof NumberNode && isInt64(value.text)) fields.rv = Number(value.text)
      else {
        const found = value instanceof NumberNode ? `number ${value.text}` : jsonWordFor(value)
        throw invalid(`json: cannot unmarshal ${found} into Go struct field continueToken.rv of type int64`)
      }
    } else if (name === 'v' || name === 'start') {
      if (typeof value !== 'string')
        throw invalid(
          `json: cannot unmarshal ${jsonWordFor(value)} into Go struct field continueToken.${name} of type string`,
        )
      fields[name] = value
    }
  }
  return fields
}

const isInt64 = (text: string) => /^-?\d{1,19}$/.test(text) && BigInt(text) === BigInt.asIntN(64, BigInt(text))

/**
 * The first page's version is compacted away. The answer brings a token to go on with all the same, at the price of
 * consistency: `start` is where, relative to the list's prefix.
 */
export function tooOldToContinue(start: string): StatusError {
  const error = new StatusError(
    410,
    'Expired',
    'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.',
  )
  error.continueToken = Buffer.from(JSON.stringify({ v: VERSION, rv: -1, start })).toString('base64url')
  return error
}
