/** Messages of etcd's API as they come and go here: the fields that are used, under the protocol's own names. */
export interface Header {
  readonly cluster_id: number
  readonly member_id: number
  readonly revision: number
}

export interface EtcdKeyValue {
  readonly key: Buffer
  readonly value: Buffer
  readonly create_revision: number
  readonly mod_revision: number
  readonly version: number
}

export interface RangeRequest {
  readonly key: Buffer
  readonly range_end?: Buffer
  readonly limit?: number
  readonly revision?: number
  readonly keys_only?: boolean
  readonly count_only?: boolean
}

export interface RangeResponse {
  readonly header: Header
  readonly kvs: readonly EtcdKeyValue[]
  readonly more: boolean
  readonly count: number
}

export type RequestOp =
  | { readonly request_range: RangeRequest }
  | { readonly request_put: { readonly key: Buffer; readonly value: Uint8Array; readonly lease?: number } }
  | { readonly request_delete_range: { readonly key: Buffer; readonly range_end?: Buffer } }

export interface TxnRequest {
  readonly compare: readonly (
    | { readonly target: 'MOD'; readonly key: Buffer; readonly mod_revision: number }
    | { readonly target: 'VERSION'; readonly key: Buffer; readonly version: number }
  )[]
  readonly success: readonly RequestOp[]
  readonly failure: readonly RequestOp[]
}

export interface TxnResponse {
  readonly header: Header
  readonly succeeded: boolean
  readonly responses: readonly { readonly response_range: RangeResponse | null }[]
}

export interface StatusResponse {
  readonly header: Header
  readonly version: string
  readonly dbSize: number
  /** 0: the member knows none. */
  readonly leader: number
  /** What is wrong, in its words: alarms of any member, that there is no leader. */
  readonly errors: readonly string[]
}

/** The unary calls, with what each is asked and answers. */
export interface Calls {
  readonly Range: { readonly request: RangeRequest; readonly answer: RangeResponse }
  readonly Txn: { readonly request: TxnRequest; readonly answer: TxnResponse }
  readonly Compact: { readonly request: { readonly revision: number }; readonly answer: { readonly header: Header } }
  readonly LeaseGrant: {
    readonly request: { readonly TTL: number; readonly ID: number }
    readonly answer: { readonly header: Header; readonly ID: number }
  }
  readonly Status: { readonly request: Readonly<Record<string, never>>; readonly answer: StatusResponse }
}

export type WatchRequest =
  | {
      readonly create_request: {
        readonly key: Buffer
        readonly range_end: Buffer
        readonly start_revision: number
        readonly prev_kv?: boolean
      }
    }
  | { readonly progress_request: Readonly<Record<string, never>> }

export interface EtcdEvent {
  readonly type: 'PUT' | 'DELETE'
  readonly kv: EtcdKeyValue
  readonly prev_kv: EtcdKeyValue | null
}

export interface WatchResponse {
  readonly header: Header
  readonly created: boolean
  readonly canceled: boolean
  readonly compact_revision: number
  readonly cancel_reason: string
  readonly events: readonly EtcdEvent[]
}
