/** Mutating policies about pods, workloads, subresources and custom resources: lists by key, atomic parts, defaults. */
import type { Case } from '../recording.ts'
import { type Any, about, applied, configMap, core, create, merge, patched, post } from './mutating-steps.ts'

const pod = (name: string, spec: Any = {}, meta: Any = {}): Any => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, ...meta },
  spec: { containers: [{ name: 'c', image: 'i' }], ...spec },
})
const createPod = post(`${core}/pods`, pod('a'))
const rule = (apiGroup: string, ...resources: string[]): Any => ({
  operations: ['*'],
  apiGroups: [apiGroup],
  apiVersions: ['v1'],
  resources,
})
const pods = [rule('', 'pods')]
const apps = '/apis/apps/v1/namespaces/$NS'
const deployment = (name: string): Any => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name },
  spec: {
    replicas: 1,
    selector: { matchLabels: { app: 'a' } },
    template: { metadata: { labels: { app: 'a' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
  },
})

/** One apply configuration each, about a Pod. */
const ABOUT_PODS: Readonly<Record<string, string>> = {
  'a container more': 'Object{spec: Object.spec{containers: [Object.spec.containers{name: "side", image: "s"}]}}',
  'an init container':
    'Object{spec: Object.spec{initContainers: [Object.spec.initContainers{name: "init", image: "s", restartPolicy: "Always"}]}}',
  'the container, changed':
    'Object{spec: Object.spec{containers: object.spec.containers.map(c, Object.spec.containers{name: c.name, imagePullPolicy: "Always"})}}',
  'an environment':
    'Object{spec: Object.spec{containers: object.spec.containers.map(c, Object.spec.containers{name: c.name, env: [Object.spec.containers.env{name: "A", value: "b"}]})}}',
  'a container without name': 'Object{spec: Object.spec{containers: [Object.spec.containers{image: "s"}]}}',
  'a container twice':
    'Object{spec: Object.spec{containers: [Object.spec.containers{name: "x", image: "s"}, Object.spec.containers{name: "x", image: "t"}]}}',
  'ports by two keys':
    'Object{spec: Object.spec{containers: [Object.spec.containers{name: "c", ports: [Object.spec.containers.ports{containerPort: 80, protocol: "TCP"}]}]}}',
  'ports by a default key':
    'Object{spec: Object.spec{containers: [Object.spec.containers{name: "c", ports: [Object.spec.containers.ports{containerPort: 80}]}]}}',
  'a command, atomic': 'Object{spec: Object.spec{containers: [Object.spec.containers{name: "c", command: ["x"]}]}}',
  'tolerations, atomic':
    'Object{spec: Object.spec{tolerations: [Object.spec.tolerations{key: "a", operator: "Exists"}]}}',
  'a node selector, atomic': 'Object{spec: Object.spec{nodeSelector: {"a": "b"}}}',
  'a node selector, empty': 'Object{spec: Object.spec{nodeSelector: {}}}',
  'affinity with atomic terms':
    'Object{spec: Object.spec{affinity: Object.spec.affinity{nodeAffinity: Object.spec.affinity.nodeAffinity{requiredDuringSchedulingIgnoredDuringExecution: Object.spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution{nodeSelectorTerms: []}}}}}',
  'a reference, atomic':
    'Object{spec: Object.spec{containers: [Object.spec.containers{name: "c", envFrom: [Object.spec.containers.envFrom{prefix: "X"}]}]}}',
  'a security context':
    'Object{spec: Object.spec{securityContext: Object.spec.securityContext{runAsNonRoot: true, fsGroup: 1000}}}',
  resources:
    'Object{spec: Object.spec{containers: [Object.spec.containers{name: "c", resources: Object.spec.containers.resources{limits: {"cpu": "500m", "memory": "1Gi"}}}]}}',
  'resources as numbers':
    'Object{spec: Object.spec{containers: [Object.spec.containers{name: "c", resources: Object.spec.containers.resources{limits: {"cpu": 2}}}]}}',
  'resources as null':
    'Object{spec: Object.spec{containers: [Object.spec.containers{name: "c", resources: Object.spec.containers.resources{limits: {"cpu": null}}}]}}',
  'resources as a bool':
    'Object{spec: Object.spec{containers: [Object.spec.containers{name: "c", resources: Object.spec.containers.resources{limits: {"cpu": true}}}]}}',
  'resources as a fraction':
    'Object{spec: Object.spec{containers: [Object.spec.containers{name: "c", resources: Object.spec.containers.resources{limits: {"cpu": 1.5}}}]}}',
  'a port as null':
    'Object{spec: Object.spec{containers: [Object.spec.containers{name: "c", livenessProbe: Object.spec.containers.livenessProbe{httpGet: Object.spec.containers.livenessProbe.httpGet{port: null}}}]}}',
  'a port as a fraction':
    'Object{spec: Object.spec{containers: [Object.spec.containers{name: "c", livenessProbe: Object.spec.containers.livenessProbe{httpGet: Object.spec.containers.livenessProbe.httpGet{port: 80.5}}}]}}',
  'containers as maps': 'Object{spec: Object.spec{containers: [{"name": "side", "image": "s"}]}}',
  'a small number too big':
    'Object{spec: Object.spec{containers: [Object.spec.containers{name: "c", ports: [Object.spec.containers.ports{containerPort: 4294967376, protocol: "TCP"}]}]}}',
  'resources as a quantity':
    'Object{spec: Object.spec{containers: [Object.spec.containers{name: "c", resources: Object.spec.containers.resources{limits: {"cpu": quantity("2")}}}]}}',
  'a quantity that is none':
    'Object{spec: Object.spec{containers: [Object.spec.containers{name: "c", resources: Object.spec.containers.resources{limits: {"cpu": "x"}}}]}}',
  'a number': 'Object{spec: Object.spec{terminationGracePeriodSeconds: 5}}',
  'a double for a number': 'Object{spec: Object.spec{terminationGracePeriodSeconds: 5.0}}',
  'a fraction for a number': 'Object{spec: Object.spec{terminationGracePeriodSeconds: 5.5}}',
  'an unsigned number': 'Object{spec: Object.spec{terminationGracePeriodSeconds: 5u}}',
  'a number too big': 'Object{spec: Object.spec{priority: 2147483648000}}',
  'a text for a number': 'Object{spec: Object.spec{terminationGracePeriodSeconds: "5"}}',
  'a wrong value': 'Object{spec: Object.spec{restartPolicy: "Sometimes"}}',
  'an unknown field': 'Object{spec: Object.spec{nothing: true}}',
  'an unknown field of a container':
    'Object{spec: Object.spec{containers: [Object.spec.containers{name: "c", nothing: 1}]}}',
  'types named otherwise': 'Object{spec: Object.spec{containers: [Object.containers{name: "x"}]}}',
  'maps instead of objects': 'Object{spec: {"containers": [{"name": "side", "image": "s"}]}}',
  'an int or string, int':
    'Object{spec: Object.spec{containers: [Object.spec.containers{name: "c", livenessProbe: Object.spec.containers.livenessProbe{httpGet: Object.spec.containers.livenessProbe.httpGet{port: 80}}}]}}',
  'an int or string, string':
    'Object{spec: Object.spec{containers: [Object.spec.containers{name: "c", livenessProbe: Object.spec.containers.livenessProbe{httpGet: Object.spec.containers.livenessProbe.httpGet{port: "web", path: "/"}}}]}}',
  'a volume':
    'Object{spec: Object.spec{volumes: [Object.spec.volumes{name: "v", emptyDir: Object.spec.volumes.emptyDir{}}], containers: [Object.spec.containers{name: "c", volumeMounts: [Object.spec.containers.volumeMounts{name: "v", mountPath: "/v"}]}]}}',
  'an image pull secret': 'Object{spec: Object.spec{imagePullSecrets: [Object.spec.imagePullSecrets{name: "s"}]}}',
  'a host alias': 'Object{spec: Object.spec{hostAliases: [Object.spec.hostAliases{ip: "10.0.0.1", hostnames: ["a"]}]}}',
  'a topology constraint':
    'Object{spec: Object.spec{topologySpreadConstraints: [Object.spec.topologySpreadConstraints{maxSkew: 1, topologyKey: "z", whenUnsatisfiable: "ScheduleAnyway", labelSelector: Object.spec.topologySpreadConstraints.labelSelector{matchLabels: {"a": "b"}}}]}}',
  status: 'Object{status: Object.status{phase: "Failed"}}',
}

const ABOUT_PODS_PATCHED: Readonly<Record<string, string>> = {
  'a container appended':
    '[JSONPatch{op: "add", path: "/spec/containers/-", value: Object.spec.containers{name: "side", image: "s"}}]',
  'a container prepended': '[JSONPatch{op: "add", path: "/spec/containers/0", value: {"name": "side", "image": "s"}}]',
  'a container removed': '[JSONPatch{op: "remove", path: "/spec/containers/0"}]',
  'a command': '[JSONPatch{op: "add", path: "/spec/containers/0/command", value: ["x", "y"]}]',
  tolerations:
    '[JSONPatch{op: "add", path: "/spec/tolerations", value: [Object.spec.tolerations{key: "a", operator: "Exists"}]}]',
  'an index beyond': '[JSONPatch{op: "replace", path: "/spec/containers/3/image", value: "x"}]',
  'an unknown field further in':
    '[JSONPatch{op: "add", path: "/spec/containers/0/nothing", value: 1}, JSONPatch{op: "add", path: "/spec/none", value: 1}]',
  'a number as a double': '[JSONPatch{op: "add", path: "/spec/terminationGracePeriodSeconds", value: 5.0}]',
  'a fraction': '[JSONPatch{op: "add", path: "/spec/terminationGracePeriodSeconds", value: 5.5}]',
  'a text for a number': '[JSONPatch{op: "add", path: "/spec/terminationGracePeriodSeconds", value: "5"}]',
  'a node selector': '[JSONPatch{op: "add", path: "/spec/nodeSelector", value: {"a": "b"}}]',
}

const gadgets = '/apis/probe.example.com/v1/namespaces/$NS/gadgets'
const gadget = (name: string, spec: Any = {}): Any => ({
  apiVersion: 'probe.example.com/v1',
  kind: 'Gadget',
  metadata: { name },
  spec,
})
const custom = [{ operations: ['*'], apiGroups: ['probe.example.com'], apiVersions: ['*'], resources: ['gadgets'] }]
const ABOUT_GADGETS: Readonly<Record<string, Any>> = {
  'labels of a custom resource': applied('Object{metadata: Object.metadata{labels: {"by": "policy"}}}'),
  'an unknown field of a custom resource': applied('Object{spec: Object.spec{nothingLikeIt: 1}}'),
  'a custom resource patched': patched('[JSONPatch{op: "add", path: "/metadata/labels", value: {"by": "policy"}}]'),
  'an unknown field of a custom resource patched': patched(
    '[JSONPatch{op: "add", path: "/spec/nothingLikeIt", value: 1}]',
  ),
  'a custom resource of another kind': patched('[JSONPatch{op: "replace", path: "/kind", value: "Other"}]'),
}

export function sidecarCases(): readonly Case[] {
  return [
    ...Object.entries(ABOUT_PODS).map(([name, expression]) =>
      about(`pods: ${name}, applied`, [applied(expression)], { rules: pods, steps: [createPod] }),
    ),
    ...Object.entries(ABOUT_PODS_PATCHED).map(([name, expression]) =>
      about(`pods: ${name}, patched`, [patched(expression)], { rules: pods, steps: [createPod] }),
    ),
    ...Object.entries(ABOUT_GADGETS).map(([name, mutation]) =>
      about(name, [mutation], { rules: custom, steps: [post(gadgets, gadget('a'))], gadget: true }),
    ),
    about('pods: an update that may not be', [applied('Object{spec: Object.spec{schedulerName: "mine"}}')], {
      rules: [{ ...rule('', 'pods'), operations: ['UPDATE'] }],
      steps: [createPod, merge(`${core}/pods/a`, { metadata: { labels: { a: 'b' } } })],
    }),
    about(
      'pods: status',
      [applied('Object{metadata: Object.metadata{labels: {"by": "policy"}}, status: Object.status{reason: "Policy"}}')],
      {
        rules: [rule('', 'pods/status')],
        steps: [createPod, merge(`${core}/pods/a/status`, { status: { message: 'm' } })],
      },
    ),
    about('pods: every subresource', [applied('Object{metadata: Object.metadata{labels: {"by": "policy"}}}')], {
      rules: [rule('', 'pods/*')],
      steps: [
        createPod,
        merge(`${core}/pods/a/status`, { status: { message: 'm' } }),
        post(`${core}/pods/a/binding`, {
          apiVersion: 'v1',
          kind: 'Binding',
          metadata: { name: 'a' },
          target: { kind: 'Node', name: 'n' },
        }),
        post(`${core}/pods/a/eviction`, { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'a' } }),
      ],
    }),
    about(
      'deployments: replicas',
      [
        applied(
          'Object{spec: Object.spec{replicas: 3, template: Object.spec.template{metadata: Object.spec.template.metadata{annotations: {"a": "b"}}}}}',
        ),
      ],
      {
        rules: [rule('apps', 'deployments')],
        steps: [
          post(`${apps}/deployments`, deployment('a')),
          merge(`${apps}/deployments/a`, { spec: { replicas: 7 } }),
        ],
      },
    ),
    about(
      'deployments: a selector, atomic',
      [applied('Object{spec: Object.spec{selector: Object.spec.selector{matchLabels: {"x": "y"}}}}')],
      {
        rules: [rule('apps', 'deployments')],
        steps: [post(`${apps}/deployments`, deployment('a'))],
      },
    ),
    about('deployments: scale', [applied('Object{spec: Object.spec{replicas: 3}}')], {
      rules: [rule('apps', 'deployments/scale')],
      steps: [
        post(`${apps}/deployments`, deployment('a')),
        merge(`${apps}/deployments/a/scale`, { spec: { replicas: 7 } }),
        { m: 'GET', p: `${apps}/deployments/a/scale` },
      ],
    }),
    about(
      'services: a port by a default key',
      [applied('Object{spec: Object.spec{ports: [Object.spec.ports{port: 80, name: "web", protocol: "TCP"}]}}')],
      {
        rules: [rule('', 'services')],
        steps: [
          post(`${core}/services`, {
            apiVersion: 'v1',
            kind: 'Service',
            metadata: { name: 'a' },
            spec: { clusterIP: 'None', ports: [{ port: 80, name: 'x' }] },
          }),
          post(`${core}/services`, {
            apiVersion: 'v1',
            kind: 'Service',
            metadata: { name: 'b' },
            spec: { clusterIP: 'None', ports: [{ port: 81 }] },
          }),
        ],
      },
    ),
    about('service accounts: tokens', [applied('Object{spec: Object.spec{expirationSeconds: 1000}}')], {
      rules: [rule('', 'serviceaccounts/token')],
      steps: [
        post(`${core}/serviceaccounts/default/token?dryRun=All`, {
          apiVersion: 'authentication.k8s.io/v1',
          kind: 'TokenRequest',
          spec: { expirationSeconds: 700 },
        }),
      ],
    }),
    about('secrets: text', [applied('Object{stringData: {"a": "b"}}')], {
      rules: [rule('', 'secrets')],
      steps: [post(`${core}/secrets`, { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'a' } })],
    }),
    about('events: another group', [applied('Object{metadata: Object.metadata{labels: {"by": "policy"}}}')], {
      rules: [{ operations: ['CREATE'], apiGroups: ['events.k8s.io'], apiVersions: ['v1'], resources: ['events'] }],
      steps: [
        post(`${core}/events`, {
          apiVersion: 'v1',
          kind: 'Event',
          metadata: { name: 'a' },
          involvedObject: { kind: 'Pod', namespace: '$NS', name: 'x' },
          reason: 'R',
          message: 'm',
          type: 'Normal',
        }),
      ],
    }),
    about('a map made by a policy stays out of others', [applied('Object{data: {"x": "y"}}')], {
      steps: [create, post(`${core}/configmaps`, configMap('b', {})), merge(`${core}/configmaps/b`, { data: null })],
    }),
  ]
}
