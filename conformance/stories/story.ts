/** What a story is: things that a user does to a cluster, so that its components answer with work of their own. */
import type { KubeObject, ObjectMeta } from '../../src/api/object.ts'
import type { ClientDeleteOptions, ListOptions, ResourceClient } from '../../src/client/client.ts'

export interface Story {
  /** Of its own: they come ready, by KWOK, and go with it. */
  readonly nodes?: readonly (string | StoryNode)[]
  /** It would be seen by other stories that are played at the same time. */
  readonly exclusive?: boolean
  /** How long nothing may have been written until it is over, in milliseconds. Default 5000. */
  readonly quietMs?: number
  /** How long it is waited for that at most. Default 40000. */
  readonly restMs?: number
  act(scene: Scene): Promise<unknown>
  /** What would not go with its namespace. */
  clean?(scene: Scene): Promise<unknown>
}

export interface StoryNode {
  readonly name: string
  readonly labels?: Readonly<Record<string, string>>
  readonly spec?: object
  readonly status?: object
}

/** An object as a story looks at it. */
export interface Seen extends KubeObject {
  readonly metadata: ObjectMeta & {
    readonly name: string
    readonly labels: Readonly<Record<string, string>>
    readonly annotations: Readonly<Record<string, string>>
  }
  // biome-ignore lint/suspicious/noExplicitAny: stories look at a few fields of objects of every kind
  readonly spec: any
  // biome-ignore lint/suspicious/noExplicitAny: as above
  readonly status: any
  // biome-ignore lint/suspicious/noExplicitAny: as above
  readonly rules?: any
}

export interface Condition {
  readonly type: string
  readonly status: string
  readonly reason?: string
  readonly message?: string
}

/** As many as a story expects; it ends with an error where there are fewer. */
export type Several<T> = readonly [T, T, T, T, T, T, ...T[]]

/** Objects are of the story's namespace, or of the cluster; their resource is named in the plural. */
export interface Scene {
  readonly ns: string
  api(resource: string, namespace?: string): ResourceClient
  pause(ms: number): Promise<void>
  /** RFC 3339, in seconds. */
  now(): string
  create(resource: string, object: object): Promise<Seen>
  get(resource: string, name: string): Promise<Seen>
  list(resource: string, options?: ListOptions): Promise<Several<Seen>>
  /** A merge patch. */
  patch(resource: string, name: string, body: object, subresource?: string): Promise<Seen>
  del(resource: string, name: string, options?: ClientDeleteOptions): Promise<unknown>
  status(resource: string, name: string, status: object): Promise<Seen>
  raw(method: string, path: string, body?: object): Promise<{ readonly status: number; readonly body: string }>
  /** What did not come is told of, and the story goes on. */
  until<T>(what: string, look: () => Promise<T | undefined | false>, ms?: number): Promise<T | undefined>
  untilObj(resource: string, name: string, holds: (object: Seen) => unknown, ms?: number): Promise<unknown>
  /** So many pods of which that holds, by their index in a Job and by name. */
  untilPods(count: number, holds?: (pod: Seen) => unknown, ms?: number): Promise<Several<Seen>>
  gone(resource: string, name: string, ms?: number): Promise<unknown>
  /** The user says what a kubelet would: of pods on the node `idle`. */
  running(pod: { readonly metadata: { readonly name: string } }, how?: PodRuns): Promise<Seen>
  ended(
    pod: { readonly metadata: { readonly name: string } },
    code: number,
    conditions?: readonly object[],
    reason?: string,
  ): Promise<Seen>
  /** Resolves when all that were added are ready. */
  addNodes(nodes: readonly (string | StoryNode)[]): Promise<void>
  /** What the user was answered, where that is compared too. */
  note(text: string): void
}

export interface PodRuns {
  readonly ip?: string
  readonly restarts?: number
}
