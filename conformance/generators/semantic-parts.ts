/** Kinds and pieces of requests of which the sequences about meaning are made. */
import type { Step } from '../recording.ts'

export const M = 'application/merge-patch+json'
export const J = 'application/json-patch+json'
export const S = 'application/strategic-merge-patch+json'
export const A = 'application/apply-patch+yaml'
export type Fields = Record<string, unknown>

export const podSpec = { containers: [{ name: 'c', image: 'i' }] }
export const template = { metadata: { labels: { a: 'b' } }, spec: podSpec }
export const selected = { selector: { matchLabels: { a: 'b' } }, template }

export interface Kind {
  readonly path: string
  readonly apiVersion: string
  readonly kind: string
  readonly rest: Fields
}
export const kindOf = (apiVersion: string, kind: string, resource: string, rest: Fields = {}): Kind => ({
  path: `${apiVersion === 'v1' ? '/api/v1' : `/apis/${apiVersion}`}/namespaces/$NS/${resource}`,
  apiVersion,
  kind,
  rest,
})
export const jobSpec = { template: { spec: { restartPolicy: 'Never', ...podSpec } } }
export const workloads: readonly Kind[] = [
  kindOf('apps/v1', 'Deployment', 'deployments', { spec: selected }),
  kindOf('apps/v1', 'ReplicaSet', 'replicasets', { spec: selected }),
  kindOf('apps/v1', 'StatefulSet', 'statefulsets', { spec: { ...selected, serviceName: 's' } }),
  kindOf('apps/v1', 'DaemonSet', 'daemonsets', { spec: selected }),
  kindOf('v1', 'ReplicationController', 'replicationcontrollers', { spec: { selector: { a: 'b' }, template } }),
  kindOf('batch/v1', 'Job', 'jobs', { spec: { ...jobSpec, suspend: true } }),
  kindOf('batch/v1', 'CronJob', 'cronjobs', { spec: { schedule: '0 0 1 1 *', jobTemplate: { spec: jobSpec } } }),
]
export const others: readonly Kind[] = [
  kindOf('v1', 'ConfigMap', 'configmaps', { data: { k: 'v' } }),
  kindOf('v1', 'Secret', 'secrets', { stringData: { k: 'v' } }),
  kindOf('v1', 'Pod', 'pods', { spec: podSpec }),
  kindOf('v1', 'Service', 'services', { spec: { ports: [{ port: 80 }] } }),
  kindOf('v1', 'ServiceAccount', 'serviceaccounts'),
  kindOf('v1', 'PersistentVolumeClaim', 'persistentvolumeclaims', {
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
  }),
  kindOf('v1', 'Endpoints', 'endpoints', { subsets: [{ addresses: [{ ip: '10.0.0.1' }], ports: [{ port: 80 }] }] }),
  kindOf('coordination.k8s.io/v1', 'Lease', 'leases', { spec: { holderIdentity: 'h' } }),
  kindOf('discovery.k8s.io/v1', 'EndpointSlice', 'endpointslices', {
    addressType: 'IPv4',
    endpoints: [{ addresses: ['10.0.0.1'] }],
  }),
  kindOf('networking.k8s.io/v1', 'NetworkPolicy', 'networkpolicies', { spec: { podSelector: {} } }),
  kindOf('networking.k8s.io/v1', 'Ingress', 'ingresses', {
    spec: { defaultBackend: { service: { name: 's', port: { number: 80 } } } },
  }),
  kindOf('policy/v1', 'PodDisruptionBudget', 'poddisruptionbudgets', {
    spec: { minAvailable: 1, selector: { matchLabels: { a: 'b' } } },
  }),
  kindOf('autoscaling/v2', 'HorizontalPodAutoscaler', 'horizontalpodautoscalers', {
    spec: { maxReplicas: 3, scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' } },
  }),
  kindOf('rbac.authorization.k8s.io/v1', 'Role', 'roles', {
    rules: [{ verbs: ['get'], apiGroups: [''], resources: ['pods'] }],
  }),
]
export const all = [...workloads, ...others]

export const make = ({ apiVersion, kind, rest }: Kind, meta: Fields = {}, more: Fields = {}): Fields => ({
  apiVersion,
  kind,
  metadata: { name: 'o', ...meta },
  ...rest,
  ...more,
})
export const foreign = '99999999-2222-4333-8444-555555555555'
export const deletion = (more: Fields) => ({ apiVersion: 'v1', kind: 'DeleteOptions', ...more })
export const first = (path: string) => `{{0.${path}}}`
export type Named = readonly [string, readonly Step[]]
