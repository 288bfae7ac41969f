/** What the stories make their objects of, and what they wait for. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Fields } from '../../src/api/object.ts'
import type { Condition, Scene, Seen, StoryNode } from './story.ts'

export const tmpl = (labels: Fields, spec: Fields = {}, metadata: Fields = {}) => ({
  metadata: { labels, ...metadata },
  spec: { automountServiceAccountToken: false, containers: [{ name: 'c', image: 'i:1' }], ...spec },
})
const workload =
  (apiVersion: string, kind: string, defaults: (name: string) => Fields) =>
  (name: string, spec: Fields = {}, podSpec: Fields = {}) => ({
    apiVersion,
    kind,
    metadata: { name },
    spec: {
      ...defaults(name),
      selector: { matchLabels: { app: name } },
      template: tmpl({ app: name }, podSpec),
      ...spec,
    },
  })
export const dep = workload('apps/v1', 'Deployment', () => ({ replicas: 1 }))
export const rs = workload('apps/v1', 'ReplicaSet', () => ({ replicas: 1 }))
export const sts = workload('apps/v1', 'StatefulSet', (serviceName) => ({ replicas: 3, serviceName }))
export const ds = workload('apps/v1', 'DaemonSet', () => ({}))
/** Its pods are on the node `idle`, where the user brings them on. */
export const job = (name: string, spec: Fields = {}, podSpec: Fields = {}) => ({
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: { name },
  spec: {
    ...spec,
    template: {
      metadata: { labels: { x: 'y' } },
      spec: {
        automountServiceAccountToken: false,
        restartPolicy: 'Never',
        nodeName: 'idle',
        containers: [{ name: 'c', image: 'i:1' }],
        ...podSpec,
      },
    },
  },
})
/** Its pods run by themselves. */
export const kjob = (name: string, spec: Fields = {}, podSpec: Fields = {}) =>
  job(name, spec, { nodeName: undefined, ...podSpec })
export const idx = (count: number, spec: Fields = {}, podSpec: Fields = {}) =>
  job('j', { completionMode: 'Indexed', completions: count, parallelism: count, ...spec }, podSpec)
export const pod = (name: string, spec: Fields = {}, metadata: Fields = {}) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, ...metadata },
  spec: { automountServiceAccountToken: false, containers: [{ name: 'c', image: 'i' }], ...spec },
})
export const img = (tag: string | number) => ({
  spec: { template: { spec: { containers: [{ name: 'c', image: `i:${tag}` }] } } },
})
export const res = (cpu?: string, memory?: string) => ({
  containers: [
    {
      name: 'c',
      image: 'i',
      resources: { requests: { ...(cpu ? { cpu } : {}), ...(memory ? { memory } : {}) } },
    },
  ],
})
/** On the story's own nodes. */
export const on = (s: Scene, spec: Fields = {}) => ({ nodeSelector: { scenario: s.ns }, ...spec })
export const quota = (name: string, hard: Fields, spec: Fields = {}) => ({
  apiVersion: 'v1',
  kind: 'ResourceQuota',
  metadata: { name },
  spec: { hard, ...spec },
})
export const svc = (name: string, spec: Fields = {}) => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name },
  spec: { selector: { app: name }, ports: [{ port: 80 }], ...spec },
})
export const pdb = (name: string, spec: Fields) => ({
  apiVersion: 'policy/v1',
  kind: 'PodDisruptionBudget',
  metadata: { name },
  spec,
})
export const claim = (name: string, spec: Fields = {}) => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name },
  spec: {
    accessModes: ['ReadWriteOnce'],
    storageClassName: '',
    resources: { requests: { storage: '1Gi' } },
    ...spec,
  },
})
/** Named after the story, as all that has no namespace. */
export const pv = (s: Scene, name: string, spec: Fields = {}, metadata: Fields = {}) => ({
  apiVersion: 'v1',
  kind: 'PersistentVolume',
  metadata: { name: `${s.ns}-${name}`, ...metadata },
  spec: {
    accessModes: ['ReadWriteOnce'],
    capacity: { storage: '1Gi' },
    hostPath: { path: '/x' },
    persistentVolumeReclaimPolicy: 'Retain',
    ...spec,
  },
})
export const pvcPod = (name: string, claimName: string, spec: Fields = {}) =>
  pod(name, { volumes: [{ name: 'v', persistentVolumeClaim: { claimName } }], ...spec })
export const wffc = (s: Scene, more: Fields = {}) =>
  s.create('storageclasses', {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'StorageClass',
    metadata: { name: `${s.ns}-sc` },
    provisioner: 'kubernetes.io/no-provisioner',
    volumeBindingMode: 'WaitForFirstConsumer',
    ...more,
  })
export const pc = (s: Scene, name: string, value: number, more: Fields = {}) =>
  s.create('priorityclasses', {
    apiVersion: 'scheduling.k8s.io/v1',
    kind: 'PriorityClass',
    metadata: { name: `${s.ns}-${name}` },
    value,
    ...more,
  })
export const hpa = (spec: Fields) => ({
  apiVersion: 'autoscaling/v2',
  kind: 'HorizontalPodAutoscaler',
  metadata: { name: 'h' },
  spec: {
    scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'a' },
    minReplicas: 2,
    maxReplicas: 4,
    ...spec,
  },
})
export const crd = (s: Scene) => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `ws.${s.ns}.example.com` },
  spec: {
    group: `${s.ns}.example.com`,
    scope: 'Namespaced',
    names: { plural: 'ws', singular: 'w', kind: 'W', listKind: 'WList' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    ],
  },
})
const required = (key: string, labels: Fields) => ({
  requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: key, labelSelector: { matchLabels: labels } }],
})
export const anti = (key: string, labels: Fields) => ({ podAntiAffinity: required(key, labels) })
export const aff = (key: string, labels: Fields) => ({ podAffinity: required(key, labels) })
export const spread = (key: string, labels: Fields, more: Fields = {}) => ({
  topologySpreadConstraints: [
    {
      maxSkew: 1,
      topologyKey: key,
      whenUnsatisfiable: 'DoNotSchedule',
      labelSelector: { matchLabels: labels },
      ...more,
    },
  ],
})
export const taintKey = (s: Scene) => ({ key: 'only', value: s.ns, effect: 'NoSchedule' })
export const zones: readonly StoryNode[] = [
  { name: 'n1', labels: { zone: 'a' } },
  { name: 'n2', labels: { zone: 'b' } },
]
export const N3 = ['n1', 'n2', 'n3']
export const disrupted = [{ type: 'DisruptionTarget', status: 'True', reason: 'EvictionByEvictionAPI', message: 'why' }]

const NODE_SIZE = { cpu: '4', memory: '8Gi', pods: '10' }
/** One that only the user speaks for. */
export const ownNode = (s: Scene, name: string) => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: `${s.ns}-${name}`, labels: { 'kubernetes.io/hostname': `${s.ns}-${name}`, scenario: s.ns } },
  status: { allocatable: NODE_SIZE, capacity: NODE_SIZE },
})
export const beat = (s: Scene, name: string) =>
  s.status('nodes', `${s.ns}-${name}`, {
    conditions: ['Ready', 'MemoryPressure', 'DiskPressure', 'PIDPressure'].map((type) => ({
      type,
      status: type === 'Ready' ? 'True' : 'False',
      reason: 'r',
      message: 'm',
      lastHeartbeatTime: s.now(),
      lastTransitionTime: s.now(),
    })),
  })

export const ready = ({ metadata, spec, status = {} }: Seen): boolean =>
  status.readyReplicas === spec.replicas && status.observedGeneration === metadata.generation
export const done = (set: Seen): boolean =>
  ready(set) && set.status.updatedReplicas === set.spec.replicas && set.status.replicas === set.spec.replicas
export const dsReady = (count: number) => (set: Seen) =>
  set.status?.numberReady === count &&
  set.status.observedGeneration === set.metadata.generation &&
  set.status.updatedNumberScheduled === count
export const cond =
  (wanted: string, is = 'True') =>
  ({ status }: Seen): boolean =>
    (status?.conditions ?? []).some((condition: Condition) => condition.type === wanted && condition.status === is)
export const fresh = ({ metadata, status }: Seen) =>
  metadata.deletionTimestamp === undefined && status?.phase === 'Pending'
export const live = ({ metadata }: Seen) => metadata.deletionTimestamp === undefined
export const going = ({ metadata }: Seen) => metadata.deletionTimestamp !== undefined
export const running = ({ status }: Seen) => status?.phase === 'Running'
export const waitUnsched = (s: Scene, name: string) => s.untilObj('pods', name, cond('PodScheduled', 'False'))

export const rm =
  (...pairs: readonly (readonly [resource: string, name: string])[]) =>
  async (s: Scene) => {
    for (const [resource, name] of pairs) await s.del(resource, `${s.ns}-${name}`).catch(() => {})
  }
export const force = (s: Scene, { metadata }: Seen) => s.del('pods', metadata.name, { gracePeriodSeconds: 0 })
/** Notes how it was answered. */
export async function evict(s: Scene, name: string, deleteOptions?: Fields): Promise<void> {
  const { status, body } = await s.raw('POST', `/api/v1/namespaces/${s.ns}/pods/${name}/eviction`, {
    apiVersion: 'policy/v1',
    kind: 'Eviction',
    metadata: { name, namespace: s.ns },
    ...(deleteOptions === undefined ? {} : { deleteOptions }),
  })
  s.note(`evict ${name.replace(/-[a-z0-9]{5}$/, '')} ${status} ${status === 201 ? '' : body}`)
}

/** A request of a new key, as base64 of its PEM. */
export function csr(cn: string, organizations: readonly string[], alternativeNames = ''): string {
  const directory = mkdtempSync(join(tmpdir(), 'story-'))
  try {
    const key = join(directory, 'key')
    const out = join(directory, 'csr')
    const openssl = (...args: readonly string[]) => execFileSync('openssl', args, { stdio: 'ignore' })
    openssl('ecparam', '-name', 'prime256v1', '-genkey', '-noout', '-out', key)
    const subject = `${organizations.map((one) => `/O=${one}`).join('')}/CN=${cn}`
    const names = alternativeNames === '' ? [] : ['-addext', `subjectAltName=${alternativeNames}`]
    openssl('req', '-new', '-key', key, '-subj', subject, ...names, '-out', out)
    return readFileSync(out).toString('base64')
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}
export const csrObj = (s: Scene, name: string, spec: Fields) =>
  s.create('certificatesigningrequests', {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: { name: `${s.ns}-${name}` },
    spec,
  })
export async function approve(s: Scene, name: string, type = 'Approved'): Promise<void> {
  const asked = await s.get('certificatesigningrequests', `${s.ns}-${name}`)
  const conditions = [{ type, status: 'True', reason: 'r', message: 'm' }]
  const update = { ...asked, status: { ...asked.status, conditions } }
  await s.api('certificatesigningrequests').update(update, { subresource: 'approval' })
}

export const map = (name: string, metadata: Fields = {}) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, ...metadata },
})
/** Each with what its reference says beside. */
export const ownedBy = (...owners: readonly (readonly [Seen, Fields?])[]) => ({
  ownerReferences: owners.map(([{ apiVersion, kind, metadata }, more]) => ({
    apiVersion,
    kind,
    name: metadata.name,
    uid: metadata.uid,
    ...more,
  })),
})
export const BLOCKS = { blockOwnerDeletion: true }
export const labelled = (name: string, spec: Fields, labels: Fields = { app: 'a' }) => pod(name, spec, { labels })
/** What came of it is noted, also that it was refused. */
export const tried = (s: Scene, what: string, doing: Promise<unknown>) =>
  doing.then(
    () => s.note(`${what}: done`),
    (error) => s.note(`${what}: ${error.message}`),
  )
