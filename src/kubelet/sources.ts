/**
 * Where a kubelet learns of its Node and of its pods: by two watches of its own, as every real one, or, where one process has
 * many simulated nodes, by two watches for all of them, from which each is told what is its own.
 */
import type { Node } from '../api/generated/types.ts'
import type { Runtime } from '../base/runtime.ts'
import type { Client } from '../client/client.ts'
import { createInformerFactory, type EventHandlers } from '../client/informer.ts'
import { type Pod, specOf } from './pod.ts'

export interface Source<T> {
  /** What is there comes first. Returns the way to end it. */
  addHandlers(handlers: EventHandlers<T>): () => void
}

export interface KubeletSources {
  readonly node: Source<Node>
  readonly pods: Source<Pod>
  /** Resolves when the handlers have been told of everything there is. @throws the signal's reason */
  start(): Promise<void>
}

const PODS = { group: '', version: 'v1', resource: 'pods' }
const NODES = { group: '', version: 'v1', resource: 'nodes' }

export function ownSources(runtime: Runtime, client: Client, nodeName: string, signal: AbortSignal): KubeletSources {
  const informers = createInformerFactory(runtime, client, signal)
  const node = informers.informer<Node>(NODES, { fieldSelector: `metadata.name=${nodeName}` })
  return {
    node,
    // Asked for when the node is registered, and not before.
    pods: {
      addHandlers: (handlers) =>
        informers.informer<Pod>(PODS, { fieldSelector: `spec.nodeName=${nodeName}` }).addHandlers(handlers),
    },
    async start() {
      informers.start()
      await informers.whenSynced(signal)
    },
  }
}

/** `client` may read all nodes and pods. Gives each node's sources, one kubelet for each name. */
export function sharedSources(
  runtime: Runtime,
  client: Client,
  signal: AbortSignal,
): (nodeName: string) => KubeletSources {
  const informers = createInformerFactory(runtime, client, signal)
  const nodes = createPlaces<Node>(({ metadata }) => metadata.name ?? '')
  const pods = createPlaces<Pod>((pod) => specOf(pod).nodeName ?? '')
  informers.informer<Node>(NODES).addHandlers(nodes.handlers)
  informers.informer<Pod>(PODS).addHandlers(pods.handlers)
  let synced: Promise<void> | undefined
  return (nodeName) => ({
    node: nodes.at(nodeName),
    pods: pods.at(nodeName),
    start() {
      if (synced === undefined) {
        informers.start()
        synced = informers.whenSynced(signal)
      }
      return synced
    },
  })
}

const uidOf = ({ metadata }: Node | Pod): string => metadata.uid ?? ''

interface Place<T> {
  /** By uid. */
  readonly objects: Map<string, T>
  handlers: EventHandlers<T> | undefined
}

/** Tells each place what is there; '' is none. What is there before its handlers are is kept, and told them first. */
function createPlaces<T extends Node | Pod>(placeOf: (object: T) => string) {
  const places = new Map<string, Place<T>>()
  const at = (name: string): Place<T> => {
    let place = places.get(name)
    if (place === undefined) {
      place = { objects: new Map(), handlers: undefined }
      places.set(name, place)
    }
    return place
  }

  function put(object: T, initial: boolean): void {
    const name = placeOf(object)
    if (name === '') return
    const { objects, handlers } = at(name)
    const old = objects.get(uidOf(object))
    objects.set(uidOf(object), object)
    if (old === undefined) handlers?.added?.(object, initial)
    else handlers?.updated?.(old, object)
  }

  function remove(object: T): void {
    const name = placeOf(object)
    const place = places.get(name)
    if (place === undefined || !place.objects.delete(uidOf(object))) return
    place.handlers?.deleted?.(object)
    if (place.objects.size === 0 && place.handlers === undefined) places.delete(name)
  }

  const handlers: EventHandlers<T> = {
    added: put,
    updated(old, object) {
      // A list that missed a deletion gives another object of that name, which may be at another place.
      if (uidOf(old) !== uidOf(object)) remove(old)
      put(object, false)
    },
    deleted: remove,
  }
  return {
    handlers,
    at: (name: string): Source<T> => ({
      addHandlers(own) {
        const place = at(name)
        place.handlers = own
        for (const object of place.objects.values()) own.added?.(object, true)
        return () => {
          place.handlers = undefined
        }
      },
    }),
  }
}
