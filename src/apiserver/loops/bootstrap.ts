/**
 * loops: what an API server keeps doing by itself. This one makes what a fresh cluster contains: the system namespaces, RBAC
 * roles and bindings, priority classes, flow control's configuration, APIServices, the kubernetes Service. Called once the
 * server answers and before it is ready; at a later start it adds what is missing and restores what roles have lost
 * (API concept: RBAC auto-reconciliation; annotation rbac.authorization.kubernetes.io/autoupdate: "false" opts out).
 */

import type {
  APIService,
  ClusterRole,
  ConfigMap,
  FlowSchema,
  Namespace,
  ServiceCIDR,
} from '../../api/generated/types.ts'
import { type Fields, type KubeObject, parseApiVersion } from '../../api/object.ts'
import type { Handler } from '../../api/request.ts'
import type { Scheme } from '../../api/scheme/resource.ts'
import { isAlreadyExists, StatusError } from '../../api/status.ts'
import { formatTime, sleep } from '../../base/clock.ts'
import type { Runtime } from '../../base/runtime.ts'
import { loopbackOf } from '../loopback.ts'
import type { CacheReads } from '../reads.ts'
import { firstAddress, type ServiceNetwork } from '../registry/allocators/service-network.ts'
import freshCluster from './bootstrap.json' with { type: 'json' }
import { type SettlingLoop, startSettlingLoop } from './settling.ts'

export interface BootstrapOptions {
  readonly runtime: Runtime
  readonly handler: Handler
  readonly reads: CacheReads
  readonly scheme: Scheme
  /** Where the server listens: the kubernetes Service's target port. */
  readonly port: number
  /** The user that this server is to kubelets, where its certificate is the cluster's own: bound to what that takes. */
  readonly kubeletClient?: string
  /** Whether RBAC decides here: without it there are no roles and bindings to begin with. Default: yes. */
  readonly hasRoles?: boolean
  /** Of the kubernetes Service. */
  readonly network: ServiceNetwork
  /** The node port of that Service when it is made; one that is there keeps what it has. Default: it has none. */
  readonly nodePort?: number
  /** Objects beyond those of every cluster. */
  readonly more?: readonly KubeObject[]
  /** The authorities that extension servers are to trust: the data of their ConfigMap. Default: none of it. */
  readonly trust?: Readonly<Record<string, string>>
  /** How long a write is tried again that the store did not take, in milliseconds: one that others serve may be slow, or change its leader. Default: 0. */
  readonly patienceMs?: number
}

/** Writes the ConfigMap that tells extension API servers which certificates to trust (API concept: aggregation layer). */
const TRUST = 'extension-apiserver-authentication'
const TRUST_MS = 1000
const RETRY_MS = 500
const RBAC_GROUP = 'rbac.authorization.k8s.io'
const MANAGED = 'kube-aggregator.kubernetes.io/automanaged'
const TRUST_RETRY_MS = 30_000

/** @throws what a write failed with: a cluster without its roles must not become ready. */
export async function ensureBootstrapObjects(options: BootstrapOptions): Promise<void> {
  const writer = createBootstrapWriter(options)
  const objects = clusterObjects(options)
  const isNamespace = (object: Namespace) => object.kind === 'Namespace'
  // Everything else may live in one of the namespaces, and the Service needs its address range.
  const all = (these: readonly KubeObject[]) => Promise.all(these.map((object) => patiently(options, writer, object)))
  await all(objects.filter(isNamespace))
  await all(objects.filter((object) => !isNamespace(object)))
  await all(serverObjects(options))
  await removeUnserved(options, writer)
}

/** Of every cluster, as far as their kinds, and what they speak of, are served (--runtime-config). */
const clusterObjects = ({ network, scheme, hasRoles = true }: BootstrapOptions): readonly KubeObject[] =>
  (freshCluster as readonly KubeObject[])
    .filter(
      (object) => isServed(scheme, object) && (hasRoles || parseApiVersion(object.apiVersion).group !== RBAC_GROUP),
    )
    .map((object) => withNetwork(object, network))

function isServed(scheme: Scheme, object: KubeObject): boolean {
  const { group, version } = parseApiVersion(object.apiVersion)
  if (scheme.findKind(group, version, object.kind) === undefined) return false
  if (object.kind !== 'APIService') return true
  const { group: about = '', version: of = '' } = (object as APIService).spec ?? {}
  return scheme.groups().get(about)?.versions.includes(of) === true
}

/** Those that a start before this one made of versions that were served then. */
async function removeUnserved({ reads, scheme }: BootstrapOptions, writer: BootstrapWriter): Promise<void> {
  const made = (freshCluster as readonly KubeObject[]).filter(({ kind }) => kind === 'APIService')
  for (const service of made) {
    const { name = '' } = service.metadata
    if (isServed(scheme, service)) continue
    const present = reads.get<APIService>('apiregistration.k8s.io', 'apiservices', '', name)
    if (present?.metadata.labels?.[MANAGED] === 'onstart') await writer.remove(present)
  }
}

/** All that a fresh cluster with this server has. */
export const bootstrapObjects = (options: BootstrapOptions): readonly KubeObject[] => [
  ...clusterObjects(options),
  ...serverObjects(options),
]

async function patiently(options: BootstrapOptions, writer: BootstrapWriter, wanted: KubeObject): Promise<void> {
  const { clock } = options.runtime
  const until = clock.monotonic() + (options.patienceMs ?? 0)
  for (;;) {
    try {
      return await ensure(options, writer, wanted)
    } catch (error) {
      const isOfStore = error instanceof StatusError && error.code >= 500
      if (!isOfStore || clock.monotonic() >= until) throw error
    }
    await sleep(clock, RETRY_MS)
  }
}

/** The cluster's own ranges of addresses are those of its flags. */
const withNetwork = (object: KubeObject, { ranges }: ServiceNetwork): KubeObject =>
  object.kind === 'ServiceCIDR' ? { ...object, spec: { cidrs: ranges.map(({ cidr }) => cidr) } } : object

/** Extension servers must not be told to trust another authority, nor be left without a word: what changes it is undone. */
export function keepTrust(options: BootstrapOptions, onChange: SettlingLoop['onChange'], signal: AbortSignal): void {
  const wanted = serverObjects(options).find(({ metadata }) => metadata.name === TRUST)
  if (wanted === undefined) return
  const writer = createBootstrapWriter(options)
  const work = () => ensure(options, writer, wanted)
  const timing = { settleMs: TRUST_MS, retryMs: TRUST_RETRY_MS }
  startSettlingLoop({ runtime: options.runtime, name: 'trusted authorities', work, onChange, signal, ...timing })
}

export interface BootstrapWriter {
  /** Creates; an object that is there already counts as created. */
  create(object: KubeObject): Promise<KubeObject | undefined>
  update(object: KubeObject): Promise<void>
  remove(object: KubeObject): Promise<void>
  /** `status` becomes that of the object, as what looks after such objects writes it. */
  writeStatus(object: KubeObject, status: Fields): Promise<void>
}

/** The field managers of a group's objects, and of statuses by kind, where it is not the server itself. */
const MANAGERS: Readonly<Record<string, string>> = {
  'flowcontrol.apiserver.k8s.io': 'api-priority-and-fairness-config-producer-v1',
}
const STATUS_MANAGERS: Readonly<Record<string, string>> = { ServiceCIDR: 'kubernetes-service-cidr-controller' }

export function createBootstrapWriter({ handler, scheme }: BootstrapOptions): BootstrapWriter {
  const loopback = loopbackOf(handler)
  const send = async (method: string, object: KubeObject, suffix: string, manager?: string) => {
    const { group, version } = parseApiVersion(object.apiVersion)
    const row = scheme.findKind(group, version, object.kind)
    if (row === undefined) throw new Error(`bootstrap: ${object.apiVersion} ${object.kind} is not served`)
    const base = group === '' ? `/api/${version}` : `/apis/${group}/${version}`
    const namespace = row.namespaced ? `/namespaces/${object.metadata.namespace}` : ''
    const path = `${base}${namespace}/${row.resource}${suffix}`
    return loopback(method, path, method === 'DELETE' ? undefined : object, manager ?? MANAGERS[group])
  }
  return {
    create: async (object) => {
      try {
        return await send('POST', object, '')
      } catch (error) {
        if (isAlreadyExists(error)) return undefined
        throw error
      }
    },
    update: async (object) => {
      await send('PUT', object, `/${object.metadata.name}`)
    },
    remove: async (object) => {
      await send('DELETE', object, `/${object.metadata.name}`)
    },
    writeStatus: async (object, status) => {
      const { apiVersion, kind } = object
      const { name = '' } = object.metadata
      const manager = STATUS_MANAGERS[kind]
      if (manager === undefined) await send('PUT', { ...object, status }, `/${name}/status`)
      else await send('PATCH', { apiVersion, kind, metadata: { name }, status }, `/${name}/status`, manager)
    },
  }
}

export async function ensure(options: BootstrapOptions, writer: BootstrapWriter, wanted: KubeObject): Promise<void> {
  const { group, version } = parseApiVersion(wanted.apiVersion)
  const row = options.scheme.findKind(group, version, wanted.kind)
  const existing =
    row && options.reads.get(group, row.resource, wanted.metadata.namespace ?? '', wanted.metadata.name ?? '')
  if (existing === undefined) {
    const created = await writer.create(wanted)
    if (created && hasStatusOfItsOwn(wanted)) await writer.writeStatus(created, statusOf(options, wanted))
    return
  }
  // The write that should have followed its creation was not done.
  if (hasStatusOfItsOwn(wanted) && !hasStatusOfItsOwn(existing))
    await writer.writeStatus(existing, statusOf(options, wanted))
  const reconciled = reconcile(existing, wanted)
  if (reconciled !== existing) await writer.update(reconciled)
  else if (wanted.kind === 'ServiceCIDR') await tellOfOtherRanges(options, writer, existing, wanted)
}

/** Those of the objects of every cluster that come with a status are FlowSchemas and PriorityLevelConfigurations. */
const hasStatusOfItsOwn = (object: FlowSchema): boolean => object.status?.conditions !== undefined

function statusOf({ runtime }: BootstrapOptions, object: FlowSchema): Fields {
  const lastTransitionTime = formatTime(runtime.clock.now())
  return {
    ...object.status,
    conditions: (object.status?.conditions ?? []).map((condition) => ({
      ...condition,
      lastTransitionTime,
    })),
  }
}

/**
 * Roles regain rules they have lost, bindings subjects; nothing that was added to them is taken away. Extension servers
 * are to trust the authorities that this server trusts today.
 */
function reconcile(existing: KubeObject, wanted: KubeObject): KubeObject {
  if (existing.metadata.annotations?.['rbac.authorization.kubernetes.io/autoupdate'] === 'false') return existing
  if (wanted.kind === 'ConfigMap' && wanted.metadata.name === TRUST) return withData(existing, wanted)
  if (wanted.kind === 'ServiceCIDR') return withSecondRange(existing, wanted)
  const field = wanted.kind.endsWith('Binding') ? 'subjects' : wanted.kind.endsWith('Role') ? 'rules' : undefined
  if (field === undefined || (wanted as ClusterRole).aggregationRule) return existing
  const present = (existing[field] ?? []) as readonly Fields[]
  const known = new Set(present.map(canonical))
  const missing = ((wanted[field] ?? []) as readonly Fields[]).filter((part) => !known.has(canonical(part)))
  return missing.length === 0 ? existing : { ...existing, [field]: [...present, ...missing] }
}

/** A cluster may gain a second family; other ranges stay as they were given first. */
function withSecondRange(existing: ServiceCIDR, wanted: ServiceCIDR): KubeObject {
  const [before = [], now = []] = [existing, wanted].map(({ spec }) => spec?.cidrs ?? [])
  const gains = before.length === 1 && now.length === 2 && before[0] === now[0]
  return gains ? { ...existing, spec: { cidrs: now } } : existing
}

/** Services keep to the flags all the same: what the object says is for others. */
async function tellOfOtherRanges(
  { runtime }: BootstrapOptions,
  writer: BootstrapWriter,
  existing: ServiceCIDR,
  wanted: ServiceCIDR,
): Promise<void> {
  const [there, flags] = [existing, wanted].map(({ spec }) => (spec?.cidrs ?? []).join(' '))
  if (there === flags) return
  const now = runtime.clock.now()
  const time = formatTime(now)
  const component = STATUS_MANAGERS['ServiceCIDR'] ?? ''
  const { apiVersion, kind, metadata } = existing
  const { name = '', uid = '', resourceVersion = '' } = metadata
  const event: KubeObject = {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name: `${name}.${(BigInt(Math.floor(now)) * 1_000_000n).toString(16)}`, namespace: 'default' },
    involvedObject: { apiVersion, kind, name, uid, resourceVersion },
    type: 'Warning',
    reason: 'KubernetesDefaultServiceCIDRInconsistent',
    message: `The default ServiceCIDR [${there}] does not match the controller flag configurations [${flags}]`,
    source: { component },
    reportingComponent: component,
    reportingInstance: '',
    firstTimestamp: time,
    lastTimestamp: time,
    count: 1,
  }
  // That it is not told keeps no server from being ready.
  await writer.create(event).catch((error: unknown) => {
    if (!(error instanceof StatusError)) throw error
  })
}

function withData(existing: ConfigMap, wanted: ConfigMap): KubeObject {
  const data = { ...existing.data, ...wanted.data }
  return canonical(data) === canonical(existing.data ?? {}) ? existing : { ...existing, data }
}

const canonical = (part: Fields): string =>
  JSON.stringify(
    Object.entries(part)
      .filter(([, value]) => value !== undefined)
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  )

/** What depends on how this server was started. */
function serverObjects({
  runtime,
  port,
  network,
  nodePort = 0,
  trust,
  kubeletClient,
  more = [],
}: BootstrapOptions): readonly KubeObject[] {
  const meta = (name: string, namespace: string, labels?: Readonly<Record<string, string>>) => ({
    name,
    namespace,
    ...(labels ? { labels } : {}),
  })
  return [
    ...(kubeletClient === undefined ? [] : [kubeletClientBinding(kubeletClient)]),
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: meta('kubernetes', 'default', { component: 'apiserver', provider: 'kubernetes' }),
      spec: {
        type: nodePort === 0 ? 'ClusterIP' : 'NodePort',
        clusterIP: firstAddress(network),
        ipFamilyPolicy: 'SingleStack',
        internalTrafficPolicy: 'Cluster',
        sessionAffinity: 'None',
        ports: [
          { name: 'https', protocol: 'TCP', port: 443, targetPort: port, ...(nodePort === 0 ? {} : { nodePort }) },
        ],
      },
    },
    {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: meta('kube-apiserver-legacy-service-account-token-tracking', 'kube-system'),
      data: { since: formatTime(runtime.clock.now()).slice(0, 10) },
    },
    {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: meta(TRUST, 'kube-system'),
      data: { ...trust },
    },
    ...more,
  ]
}

/** Kubelets ask this server what it may do there itself; Kubernetes has the role for it, and leaves the binding to the installer. */
function kubeletClientBinding(user: string): KubeObject {
  const apiGroup = 'rbac.authorization.k8s.io'
  return {
    apiVersion: `${apiGroup}/v1`,
    kind: 'ClusterRoleBinding',
    metadata: { name: 'skiff:apiserver-kubelet-client' },
    roleRef: { apiGroup, kind: 'ClusterRole', name: 'system:kubelet-api-admin' },
    subjects: [{ apiGroup, kind: 'User', name: user }],
  }
}
