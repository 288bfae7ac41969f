/**
 * Admission: what may change or refuse a write between decoding and storage. Plugins see objects of the storage version
 * and read the cluster's state from the API server's own caches, never through a client.
 */
import type { KubeObject } from '../../api/object.ts'
import type { UserInfo } from '../../api/request.ts'
import type { ResourceRow } from '../../api/scheme/resource.ts'

export interface AdmissionAttributes {
  readonly operation: 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT'
  readonly row: ResourceRow
  readonly subresource: string
  readonly namespace: string
  readonly name: string
  /** undefined for DELETE. */
  readonly object: KubeObject | undefined
  readonly oldObject: KubeObject | undefined
  readonly user: UserInfo
  readonly dryRun: boolean
  /** CreateOptions, UpdateOptions, PatchOptions or DeleteOptions as decoded. */
  readonly options: Readonly<Record<string, unknown>>
  /** A Warning header for the client. */
  warn(message: string): void
}

/** The API server's own caches: synchronous, as of the newest revision published. */
export interface CacheReads {
  get(group: string, resource: string, namespace: string, name: string): KubeObject | undefined
  list(group: string, resource: string, namespace?: string): readonly KubeObject[]
  /** Reads storage itself, for a plugin that must not miss what its cache has not seen yet. */
  getLive(group: string, resource: string, namespace: string, name: string): Promise<KubeObject | undefined>
}

export interface AdmissionPlugin {
  /** As in --enable-admission-plugins: `NamespaceLifecycle`. */
  readonly name: string
  handles(operation: AdmissionAttributes['operation']): boolean
  /** Returns the object to go on with (the same one when nothing changes). Throws a StatusError to refuse. */
  mutate?(attributes: AdmissionAttributes): KubeObject | Promise<KubeObject>
  validate?(attributes: AdmissionAttributes): void | Promise<void>
}

export type AdmissionPluginFactory = (reads: CacheReads) => AdmissionPlugin
