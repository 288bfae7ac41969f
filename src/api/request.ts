/**
 * ApiRequest and ApiResponse: the one form in which a request reaches filters and handlers, whether it came over HTTPS
 * (http room) or from a component in this process (client room): see docs/architecture.md.
 */
import type { StreamReader } from '../base/stream.ts'
import type { KubeObject } from './object.ts'

export interface UserInfo {
  readonly name: string
  readonly uid?: string
  readonly groups: readonly string[]
  readonly extra?: Readonly<Record<string, readonly string[]>>
}

/** Kubernetes' request verbs for resources. */
export type ResourceVerb =
  | 'get'
  | 'list'
  | 'watch'
  | 'create'
  | 'update'
  | 'patch'
  | 'delete'
  | 'deletecollection'
  | 'connect'

/** For paths that name no resource the lower-case HTTP method. */
export type Verb = ResourceVerb | (string & {})

/** What the path names (Kubernetes' RequestInfo); the filter of that name makes it. */
export interface RequestInfo {
  readonly isResource: boolean
  readonly verb: Verb
  /** The request's, decoded: what it is authorized and routed by. */
  readonly path: string
  /** The fields below are '' where they do not apply. */
  readonly group: string
  readonly version: string
  readonly resource: string
  readonly subresource: string
  readonly namespace: string
  readonly name: string
}

/** A request's body: bytes from a socket, or an object from a component in this process (immutable, never decoded twice). */
export type RequestBody =
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array; readonly contentType: string }
  | { readonly kind: 'object'; readonly object: KubeObject; readonly contentType?: string }

export interface ApiRequest {
  /** Upper-case HTTP method. */
  readonly method: string
  /** The URL's path as sent (not decoded), without the query. */
  readonly path: string
  readonly query: URLSearchParams
  /** Path and query as they were sent, where they came over a wire. */
  readonly target?: string
  /** Lower-case names. In-process requests carry user-agent, and accept only if they want bytes. */
  readonly headers: Readonly<Record<string, string | undefined>>
  /**
   * Where headers name a user: each value of each header, lower-case names. In `headers` repeated ones are joined by `, `,
   * and a group that has a comma in its name would be two.
   */
  readonly headerValues?: ReadonlyMap<string, readonly string[]>
  readonly body?: RequestBody
  /** Why there is no body though one was sent: it broke off, or was too large. Thrown to those that have passed the filters before. */
  readonly bodyFailure?: unknown
  /** Set by authentication; in-process requests arrive with their component's identity. */
  readonly user?: UserInfo
  readonly info?: RequestInfo
  /** Aborted when the client has gone, and when what went on after the answer (a watch, a stream) has ended. */
  readonly signal: AbortSignal
  /** What the transport knows of the peer: client certificate, remote address, token cache. */
  readonly connection?: ConnectionInfo
}

export interface ConnectionInfo {
  readonly remoteAddress: string
  /** DER of the verified client certificate, if one was sent and verified against one of the client CAs. */
  readonly peerCertificate?: Uint8Array
  /** DER of the certificates between it and its authority, nearest first, as far as the peer has sent them. */
  readonly peerIssuers?: () => readonly Uint8Array[]
  /** Why the certificate that was sent did not verify: such a request is refused, not anonymous. */
  readonly certificateError?: string
  /** For authentication to keep the identity it found for this socket. */
  identity?: UserInfo
}

/**
 * One revision of one object, shared by all that serve it. `object` parses lazily and is frozen; `bytes` are made
 * once per representation. `resourceVersion` is set in both.
 */
export interface StoredObject {
  /** Storage key, /registry/… */
  readonly key: string
  readonly revision: number
  readonly object: KubeObject
  /** The same without managedFields: one for all that keep it. */
  readonly trimmed?: KubeObject
  /** About how many bytes its JSON has, where that is known before it is written. */
  readonly size?: number
  /** The JSON of the object with apiVersion and kind (`full`), or without them as in a list's items. */
  json(form: 'full' | 'item'): Uint8Array
  /** `full` and the end of its line, as it is served: one piece, without copying. */
  line?(): Uint8Array
  /** What follows an item's first brace, as a view of the full bytes: a list need not copy it. */
  tail?(): Uint8Array
  /** The JSON of its metadata, taken out of its bytes without parsing them. */
  metadataJson?(): string
  /** Its protobuf message, made by `encode` at first use and kept; `encode` is the same for every call. */
  message?(encode: (object: KubeObject) => Uint8Array): Uint8Array
}

/** A watch event as it leaves the API server. `object` of BOOKMARK carries kind, apiVersion and metadata.resourceVersion. */
export interface WatchEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR'
  readonly object: KubeObject
  /** The object without managedFields, where its making costs less. */
  readonly trimmed?: KubeObject
  /** Of a watch that asked for it: the object before this change, where the watch's selectors knew it. */
  readonly previous?: KubeObject
  /** The event's line as JSON, newline included; encoded once for all watchers of the same representation. */
  json?(): Uint8Array
  /** The event as protobuf, made by `encode` once for all watchers. Events about no stored object have none. */
  frame?(encode: (type: WatchEvent['type'], stored: StoredObject) => Uint8Array): Uint8Array
}

export type ApiResponse =
  | { readonly kind: 'object'; readonly status: number; readonly headers?: Headers; readonly object: KubeObject }
  | {
      readonly kind: 'bytes'
      readonly status: number
      readonly headers?: Headers
      readonly contentType: string
      readonly bytes: readonly Uint8Array[]
      /** The object that they are, where they are not JSON. */
      readonly object?: () => KubeObject
    }
  | {
      readonly kind: 'watch'
      readonly status: 200
      readonly headers?: Headers
      readonly contentType: string
      readonly events: StreamReader<WatchEvent>
      /** Encodes one event for the wire (negotiated). */
      readonly encode: (event: WatchEvent) => Uint8Array
    }
  | {
      readonly kind: 'list'
      readonly status: 200
      readonly headers?: Headers
      /** The list's own kind, apiVersion and metadata (resourceVersion, continue, remainingItemCount). */
      readonly list: KubeObject
      readonly items: readonly StoredObject[]
      /** Items say what kind and version they are, as custom resources do. */
      readonly whole?: boolean
    }
  | {
      /** What is too large to stand anywhere whole: its bytes are made while they are sent. */
      readonly kind: 'pieces'
      readonly status: 200
      readonly headers?: Headers
      readonly contentType: string
      readonly pieces: () => Iterable<Uint8Array>
      /** About how many bytes. */
      readonly size: number
      /** The object that they are. */
      readonly object: () => KubeObject
    }
  | {
      /** Bytes as they come, of an answer that another server gives. */
      readonly kind: 'stream'
      readonly status: number
      readonly headers?: Headers
      readonly contentType: string
      readonly chunks: AsyncIterable<Uint8Array>
    }
  | {
      /** The handler takes the socket over (exec, attach, port-forward, proxy). */
      readonly kind: 'upgrade'
      readonly status: 101
      readonly headers?: Headers
      readonly takeOver: (socket: unknown, head: Uint8Array) => void
    }
  | {
      /** No answer: the connection is cut, or the HTTP/2 stream reset. */
      readonly kind: 'cut'
      /** That of the answer that is lost, 0 where the request was not done. */
      readonly status: number
      readonly headers?: Headers
      readonly lost?: ApiResponse
    }

/** How a connection ends that is cut: a watch's reader is closed with it. */
export class ConnectionCut extends Error {
  readonly code = 'ECONNRESET'
  constructor() {
    super('the connection was cut')
    this.name = 'ConnectionCut'
  }
}

/** Response headers; `warning` may repeat. */
export type Headers = Readonly<Record<string, string | readonly string[]>>

/** Anything that answers requests: the whole API server, or a component's stand-in. Failure is a StatusError. */
export type Handler = (request: ApiRequest) => Promise<ApiResponse>

/**
 * A handler that gives at once what is there at once, since a read out of the caches waits for nothing: the chain of filters,
 * and what a transport asks. Failure is a thrown StatusError, or a rejection with one.
 */
export type EagerHandler = (request: ApiRequest) => ApiResponse | Promise<ApiResponse>
