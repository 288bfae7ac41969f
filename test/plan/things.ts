/** The objects of everyday's stories. `NS` stands for the namespace that each has for itself. */

export const HOLD = 'acme.test/hold'
export const onOwnNode = { nodeName: 'NODE-1' }

const CONTAINERS = [{ name: 'c', image: 'i:1' }]
const template = (app: string, spec: object) => ({
  metadata: { labels: { app } },
  spec: { containers: CONTAINERS, ...spec },
})
const named = (name: string, more: object = {}) => ({ name, namespace: 'NS', ...more })

export interface Thing {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: object
  readonly [field: string]: unknown
}
const thing = (apiVersion: string, kind: string, name: string, rest: object = {}): Thing => ({
  apiVersion,
  kind,
  metadata: named(name),
  ...rest,
})
const wide = (apiVersion: string, kind: string, name: string, rest: object = {}): Thing => ({
  apiVersion,
  kind,
  metadata: { name },
  ...rest,
})

export const held = (object: Thing, finalizer = HOLD): Thing => ({
  ...object,
  metadata: { ...object.metadata, finalizers: [finalizer] },
})
export const labelled = (object: Thing, app: string): Thing => ({
  ...object,
  metadata: { ...object.metadata, labels: { app } },
})
export const into = (namespace: string, object: Thing): Thing => ({
  ...object,
  metadata: { ...object.metadata, namespace },
})

export const pod = (name: string, spec: object = {}) =>
  thing('v1', 'Pod', name, { spec: { containers: CONTAINERS, ...spec } })
export const configMap = (name: string) => thing('v1', 'ConfigMap', name)
export const secret = (name: string) => thing('v1', 'Secret', name, { stringData: { key: 'value' } })
export const account = (name: string) => thing('v1', 'ServiceAccount', name)
export const namespace = (name: string) => wide('v1', 'Namespace', name)
export const token = (name: string): Thing => ({
  ...thing('v1', 'Secret', `${name}-token`, { type: 'kubernetes.io/service-account-token' }),
  metadata: named(`${name}-token`, { annotations: { 'kubernetes.io/service-account.name': name } }),
})

export const deployment = (name: string, replicas: number, spec: object = {}, app = name) =>
  thing('apps/v1', 'Deployment', name, {
    spec: { replicas, selector: { matchLabels: { app } }, template: template(app, spec) },
  })
export const replicaSet = (name: string, replicas: number) =>
  thing('apps/v1', 'ReplicaSet', name, {
    spec: { replicas, selector: { matchLabels: { app: name } }, template: template(name, {}) },
  })
export const replicationController = (name: string, replicas: number) =>
  thing('v1', 'ReplicationController', name, {
    spec: { replicas, selector: { app: name }, template: template(name, {}) },
  })
export const statefulSet = (name: string, replicas: number, more: object = {}, spec: object = {}) =>
  thing('apps/v1', 'StatefulSet', name, {
    spec: {
      replicas,
      serviceName: name,
      selector: { matchLabels: { app: name } },
      template: template(name, spec),
      volumeClaimTemplates: [{ metadata: { name: 'data' }, spec: CLAIMED }],
      ...more,
    },
  })
/** On the nodes that are its own. */
export const daemonSet = (name: string, spec: object = {}) =>
  thing('apps/v1', 'DaemonSet', name, {
    spec: {
      selector: { matchLabels: { app: name } },
      template: template(name, { nodeSelector: { everyday: 'NS' }, tolerations: [{ operator: 'Exists' }], ...spec }),
    },
  })
const jobSpec = (more: object, spec: object) => ({
  ...more,
  template: { spec: { restartPolicy: 'Never', containers: CONTAINERS, ...spec } },
})
export const job = (name: string, more: object = {}, spec: object = {}) =>
  thing('batch/v1', 'Job', name, { spec: jobSpec(more, spec) })
export const cronJob = (name: string, spec: object = {}) =>
  thing('batch/v1', 'CronJob', name, { spec: { schedule: '0 0 1 1 *', jobTemplate: { spec: jobSpec({}, spec) } } })

const CLAIMED = {
  accessModes: ['ReadWriteOnce'],
  storageClassName: 'of-NS',
  resources: { requests: { storage: '1Gi' } },
}
export const claim = (name: string, more: object = {}) =>
  thing('v1', 'PersistentVolumeClaim', name, { spec: { ...CLAIMED, ...more } })
export const volume = (name: string, more: object = {}) =>
  wide('v1', 'PersistentVolume', `NS-${name}`, {
    spec: {
      capacity: { storage: '1Gi' },
      accessModes: ['ReadWriteOnce'],
      storageClassName: 'of-NS',
      hostPath: { path: '/tmp/NS' },
      ...more,
    },
  })
export const storageClass = () => wide('storage.k8s.io/v1', 'StorageClass', 'NS', { provisioner: 'acme.test/disks' })
/** A pod's spec with the claim. */
export const of = (claimName: string) => ({ volumes: [{ name: 'v', persistentVolumeClaim: { claimName } }] })

export const service = (app: string, more: object = {}) =>
  thing('v1', 'Service', app, { spec: { selector: { app }, ports: [{ port: 80 }], ...more } })
export const ingress = (name: string) =>
  thing('networking.k8s.io/v1', 'Ingress', name, {
    spec: { defaultBackend: { service: { name, port: { number: 80 } } } },
  })
export const budget = (app: string, minAvailable: number) =>
  thing('policy/v1', 'PodDisruptionBudget', app, { spec: { minAvailable, selector: { matchLabels: { app } } } })
export const autoscaler = (name: string) =>
  thing('autoscaling/v2', 'HorizontalPodAutoscaler', name, {
    spec: { minReplicas: 1, maxReplicas: 3, scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name } },
  })
export const quota = (pods = '9') => thing('v1', 'ResourceQuota', 'q', { spec: { hard: { pods } } })
export const limits = (name: string) =>
  thing('v1', 'LimitRange', name, { spec: { limits: [{ type: 'Container', default: { cpu: '1' } }] } })
export const slice = (name: string) =>
  thing('discovery.k8s.io/v1', 'EndpointSlice', name, { addressType: 'IPv4', endpoints: [{ addresses: ['10.1.2.3'] }] })
export const priorityClass = () => wide('scheduling.k8s.io/v1', 'PriorityClass', 'NS', { value: 7 })

export const role = (name: string, group = '', resource = 'configmaps') =>
  thing('rbac.authorization.k8s.io/v1', 'Role', name, {
    rules: [{ apiGroups: [group], resources: [resource], verbs: ['*'] }],
  })
export const binding = (name: string, serviceAccount: string) =>
  thing('rbac.authorization.k8s.io/v1', 'RoleBinding', name, {
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name },
    subjects: [{ kind: 'ServiceAccount', name: serviceAccount, namespace: 'NS' }],
  })

export const definition = () =>
  wide('apiextensions.k8s.io/v1', 'CustomResourceDefinition', 'shops.NS.test', {
    spec: {
      group: 'NS.test',
      scope: 'Namespaced',
      names: { plural: 'shops', singular: 'shop', kind: 'Shop', listKind: 'ShopList' },
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
export const shop = (name: string) => thing('NS.test/v1', 'Shop', name)
/** Owned by another of its namespace, whose uid is looked up when it is made. */
export const owned = (
  name: string,
  kind: 'ConfigMap',
  owner: string,
  ownerKind: 'ConfigMap' | 'Shop' = kind,
): Thing => ({
  ...configMap(name),
  metadata: named(name, {
    ownerReferences: [
      {
        apiVersion: ownerKind === 'Shop' ? 'NS.test/v1' : 'v1',
        kind: ownerKind,
        name: owner,
        uid: `UID-OF/${ownerKind === 'Shop' ? 'shops.NS.test' : 'configmaps'}/${owner}`,
        blockOwnerDeletion: true,
      },
    ],
  }),
})
