/** A cluster in this process and a page's server that asks it over HTTPS, as a kubeconfig says; what a browser's session sends it. */
import { liveRuntime } from '../../src/base/live-runtime.ts'
import { kubeconfigTransport } from '../../src/client/kubeconfig-transport.ts'
import { startCluster } from '../../src/cluster/cluster.ts'
import type { Cluster } from '../../src/cluster/cluster-options.ts'
import type { ClusterOptions } from '../../src/cluster/index.ts'
import type { SceneChange, SceneObject } from '../../src/ui/protocol.ts'
import { startUi, type Ui } from '../../src/ui/server.ts'

// biome-ignore lint/suspicious/noExplicitAny: tests look into whatever came
type Any = any

export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  readonly json: Any
}

export interface Visitor {
  readonly cookie: string
  readonly csrf: string
  ask(path: string, init?: RequestInit): Promise<Answer>
  post(path: string, body: unknown): Promise<Answer>
  /** The kinds of a namespace that are told not to be seen. */
  unseen(namespace: string): Promise<readonly string[]>
  /** Follows a namespace until what it shows is as wanted. */
  until(
    namespace: string,
    wanted: (objects: ReadonlyMap<string, SceneObject>) => boolean,
  ): Promise<readonly SceneObject[]>
}

export interface Stage extends Served {
  readonly cluster: Cluster
}

export interface Served {
  readonly ui: Ui
  readonly origin: string
  /** The address of the page, without a slash at its end: paths of questions follow. */
  readonly base: string
  /** `VERB path` of all that the cluster was asked, with its query. */
  readonly asked: readonly string[]
  visit(): Promise<Visitor>
  stop(): Promise<void>
}

export async function startStage(options: ClusterOptions = {}): Promise<Stage> {
  const cluster = await startCluster({ storage: 'memory', nodes: 2, ...options })
  const served = await serve(cluster.kubeconfigFile)
  return {
    cluster,
    ...served,
    async stop() {
      await served.stop()
      await cluster.stop()
    },
  }
}

/** The page's server, which asks with this kubeconfig. */
export async function serve(kubeconfig: string): Promise<Served> {
  const runtime = liveRuntime({ log: { write: () => {} } })
  const { transport } = kubeconfigTransport(runtime, kubeconfig)
  const asked: string[] = []
  const noting: typeof transport = {
    ...transport,
    send(request, begins) {
      asked.push(`${request.method} ${request.path}?${request.query}`)
      return transport.send(request, begins)
    },
  }
  const ui = await startUi({ runtime, transport: noting, namespace: 'default', version: 'test', port: 0 })
  const origin = `http://127.0.0.1:${ui.port}`
  const base = new URL('.', ui.newLink()).href.slice(0, -1)
  return {
    ui,
    origin,
    base,
    asked,
    visit: () => visit(ui, base),
    async stop() {
      await ui.stop()
      transport.close()
    },
  }
}

async function answerOf(response: Response): Promise<Answer> {
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.startsWith('application/json') === true
  return { status: response.status, headers: response.headers, text, json: isJson ? JSON.parse(text) : undefined }
}

async function visit(ui: Ui, base: string): Promise<Visitor> {
  const first = await fetch(ui.newLink())
  const cookie = (first.headers.get('set-cookie') ?? '').split(';')[0] ?? ''
  const { csrf } = (await (await fetch(`${base}/api/session`, { headers: { cookie } })).json()) as { csrf: string }
  const ask = async (path: string, init: RequestInit = {}) =>
    answerOf(await fetch(`${base}${path}`, { ...init, headers: { cookie, 'x-skiff-csrf': csrf, ...init.headers } }))
  return {
    cookie,
    csrf,
    ask,
    post: (path, body) =>
      ask(path, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
    async until(namespace, wanted) {
      const objects = new Map<string, SceneObject>()
      return follow(namespace, ({ put, gone, partial }) => {
        for (const object of put) objects.set(object.uid, object)
        for (const uid of gone) objects.delete(uid)
        return !partial && wanted(objects) ? [...objects.values()] : undefined
      })
    },
    unseen: (namespace) => follow(namespace, ({ unseen }) => unseen?.map(({ kind }) => kind)),
  }

  async function follow<T>(namespace: string, take: (change: SceneChange) => T | undefined): Promise<T> {
    const stop = new AbortController()
    const path = `${base}/api/watch?namespace=${namespace}`
    const response = await fetch(path, { headers: { cookie }, signal: stop.signal })
    try {
      for await (const change of changesOf(response)) {
        const taken = take(change)
        if (taken !== undefined) return taken
      }
    } finally {
      stop.abort()
    }
    throw new Error('the stream ended')
  }
}

async function* changesOf({ body }: Response): AsyncGenerator<SceneChange> {
  let rest = ''
  const decoder = new TextDecoder()
  for await (const chunk of body as AsyncIterable<Uint8Array>) {
    const events = (rest + decoder.decode(chunk, { stream: true })).split('\n\n')
    rest = events.pop() ?? ''
    for (const event of events) if (event.startsWith('data: ')) yield JSON.parse(event.slice(6))
  }
}
