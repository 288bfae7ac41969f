/**
 * What the admission plugins do: limit ranges, quotas, pod security, certificate requests, nodes that write what is not
 * theirs, volumes that grow. Each case makes the state a plugin looks at, then asks for things it allows, changes or refuses.
 */
import type { Case, Step } from '../recording.ts'
import { certificateRequests } from './certificate-requests.ts'
import type { Chance } from './random.ts'

// biome-ignore lint/suspicious/noExplicitAny: parts of objects of several kinds
type Any = any

const core = '/api/v1/namespaces/$NS'
const json = JSON.stringify
const post = (p: string, body: Any, h?: Step['h']): Step => ({ m: 'POST', p, b: json(body), ...(h ? { h } : {}) })
const put = (p: string, body: Any, h?: Step['h']): Step => ({ m: 'PUT', p, b: json(body), ...(h ? { h } : {}) })
const get = (p: string): Step => ({ m: 'GET', p })
const settled = (step: Step): Step => ({ ...step, settle: true })
const merge = (p: string, body: Any, h: Step['h'] = {}): Step => ({
  m: 'PATCH',
  p,
  b: json(body),
  h: { 'content-type': 'application/merge-patch+json', ...h },
})
const as = (user: string, ...groups: string[]): Record<string, string> => ({
  'impersonate-user': user,
  ...(groups.length > 0 ? { 'impersonate-group': groups[0]! } : {}),
})
const node = (name: string) => as(`system:node:${name}`, 'system:nodes')

const pod = (name: string, spec: Any = {}, meta: Any = {}): Any => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, ...meta },
  spec: { containers: [{ name: 'c', image: 'i' }], ...spec },
})
const claim = (name: string, storage: string, spec: Any = {}): Any => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage } }, ...spec },
})
const deployment = (name: string, spec: Any, labels: Any = {}): Any => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name },
  spec: { selector: { matchLabels: { a: 'b' } }, template: { metadata: { labels: { a: 'b', ...labels } }, spec } },
})

export function admissionCases(rand: Chance, count: number): readonly Case[] {
  const makers = [limitRanges, quotas, quotas, podSecurity, podSecurity, podSecurity]
  return [
    ...certificateRequests(),
    ...nodeRestrictions(),
    ...claims(),
    ...Array.from({ length: count }, (_, i) => makers[i % makers.length]!(rand, i)),
  ]
}

const amounts: Readonly<Record<string, readonly string[]>> = {
  cpu: ['50m', '100m', '250m', '500m', '1', '2', '1.5'],
  memory: ['16Mi', '64Mi', '128Mi', '1Gi', '100M', '64e6'],
  'ephemeral-storage': ['1Gi', '2Gi', '500Mi'],
  'example.com/gpu': ['1', '2'],
}

function list(rand: Chance, names: readonly string[], p = 0.6): Any {
  const found = names.flatMap((name) => (rand.float() < p ? [[name, rand.pick(amounts[name]!)]] : []))
  return found.length > 0 ? Object.fromEntries(found) : undefined
}

function resources(rand: Chance, extended = true): Any {
  const names = ['cpu', 'memory', ...(extended && rand.float() < 0.2 ? ['ephemeral-storage'] : [])]
  const limits = list(rand, names, 0.5)
  const requests = list(rand, names, 0.5)
  // A request is kept at or below its limit, so that validation has nothing to say.
  if (limits && requests) for (const name of Object.keys(requests)) if (limits[name]) requests[name] = limits[name]
  return { limits, requests }
}

function podOfContainers(rand: Chance, name: string): Any {
  const containers = Array.from({ length: rand.pick([1, 1, 1, 2]) }, (_, i) => ({
    name: `c${i}`,
    image: 'i',
    ...(rand.float() < 0.75 ? { resources: resources(rand) } : {}),
  }))
  const initContainers =
    rand.float() < 0.25
      ? [
          {
            name: 'init',
            image: 'i',
            resources: resources(rand),
            ...(rand.float() < 0.4 ? { restartPolicy: 'Always' } : {}),
          },
        ]
      : undefined
  return pod(name, {
    containers,
    initContainers,
    ...(rand.float() < 0.15 ? { resources: { requests: { cpu: '3' }, limits: { cpu: '3', memory: '3Gi' } } } : {}),
  })
}

function limitRanges(rand: Chance, i: number): Case {
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

function quotas(rand: Chance, i: number): Case {
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

/** Each breaks one or more of the pod security standards, or is near to it. */
const VIOLATIONS: readonly ((spec: Any, meta: Any, rand: Chance) => void)[] = [
  (s) => {
    s.hostNetwork = true
  },
  (s, _m, rand) => {
    s.hostPID = true
    if (rand.float() < 0.5) s.hostIPC = true
  },
  (s) => {
    s.volumes = [
      { name: 'h', hostPath: { path: '/' } },
      { name: 'e', emptyDir: {} },
    ]
  },
  (s) => {
    s.volumes = [
      { name: 'n', nfs: { server: 'x', path: '/' } },
      { name: 'g', gitRepo: { repository: 'r' } },
    ]
  },
  (s, _m, rand) => {
    s.containers[0].ports = [{ containerPort: 80, hostPort: rand.pick([80, 0, 8080]) }]
  },
  (s, _m, rand) =>
    (sc(s).capabilities = { add: rand.pick([['NET_ADMIN'], ['CHOWN'], ['NET_BIND_SERVICE'], ['SYS_TIME', 'KILL']]) }),
  (s) => (sc(s).capabilities = { drop: ['ALL'], add: ['NET_BIND_SERVICE'] }),
  (s) => (sc(s).capabilities = { drop: ['ALL'] }),
  (s) => (sc(s).allowPrivilegeEscalation = false),
  (s) => (sc(s).allowPrivilegeEscalation = true),
  (s, _m, rand) => (sc(s).seccompProfile = { type: rand.pick(['Unconfined', 'RuntimeDefault']) }),
  (s, _m, rand) => {
    psc(s).seccompProfile = { type: rand.pick(['Unconfined', 'RuntimeDefault']) }
  },
  (s, _m, rand) => {
    psc(s).runAsNonRoot = rand.pick([true, false])
  },
  (s, _m, rand) => (sc(s).runAsNonRoot = rand.pick([true, false])),
  (s, _m, rand) => {
    psc(s).runAsUser = rand.pick([0, 1000])
  },
  (s) => (sc(s).runAsUser = 0),
  (s, _m, rand) =>
    (sc(s).seLinuxOptions = rand.pick<Any>([
      { type: 'spc_t' },
      { type: 'container_t' },
      { user: 'u' },
      { role: 'r', type: 'x' },
      { level: 's0' },
    ])),
  (s) => {
    psc(s).seLinuxOptions = { user: 'u', role: 'r' }
  },
  (s, _m, rand) => {
    psc(s).sysctls = [
      {
        name: rand.pick([
          'kernel.msgmax',
          'net.ipv4.tcp_syncookies',
          'net.ipv4.tcp_keepalive_time',
          'net.ipv4.ping_group_range',
        ]),
        value: '1',
      },
    ]
  },
  (s, _m, rand) => {
    psc(s).appArmorProfile = rand.pick<Any>([
      { type: 'Unconfined' },
      { type: 'RuntimeDefault' },
      { type: 'Localhost', localhostProfile: 'x' },
    ])
  },
  (s) => (sc(s).appArmorProfile = { type: 'Unconfined' }),
  (_s, m) => {
    m.annotations = { 'container.apparmor.security.beta.kubernetes.io/c0': 'unconfined' }
  },
  (s) => (sc(s).procMount = 'Default'),
  (s) => {
    psc(s).windowsOptions = { hostProcess: true }
    s.hostNetwork = true
  },
  (s) => {
    s.initContainers = [{ name: 'i', image: 'i' }]
  },
  (s) => {
    s.containers.push({ name: 'c9', image: 'i' })
  },
  (s) => {
    s.containers[0].livenessProbe = { httpGet: { port: 80, host: '1.2.3.4' } }
    s.containers[0].lifecycle = { preStop: { tcpSocket: { port: 1, host: 'h' } } }
  },
  (s) => {
    s.os = { name: 'windows' }
  },
  (s) => {
    s.hostUsers = false
  },
]
const sc = (s: Any): Any => {
  s.containers[0].securityContext ??= {}
  return s.containers[0].securityContext
}
const psc = (s: Any): Any => {
  s.securityContext ??= {}
  return s.securityContext
}

function violating(rand: Chance, name: string): Any {
  const made = pod(name, { containers: [{ name: 'c0', image: 'i' }] })
  if (rand.float() < 0.4) {
    psc(made.spec).runAsNonRoot = true
    psc(made.spec).seccompProfile = { type: 'RuntimeDefault' }
    sc(made.spec).allowPrivilegeEscalation = false
    sc(made.spec).capabilities = { drop: ['ALL'] }
  }
  const wanted = rand.pick([0, 1, 1, 2, 3, 4])
  for (let n = 0; n < wanted; n++) rand.pick(VIOLATIONS)(made.spec, made.metadata, rand)
  return made
}

function podSecurity(rand: Chance, i: number): Case {
  const labels = (): Record<string, string | null> => {
    const found: Record<string, string> = {}
    for (const mode of ['enforce', 'warn', 'audit']) {
      if (rand.float() < (mode === 'audit' ? 0.2 : 0.65))
        found[`pod-security.kubernetes.io/${mode}`] = rand.pick([
          'baseline',
          'restricted',
          'restricted',
          'privileged',
          ...(rand.float() < 0.1 ? ['strict'] : []),
        ])
      if (rand.float() < 0.3)
        found[`pod-security.kubernetes.io/${mode}-version`] = rand.pick([
          'latest',
          'v1.0',
          'v1.19',
          'v1.23',
          'v1.24',
          'v1.25',
          'v1.29',
          'v1.31',
          'v1.34',
          'v1.35',
          'v1.37',
          'v1.40',
          ...(rand.float() < 0.2 ? ['1.25'] : []),
        ])
    }
    return found
  }
  const template = deployment('d', violating(rand, '').spec)
  return {
    name: `pod security ${i}`,
    steps: [
      ...(rand.float() < 0.3
        ? [post(`${core}/pods`, violating(rand, 'early')), post(`${core}/pods`, violating(rand, 'early2'))]
        : []),
      settled(merge('/api/v1/namespaces/$NS', { metadata: { labels: labels() } })),
      settled(post(`${core}/pods`, violating(rand, 'a'))),
      post(`${core}/pods`, violating(rand, 'b')),
      post(`${core}/pods`, violating(rand, 'c')),
      ...(rand.float() < 0.4 ? [post('/apis/apps/v1/namespaces/$NS/deployments', template)] : []),
      ...(rand.float() < 0.2
        ? [
            post('/apis/batch/v1/namespaces/$NS/cronjobs', {
              apiVersion: 'batch/v1',
              kind: 'CronJob',
              metadata: { name: 'j' },
              spec: {
                schedule: '* * * * *',
                jobTemplate: { spec: { template: { spec: { ...violating(rand, '').spec, restartPolicy: 'Never' } } } },
              },
            }),
          ]
        : []),
      ...(rand.float() < 0.3 ? [merge('/api/v1/namespaces/$NS', { metadata: { labels: labels() } })] : []),
      ...(rand.float() < 0.3 ? [merge(`${core}/pods/a`, { metadata: { labels: { x: 'y' } } })] : []),
      ...(rand.float() < 0.2
        ? [
            merge(`${core}/pods/a/ephemeralcontainers`, {
              spec: { ephemeralContainers: [{ name: 'dbg', image: 'i' }] },
            }),
          ]
        : []),
    ],
  }
}

function nodeRestrictions(): readonly Case[] {
  const n = (name: string, meta: Any = {}, spec: Any = {}): Any => ({
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, ...meta },
    spec,
  })
  const mirror = (name: string, nodeName: string, meta: Any = {}, spec: Any = {}) =>
    pod(
      name,
      { nodeName, ...spec },
      {
        annotations: { 'kubernetes.io/config.mirror': 'x' },
        ownerReferences: [
          { apiVersion: 'v1', kind: 'Node', name: nodeName, uid: '{{0.metadata.uid}}', controller: true },
        ],
        ...meta,
      },
    )
  const nodes = '/api/v1/nodes'
  const me = node('$NS-n')
  const lease = (name: string, namespace: string): Any => ({
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name, namespace },
    spec: { holderIdentity: name },
  })
  return [
    {
      name: 'node restriction: nodes',
      steps: [
        post(nodes, n('$NS-n'), me),
        post(nodes, n('$NS-other'), me),
        post(nodes, n('$NS-n2', { labels: { 'node-restriction.kubernetes.io/a': 'b' } }), node('$NS-n2')),
        post(nodes, n('$NS-n2', { labels: { 'kubernetes.io/custom': 'b', 'x.k8s.io/y': 'z' } }), node('$NS-n2')),
        post(
          nodes,
          n('$NS-n2', { labels: { 'kubelet.kubernetes.io/a': 'b', 'node.kubernetes.io/c': 'd' } }),
          node('$NS-n2'),
        ),
        post(nodes, n('$NS-n3', {}, { taints: [{ key: 'k', effect: 'NoSchedule' }] }), node('$NS-n3')),
        post(
          nodes,
          n('$NS-n4', { ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: 'x', uid: 'u' }] }),
          node('$NS-n4'),
        ),
        post(
          nodes,
          n('$NS-n5', {}, { configSource: { configMap: { namespace: 'a', name: 'b', kubeletConfigKey: 'k' } } }),
          node('$NS-n5'),
        ),
        merge(`${nodes}/$NS-n`, { metadata: { labels: { 'node-restriction.kubernetes.io/x': 'y' } } }, me),
        merge(`${nodes}/$NS-n`, { metadata: { labels: { 'kubernetes.io/custom': 'y' } } }, me),
        merge(`${nodes}/$NS-n`, { metadata: { labels: { free: 'y' } } }, me),
        merge(`${nodes}/$NS-n`, { metadata: { labels: { 'kubernetes.io/os': 'linux' } } }, me),
        merge(`${nodes}/$NS-n`, { spec: { taints: [{ key: 'k', effect: 'NoSchedule' }] } }, me),
        merge(`${nodes}/$NS-n/status`, { status: { conditions: [{ type: 'Ready', status: 'True' }] } }, me),
        merge(`${nodes}/$NS-n`, { metadata: { labels: { a: 'b' } } }, node('$NS-n2')),
        merge(`${nodes}/$NS-n/status`, { status: { phase: 'x' } }, node('$NS-n2')),
        merge(
          `${nodes}/$NS-n`,
          { metadata: { ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: 'x', uid: 'u' }] } },
          me,
        ),
        { m: 'DELETE', p: `${nodes}/$NS-n`, h: me },
        { m: 'DELETE', p: `${nodes}/$NS-n2`, h: me },
        post(nodes, n('$NS-x'), as('system:node:', 'system:nodes')),
        { m: 'DELETE', p: `${nodes}/$NS-n` },
        { m: 'DELETE', p: `${nodes}/$NS-n2` },
        { m: 'DELETE', p: `${nodes}/$NS-n3` },
        { m: 'DELETE', p: `${nodes}/$NS-n4` },
      ],
    },
    {
      name: 'node restriction: pods',
      steps: [
        post(nodes, n('$NS-n')),
        post(`${core}/pods`, pod('plain'), me),
        post(`${core}/pods`, pod('plain', { nodeName: '$NS-n' }), me),
        post(`${core}/pods`, mirror('m', '$NS-n'), me),
        post(`${core}/pods`, mirror('m2', '$NS-other'), me),
        post(`${core}/pods`, mirror('m3', '$NS-n', { ownerReferences: undefined }), me),
        post(
          `${core}/pods`,
          mirror('m4', '$NS-n', {
            ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: '$NS-other', uid: 'u', controller: true }],
          }),
          me,
        ),
        post(
          `${core}/pods`,
          mirror('m5', '$NS-n', {
            ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: '$NS-n', uid: 'wrong', controller: true }],
          }),
          me,
        ),
        post(
          `${core}/pods`,
          mirror('m6', '$NS-n', {
            ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: '$NS-n', uid: '{{0.metadata.uid}}' }],
          }),
          me,
        ),
        post(
          `${core}/pods`,
          mirror('m7', '$NS-n', {
            ownerReferences: [
              {
                apiVersion: 'v1',
                kind: 'Node',
                name: '$NS-n',
                uid: '{{0.metadata.uid}}',
                controller: true,
                blockOwnerDeletion: true,
              },
            ],
          }),
          me,
        ),
        post(
          `${core}/pods`,
          mirror('m8', '$NS-n', {
            ownerReferences: [{ apiVersion: 'apps/v1', kind: 'X', name: '$NS-n', uid: 'u', controller: true }],
          }),
          me,
        ),
        post(`${core}/pods`, mirror('m9', '$NS-n', {}, { serviceAccountName: 'default' }), me),
        post(`${core}/pods`, mirror('m10', '$NS-n', {}, { volumes: [{ name: 'v', secret: { secretName: 's' } }] }), me),
        post(`${core}/pods`, mirror('m11', '$NS-n', {}, { volumes: [{ name: 'v', configMap: { name: 's' } }] }), me),
        post(
          `${core}/pods`,
          mirror('m12', '$NS-n', {}, { volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 's' } }] }),
          me,
        ),
        post(
          `${core}/pods`,
          mirror(
            'm13',
            '$NS-n',
            {},
            {
              containers: [
                { name: 'c', image: 'i', env: [{ name: 'E', valueFrom: { secretKeyRef: { name: 's', key: 'k' } } }] },
              ],
            },
          ),
          me,
        ),
        post(`${core}/pods`, pod('mine', { nodeName: '$NS-n' })),
        post(`${core}/pods`, pod('theirs', { nodeName: '$NS-other' })),
        merge(`${core}/pods/mine/status`, { status: { phase: 'Running' } }, me),
        merge(`${core}/pods/theirs/status`, { status: { phase: 'Running' } }, me),
        merge(`${core}/pods/mine/status`, { metadata: { labels: { a: 'b' } }, status: { phase: 'Running' } }, me),
        merge(`${core}/pods/mine/status`, { status: { resourceClaimStatuses: [{ name: 'x' }] } }, me),
        merge(`${core}/pods/mine`, { metadata: { labels: { a: 'b' } } }, me),
        post(
          `${core}/pods/theirs/eviction`,
          { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'theirs' } },
          me,
        ),
        post(
          `${core}/pods/mine/eviction`,
          { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'mine' } },
          me,
        ),
        post(
          `${core}/pods/gone/eviction`,
          { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'gone' } },
          me,
        ),
        { m: 'DELETE', p: `${core}/pods/theirs`, h: me },
        { m: 'DELETE', p: `${core}/pods/mine?gracePeriodSeconds=0`, h: me },
        { m: 'DELETE', p: `${core}/pods/gone`, h: me },
        { m: 'DELETE', p: `${core}/pods/theirs?gracePeriodSeconds=0` },
        { m: 'DELETE', p: `${nodes}/$NS-n` },
      ],
    },
    {
      name: 'node restriction: leases, tokens, claims',
      steps: [
        post(nodes, n('$NS-n')),
        post('/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases', lease('$NS-n', 'kube-node-lease'), me),
        post(
          '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases',
          lease('$NS-other', 'kube-node-lease'),
          me,
        ),
        post('/apis/coordination.k8s.io/v1/namespaces/$NS/leases', lease('$NS-n', '$NS'), me),
        { m: 'DELETE', p: '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/$NS-n', h: me },
        post(
          '/apis/storage.k8s.io/v1/csinodes',
          { apiVersion: 'storage.k8s.io/v1', kind: 'CSINode', metadata: { name: '$NS-other' }, spec: { drivers: [] } },
          me,
        ),
        post(
          '/apis/storage.k8s.io/v1/csinodes',
          { apiVersion: 'storage.k8s.io/v1', kind: 'CSINode', metadata: { name: '$NS-n' }, spec: { drivers: [] } },
          me,
        ),
        post(`${core}/pods`, pod('mine', { nodeName: '$NS-n' })),
        post(`${core}/pods`, pod('theirs', { nodeName: '$NS-other', serviceAccountName: 'default' })),
        post(
          `${core}/serviceaccounts/default/token`,
          {
            apiVersion: 'authentication.k8s.io/v1',
            kind: 'TokenRequest',
            spec: { audiences: ['https://kubernetes.default.svc'] },
          },
          me,
        ),
        post(
          `${core}/serviceaccounts/default/token`,
          {
            apiVersion: 'authentication.k8s.io/v1',
            kind: 'TokenRequest',
            spec: {
              audiences: ['https://kubernetes.default.svc'],
              boundObjectRef: { apiVersion: 'v1', kind: 'Secret', name: 's' },
            },
          },
          me,
        ),
        post(
          `${core}/serviceaccounts/default/token`,
          {
            apiVersion: 'authentication.k8s.io/v1',
            kind: 'TokenRequest',
            spec: {
              audiences: ['https://kubernetes.default.svc'],
              boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name: 'mine' },
            },
          },
          me,
        ),
        post(
          `${core}/serviceaccounts/default/token`,
          {
            apiVersion: 'authentication.k8s.io/v1',
            kind: 'TokenRequest',
            spec: {
              audiences: ['https://kubernetes.default.svc'],
              boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name: 'mine', uid: 'wrong' },
            },
          },
          me,
        ),
        post(
          `${core}/serviceaccounts/default/token`,
          {
            apiVersion: 'authentication.k8s.io/v1',
            kind: 'TokenRequest',
            spec: {
              audiences: ['https://kubernetes.default.svc'],
              boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name: 'theirs', uid: '{{8.metadata.uid}}' },
            },
          },
          me,
        ),
        { m: 'DELETE', p: `${core}/pods/theirs?gracePeriodSeconds=0` },
        { m: 'DELETE', p: `${core}/pods/mine?gracePeriodSeconds=0` },
        { m: 'DELETE', p: '/apis/storage.k8s.io/v1/csinodes/$NS-n' },
        { m: 'DELETE', p: `${nodes}/$NS-n` },
      ],
    },
  ]
}

function claims(): readonly Case[] {
  const storageClass = (name: string, allowVolumeExpansion: boolean | undefined): Any => ({
    apiVersion: 'storage.k8s.io/v1',
    kind: 'StorageClass',
    metadata: { name },
    provisioner: 'example.com/x',
    allowVolumeExpansion,
  })
  const classes = '/apis/storage.k8s.io/v1/storageclasses'
  const claimsPath = `${core}/persistentvolumeclaims`
  const bound = (name: string, storage: string, more: Any) => ({
    ...claim(name, storage, more),
    status: { phase: 'Bound', capacity: { storage } },
  })
  const grow = (storage: string) => ({ spec: { resources: { requests: { storage } } } })
  return [
    {
      name: 'claims that grow',
      steps: [
        post(classes, storageClass('$NS-fixed', undefined)),
        post(classes, storageClass('$NS-grows', true)),
        post(claimsPath, claim('a', '1Gi', { storageClassName: '$NS-fixed', volumeName: 'v' })),
        post(claimsPath, claim('b', '1Gi', { storageClassName: '$NS-grows', volumeName: 'v' })),
        post(claimsPath, claim('c', '1Gi', { storageClassName: '' })),
        post(claimsPath, claim('d', '1Gi', { storageClassName: '$NS-gone', volumeName: 'v' })),
        merge(`${claimsPath}/a`, grow('2Gi')),
        put(`${claimsPath}/a/status`, bound('a', '1Gi', { storageClassName: '$NS-fixed', volumeName: 'v' })),
        put(`${claimsPath}/b/status`, bound('b', '1Gi', { storageClassName: '$NS-grows', volumeName: 'v' })),
        put(`${claimsPath}/c/status`, bound('c', '1Gi', { storageClassName: '' })),
        put(`${claimsPath}/d/status`, bound('d', '1Gi', { storageClassName: '$NS-gone', volumeName: 'v' })),
        merge(`${claimsPath}/a`, grow('2Gi')),
        merge(`${claimsPath}/b`, grow('2Gi')),
        merge(`${claimsPath}/c`, grow('2Gi')),
        merge(`${claimsPath}/d`, grow('2Gi')),
        merge(`${claimsPath}/b`, grow('1500Mi')),
        merge(`${claimsPath}/b`, grow('1Gi')),
        merge(`${claimsPath}/b`, grow('512Mi')),
        { m: 'DELETE', p: `${classes}/$NS-fixed` },
        { m: 'DELETE', p: `${classes}/$NS-grows` },
      ],
    },
    {
      name: 'pod topology labels',
      steps: [
        post('/api/v1/nodes', {
          apiVersion: 'v1',
          kind: 'Node',
          metadata: {
            name: '$NS-n',
            labels: {
              'topology.kubernetes.io/zone': 'z',
              'topology.kubernetes.io/region': 'r',
              'topology.k8s.io/rack': 'k',
              other: 'o',
            },
          },
        }),
        post(`${core}/pods`, pod('a')),
        post(`${core}/pods/a/binding`, {
          apiVersion: 'v1',
          kind: 'Binding',
          metadata: { name: 'a' },
          target: { kind: 'Node', name: '$NS-n' },
        }),
        get(`${core}/pods/a`),
        post(`${core}/pods`, pod('b', { nodeName: '$NS-n' })),
        post(`${core}/pods`, pod('c', {}, { labels: { 'topology.kubernetes.io/zone': 'mine' } })),
        post(`${core}/pods/c/binding`, {
          apiVersion: 'v1',
          kind: 'Binding',
          metadata: { name: 'c' },
          target: { kind: 'Node', name: '$NS-n' },
        }),
        get(`${core}/pods/c`),
        { m: 'DELETE', p: `${core}/pods/a?gracePeriodSeconds=0` },
        { m: 'DELETE', p: `${core}/pods/b?gracePeriodSeconds=0` },
        { m: 'DELETE', p: `${core}/pods/c?gracePeriodSeconds=0` },
        { m: 'DELETE', p: '/api/v1/nodes/$NS-n' },
      ],
    },
  ]
}
