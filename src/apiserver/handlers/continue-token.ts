/** Continue tokens: opaque to clients, the same JSON inside as kube-apiserver's. */
import { badRequest, StatusError } from '../../api/status.ts'

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
  const bytes = Buffer.from(token, 'base64url')
  let value: { readonly v?: unknown; readonly rv?: unknown; readonly start?: unknown } | undefined
  try {
    value = JSON.parse(bytes.toString())
  } catch {
    throw invalid(goSyntaxError(bytes))
  }
  if (typeof value !== 'object' || value === null) throw invalid('unexpected end of JSON input')
  if (Array.isArray(value)) throw invalid('json: cannot unmarshal array into Go value of type storage.continueToken')
  if (value.v !== VERSION) throw invalid(`server does not recognize this encoded version ${value.v ?? ''}`)
  const { rv, start } = value
  if (typeof rv === 'number' && !Number.isSafeInteger(rv)) {
    const [, written = String(rv)] = /"rv"\s*:\s*([-+.\w]+)/.exec(bytes.toString()) ?? []
    throw invalid(`json: cannot unmarshal number ${written} into Go struct field continueToken.rv of type int64`)
  }
  if (typeof rv !== 'number' || rv === 0 || typeof start !== 'string')
    throw invalid(`incorrect encoded start resourceVersion (version ${VERSION})`)
  if (start === '') throw invalid(`encoded start key empty (version ${VERSION})`)
  const path = start.startsWith('/') ? start : `/${start}`
  // Only a path that needs no cleaning cannot lead out of the prefix.
  if (path !== '/' && /\/(\.{0,2})(\/|$)/.test(path)) throw invalid(start)
  return { revision: rv, start: prefix + path.slice(1) }
}

function goSyntaxError(bytes: Buffer): string {
  if (bytes.length === 0) return 'unexpected end of JSON input'
  const first = bytes[0] as number
  if (first === 0x7b || first === 0x22 || first === 0x5b) return 'unexpected end of JSON input'
  const shown =
    first < 0x20 || first === 0x7f
      ? `\\x${first.toString(16).padStart(2, '0')}`
      : first >= 0x80 && first < 0xa1
        ? `\\u${first.toString(16).padStart(4, '0')}`
        : String.fromCharCode(first)
  return `invalid character '${shown}' looking for beginning of value`
}

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
