/** What policies, quotas and ranges make of the controllers' writes. */
import type { Fields } from '../../../src/api/object.ts'
import { cond, dep, done, job, kjob, pod, quota, rm, rs, running, svc } from '../objects.ts'
import type { Scene, Story } from '../story.ts'

const ADMISSION = 'admissionregistration.k8s.io/v1'
/** For what is in the story's namespace. */
async function mutating(s: Scene, rule: Fields, expression: string, more: Fields = {}): Promise<void> {
  await s.create('mutatingadmissionpolicies', {
    apiVersion: ADMISSION,
    kind: 'MutatingAdmissionPolicy',
    metadata: { name: `${s.ns}-p` },
    spec: {
      matchConstraints: { resourceRules: [{ apiVersions: ['*'], operations: ['CREATE'], ...rule }] },
      failurePolicy: 'Fail',
      reinvocationPolicy: 'Never',
      mutations: [{ patchType: 'ApplyConfiguration', applyConfiguration: { expression } }],
      ...more,
    },
  })
  const namespaceSelector = { matchLabels: { 'kubernetes.io/metadata.name': s.ns } }
  await s.create('mutatingadmissionpolicybindings', {
    apiVersion: ADMISSION,
    kind: 'MutatingAdmissionPolicyBinding',
    metadata: { name: `${s.ns}-b` },
    spec: { policyName: `${s.ns}-p`, matchResources: { namespaceSelector } },
  })
  await s.pause(2500)
}
const cleaned = rm(
  ['mutatingadmissionpolicies', 'p'],
  ['mutatingadmissionpolicybindings', 'b'],
  ['validatingadmissionpolicies', 'v'],
  ['validatingadmissionpolicybindings', 'w'],
)
const PODS = { apiGroups: [''], resources: ['pods'] }

async function validating(s: Scene, rule: Fields, expression: string, messageExpression: string): Promise<void> {
  await s.create('validatingadmissionpolicies', {
    apiVersion: ADMISSION,
    kind: 'ValidatingAdmissionPolicy',
    metadata: { name: `${s.ns}-v` },
    spec: {
      matchConstraints: {
        resourceRules: [{ apiVersions: ['*'], operations: ['CREATE', 'UPDATE', 'DELETE'], ...rule }],
      },
      validations: [{ expression, messageExpression }],
    },
  })
  await s.create('validatingadmissionpolicybindings', {
    apiVersion: ADMISSION,
    kind: 'ValidatingAdmissionPolicyBinding',
    metadata: { name: `${s.ns}-w` },
    spec: {
      policyName: `${s.ns}-v`,
      validationActions: ['Deny'],
      matchResources: { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': s.ns } } },
    },
  })
  await s.pause(2500)
}

export const policiesStories = {
  'policy-labels-pods': {
    async act(s) {
      await mutating(s, PODS, `Object{metadata: Object.metadata{labels: {"added": "by-policy"}}}`)
      await s.create('deployments', dep('a', { replicas: 2 }))
      await s.untilObj('deployments', 'a', done)
      await s.create('jobs', kjob('j'))
      await s.untilObj('jobs', 'j', cond('Complete'))
      await s.pause(1000)
    },
    clean: cleaned,
  },
  'policy-sets-replicas': {
    async act(s) {
      await mutating(
        s,
        { apiGroups: ['apps'], resources: ['replicasets'] },
        `Object{spec: Object.spec{minReadySeconds: 1}}`,
      )
      await s.create('deployments', dep('a', { replicas: 2 }))
      await s.pause(6000)
    },
    clean: cleaned,
  },
  'policy-refuses-controllers': {
    async act(s) {
      await validating(
        s,
        PODS,
        `object == null || !has(object.metadata.labels) || object.metadata.labels["app"] != "a" || has(object.metadata.labels.allowed)`,
        `"not " + string(variables.size())`,
      ).catch((error) => s.note(error.message))
      await s.raw('DELETE', `/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies/${s.ns}-v`)
      await s.pause(500)
      await validating(
        s,
        PODS,
        `request.operation == "DELETE" || (has(object.metadata.labels) && "allowed" in object.metadata.labels)`,
        `"no pod without the label allowed: " + request.operation`,
      ).catch((error) => s.note(error.message))
      await s.create('deployments', dep('a', { replicas: 1, progressDeadlineSeconds: 5 }))
      await s.pause(4000)
      await s.patch('deployments', 'a', { spec: { template: { metadata: { labels: { allowed: 'yes' } } } } })
      await s.untilObj('deployments', 'a', done)
      await s.pause(1000)
    },
    clean: cleaned,
  },
  'policy-refuses-deletion': {
    async act(s) {
      await s.create('replicasets', rs('a', { replicas: 3 }))
      await s.untilPods(3, running)
      await validating(
        s,
        PODS,
        `request.operation != "DELETE" || oldObject.metadata.labels["app"] != "a"`,
        `"kept: " + oldObject.kind`,
      ).catch((error) => s.note(error.message))
      await s.patch('replicasets', 'a', { spec: { replicas: 2 } })
      await s.pause(3000)
      await s.del('validatingadmissionpolicybindings', `${s.ns}-w`)
      await s.untilPods(2, running)
      await s.pause(1500)
    },
    clean: cleaned,
  },
  'quota-best-effort-and-terminating': {
    async act(s) {
      await s.create('resourcequotas', quota('be', { pods: '1' }, { scopes: ['BestEffort'] }))
      await s.create(
        'resourcequotas',
        quota('not', { pods: '1', 'limits.cpu': '1' }, { scopes: ['NotTerminating', 'NotBestEffort'] }),
      )
      await s.pause(1500)
      await s.create('replicasets', rs('a', { replicas: 2 }))
      await s.pause(2000)
      const limited = { containers: [{ name: 'c', image: 'i', resources: { limits: { cpu: '600m' } } }] }
      await s.create('pods', pod('l', limited))
      await s.create('pods', pod('m', limited)).catch((error) => s.note(error.message))
      await s.create('pods', pod('d', { ...limited, activeDeadlineSeconds: 100 }))
      await s.del('pods', 'l')
      await s.pause(2500)
      await s.create('pods', pod('m', limited)).catch((error) => s.note(error.message))
      await s.pause(1500)
    },
  },
  'quota-services': {
    async act(s) {
      await s.create(
        'resourcequotas',
        quota('q', { services: '3', 'services.nodeports': '2', 'services.loadbalancers': '1' }),
      )
      await s.pause(1500)
      await s.create('services', svc('a', { type: 'LoadBalancer', loadBalancerClass: 'x.y/z' }))
      await s
        .create('services', svc('b', { type: 'LoadBalancer', loadBalancerClass: 'x.y/z' }))
        .catch((error) => s.note(error.message))
      await s
        .create(
          'services',
          svc('c', {
            type: 'NodePort',
            ports: [
              { port: 80, name: 'a' },
              { port: 81, name: 'b' },
            ],
          }),
        )
        .catch((error) => s.note(error.message))
      await s.create('services', svc('d', { type: 'NodePort' }))
      await s.patch('services', 'a', { spec: { type: 'ClusterIP', loadBalancerClass: null } })
      await s.pause(2500)
      await s
        .patch('services', 'd', { spec: { type: 'LoadBalancer', allocateLoadBalancerNodePorts: false } })
        .catch((error) => s.note(error.message))
      await s.pause(2000)
    },
  },
  'quota-jobs-held-back': {
    async act(s) {
      await s.create('resourcequotas', quota('q', { 'requests.cpu': '500m', 'count/pods': '3' }))
      await s.create('limitranges', {
        apiVersion: 'v1',
        kind: 'LimitRange',
        metadata: { name: 'l' },
        spec: { limits: [{ type: 'Container', defaultRequest: { cpu: '200m' }, max: { cpu: '1' } }] },
      })
      await s.pause(1500)
      await s.create('jobs', job('j', { parallelism: 3, completions: 3 }))
      await s.pause(3000)
      const ps = await s.untilPods(2)
      await s.ended(ps[0], 0)
      await s.pause(5000)
      await s.patch('resourcequotas', 'q', { spec: { hard: { 'requests.cpu': '1' } } })
      await s.pause(8000)
    },
    restMs: 60_000,
  },
} satisfies Readonly<Record<string, Story>>
