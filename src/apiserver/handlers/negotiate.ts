/**
 * Content negotiation, in one place: which encoding an answer has, and whether it is the object itself, its metadata
 * alone or a Table. Requests from components in this process have no Accept header and get objects by reference.
 */
import type { ApiRequest } from '../../api/request.ts'
import { StatusError } from '../../api/status.ts'
import { type MediaRange, namesType, parseAccept } from '../../http/media-range.ts'
import type { ShownKind } from '../registry/endpoint.ts'

export type Encoding = 'json' | 'yaml' | 'protobuf'
export type RepresentationShape = 'object' | 'metadata' | 'table'

export interface Representation {
  /** Objects by reference: the client is in this process. */
  readonly native: boolean
  readonly encoding: Encoding
  readonly shape: RepresentationShape
  /** Group and version of `as` (meta.k8s.io/v1). */
  readonly shapeVersion: string
  /** Metadata alone was asked for by the List's name. Whether that fits is known only with the answer. */
  readonly asList: boolean
  readonly pretty: boolean
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

const TYPES = Object.keys(ENCODINGS)
const STREAMS = TYPES.filter((type) => ENCODINGS[type] !== 'yaml').map((type) => `${type};stream=watch`)

const native: Representation = {
  native: true,
  encoding: 'json',
  shape: 'object',
  shapeVersion: '',
  asList: false,
  pretty: false,
}
const plainJson: Representation = { ...native, native: false }

/** What may be asked for at an endpoint. */
export interface Offer {
  /** The kind of the objects that are asked for: they also come as Tables and as metadata alone. */
  readonly kind?: ShownKind
  /** false: they have no Tables, since they are never listed (reviews, tokens). */
  readonly tables?: boolean
  /** Lists and watches name their streams among the available representations. */
  readonly streams?: boolean
  /** Served beside the API groups (custom resources, discovery of groups): any range of types will do. */
  readonly anyRange?: boolean
}

/** @throws StatusError 406 */
export function negotiate(request: ApiRequest, offer: Offer): Representation {
  const accept = request.headers['accept']
  if (accept === undefined && request.connection === undefined) return native
  const pretty = wantsPretty(request)
  if (accept === undefined || accept === '' || accept === '*/*' || accept === 'application/json')
    return pretty ? { ...plainJson, pretty } : plainJson
  const { kind } = offer
  const hasForm = kind === undefined || kind.hasMessage()
  if (offer.anyRange !== true && hasForm && !namesType(accept, TYPES))
    throw notAvailable(offer.streams === true ? [...TYPES, ...STREAMS] : TYPES)
  const chosen = choose(accept, (encoding, target) => {
    if (target === undefined) return hasForm || encoding !== 'protobuf'
    // Tables have no message.
    const hasTable = encoding !== 'protobuf' && offer.tables !== false
    return kind !== undefined && isShape(target) && (target.as !== 'Table' || hasTable)
  })
  if (chosen === undefined) throw notAccepted(TYPES)
  const { encoding, target, range } = chosen
  return {
    native: false,
    encoding,
    shape: target === undefined ? 'object' : target.as === 'Table' ? 'table' : 'metadata',
    shapeVersion: target === undefined ? '' : `${target.g}/${target.v}`,
    asList: target?.as === 'PartialObjectMetadataList',
    pretty: pretty || isPretty(range.parameters['pretty'] ?? null),
  }
}

/**
 * Metadata is asked for by one name for an object, and by another for a list.
 * @throws StatusError 406, and 500 where Kubernetes finds no items in a custom resource
 */
export function requireMetadataForm({ asList }: Representation, kind: ShownKind, isList: boolean): void {
  if (asList !== isList) throw kind.noSuchMetadata(asList)
}

/** There are no streams of YAML, which is told after all else that is wrong with a watch. @throws StatusError 406 */
export function requireStream({ encoding }: Representation): void {
  if (encoding === 'yaml') throw notAccepted(STREAMS)
}

/** For endpoints that speak one type alone. @throws StatusError 406 */
export function requireType(request: ApiRequest, type: string): void {
  const accept = request.headers['accept']
  if (accept !== undefined && accept !== '' && !namesType(accept, [type])) throw notAvailable([type])
}

/** The encoding for an error: the first that the client takes. A client that takes none gets JSON for people to read. */
export function errorEncoding(accept: string | undefined): { readonly encoding: Encoding; readonly pretty: boolean } {
  if (accept === undefined || accept === '' || accept === '*/*' || accept === 'application/json') return PLAIN_ERROR
  const chosen = choose(accept, (_, target) => target === undefined)
  return chosen === undefined ? { encoding: 'json', pretty: true } : { encoding: chosen.encoding, pretty: false }
}

const PLAIN_ERROR = { encoding: 'json', pretty: false } as const

/** The encoding in which another kind (`as`, `g` and `v` of the Accept header) may be answered; undefined when not asked. */
export function encodingOfKind(accept: string, wanted: Target, encodings: readonly Encoding[]): Encoding | undefined {
  return choose(
    accept,
    (encoding, target) =>
      encodings.includes(encoding) && target?.as === wanted.as && target.g === wanted.g && target.v === wanted.v,
  )?.encoding
}

/** Asked for, or by a client that people read: curl, wget, a browser. */
export function wantsPretty(request: ApiRequest): boolean {
  const asked = request.query.size > 0 ? request.query.get('pretty') : null
  return asked === null || asked === ''
    ? /^(curl|Wget|Mozilla\/5\.0)/.test(request.headers['user-agent'] ?? '')
    : isPretty(asked)
}

function isPretty(value: string | null): boolean {
  return value === '1' || value === 'true'
}

/** Not even the route's types are named. */
function notAvailable(types: readonly string[]): StatusError {
  const message = `406: Not Acceptable\n\nAvailable representations: ${types.join(', ')}`
  return new StatusError(406, 'NotAcceptable', message, {})
}

function notAccepted(types: readonly string[]): StatusError {
  return new StatusError(406, 'NotAcceptable', `only the following media types are accepted: ${types.join(', ')}`)
}

/** The kind to answer with, instead of the object's own. */
interface Target {
  readonly as: string
  readonly g: string
  readonly v: string
}

const SHAPES = ['Table', 'PartialObjectMetadata', 'PartialObjectMetadataList']

function isShape({ as, g, v }: Target): boolean {
  return SHAPES.includes(as) && g === 'meta.k8s.io' && (v === 'v1' || v === 'v1beta1')
}

interface Chosen {
  readonly range: MediaRange
  readonly encoding: Encoding
  readonly target: Target | undefined
}

/** The first of the client's ranges, and the first encoding in it, that is allowed. */
function choose(
  accept: string,
  allows: (encoding: Encoding, target: Target | undefined) => boolean,
): Chosen | undefined {
  for (const range of parseAccept(accept)) {
    const { as = '', g = '', v = '', stream = 'watch' } = range.parameters
    if (stream !== 'watch') continue
    const target = as === '' && g === '' && v === '' ? undefined : { as, g, v }
    for (const type of TYPES) {
      const encoding = ENCODINGS[type] as Encoding
      if (range.matches(type) && allows(encoding, target)) return { range, encoding, target }
    }
  }
  return undefined
}
