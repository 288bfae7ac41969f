/** An API server for tests of the scheduler: a store for each resource, bindings that give pods their node, and what was written in order. */
import type { Binding, EventsV1Event, Pod } from '../api/generated/types.ts'
import type { KubeObject } from '../api/object.ts'
import type { ApiRequest, Handler } from '../api/request.ts'
import { notFound } from '../api/status.ts'
import { simulatedRuntime } from '../base/simulated-runtime.ts'
import { createFakeServer, type FakeServer } from '../client/fake-server.ts'
import { createInformerFactory } from '../client/informer.ts'
import { createClient, inProcessTransport } from '../client/transport.ts'
import type { SchedulerOptions } from './scheduler.ts'

export function startSchedulerStandIn(seed = 1) {
  const runtime = simulatedRuntime(seed)
  const stopping = new AbortController()
  const servers = new Map<string, FakeServer>()
  const written: ApiRequest[] = []
  const failures: { what: string; error: Error }[] = []
  const of = (resource: string): FakeServer => {
    const server = servers.get(resource) ?? createFakeServer()
    servers.set(resource, server)
    return server
  }

  const handler: Handler = async (request) => {
    const { method, path, body } = request
    const parts = path.split('/').slice(path.startsWith('/apis') ? 4 : 3)
    const [resource = '', name = '', subresource] =
      parts[0] === 'namespaces' && parts.length > 2 ? parts.slice(2) : parts
    if (method !== 'GET' && resource !== 'events') {
      written.push(request)
      const failing = failures.findIndex(({ what }) => what === `${method} ${path}`)
      if (failing >= 0) throw failures.splice(failing, 1)[0]?.error
    }
    if (subresource !== 'binding') return of(resource).handler(request)
    const key = `${parts[1]}/${name}`
    const pod = of('pods').get(key)
    const binding = body?.kind === 'object' ? body.object : undefined
    if (pod === undefined || binding === undefined) throw notFound({ group: '', resource }, name)
    of('pods').put({ ...pod, spec: { ...(pod as Pod).spec, nodeName: (binding as Binding).target.name } })
    return { kind: 'object', status: 201, object: { apiVersion: 'v1', kind: 'Status', metadata: {} } }
  }

  const identity = { user: { name: 'system:kube-scheduler', groups: [] }, userAgent: 'kube-scheduler' }
  const client = createClient(runtime, inProcessTransport(handler), identity)
  const options: SchedulerOptions = { runtime, client, signal: stopping.signal }
  return {
    runtime,
    client,
    options,
    /** Not started yet. */
    informers: createInformerFactory(runtime, client, stopping.signal),
    of,
    put: (resource: string, object: KubeObject) => of(resource).put(object),
    /** The next write of these words (`METHOD path`) fails so, undone. */
    fail: (what: string, error: Error) => void failures.push({ what, error }),
    /** What was written since it was last asked, without Events. */
    taken: () => written.splice(0),
    /** Messages of the Events there are, in the order in which they came. */
    events: () =>
      of('events').requests.flatMap(({ method, body }) =>
        method === 'POST' && body?.kind === 'object' ? [textOfEvent(body.object as EventsV1Event)] : [],
      ),
    stop: () => stopping.abort(),
  }
}

const textOfEvent = ({ reason, note }: EventsV1Event): string => `${reason}: ${note}`
