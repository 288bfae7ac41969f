/** What an administrator may say of how a port speaks. */

/** What of TLS is spoken. Default: 1.2 and later, with Node's choice of ciphers. */
export interface TlsLimits {
  readonly minVersion?: 'TLSv1' | 'TLSv1.1' | 'TLSv1.2' | 'TLSv1.3'
  /** OpenSSL's names, between colons. */
  readonly ciphers?: string
  /** OpenSSL's names of key exchanges, between colons. */
  readonly ecdhCurve?: string
}

export interface Http2Limits {
  /** HTTP/1.1 alone is spoken. */
  readonly disabled: boolean
  /** Requests that a connection may have at once. */
  readonly maxStreams?: number
  /** Of the requests, the share after which the client is told to connect anew. */
  readonly goawayChance: number
}

export interface HttpLimits {
  readonly tls?: TlsLimits
  readonly http2?: Http2Limits
}
