/**
 * api: what an object is, and the pure rules about it. Knows no sockets, no storage, no clock.
 *
 * Objects are plain JSON and immutable: never mutate what came out of storage, cache or client; rebuild it, and keep the
 * identity of what did not change. (A tree that the decoder just made belongs to its request until it is stored or
 * shared; only decoding and defaulting write into it.)
 */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json | undefined }
export type JsonObject = { readonly [key: string]: Json | undefined }

export interface OwnerReference {
  readonly apiVersion: string
  readonly kind: string
  readonly name: string
  readonly uid: string
  readonly controller?: boolean
  readonly blockOwnerDeletion?: boolean
}

export interface ManagedFieldsEntry {
  readonly manager?: string
  readonly operation?: 'Apply' | 'Update'
  readonly apiVersion?: string
  readonly time?: string
  readonly fieldsType?: 'FieldsV1'
  readonly fieldsV1?: JsonObject
  readonly subresource?: string
}

export interface ObjectMeta {
  readonly name?: string
  readonly generateName?: string
  readonly namespace?: string
  readonly selfLink?: string
  readonly uid?: string
  readonly resourceVersion?: string
  readonly generation?: number
  readonly creationTimestamp?: string
  readonly deletionTimestamp?: string
  readonly deletionGracePeriodSeconds?: number
  readonly labels?: Readonly<Record<string, string>>
  readonly annotations?: Readonly<Record<string, string>>
  readonly ownerReferences?: readonly OwnerReference[]
  readonly finalizers?: readonly string[]
  readonly managedFields?: readonly ManagedFieldsEntry[]
}

/** Any object of the API. Narrow with the generated types (`import type { Pod } from './generated/types.ts'`). */
export interface KubeObject {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: ObjectMeta
  // biome-ignore lint/suspicious/noExplicitAny: the fields of a kind are known by its Schema, not to the compiler
  readonly [field: string]: any
}

/** A part of an object whose shape a table or the surrounding code knows, not the compiler. Read-only by habit. */
// biome-ignore lint/suspicious/noExplicitAny: the one place where untyped fields are let in
export type Fields = { readonly [field: string]: any }

/** An object of any kind that may have a spec and a status: nothing is known of what is in them. */
export type SpecAndStatus = KubeObject & { readonly spec?: Json; readonly status?: Json }

/** An object of a kind as it came, before its rules were asked: any of its fields may be missing. */
export type Given<T> = KubeObject & { readonly [Field in keyof T]?: T[Field] }

/** An object as the JSON it is: the compiler does not see that an interface has nothing but JSON in it. */
export const asJson = (object: KubeObject | Fields): JsonObject => object as unknown as JsonObject

/** JSON that is an object by its kind's rules, or is judged as one next. */
export const asKubeObject = (json: Json | Fields): KubeObject => json as unknown as KubeObject

export interface GroupVersionKind {
  readonly group: string
  readonly version: string
  readonly kind: string
}

/** `v1` for the core group, `group/version` otherwise. */
export function apiVersionOf(group: string, version: string): string {
  return group === '' ? version : `${group}/${version}`
}

export function parseApiVersion(apiVersion: string): { group: string; version: string } {
  const slash = apiVersion.indexOf('/')
  return slash < 0
    ? { group: '', version: apiVersion }
    : { group: apiVersion.slice(0, slash), version: apiVersion.slice(slash + 1) }
}
