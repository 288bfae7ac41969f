/**
 * Content negotiation, in one place: which encoding an answer has, and whether it is the object itself, its metadata
 * alone or a Table. Requests from components in this process have no Accept header and get objects by reference.
 */
import { hasMessage } from '../../api/codec/protobuf.ts'
import type { ApiRequest } from '../../api/request.ts'
import type { ResourceRow } from '../../api/scheme/resource.ts'
import { StatusError } from '../../api/status.ts'

export type Encoding = 'json' | 'yaml' | 'protobuf'
export type Shape = 'object' | 'metadata' | 'table'

export interface Representation {
  /** Objects by reference: the client is in this process. */
  readonly native: boolean
  readonly encoding: Encoding
  readonly shape: Shape
  /** Group and version of `as` (meta.k8s.io/v1). */
  readonly shapeVersion: string
  readonly pretty: boolean
}

interface MediaRange {
  readonly type: string
  readonly q: number
  readonly parameters: Readonly<Record<string, string>>
}

const ENCODINGS: Readonly<Record<string, Encoding>> = {
  'application/json': 'json',
  'application/yaml': 'yaml',
  'application/vnd.kubernetes.protobuf': 'protobuf',
}

export const CONTENT_TYPES: Readonly<Record<Encoding, string>> = {
  json: 'application/json',
  yaml: 'application/yaml',
  protobuf: 'application/vnd.kubernetes.protobuf',
}

const native: Representation = { native: true, encoding: 'json', shape: 'object', shapeVersion: '', pretty: false }
const plainJson: Representation = { ...native, native: false }

/** What may be asked for at an endpoint. */
export interface Offer {
  /** Kinds other than the resource's own: lists have the List forms. */
  readonly list: boolean
  readonly protobuf: boolean
  /** Whose kind it is: what has no message (custom resources) is protobuf as metadata only. */
  readonly row?: ResourceRow
  /** Lists and watches name their streams among the available representations. */
  readonly streams?: boolean
  /** A watch: there are no streams of YAML. */
  readonly watch?: boolean
}

/** @throws StatusError 406 */
export function negotiate(request: ApiRequest, offer: Offer): Representation {
  const accept = request.headers['accept']
  if (accept === undefined && request.connection === undefined) return native
  const pretty = wantsPretty(request)
  if (accept === undefined || accept === '' || accept === '*/*' || accept === 'application/json')
    return pretty ? { ...plainJson, pretty } : plainJson
  const ranges = parseAccept(accept)
  const isPlain = offer.row === undefined || hasMessage(offer.row.schema)
  if (isPlain && !ranges.some((range) => offered(range.type, offer) !== undefined)) throw notAvailable(offer)
  for (const range of ranges) {
    const encoding = offered(range.type, offer)
    if (encoding === undefined || (offer.watch === true && encoding === 'yaml')) continue
    const shape = shapeOf(range.parameters, offer)
    if (shape === undefined) continue
    // Tables have no message.
    if (encoding === 'protobuf' && (shape.shape === 'table' || (shape.shape === 'object' && !isPlain))) continue
    return { native: false, encoding, ...shape, pretty: pretty || isPretty(range.parameters['pretty'] ?? null) }
  }
  const accepted =
    offer.watch === true && isPlain
      ? ['json', 'protobuf'].map((name) => `${CONTENT_TYPES[name as Encoding]};stream=watch`)
      : types(offer)
  throw new StatusError(406, 'NotAcceptable', `only the following media types are accepted: ${accepted.join(', ')}`)
}

/** For endpoints that speak one type alone. @throws StatusError 406 */
export function requireType(request: ApiRequest, type: string): void {
  const accept = request.headers['accept']
  if (accept === undefined || accept === '') return
  const family = `${type.slice(0, type.indexOf('/'))}/*`
  if (parseAccept(accept).some((range) => range.type === type || range.type === family || range.type === '*/*')) return
  throw new StatusError(406, 'NotAcceptable', `406: Not Acceptable\n\nAvailable representations: ${type}`, {})
}

/** The encoding for an error: the first that the client takes, whatever form of objects it asked for. */
export function errorEncoding(accept: string | undefined): Encoding {
  if (accept === undefined || accept === '' || accept === '*/*' || accept === 'application/json') return 'json'
  for (const { type, parameters } of parseAccept(accept)) {
    const encoding = offered(type, { list: false, protobuf: true })
    if (encoding !== undefined && (parameters['as'] ?? '') === '') return encoding
  }
  return 'json'
}

/** Asked for, or by a client that people read: curl, wget, a browser. */
export function wantsPretty(request: ApiRequest): boolean {
  const asked = request.query.size > 0 ? request.query.get('pretty') : null
  return asked === null ? /^(curl|Wget|Mozilla\/5\.0)/.test(request.headers['user-agent'] ?? '') : isPretty(asked)
}

function isPretty(value: string | null): boolean {
  return value === '1' || value === 'true'
}

function types(offer: Offer): string[] {
  return Object.keys(ENCODINGS).filter((type) => offer.protobuf || ENCODINGS[type] !== 'protobuf')
}

function notAvailable(offer: Offer): StatusError {
  const available = types(offer)
  if (offer.streams === true || offer.list)
    available.push(...available.filter((type) => ENCODINGS[type] !== 'yaml').map((type) => `${type};stream=watch`))
  return new StatusError(
    406,
    'NotAcceptable',
    `406: Not Acceptable\n\nAvailable representations: ${available.join(', ')}`,
    {},
  )
}

function offered(type: string, offer: Offer): Encoding | undefined {
  if (type === '*/*') return 'json'
  const encoding = Object.hasOwn(ENCODINGS, type) ? ENCODINGS[type] : undefined
  return encoding === 'protobuf' && !offer.protobuf ? undefined : encoding
}

function shapeOf(
  parameters: MediaRange['parameters'],
  offer: Offer,
): Pick<Representation, 'shape' | 'shapeVersion'> | undefined {
  const as = parameters['as']
  if (as === undefined || as === '') return { shape: 'object', shapeVersion: '' }
  const { g: group, v: version } = parameters
  if (group !== 'meta.k8s.io' || (version !== 'v1' && version !== 'v1beta1')) return undefined
  const shapeVersion = `${group}/${version}`
  if (as === 'Table') return { shape: 'table', shapeVersion }
  if (as === 'PartialObjectMetadata' && !offer.list) return { shape: 'metadata', shapeVersion }
  if (as === 'PartialObjectMetadataList' && offer.list) return { shape: 'metadata', shapeVersion }
  return undefined
}

const parsed = new Map<string, readonly MediaRange[]>()

/** Clients send few different headers, many times. */
function parseAccept(accept: string): readonly MediaRange[] {
  const known = parsed.get(accept)
  if (known !== undefined) return known
  const ranges = accept
    .split(',')
    .map((clause): MediaRange => {
      const [type = '', ...rest] = clause.split(';').map((part) => part.trim())
      const parameters: Record<string, string> = Object.create(null)
      let q = 1
      for (const parameter of rest) {
        const at = parameter.indexOf('=')
        if (at < 0) continue
        const name = parameter.slice(0, at).trim()
        const value = parameter.slice(at + 1).trim()
        if (name === 'q') q = Number(value) || 0
        else parameters[name] = value
      }
      return { type: type === '*' ? '*/*' : type, q, parameters }
    })
    .sort((a, b) => b.q - a.q)
  if (parsed.size > 256) parsed.clear()
  parsed.set(accept, ranges)
  return ranges
}
