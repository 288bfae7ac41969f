/**
 * A built-in kind and a custom resource of the same fields and about the same 2 kB: a Deployment, and a Rollout whose
 * definition says of its spec what the built-in schema says. No controller has work with them: the Deployments are paused.
 */
import { type BenchClient, expectOk, json, type RequestBody } from './client.ts'
import { until } from './load.ts'

export interface MeasuredKind {
  readonly title: string
  path(namespace: string): string
  body(name: string, index: number): RequestBody
}

const GROUP = 'bench.skiff.example.com'
const VERSIONS = ['v1', 'v1beta1'] as const

const text = { type: 'string' }
const number = { type: 'integer', format: 'int32' }
const texts = { type: 'object', additionalProperties: text }
const list = (items: object) => ({ type: 'array', items })
const byKey = (key: string, items: object) => ({
  ...list(items),
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': [key],
})
const object = (properties: object, more: object = {}) => ({ type: 'object', properties, ...more })

const PROBE = object({
  httpGet: object({
    path: text,
    port: { 'x-kubernetes-int-or-string': true },
    scheme: { type: 'string', default: 'HTTP' },
  }),
  periodSeconds: { ...number, minimum: 1, default: 10 },
  timeoutSeconds: { ...number, minimum: 1, default: 1 },
  successThreshold: { ...number, default: 1 },
  failureThreshold: { ...number, default: 3 },
})
const QUANTITIES = {
  type: 'object',
  additionalProperties: {
    'x-kubernetes-int-or-string': true,
    anyOf: [{ type: 'integer' }, { type: 'string' }],
    pattern:
      '^(\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))))?$',
  },
}
const CONTAINER = object(
  {
    name: { ...text, maxLength: 63 },
    image: { ...text, minLength: 1 },
    imagePullPolicy: { ...text, enum: ['Always', 'IfNotPresent', 'Never'], default: 'IfNotPresent' },
    args: list(text),
    env: byKey('name', object({ name: text, value: text }, { required: ['name'] })),
    ports: list(object({ containerPort: number, name: text, protocol: { ...text, default: 'TCP' } })),
    resources: object({ limits: QUANTITIES, requests: QUANTITIES }),
    livenessProbe: PROBE,
    readinessProbe: PROBE,
    terminationMessagePath: { ...text, default: '/dev/termination-log' },
    terminationMessagePolicy: { ...text, default: 'File' },
    volumeMounts: byKey('mountPath', object({ name: text, mountPath: text }, { required: ['name', 'mountPath'] })),
  },
  { required: ['name', 'image'] },
)
const SPEC = object(
  {
    replicas: { ...number, minimum: 0, default: 1 },
    paused: { type: 'boolean' },
    progressDeadlineSeconds: { ...number, default: 600 },
    revisionHistoryLimit: { ...number, default: 10 },
    selector: object({ matchLabels: texts }),
    strategy: object(
      {
        type: { ...text, enum: ['Recreate', 'RollingUpdate'], default: 'RollingUpdate' },
        rollingUpdate: object(
          {
            maxSurge: { 'x-kubernetes-int-or-string': true, default: '25%' },
            maxUnavailable: { 'x-kubernetes-int-or-string': true, default: '25%' },
          },
          { default: {} },
        ),
      },
      { default: {} },
    ),
    template: object({
      metadata: object({ labels: texts, annotations: texts }),
      spec: object({
        containers: byKey('name', CONTAINER),
        dnsPolicy: { ...text, default: 'ClusterFirst' },
        restartPolicy: { ...text, default: 'Always' },
        schedulerName: { ...text, default: 'default-scheduler' },
        securityContext: object({}, { default: {} }),
        terminationGracePeriodSeconds: { type: 'integer', format: 'int64', default: 30 },
        volumes: byKey('name', object({ name: text, emptyDir: object({}) }, { required: ['name'] })),
      }),
    }),
  },
  { required: ['selector', 'template'] },
)

const DEFINITION = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `rollouts.${GROUP}` },
  spec: {
    group: GROUP,
    scope: 'Namespaced',
    names: { plural: 'rollouts', singular: 'rollout', kind: 'Rollout', listKind: 'RolloutList' },
    versions: VERSIONS.map((name) => ({
      name,
      served: true,
      storage: name === 'v1',
      subresources: { status: {} },
      schema: {
        openAPIV3Schema: object(
          { spec: SPEC, status: object({ observedGeneration: { type: 'integer', format: 'int64' } }) },
          { required: ['spec'] },
        ),
      },
    })),
  },
}

function spec(name: string, index: number) {
  const labels = { app: name }
  const probe = { httpGet: { path: `/health/${index}`, port: 8080 } }
  const resources = { limits: { memory: '64Mi' }, requests: { cpu: `${10 + (index % 500)}m`, memory: '16Mi' } }
  return {
    replicas: 0,
    paused: true,
    selector: { matchLabels: labels },
    template: {
      metadata: { labels },
      spec: {
        containers: [
          {
            name: 'c',
            image: `registry.example.com/team/app:${index}`,
            args: ['--listen=:8080', `--shard=${index}`],
            env: [
              { name: 'A', value: `a${index}` },
              { name: 'B', value: 'b' },
            ],
            ports: [{ containerPort: 8080, name: 'http' }],
            resources,
            livenessProbe: probe,
            volumeMounts: [{ name: 'scratch', mountPath: '/scratch' }],
          },
        ],
        volumes: [{ name: 'scratch', emptyDir: {} }],
      },
    },
  }
}

const kindOf = (title: string, apiVersion: string, kind: string, plural: string): MeasuredKind => ({
  title,
  path: (namespace) => `/apis/${apiVersion}/namespaces/${namespace}/${plural}`,
  body: (name, index) =>
    json({ apiVersion, kind, metadata: { name, labels: { app: 'bench' } }, spec: spec(name, index) }),
})

export const builtin = kindOf('Deployment', 'apps/v1', 'Deployment', 'deployments')
export const custom = kindOf('custom resource', `${GROUP}/v1`, 'Rollout', 'rollouts')
/** The same objects in a version that says the same of them. */
export const otherVersion = kindOf('custom resource in its other version', `${GROUP}/v1beta1`, 'Rollout', 'rollouts')

const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'

/** Makes the definition, and waits until objects of it can be listed. */
export async function serveCustom(client: BenchClient, namespace: string): Promise<void> {
  const made = await client.request('POST', DEFINITIONS, json(DEFINITION))
  if (made.code !== 409) expectOk(made)
  for (const kind of [custom, otherVersion])
    await until('the definition served', 30_000, 50, async () => {
      return (await client.request('GET', kind.path(namespace))).code === 200
    })
}

export async function removeCustom(client: BenchClient): Promise<void> {
  expectOk(await client.request('DELETE', `${DEFINITIONS}/${DEFINITION.metadata.name}`))
}
