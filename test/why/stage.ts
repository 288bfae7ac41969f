/** A cluster in a process of its own, what cases of `why` are set up with, and `why` asked about them. */
import { readFileSync } from 'node:fs'
import { type StartedCluster, startSkiff } from '../../conformance/server.ts'
import { type Fields, type KubeObject, parseApiVersion } from '../../src/api/object.ts'
import type { StatusError } from '../../src/api/status.ts'
import { formatMicroTime, formatTime } from '../../src/base/clock.ts'
import { liveRuntime } from '../../src/base/live-runtime.ts'
import type { Client, ResourceClient } from '../../src/client/client.ts'
import { httpsTransport } from '../../src/client/https-transport.ts'
import { endpointFromKubeconfig } from '../../src/client/read-kubeconfig.ts'
import { createClient, type Transport } from '../../src/client/transport.ts'
import { askWhy } from '../../src/inspect/why/ask.ts'
import type { SurveyedPlace } from '../../src/inspect/why/survey-of-deletions.ts'

export interface Asked {
  /** An Explanation as JSON. */
  readonly said: Fields
  readonly exitCode: number
}

export interface AskOptions {
  readonly dryRun?: boolean
  /** So much later, in milliseconds; less than a minute. */
  readonly later?: number
  /** Where a question without a name looks. */
  readonly place?: SurveyedPlace
  /** Another user's bearer token. */
  readonly token?: string
  /** What the server says instead, of what is asked at a path. */
  readonly instead?: (path: string) => StatusError | undefined
  /** A server of another make, or version, that stands before this one. */
  readonly through?: (server: Transport['send']) => Transport['send']
}

export interface Stage {
  readonly cluster: StartedCluster
  readonly client: Client
  /** The client of an object's resource, in its namespace. */
  of(object: KubeObject | Fields): ResourceClient
  make(...objects: readonly Fields[]): Promise<readonly KubeObject[]>
  /** Makes the namespace and waits until it can be used. */
  namespace(name: string, metadata?: Fields): Promise<string>
  status(object: Fields, status: Fields): Promise<void>
  remove(object: Fields, options?: Fields): Promise<void>
  /** Waits until the object is as asked; undefined: that it is gone. */
  until(object: Fields, wanted: ((object: KubeObject) => boolean) | undefined): Promise<void>
  /** The same of any object of that kind in that namespace. */
  untilAny(like: Fields, wanted: (object: KubeObject) => boolean): Promise<void>
  why(kind: string, name: string, namespace?: string, options?: AskOptions): Promise<Asked>
  survey(options?: AskOptions): Promise<Asked>
  stop(): Promise<void>
}

const IRREGULAR: Readonly<Record<string, string>> = {
  Ingress: 'ingresses',
  NetworkPolicy: 'networkpolicies',
  ValidatingAdmissionPolicy: 'validatingadmissionpolicies',
  MutatingAdmissionPolicy: 'mutatingadmissionpolicies',
  StorageClass: 'storageclasses',
}
const CLUSTER_WIDE = new Set([
  ...['Namespace', 'Node', 'PersistentVolume', 'VolumeAttachment', 'CSINode', 'CustomResourceDefinition', 'APIService'],
  ...['ClusterRole', 'ClusterRoleBinding', 'ValidatingWebhookConfiguration', 'MutatingWebhookConfiguration'],
  ...['ValidatingAdmissionPolicy', 'ValidatingAdmissionPolicyBinding'],
  ...['MutatingAdmissionPolicy', 'MutatingAdmissionPolicyBinding'],
])

/** Another cluster to set the cases up on, by hand: a kubeconfig. Its first node stands in where a pod is to run. */
const OTHER = process.env['WHY_KUBECONFIG']

export async function startStage(...args: readonly string[]): Promise<Stage> {
  const cluster =
    OTHER === undefined ? await startSkiff(args) : { dataDir: '', kubeconfig: OTHER, stop: async () => {} }
  const endpoint = endpointFromKubeconfig(readFileSync(cluster.kubeconfig, 'utf8'), (path) =>
    readFileSync(path, 'utf8'),
  )
  return stageOn(cluster, endpoint)
}

function stageOn(cluster: StartedCluster, endpoint: Parameters<typeof httpsTransport>[0]): Stage {
  const runtime = liveRuntime()
  const transport = httpsTransport(endpoint)
  const client = createClient(runtime, transport, { userAgent: 'stage' })

  const of: Stage['of'] = (object) => {
    const { group, version } = parseApiVersion(object['apiVersion'])
    const kind: string = object['kind']
    const resource = IRREGULAR[kind] ?? `${kind.toLowerCase()}s`
    const all = client.resource({ group, version, resource })
    return CLUSTER_WIDE.has(kind) ? all : all.namespace(object['metadata'].namespace ?? 'default')
  }
  const untilAny: Stage['untilAny'] = async (like, wanted) => {
    const stop = new AbortController()
    const timer = runtime.clock.setTimer(30_000, 'until', () => stop.abort())
    try {
      const list = await of(like).list()
      if (list.items.some(wanted)) return
      const events = await of(like).watch({ resourceVersion: list.metadata.resourceVersion }, stop.signal)
      for (let event = await events.next(); event !== undefined; event = await events.next())
        if (wanted(event.object)) return
      throw new Error(`no ${like['kind']} became as wanted`)
    } finally {
      timer.cancel()
      stop.abort()
    }
  }
  const until: Stage['until'] = async (object, wanted) => {
    const stop = new AbortController()
    const timer = runtime.clock.setTimer(30_000, 'until', () => stop.abort())
    const resource = of(object)
    const { name } = object['metadata']
    const fieldSelector = `metadata.name=${name}`
    try {
      const list = await resource.list({ fieldSelector })
      const now = list.items[0]
      if (wanted === undefined ? now === undefined : now !== undefined && wanted(now)) return
      const events = await resource.watch(
        { fieldSelector, resourceVersion: list.metadata.resourceVersion },
        stop.signal,
      )
      let last = JSON.stringify(now)
      for (let event = await events.next(); event !== undefined; event = await events.next()) {
        last = `${event.type} ${JSON.stringify(event.object)}`
        if (wanted === undefined ? event.type === 'DELETED' : event.type !== 'DELETED' && wanted(event.object)) return
      }
      throw new Error(`${object['kind']}/${name} did not become as wanted: ${last}`)
    } finally {
      timer.cancel()
      stop.abort()
    }
  }
  const ask = async (
    target: { kind: string; name: string; namespace: string } | undefined,
    { dryRun = true, later = 0, token, instead, place, through = (server) => server }: AskOptions = {},
  ): Promise<Asked> => {
    const { server, ca = '' } = endpoint
    const asking = token === undefined ? transport : httpsTransport({ server, ca, token })
    const altered: Transport = {
      ...asking,
      async send(request) {
        const error = instead?.(request.path)
        if (error !== undefined) throw error
        return through((one) => asking.send(one))(request)
      },
    }
    const clock = { ...runtime.clock, now: () => runtime.clock.now() + later }
    try {
      const { text, exitCode } = await askWhy(
        {
          clock,
          transport: altered,
          userAgent: 'skiff why',
          dryRun,
          output: 'json',
          ...(place === undefined ? {} : { place }),
        },
        target,
      )
      return { said: JSON.parse(text), exitCode }
    } finally {
      if (asking !== transport) asking.close()
    }
  }

  return {
    cluster,
    client,
    of,
    until,
    untilAny,
    async make(...objects) {
      const made: KubeObject[] = []
      for (const object of objects) {
        const { status, ...rest } = object
        const one = await of(object).create(rest as KubeObject)
        if (status !== undefined) await this.status(object, status)
        made.push(one)
      }
      return made
    },
    async namespace(name, metadata = {}) {
      await this.make({ apiVersion: 'v1', kind: 'Namespace', metadata: { name, ...metadata } })
      await until(
        { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default', namespace: name } },
        () => true,
      )
      return name
    },
    async status(object, status) {
      await of(object).patch(object['metadata'].name, 'merge', { status } as never, { subresource: 'status' })
    },
    async remove(object, options) {
      await of(object).delete(object['metadata'].name, options)
    },
    why: (kind, name, namespace = 'default', options) => ask({ kind, name, namespace }, options),
    survey: (options) => ask(undefined, options),
    async stop() {
      transport.close()
      await cluster.stop()
    },
  }
}

// What cases are made of.

export const configMap = (namespace: string, name: string, metadata: Fields = {}): Fields => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace, ...metadata },
  data: { k: 'v' },
})

export const pod = (namespace: string, name: string, spec: Fields = {}, metadata: Fields = {}): Fields => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace, ...metadata },
  spec: { containers: [{ name: 'main', image: 'busybox' }], ...spec },
})

/** A definition of a kind in a group; `spec` is added to its own. */
export function definition(group: string, kind: string, spec: Fields = {}): Fields {
  const plural = `${kind.toLowerCase()}s`
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: {
      name: `${plural}.${group}`,
      // Groups like Kubernetes' own must be approved.
      ...(group.endsWith('.k8s.io') ? { annotations: { 'api-approved.kubernetes.io': 'unapproved, a test' } } : {}),
    },
    spec: {
      group,
      names: { kind, plural, singular: kind.toLowerCase() },
      scope: 'Namespaced',
      versions: [version('v1', true)],
      ...spec,
    },
  }
}

export const version = (name: string, storage: boolean): Fields => ({
  name,
  served: true,
  storage,
  subresources: { status: {} },
  schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
})

export async function define(stage: Stage, group: string, kind: string, spec: Fields = {}): Promise<Fields> {
  const object = definition(group, kind, spec)
  await stage.make(object)
  await stage.until(
    object,
    ({ status }) =>
      (status?.conditions as readonly Fields[] | undefined)?.some(
        ({ type, status: is }) => type === 'Established' && is === 'True',
      ) === true,
  )
  return object
}

/** An operator that runs in its own namespace: account, roles, and a Deployment whose pods are ready. */
export async function operator(stage: Stage, name: string, group: string, more: Fields = {}): Promise<string> {
  const namespace = await stage.namespace(`${name}-system`)
  const deployment = workload(namespace, name)
  await stage.make(
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name, namespace } },
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRole',
      metadata: { name },
      rules: [{ apiGroups: [group], resources: ['*'], verbs: ['*'] }],
    },
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRoleBinding',
      metadata: { name },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
      subjects: [{ kind: 'ServiceAccount', name, namespace }],
    },
    { ...deployment, spec: { ...deployment['spec'], ...more } },
  )
  if (more['replicas'] !== 0) await stage.until(deployment, ({ status }) => (status?.readyReplicas ?? 0) > 0)
  return namespace
}

export const workload = (namespace: string, name: string): Fields => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name, namespace },
  spec: {
    selector: { matchLabels: { app: name } },
    template: {
      metadata: { labels: { app: name } },
      spec: { serviceAccountName: name, containers: [{ name: 'main', image: `registry.test/${name}:v1` }] },
    },
  },
})

/** A node whose kubelet is a stand-in: it says nothing more than what is written here. */
export async function node(stage: Stage, name: string, isReady: boolean): Promise<Fields> {
  const at = Date.now() + (isReady ? 45_000 : -600_000)
  const object = { apiVersion: 'v1', kind: 'Node', metadata: { name } }
  await stage.make(object)
  const lease = {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name, namespace: 'kube-node-lease' },
    spec: { holderIdentity: name, leaseDurationSeconds: 40, renewTime: formatMicroTime(at) },
  }
  // Where other stand-ins of kubelets are, they have made one already.
  await stage.make(lease).catch(() => stage.of(lease).patch(name, 'merge', { spec: lease.spec }))
  const condition = {
    type: 'Ready',
    status: isReady ? 'True' : 'Unknown',
    reason: isReady ? 'KubeletReady' : 'NodeStatusUnknown',
    message: isReady ? 'kubelet is posting ready status' : 'Kubelet stopped posting node status.',
    lastHeartbeatTime: formatTime(at),
    lastTransitionTime: formatTime(at),
  }
  await stage.status(object, { conditions: [condition] })
  return object
}

/** A pod that runs on such a node, as its kubelet would have said. */
export async function runningPod(
  stage: Stage,
  namespace: string,
  name: string,
  nodeName: string,
  more: Fields = {},
): Promise<Fields> {
  const object = pod(namespace, name, { nodeName, ...more['spec'] }, more['metadata'])
  await stage.make(object)
  await stage.status(object, {
    phase: 'Running',
    containerStatuses: [
      {
        name: 'main',
        image: 'busybox',
        imageID: '',
        ready: true,
        restartCount: 0,
        state: { running: {} },
        lastState: {},
      },
    ],
  })
  return object
}

/** An Event about an object, of now. */
export async function warn(
  stage: Stage,
  about: Fields,
  reason: string,
  message: string,
  component = 'kubelet',
  ago = 0,
) {
  const { apiVersion, kind, metadata } = about
  const found = await stage.of(about).get(metadata.name)
  const at = formatTime(Date.now() - ago)
  await stage.make({
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { generateName: `${metadata.name}.`, namespace: metadata.namespace ?? 'default' },
    involvedObject: { apiVersion, kind, name: metadata.name, namespace: metadata.namespace, uid: found.metadata.uid },
    type: 'Warning',
    reason,
    message,
    source: { component },
    firstTimestamp: at,
    lastTimestamp: at,
    count: 1,
  })
}
