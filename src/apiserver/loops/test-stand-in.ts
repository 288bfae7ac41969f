/** An API server for tests of one loop: objects by their paths, what was written in order, and refusals when a test asks for them. */
import { type KubeObject, parseApiVersion } from '../../api/object.ts'
import type { ApiRequest, Handler } from '../../api/request.ts'
import { alreadyExists, notFound, type StatusError } from '../../api/status.ts'
import { simulatedRuntime } from '../../base/simulated-runtime.ts'
import type { Change } from '../cache/event-log.ts'
import type { LoopOptions } from './settling.ts'

interface Written {
  /** `METHOD path`, with the field manager behind it where one is named. */
  readonly what: string
  readonly object: KubeObject | undefined
}

/** For loops that look at all there is after any change. */
const SOME_CHANGE: Change = {
  key: '',
  revision: 0,
  entry: undefined,
  previous: undefined,
  time: 0,
  event: () => {
    throw new Error('the change itself is not to be looked at')
  },
  forgetEvents: () => {},
}

export function startStandIn() {
  const runtime = simulatedRuntime(1)
  const objects = new Map<string, KubeObject>()
  const written: Written[] = []
  const refusals = new Map<string, StatusError>()
  const listeners = new Set<() => void>()
  const stopping = new AbortController()
  const failures: string[] = []
  const { clock, random, scheduler } = runtime
  const log = { ...runtime.log, error: (message: string) => void failures.push(message) }

  const pathOf = ({ group, resource, namespace, name }: Place) => {
    const base = group === '' ? '/api/v1' : `/apis/${group}/v1`
    return `${base}${namespace === '' ? '' : `/namespaces/${namespace}`}/${resource}/${name}`
  }
  const changed = () => {
    for (const listener of listeners) listener()
  }

  const handler: Handler = async ({ method, path, query, body }: ApiRequest) => {
    const object = body?.kind === 'object' ? body.object : undefined
    const manager = query.get('fieldManager')
    const what = `${method} ${path}${manager === null ? '' : ` ${manager}`}`
    const at = path.replace(/\/status$/, '')
    if (method !== 'GET') written.push({ what, object })
    const refusal = refusals.get(what)
    refusals.delete(what)
    if (refusal !== undefined) throw refusal
    const resource = { group: '', resource: 'things' }
    if (method === 'POST') {
      const made = `${at}/${object?.metadata.name}`
      if (objects.has(made)) throw alreadyExists(resource, made)
      objects.set(made, object as KubeObject)
    } else {
      const present = objects.get(at)
      if (present === undefined) throw notFound(resource, at)
      if (method === 'DELETE') objects.delete(at)
      else if (method === 'PUT') objects.set(at, object as KubeObject)
      else if (method === 'PATCH') objects.set(at, { ...present, ...object, metadata: present.metadata })
    }
    if (method !== 'GET') changed()
    return { kind: 'object', status: 200, object: objects.get(at) ?? (object as KubeObject) }
  }

  const get = <T extends KubeObject>(group: string, resource: string, namespace: string, name: string) =>
    objects.get(pathOf({ group, resource, namespace, name })) as T | undefined
  const options: LoopOptions = {
    runtime: { clock, machineClock: clock, random, scheduler, log },
    handler,
    reads: {
      get,
      list: <T extends KubeObject>(group: string, resource: string) =>
        [...objects.entries()].flatMap(([path, object]) =>
          parseApiVersion(object.apiVersion).group === group && path.split('/').at(-2) === resource
            ? (object as T)
            : [],
        ),
      getLive: async <T extends KubeObject>(group: string, resource: string, namespace: string, name: string) =>
        get<T>(group, resource, namespace, name),
    },
    follow: (_, listener) => {
      const tell = () => listener(SOME_CHANGE)
      listeners.add(tell)
      return () => listeners.delete(tell)
    },
    signal: stopping.signal,
  }
  return {
    runtime,
    options,
    written,
    /** What the loop logged as errors. */
    failures,
    /** Puts an object there, or another in its place, as a user would. */
    put(resource: string, object: KubeObject) {
      const { namespace = '', name = '' } = object.metadata
      objects.set(pathOf({ group: parseApiVersion(object.apiVersion).group, resource, namespace, name }), object)
      changed()
    },
    remove(group: string, resource: string, namespace: string, name: string) {
      objects.delete(pathOf({ group, resource, namespace, name }))
      changed()
    },
    get,
    /** The next write of these words fails so, undone. */
    refuse: (what: string, error: StatusError) => refusals.set(what, error),
    /** What was written since it was last asked. */
    taken: () => written.splice(0).map(({ what }) => what),
    stop: () => stopping.abort(),
  }
}

interface Place {
  readonly group: string
  readonly resource: string
  readonly namespace: string
  readonly name: string
}
