/**
 * Admission: what may change or refuse a write between decoding and storage. Plugins see objects of the storage version
 * and read the cluster's state from the API server's own caches, never through a client.
 */

import type { FieldError } from '../../api/errors/field-errors.ts'
import type { JsonObject, KubeObject } from '../../api/object.ts'
import type { QuotaUsage } from '../../api/objects/quota-usage.ts'
import type { Handler, UserInfo } from '../../api/request.ts'
import type { ResourceRow, Scheme } from '../../api/scheme/resource.ts'
import type { Authorizer } from '../auth/authorizer.ts'
import type { CacheReads } from '../reads.ts'
import type { ResourceEndpoint } from '../registry/endpoint.ts'
import type { Reinvocation } from './reinvocation.ts'

export interface AdmissionAttributes {
  readonly operation: 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT'
  readonly endpoint: ResourceEndpoint
  readonly subresource: string
  readonly namespace: string
  readonly name: string
  /** undefined for DELETE. */
  readonly object: KubeObject | undefined
  readonly oldObject: KubeObject | undefined
  readonly user: UserInfo
  readonly dryRun: boolean
  /** CreateOptions, UpdateOptions, PatchOptions or DeleteOptions as decoded. */
  readonly options: JsonObject
  /** A Warning header for the client. */
  warn(message: string): void
  /** A note in the request's audit event. */
  annotate?(key: string, value: string): void
  /** One of what was sent, which is made only where the event tells that. */
  annotateBody?(key: string, value: () => string): void
  /** Milliseconds that others were waited for: webhooks. */
  waited?(ms: number): void
  /** Where quotas keep what this request was charged: its write may be judged more than once, when another comes before it. */
  readonly charges?: QuotaCharges
  /** AdmissionHost.fresh, asked once for the whole request: what was answered before its first question is seen, which is all that it must see. */
  fresh?(): Promise<void> | undefined
  /** What plugins that change objects keep between the runs of mutating admission. */
  readonly reinvocation?: Reinvocation
}

/** By the uid of a quota. */
export type QuotaCharges = Map<string | undefined, QuotaUsage>

export interface AdmissionPlugin {
  /** As in --enable-admission-plugins: `NamespaceLifecycle`. */
  readonly name: string
  handles(operation: AdmissionAttributes['operation']): boolean
  /** Returns the object to go on with (the same one when nothing changes). Throws a StatusError to refuse. */
  mutate?(attributes: AdmissionAttributes): KubeObject | Promise<KubeObject>
  validate?(attributes: AdmissionAttributes): void | Promise<void>
}

/** What a plugin may ask of the server it is part of, once requests come. */
export interface AdmissionHost {
  readonly scheme: Scheme
  readonly authorizer: Authorizer
  /** The whole server, for what the API server itself writes (as system:apiserver). */
  readonly loopback: Handler
  /**
   * Resolves when what is read of the caches is not older than what any server of the cluster was answered before the call: for what limits
   * writes, which must hold at once wherever it was made. undefined where that is always so.
   */
  fresh(): Promise<void> | undefined
  /** A number that rises whenever an object of one of these resources changes. */
  generationOf(resources: readonly { readonly group: string; readonly resource: string }[]): () => number
  /** The versions of a resource: the one its row shows, and the one in which requests for it are worked on. */
  endpointOf(row: ResourceRow): ResourceEndpoint
}

/** @throws Error when there are problems: all of them in a line. `make`: default: of it as it is */
export function refuseConfiguration(
  errors: readonly FieldError[],
  make = (why: string): Error => new Error(why),
): void {
  const texts = errors.map(({ field, message }) => `${field}: ${message}`)
  if (texts.length > 0) throw make(texts.length === 1 ? (texts[0] as string) : `[${texts.join(', ')}]`)
}

/** What a plugin says once it has read its configuration, which is right as such. */
export class PluginInitializationError extends Error {}

/** `configuration`: what an AdmissionConfiguration says for it. @throws Error in one line for what it cannot go by */
export type AdmissionPluginFactory = (
  reads: CacheReads,
  host: AdmissionHost,
  configuration?: JsonObject,
) => AdmissionPlugin
