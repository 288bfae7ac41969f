/** Limit ranges and quotas: what they refuse, fill in and count. */
import type { Case, Step } from '../recording.ts'
import {
  type Any,
  claim,
  core,
  deployment,
  get,
  list,
  merge,
  pod,
  podOfContainers,
  post,
  put,
} from './admission-parts.ts'
import type { Chance } from './random.ts'

export function limitRanges(rand: Chance, i: number): Case {
  const item = (type: string): Any => ({
    type,
    min: rand.float() < 0.4 ? list(rand, [rand.pick(['cpu', 'memory'])]) : undefined,
    max: rand.float() < 0.6 ? list(rand, [rand.pick(['cpu', 'memory', 'ephemeral-storage'])]) : undefined,
    ...(type === 'Container'
      ? {
          default: rand.float() < 0.5 ? list(rand, ['cpu', 'memory']) : undefined,
          defaultRequest: rand.float() < 0.5 ? list(rand, ['cpu', 'memory']) : undefined,
        }
      : {}),
    maxLimitRequestRatio: rand.maybe(0.3, { [rand.pick(['cpu', 'memory'])]: rand.pick(['1', '2', '1500m', '4']) }),
  })
  const storage = {
    type: 'PersistentVolumeClaim',
    min: rand.maybe(0.6, { storage: '1Gi' }),
    max: { storage: '10Gi' },
  }
  const range = (name: string, limits: Any[]): Step =>
    post(`${core}/limitranges`, { apiVersion: 'v1', kind: 'LimitRange', metadata: { name }, spec: { limits } })
  return {
    name: `limit range ${i}`,
    steps: [
      range('l', [
        item('Container'),
        ...(rand.float() < 0.5 ? [item('Pod')] : []),
        ...(rand.float() < 0.3 ? [storage] : []),
      ]),
      ...(rand.float() < 0.3 ? [range('m', [item(rand.pick(['Pod', 'Container']))])] : []),
      post(`${core}/pods`, podOfContainers(rand, 'a')),
      post(`${core}/pods`, podOfContainers(rand, 'b')),
      post(`${core}/pods`, podOfContainers(rand, 'd')),
      ...(rand.float() < 0.3
        ? [post(`${core}/persistentvolumeclaims`, claim('e', rand.pick(['500Mi', '5Gi', '50Gi'])))]
        : []),
      ...(rand.float() < 0.3
        ? [post(`${core}/pods`, { ...podOfContainers(rand, ''), metadata: { generateName: 'probe-gen-' } })]
        : []),
      ...(rand.float() < 0.3 ? [merge(`${core}/pods/a`, { metadata: { labels: { x: 'y' } } })] : []),
    ],
  }
}

const QUOTA_RESOURCES: Readonly<Record<string, readonly string[]>> = {
  pods: ['1', '2'],
  'count/pods': ['2'],
  cpu: ['1', '500m'],
  'requests.cpu': ['1', '500m'],
  'limits.cpu': ['1', '2'],
  memory: ['128Mi', '1Gi'],
  'limits.memory': ['256Mi'],
  'requests.ephemeral-storage': ['1Gi'],
  configmaps: ['2', '3'],
  'count/configmaps': ['2'],
  secrets: ['1'],
  services: ['1', '2'],
  'services.nodeports': ['1'],
  'services.loadbalancers': ['0', '1'],
  persistentvolumeclaims: ['1'],
  'requests.storage': ['5Gi'],
  'fast.storageclass.storage.k8s.io/requests.storage': ['2Gi'],
  'fast.storageclass.storage.k8s.io/persistentvolumeclaims': ['1'],
  'count/deployments.apps': ['1'],
  'count/jobs.batch': ['1'],
  'requests.example.com/gpu': ['1'],
  replicationcontrollers: ['1'],
  resourcequotas: ['1'],
}

export function quotas(rand: Chance, i: number): Case {
  const scopes = rand.maybe(0.25, [rand.pick(['Terminating', 'NotTerminating', 'BestEffort', 'NotBestEffort'])])
  const names = Object.keys(QUOTA_RESOURCES)
  const about = scopes
    ? names.filter((name) => /^(pods|cpu|memory|(requests|limits)\.(cpu|memory))$/.test(name))
    : names
  const hard: Any = {}
  const wanted = rand.pick([1, 2, 3, 5])
  for (let n = 0; n < wanted; n++) {
    const name = scopes?.[0] === 'BestEffort' ? 'pods' : rand.pick(about)
    hard[name] = rand.pick(QUOTA_RESOURCES[name]!)
  }
  const scopeSelector = rand.maybe(scopes ? 0 : 0.15, {
    matchExpressions: [
      rand.pick<Any>([
        { scopeName: 'PriorityClass', operator: 'In', values: ['system-cluster-critical'] },
        { scopeName: 'PriorityClass', operator: 'Exists' },
        { scopeName: 'CrossNamespacePodAffinity', operator: 'Exists' },
        { scopeName: 'PriorityClass', operator: 'NotIn', values: ['x'] },
      ]),
    ],
  })
  const podHard = { pods: '1', cpu: '1' }
  const spec = { hard: scopeSelector ? podHard : hard, scopes, scopeSelector }
  const used = Object.fromEntries(
    Object.keys(spec.hard).map((name) => [
      name,
      rand.pick(['0', '0', '0', /memory|storage$/.test(name) ? '64Mi' : '1']),
    ]),
  )
  const quota = { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'q' }, spec }
  const ask = (n: number): Step => {
    const name = `o${n}`
    switch (rand.pick(['pod', 'pod', 'pod', 'configmap', 'secret', 'service', 'claim', 'deployment', 'job', 'rc'])) {
      case 'configmap':
        return post(`${core}/configmaps`, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } })
      case 'secret':
        return post(`${core}/secrets`, { apiVersion: 'v1', kind: 'Secret', metadata: { name } })
      case 'service': {
        const type = rand.pick(['ClusterIP', 'NodePort', 'LoadBalancer'])
        const more = rand.maybe(type === 'LoadBalancer' ? 0.4 : 0, { allocateLoadBalancerNodePorts: false })
        return post(`${core}/services`, {
          apiVersion: 'v1',
          kind: 'Service',
          metadata: { name },
          spec: {
            type,
            ports: [
              { port: 80, name: 'a' },
              { port: 81, name: 'b' },
            ],
            ...more,
          },
        })
      }
      case 'claim':
        return post(
          `${core}/persistentvolumeclaims`,
          claim(name, rand.pick(['1Gi', '4Gi']), { storageClassName: rand.maybe(0.6, 'fast') }),
        )
      case 'deployment':
        return post('/apis/apps/v1/namespaces/$NS/deployments', deployment(name, pod('x').spec))
      case 'job':
        return post('/apis/batch/v1/namespaces/$NS/jobs', {
          apiVersion: 'batch/v1',
          kind: 'Job',
          metadata: { name },
          spec: { template: { spec: { restartPolicy: 'Never', ...pod('x').spec } } },
        })
      case 'rc':
        return post(`${core}/replicationcontrollers`, {
          apiVersion: 'v1',
          kind: 'ReplicationController',
          metadata: { name },
          spec: { replicas: 0, selector: { a: 'b' }, template: deployment('x', pod('x').spec).spec.template },
        })
      default: {
        const made = podOfContainers(rand, name)
        if (rand.float() < 0.25) made.spec.activeDeadlineSeconds = 60
        if (rand.float() < 0.15) made.spec.priorityClassName = 'system-cluster-critical'
        if (rand.float() < 0.15) {
          const gpu = { limits: { 'example.com/gpu': '1' } }
          made.spec.containers[0].resources = gpu
        }
        if (scopeSelector && rand.float() < 0.4)
          made.spec.affinity = {
            podAffinity: {
              requiredDuringSchedulingIgnoredDuringExecution: [
                { topologyKey: 'k', namespaces: ['other'], labelSelector: { matchLabels: { a: 'b' } } },
              ],
            },
          }
        return post(`${core}/pods${rand.float() < 0.1 ? '?dryRun=All' : ''}`, made)
      }
    }
  }
  const changes: Step[] = []
  if (rand.float() < 0.3)
    changes.push(merge(`${core}/services/o0`, { spec: { type: rand.pick(['NodePort', 'ClusterIP', 'LoadBalancer']) } }))
  if (rand.float() < 0.2) changes.push({ m: 'DELETE', p: `${core}/pods/o0` })
  if (rand.float() < 0.2) changes.push(put(`${core}/pods/o1/status`, { ...pod('o1'), status: { phase: 'Succeeded' } }))
  return {
    name: `quota ${i}`,
    steps: [
      post(`${core}/resourcequotas`, quota),
      put(`${core}/resourcequotas/q/status`, { ...quota, status: { hard: spec.hard, used } }),
      ask(0),
      ask(1),
      ask(2),
      ask(3),
      ...changes,
      get(`${core}/resourcequotas/q`),
    ],
  }
}
