/** Workloads, services and autoscalers that use every part of their types. */
import type { CorpusEntry } from '../mutations.ts'
import { type Any, entry } from './entry.ts'

const apps = (plural: string, kind: string, name: string, spec: Any) =>
  entry('apps/v1 ns', plural, kind, name, { spec })
const batch = (plural: string, kind: string, name: string, spec: Any) =>
  entry('batch/v1 ns', plural, kind, name, { spec })
const core = (plural: string, kind: string, name: string, rest: Any) => entry('v1 ns', plural, kind, name, rest)

const labels = { app: 'x' }
const template = {
  metadata: { labels, annotations: { a: 'b' } },
  spec: { containers: [{ name: 'c', image: 'busybox' }] },
}
const runOnce = { ...template, spec: { ...template.spec, restartPolicy: 'Never' } }
const selector = { matchLabels: labels, matchExpressions: [{ key: 'app', operator: 'In', values: ['x', 'y'] }] }
const claim = {
  metadata: { name: 'data', labels: { a: 'b' } },
  spec: {
    accessModes: ['ReadWriteOnce'],
    resources: { requests: { storage: '1Gi' }, limits: { storage: '2Gi' } },
    storageClassName: 'fast',
  },
}

const job = {
  parallelism: 2,
  completions: 4,
  completionMode: 'Indexed',
  activeDeadlineSeconds: 100,
  backoffLimitPerIndex: 1,
  maxFailedIndexes: 2,
  ttlSecondsAfterFinished: 60,
  suspend: true,
  podReplacementPolicy: 'Failed',
  managedBy: 'example.com/manager',
  podFailurePolicy: {
    rules: [
      { action: 'FailIndex', onExitCodes: { containerName: 'c', operator: 'In', values: [1, 2] } },
      { action: 'Ignore', onPodConditions: [{ type: 'DisruptionTarget', status: 'True' }] },
      { action: 'FailJob', onExitCodes: { operator: 'NotIn', values: [3] } },
    ],
  },
  successPolicy: { rules: [{ succeededIndexes: '0-1,3', succeededCount: 2 }, { succeededCount: 1 }] },
  template: runOnce,
}

const metrics = [
  { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 60 } } },
  {
    type: 'ContainerResource',
    containerResource: { name: 'memory', container: 'c', target: { type: 'AverageValue', averageValue: '100Mi' } },
  },
  {
    type: 'Pods',
    pods: {
      metric: { name: 'rps', selector: { matchLabels: labels } },
      target: { type: 'AverageValue', averageValue: '10' },
    },
  },
  {
    type: 'Object',
    object: {
      describedObject: { apiVersion: 'networking.k8s.io/v1', kind: 'Ingress', name: 'i' },
      metric: { name: 'm' },
      target: { type: 'Value', value: '5' },
    },
  },
  { type: 'External', external: { metric: { name: 'q' }, target: { type: 'Value', value: '30' } } },
]
const behavior = {
  scaleUp: {
    stabilizationWindowSeconds: 10,
    selectPolicy: 'Max',
    tolerance: '0.1',
    policies: [
      { type: 'Pods', value: 4, periodSeconds: 60 },
      { type: 'Percent', value: 10, periodSeconds: 15 },
    ],
  },
  scaleDown: {
    stabilizationWindowSeconds: 300,
    selectPolicy: 'Min',
    policies: [{ type: 'Pods', value: 1, periodSeconds: 30 }],
  },
}
const target = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' }

export const richWorkloads: readonly CorpusEntry[] = [
  apps('deployments', 'Deployment', 'd', {
    replicas: 3,
    selector,
    template,
    strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: '25%', maxUnavailable: 1 } },
    minReadySeconds: 5,
    revisionHistoryLimit: 3,
    progressDeadlineSeconds: 60,
    paused: true,
  }),
  apps('statefulsets', 'StatefulSet', 's', {
    replicas: 2,
    selector,
    template,
    serviceName: 'svc',
    podManagementPolicy: 'Parallel',
    updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 1, maxUnavailable: 1 } },
    volumeClaimTemplates: [claim],
    persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Delete', whenScaled: 'Retain' },
    ordinals: { start: 1 },
    minReadySeconds: 3,
    revisionHistoryLimit: 5,
  }),
  apps('daemonsets', 'DaemonSet', 'ds', {
    selector,
    template,
    updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 0, maxUnavailable: '10%' } },
    minReadySeconds: 1,
    revisionHistoryLimit: 2,
  }),
  apps('replicasets', 'ReplicaSet', 'rs', { replicas: 1, selector, template, minReadySeconds: 2 }),
  core('replicationcontrollers', 'ReplicationController', 'rc', {
    spec: { replicas: 1, selector: labels, template, minReadySeconds: 2 },
  }),
  batch('jobs', 'Job', 'j', job),
  batch('jobs', 'Job', 'manual', {
    manualSelector: true,
    selector: { matchLabels: labels },
    backoffLimit: 3,
    suspend: true,
    template: runOnce,
  }),
  batch('cronjobs', 'CronJob', 'cj', {
    schedule: '*/5 1-3 * * MON-FRI',
    timeZone: 'Europe/Berlin',
    startingDeadlineSeconds: 30,
    concurrencyPolicy: 'Replace',
    suspend: true,
    successfulJobsHistoryLimit: 1,
    failedJobsHistoryLimit: 2,
    jobTemplate: {
      metadata: { labels, annotations: { a: 'b' } },
      spec: { backoffLimit: 1, ttlSecondsAfterFinished: 5, template: runOnce },
    },
  }),
  entry('autoscaling/v2 ns', 'horizontalpodautoscalers', 'HorizontalPodAutoscaler', 'h', {
    spec: { minReplicas: 1, maxReplicas: 5, scaleTargetRef: target, metrics, behavior },
  }),
  entry('autoscaling/v1 ns', 'horizontalpodautoscalers', 'HorizontalPodAutoscaler', 'h1', {
    spec: { minReplicas: 2, maxReplicas: 4, scaleTargetRef: target, targetCPUUtilizationPercentage: 70 },
  }),
  entry('policy/v1 ns', 'poddisruptionbudgets', 'PodDisruptionBudget', 'p', {
    spec: { maxUnavailable: '30%', selector, unhealthyPodEvictionPolicy: 'AlwaysAllow' },
  }),
  core('podtemplates', 'PodTemplate', 'pt', { template }),
  core('services', 'Service', 'lb', {
    spec: {
      type: 'LoadBalancer',
      selector: labels,
      ports: [
        { name: 'http', port: 80, targetPort: 'web', protocol: 'TCP', appProtocol: 'kubernetes.io/h2c' },
        { name: 'dns', port: 53, targetPort: 5353, protocol: 'UDP' },
      ],
      externalTrafficPolicy: 'Cluster',
      internalTrafficPolicy: 'Local',
      loadBalancerClass: 'example.com/lb',
      loadBalancerSourceRanges: ['10.0.0.0/8'],
      allocateLoadBalancerNodePorts: false,
      externalIPs: ['192.0.2.10'],
      sessionAffinity: 'ClientIP',
      sessionAffinityConfig: { clientIP: { timeoutSeconds: 100 } },
      ipFamilies: ['IPv4'],
      ipFamilyPolicy: 'SingleStack',
      trafficDistribution: 'PreferClose',
      publishNotReadyAddresses: true,
    },
  }),
  core('services', 'Service', 'headless', {
    spec: {
      clusterIP: 'None',
      clusterIPs: ['None'],
      selector: labels,
      ports: [
        { name: 'a', port: 1 },
        { name: 'b', port: 2, protocol: 'SCTP' },
      ],
    },
  }),
  core('services', 'Service', 'ext', {
    spec: { type: 'ExternalName', externalName: 'x.example.com', ports: [{ port: 80 }] },
  }),
  core('endpoints', 'Endpoints', 'e', {
    subsets: [
      {
        addresses: [
          {
            ip: '10.1.1.1',
            hostname: 'h',
            nodeName: 'n',
            targetRef: { kind: 'Pod', name: 'p', namespace: 'x', uid: 'u' },
          },
        ],
        notReadyAddresses: [{ ip: '10.1.1.2' }],
        ports: [
          { name: 'http', port: 80, protocol: 'TCP', appProtocol: 'http' },
          { name: 's', port: 443 },
        ],
      },
    ],
  }),
  entry('discovery.k8s.io/v1 ns', 'endpointslices', 'EndpointSlice', 'es', {
    addressType: 'IPv4',
    endpoints: [
      {
        addresses: ['10.1.2.3', '10.1.2.4'],
        conditions: { ready: true, serving: true, terminating: false },
        hostname: 'h',
        nodeName: 'n',
        zone: 'z',
        targetRef: { kind: 'Pod', name: 'p' },
        hints: { forZones: [{ name: 'z' }], forNodes: [{ name: 'n' }] },
        deprecatedTopology: { 'example.com/a': 'b' },
      },
    ],
    ports: [
      { name: 'http', port: 80, protocol: 'TCP', appProtocol: 'http' },
      { name: '', port: 81 },
    ],
  }),
  entry('discovery.k8s.io/v1 ns', 'endpointslices', 'EndpointSlice', 'fq', {
    addressType: 'FQDN',
    endpoints: [{ addresses: ['a.example.com'] }],
    ports: [],
  }),
]
