/**
 * A part of a cluster as it is now, kept by watches: what is in a namespace (or everywhere), its Namespace and the nodes. Those that show
 * it are told of each change, and what was seen of ends is kept, so that they can be told as a timeline where the cluster keeps no journal.
 */
import type { KubeObject } from '../api/object.ts'
import { isExpired, StatusError } from '../api/status.ts'
import { messageOf } from '../base/errors.ts'
import type { Runtime } from '../base/runtime.ts'
import type { NamedResource } from '../client/aggregated-discovery.ts'
import type { Client, ListOptions, ResourceClient } from '../client/client.ts'
import { runReflector } from '../client/reflector.ts'
import type { Kinds } from '../inspect/kinds.ts'
import type { SeenState } from '../inspect/timeline/seen.ts'
import { isRestless, seenStateOf } from '../inspect/timeline/watch.ts'
import type { SceneObject } from './protocol.ts'
import { isReadWhole, sceneObject } from './scene-object.ts'

export interface Scene {
  readonly objects: ReadonlyMap<string, SceneObject>
  /** States in which something that holds an object had changed. */
  readonly states: readonly SeenState[]
  /** Why kinds cannot be shown. */
  readonly unseen: ReadonlyMap<string, string>
  /** `changed` hears the uids of objects that are new, have changed or have gone, or undefined of what is not seen. Returns its end. */
  subscribe(changed: (uid: string | undefined) => void): () => void
  stop(): void
}

export interface SceneOptions {
  readonly runtime: Runtime
  readonly client: Client
  /** What is served now. */
  readonly readKinds: () => Promise<Kinds>
  /** '': all. */
  readonly namespace: string
}

/** Of ends that were seen so much is kept; the oldest is forgotten first. */
const MOST_STATES = 50_000
/** A definition and what serves it come one after the other. */
const REDISCOVER_MS = 500
const FIRST_ANSWERS_MS = 3_000

const nameOf = ({ group, resource }: NamedResource) => (group === '' ? resource : `${resource}.${group}`)

/** Resolves when each kind has been answered, or has had its time. @throws Error when the cluster cannot be asked what it serves */
export async function openScene({ runtime, client, readKinds, namespace }: SceneOptions): Promise<Scene> {
  const objects = new Map<string, SceneObject>()
  const latest = new Map<string, SeenState>()
  const unseen = new Map<string, string>()
  const unanswered = new Set<string>()
  const listeners = new Set<(uid: string | undefined) => void>()
  const watched = new Map<string, AbortController>()
  const stopped = new AbortController()
  let states: SeenState[] = []
  let looksAgain = false

  const tell = (uid: string | undefined) => {
    for (const listener of listeners) listener(uid)
  }

  function note(resource: NamedResource, why: string | undefined): void {
    const name = nameOf(resource)
    if (!unanswered.delete(name) && unseen.get(name) === why) return
    if (why === undefined) unseen.delete(name)
    else unseen.set(name, why)
    tell(undefined)
  }

  function keep(state: SeenState): void {
    const before = latest.get(state.object.uid)
    if (state.type === 'DELETED') latest.delete(state.object.uid)
    else latest.set(state.object.uid, state)
    const isNews = state.type !== 'MODIFIED' || JSON.stringify(before?.holds) !== JSON.stringify(state.holds)
    if (!isNews) return
    states.push(state)
    if (states.length > MOST_STATES * 1.2) states = thinned(states)
  }

  function see(type: SeenState['type'], resource: NamedResource, object: KubeObject): void {
    const { uid = '' } = object.metadata
    keep(seenStateOf(type, resource, object, runtime.clock.now()))
    if (type === 'DELETED') objects.delete(uid)
    else objects.set(uid, sceneObject(resource, object))
    tell(uid)
    if (nameOf(resource) === DEFINITIONS) void lookAgain()
  }

  /** `revision`: of the list that does not have them; absent where their kind is no longer served. */
  function leave(
    resource: Pick<NamedResource, 'group' | 'resource'>,
    stays: ReadonlySet<string | undefined>,
    revision?: number,
  ): void {
    for (const object of [...objects.values()]) {
      if (object.group !== resource.group || object.resource !== resource.resource || stays.has(object.uid)) continue
      const before = latest.get(object.uid)
      if (before !== undefined)
        keep({ ...before, type: 'DELETED', revision: revision ?? before.revision, time: runtime.clock.now() })
      objects.delete(object.uid)
      tell(object.uid)
    }
  }

  function watch(resource: NamedResource): void {
    const stop = new AbortController()
    watched.set(nameOf(resource), stop)
    unanswered.add(nameOf(resource))
    tell(undefined)
    const isSpace = nameOf(resource) === 'namespaces'
    const options: ListOptions = {
      ...(isReadWhole(resource) ? {} : { metadataOnly: true }),
      ...(isSpace && namespace !== '' ? { fieldSelector: `metadata.name=${namespace}` } : {}),
    }
    const all = client.resource(resource)
    const within = resource.namespaced && namespace !== '' ? all.namespace(namespace) : all
    const sink = {
      replace(items: readonly KubeObject[], resourceVersion: string) {
        if (stop.signal.aborted) return
        note(resource, undefined)
        for (const item of items)
          if (latest.get(item.metadata.uid ?? '')?.revision !== Number(item.metadata.resourceVersion))
            see(latest.has(item.metadata.uid ?? '') ? 'MODIFIED' : 'ADDED', resource, item)
        leave(resource, new Set(items.map(({ metadata }) => metadata.uid)), Number(resourceVersion))
      },
      apply: ({ type, object }: { readonly type: SeenState['type']; readonly object: KubeObject }) =>
        see(type, resource, object),
      bookmark() {},
    }
    const signal = AbortSignal.any([stop.signal, stopped.signal])
    void runReflector(
      runtime,
      noting(within, (why) => note(resource, why)),
      options,
      sink,
      signal,
    )
  }

  const isWanted = (one: NamedResource) =>
    one.verbs.includes('list') &&
    one.verbs.includes('watch') &&
    !isRestless(one) &&
    (namespace === '' || one.namespaced || ALWAYS.has(nameOf(one)))

  function follow(resources: readonly NamedResource[]): void {
    const wanted = new Map(resources.filter(isWanted).map((one) => [nameOf(one), one]))
    for (const [name, resource] of wanted) if (!watched.has(name)) watch(resource)
    for (const [name, stop] of [...watched]) {
      if (wanted.has(name)) continue
      stop.abort()
      watched.delete(name)
      unseen.delete(name)
      unanswered.delete(name)
      const at = name.indexOf('.')
      const [resource, group] = at < 0 ? [name, ''] : [name.slice(0, at), name.slice(at + 1)]
      leave({ group, resource }, new Set())
      tell(undefined)
    }
  }

  async function lookAgain(): Promise<void> {
    if (looksAgain || stopped.signal.aborted) return
    looksAgain = true
    await new Promise<void>((resolve) => runtime.clock.setTimer(REDISCOVER_MS, 'ui kinds', resolve))
    looksAgain = false
    if (stopped.signal.aborted) return
    try {
      follow((await readKinds()).resources)
    } catch (error) {
      runtime.log.info(2, 'kinds could not be read again', { err: messageOf(error) })
    }
  }

  follow((await readKinds()).resources)
  await new Promise<void>((resolve) => {
    const listener = () => {
      if (unanswered.size > 0) return
      listeners.delete(listener)
      timer.cancel()
      resolve()
    }
    const timer = runtime.clock.setTimer(FIRST_ANSWERS_MS, 'ui first answers', () => {
      listeners.delete(listener)
      resolve()
    })
    listeners.add(listener)
    listener()
  })
  return {
    objects,
    get states() {
      return states
    },
    unseen,
    subscribe(changed) {
      listeners.add(changed)
      return () => listeners.delete(changed)
    },
    stop: () => stopped.abort(),
  }
}

const DEFINITIONS = 'customresourcedefinitions.apiextensions.k8s.io'
/** Watched with a namespace: what holds its pods, what holds it, and what may be in it. */
const ALWAYS: ReadonlySet<string> = new Set(['namespaces', 'nodes', DEFINITIONS])

/** What a list or a watch is refused with is told. */
function noting(
  client: ResourceClient,
  tell: (why: string | undefined) => void,
): Pick<ResourceClient, 'gvr' | 'list' | 'watch'> {
  const told = async <T>(ask: () => Promise<T>): Promise<T> => {
    try {
      const answer = await ask()
      tell(undefined)
      return answer
    } catch (error) {
      // Begun anew by a list at once.
      if (!isExpired(error)) tell(isForbidden(error) ? 'no right to list and watch it' : messageOf(error))
      throw error
    }
  }
  return {
    gvr: client.gvr,
    list: (options) => told(() => client.list(options)),
    watch: (options, signal) => told(() => client.watch(options, signal)),
  }
}

const isForbidden = (error: unknown) => error instanceof StatusError && error.code === 403

/** Without the oldest ends. */
function thinned(states: readonly SeenState[]): SeenState[] {
  const surplus = states.length - MOST_STATES
  const ended = states.filter(({ type }) => type === 'DELETED')
  const dropped = new Set<string>()
  let count = 0
  const perObject = new Map<string, number>()
  for (const { object } of states) perObject.set(object.uid, (perObject.get(object.uid) ?? 0) + 1)
  for (const { object } of ended) {
    if (count >= surplus) break
    dropped.add(object.uid)
    count += perObject.get(object.uid) ?? 0
  }
  return states.filter(({ object }) => !dropped.has(object.uid))
}
