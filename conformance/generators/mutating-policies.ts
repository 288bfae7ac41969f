/** Mutating admission policies: what is told of expressions when a policy is written, and what policies make of requests. */
import type { Case, Step } from '../recording.ts'
import { CONFIGURATIONS, PATCHES } from './mutating-configmaps.ts'
import { expressionCases } from './mutating-expressions.ts'
import { sidecarCases } from './mutating-pods.ts'
import {
  type Any,
  about,
  apiVersion,
  applied,
  apply,
  bindingStep,
  configMap,
  core,
  create,
  group,
  maps,
  merge,
  patched,
  policyStep,
  post,
  put,
  removal,
} from './mutating-steps.ts'
import { valueCases } from './mutating-values.ts'
import { reinvocationCases } from './mutating-webhooks.ts'

/** Several policies at once, by name; each with the mutations and whatever else its spec says. */
function together(name: string, policies: Readonly<Record<string, Any>>, steps: readonly Step[] = [create]): Case {
  const [first, ...rest] = steps
  const names = Object.keys(policies).map((one) => `$NS-${one}`)
  return {
    name: `mutating policy: ${name}`,
    steps: [
      ...Object.entries(policies).flatMap(([one, { mutations, ...policy }]) => [
        policyStep(`$NS-${one}`, mutations, [maps], policy),
        bindingStep(`$NS-${one}`, `$NS-${one}`),
      ]),
      { ...(first as Step), settle: true },
      ...rest,
      ...names.flatMap(removal),
    ],
  }
}

const label = applied('Object{metadata: Object.metadata{labels: Object.metadata.labels{by: "policy"}}}')
const datum = (name: string, value: string) => applied(`Object{data: {"${name}": ${value}}}`)
/** Another mark at every run: Kubernetes runs policies in no fixed order, so each has its own datum. */
const once = (name: string) => datum(`by-${name}`, `object.data[?"by-${name}"].orValue("") + "x"`)
const params = { paramKind: { apiVersion: 'v1', kind: 'ConfigMap' } }
const ref = (action: string, by: Any = { name: 'given' }) => ({ paramRef: { ...by, parameterNotFoundAction: action } })

const hpa = (version: string, name: string, spec: Any): Any => ({
  apiVersion: `autoscaling/${version}`,
  kind: 'HorizontalPodAutoscaler',
  metadata: { name },
  spec: { scaleTargetRef: { kind: 'Deployment', name: 'd', apiVersion: 'apps/v1' }, maxReplicas: 3, ...spec },
})
const autoscaling = '/apis/autoscaling'
const hpas = (version: string) => ({
  operations: ['*'],
  apiGroups: ['autoscaling'],
  apiVersions: [version],
  resources: ['horizontalpodautoscalers'],
})
const hpaPath = (version: string) => `${autoscaling}/${version}/namespaces/$NS/horizontalpodautoscalers`

export function mutatingPolicyCases(): readonly Case[] {
  return [
    ...expressionCases(),
    ...Object.entries(CONFIGURATIONS).map(([name, expression]) => about(`${name}, applied`, [applied(expression)])),
    ...Object.entries(PATCHES).map(([name, expression]) => about(`${name}, patched`, [patched(expression)])),
    ...sidecarCases(),
    ...valueCases(),
    ...reinvocationCases(),
    about('a failure ignored', [datum('b', 'object.data.missing')], { policy: { failurePolicy: 'Ignore' } }),
    about('a wrong configuration ignored', [applied('Object{nothing: 1}')], { policy: { failurePolicy: 'Ignore' } }),
    about('a wrong patch ignored', [patched('[JSONPatch{op: "remove", path: "/zz"}]')], {
      policy: { failurePolicy: 'Ignore' },
    }),
    about('one that fails before one that does not', [datum('b', 'object.data.missing'), datum('c', '"3"')]),
    about('one that fails before one that does not, ignored', [datum('b', 'object.data.missing'), datum('c', '"3"')], {
      policy: { failurePolicy: 'Ignore' },
    }),
    about('one that fails after one that does not, ignored', [datum('c', '"3"'), datum('b', 'object.data.missing')], {
      policy: { failurePolicy: 'Ignore' },
    }),
    about('two that fail', [datum('b', 'object.data.missing'), applied('Object{nothing: 1}')]),
    about('each sees what was made before', [
      datum('b', 'object.data.a + "2"'),
      patched('[JSONPatch{op: "add", path: "/data/c", value: object.data.b + "3"}]'),
      datum('d', 'object.data.c + "4"'),
    ]),
    about('variables', [datum('b', 'variables.twice'), datum('c', 'variables.twice')], {
      policy: {
        variables: [
          { name: 'once', expression: 'object.data.a' },
          { name: 'twice', expression: 'variables.once + variables.once' },
        ],
      },
    }),
    about('a variable between mutations', [datum('a', '"9"'), datum('b', 'variables.once')], {
      policy: { variables: [{ name: 'once', expression: 'object.data.a' }] },
    }),
    about('a variable that fails', [datum('b', 'variables.bad')], {
      policy: { variables: [{ name: 'bad', expression: 'object.data.missing' }] },
    }),
    about('a variable that fails and is not read', [datum('b', '"x"')], {
      policy: { variables: [{ name: 'bad', expression: 'object.data.missing' }] },
    }),
    about('conditions', [label], {
      policy: { matchConditions: [{ name: 'only', expression: "object.metadata.name.startsWith('x')" }] },
      steps: [create, post(`${core}/configmaps`, configMap('xa'))],
    }),
    about('a condition that fails', [label], {
      policy: { matchConditions: [{ name: 'bad', expression: "object.data.missing == 'x'" }] },
    }),
    about('a condition that fails, ignored', [label], {
      policy: { failurePolicy: 'Ignore', matchConditions: [{ name: 'bad', expression: "object.data.missing == 'x'" }] },
    }),
    about('a condition of params', [label], {
      policy: { ...params, matchConditions: [{ name: 'on', expression: "params.data.on == 'yes'" }] },
      binding: ref('Deny', { selector: { matchLabels: { is: 'param' } } }),
      before: [post(`${core}/configmaps`, configMap('given', { on: 'no' }, { labels: { is: 'param' } }))],
    }),
    about('params', [datum('b', 'params.data.value')], {
      policy: params,
      binding: ref('Deny'),
      before: [post(`${core}/configmaps`, configMap('given', { value: 'v' }))],
    }),
    about('params of a namespace', [datum('b', 'params.data.value')], {
      policy: params,
      binding: ref('Deny', { name: 'given', namespace: '$NS' }),
      before: [post(`${core}/configmaps`, configMap('given', { value: 'v' }))],
    }),
    about('params that are not there', [datum('b', 'params.data.value')], { policy: params, binding: ref('Deny') }),
    about('params that need not be there', [datum('b', 'params.data.value')], {
      policy: params,
      binding: ref('Allow'),
    }),
    about('params that are not there, ignored', [label], {
      policy: { ...params, failurePolicy: 'Ignore' },
      binding: ref('Deny'),
    }),
    about('params by selector', [datum('got-" + params.metadata.name + "', 'params.data.value')], {
      policy: params,
      binding: ref('Deny', { selector: { matchLabels: { is: 'param' } } }),
      before: ['p1', 'p2'].map((name) =>
        post(`${core}/configmaps`, configMap(name, { value: name }, { labels: { is: 'param' } })),
      ),
    }),
    about('params by selector, none there', [label], {
      policy: params,
      binding: ref('Deny', { selector: { matchLabels: { is: 'param' } } }),
    }),
    about('a kind of params without a reference', [datum('b', 'string(params == null)')], { policy: params }),
    about('a reference without a kind of params', [label], { binding: ref('Deny') }),
    about('params of an unknown kind', [label], {
      policy: { paramKind: { apiVersion: 'nowhere.example.com/v1', kind: 'Nothing' } },
      binding: ref('Deny'),
    }),
    about('updates only', [datum('b', 'oldObject.data.a + object.data.a')], {
      rules: [{ ...maps, operations: ['UPDATE'] }],
      steps: [create, merge(`${core}/configmaps/a`, { data: { a: '2' } }), put(`${core}/configmaps/a`, configMap('a'))],
    }),
    about('deletes', [datum('b', '"x"')], {
      rules: [{ ...maps, operations: ['*'] }],
      steps: [create, { m: 'DELETE', p: `${core}/configmaps/a` }],
    }),
    about('deletes that fail', [datum('b', 'object.data.zz')], {
      rules: [{ ...maps, operations: ['DELETE'] }],
      steps: [create, { m: 'DELETE', p: `${core}/configmaps/a` }],
    }),
    about('a binding that matches less', [label], {
      binding: { matchResources: { objectSelector: { matchLabels: { mutate: 'me' } } } },
      steps: [create, post(`${core}/configmaps`, configMap('b', {}, { labels: { mutate: 'me' } }))],
    }),
    about('a binding with rules', [label], {
      binding: { matchResources: { resourceRules: [{ ...maps, operations: ['UPDATE'] }] } },
      steps: [create, merge(`${core}/configmaps/a`, { data: { b: '2' } })],
    }),
    about('resources excluded by name', [label], {
      policy: {
        matchConstraints: {
          resourceRules: [maps],
          excludeResourceRules: [{ ...maps, resourceNames: ['b'] }],
          namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': '$NS' } },
        },
      },
      steps: [create, post(`${core}/configmaps`, configMap('b'))],
    }),
    about('a dry run', [label], {
      steps: [post(`${core}/configmaps?dryRun=All`, configMap('a')), { m: 'GET', p: `${core}/configmaps/a` }, create],
    }),
    about('a name where one is to be generated', [applied('Object{metadata: Object.metadata{name: "fixed"}}')], {
      steps: [
        post(`${core}/configmaps`, {
          apiVersion: 'v1',
          kind: 'ConfigMap',
          metadata: { generateName: 'g-' },
          data: { a: '1' },
        }),
        { m: 'GET', p: `${core}/configmaps/fixed` },
      ],
    }),
    about('server-side apply', [label, datum('b', '"2"')], {
      steps: [
        apply(`${core}/configmaps/a?fieldManager=me`, configMap('a')),
        apply(`${core}/configmaps/a?fieldManager=me`, configMap('a', { a: '2' })),
        apply(`${core}/configmaps/a?fieldManager=other`, configMap('a', { b: '3' })),
        apply(`${core}/configmaps/a?fieldManager=other&force=true`, configMap('a', { b: '3' })),
        { m: 'GET', p: `${core}/configmaps/a` },
      ],
    }),
    about('managers of what is updated', [datum('b', '"2"')], {
      steps: [
        post(`${core}/configmaps?fieldManager=creator`, configMap('a')),
        put(`${core}/configmaps/a?fieldManager=updater`, configMap('a', { a: '2' })),
        merge(`${core}/configmaps/a?fieldManager=patcher`, { data: { c: '3' } }),
      ],
    }),
    about('a write that changes nothing', [label], {
      steps: [create, merge(`${core}/configmaps/a`, {}), put(`${core}/configmaps/a`, configMap('a'))],
    }),
    together('two in order', {
      a: { mutations: [once('a')] },
      b: { mutations: [once('b')] },
    }),
    together('the first run again', {
      a: { mutations: [once('a')], reinvocationPolicy: 'IfNeeded' },
      b: { mutations: [once('b')] },
    }),
    together('the second run again', {
      a: { mutations: [once('a')] },
      b: { mutations: [once('b')], reinvocationPolicy: 'IfNeeded' },
    }),
    together('both run again', {
      a: { mutations: [once('a')], reinvocationPolicy: 'IfNeeded' },
      b: { mutations: [once('b')], reinvocationPolicy: 'IfNeeded' },
    }),
    together('three, the first and last run again', {
      a: { mutations: [once('a')], reinvocationPolicy: 'IfNeeded' },
      b: { mutations: [once('b')] },
      c: { mutations: [once('c')], reinvocationPolicy: 'IfNeeded' },
    }),
    together('one alone, run again', {
      a: { mutations: [once('a')], reinvocationPolicy: 'IfNeeded' },
    }),
    together('run again after nothing changed', {
      a: { mutations: [once('a')], reinvocationPolicy: 'IfNeeded' },
      b: { mutations: [applied('Object{}')] },
    }),
    together('one that fails and one that does not', {
      a: { mutations: [datum('b', 'object.data.missing')], failurePolicy: 'Ignore' },
      b: { mutations: [label] },
    }),
    about('policies are not about policies', [label], {
      policy: {
        matchConstraints: {
          resourceRules: [{ operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*'] }],
          objectSelector: { matchLabels: { only: '$NS' } },
        },
      },
      steps: [
        post(`${core}/configmaps`, configMap('a', {}, { labels: { only: '$NS' } })),
        post(`${group}/mutatingadmissionpolicybindings?dryRun=All`, {
          apiVersion,
          kind: 'MutatingAdmissionPolicyBinding',
          metadata: { name: '$NS-x', labels: { only: '$NS' } },
          spec: { policyName: 'p' },
        }),
        post(`${group}/validatingwebhookconfigurations?dryRun=All`, {
          apiVersion,
          kind: 'ValidatingWebhookConfiguration',
          metadata: { name: '$NS-x', labels: { only: '$NS' } },
        }),
        post('/apis/authorization.k8s.io/v1/subjectaccessreviews', {
          apiVersion: 'authorization.k8s.io/v1',
          kind: 'SubjectAccessReview',
          metadata: { labels: { only: '$NS' } },
          spec: { user: 'a', resourceAttributes: { verb: 'get', resource: 'pods' } },
        }),
        post('/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', {
          apiVersion: 'authorization.k8s.io/v1',
          kind: 'SelfSubjectAccessReview',
          metadata: { labels: { only: '$NS' } },
          spec: { resourceAttributes: { verb: 'get', resource: 'pods' } },
        }),
      ],
    }),
    about('an object of another version', [applied('Object{spec: Object.spec{targetCPUUtilizationPercentage: 42}}')], {
      rules: [hpas('v1')],
      steps: [post(hpaPath('v2'), hpa('v2', 'a', {})), post(hpaPath('v1'), hpa('v1', 'b', {}))],
    }),
    about('an object of another version, in its own', [applied('Object{spec: Object.spec{minReplicas: 2}}')], {
      rules: [hpas('v2')],
      policy: {
        matchConstraints: {
          matchPolicy: 'Exact',
          resourceRules: [hpas('v2')],
          namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': '$NS' } },
        },
      },
      steps: [post(hpaPath('v1'), hpa('v1', 'a', {})), post(hpaPath('v2'), hpa('v2', 'b', {}))],
    }),
    about('a policy of an unknown kind of params, without a binding', [label], {
      policy: { paramKind: { apiVersion: 'nowhere.example.com/v1', kind: 'Nothing' } },
      binding: { policyName: '$NS-other' },
    }),
    about('params of an unknown kind, ignored', [label], {
      policy: { paramKind: { apiVersion: 'nowhere.example.com/v1', kind: 'Nothing' }, failurePolicy: 'Ignore' },
      binding: ref('Deny'),
    }),
    about(
      'variables read before and after a change',
      [datum('a', 'variables.now + "x"'), datum('b', 'variables.now')],
      {
        policy: { variables: [{ name: 'now', expression: 'object.data.a' }] },
      },
    ),
    about('a refusal with params', [datum('b', 'params.data.zz')], {
      policy: params,
      binding: ref('Deny', { selector: { matchLabels: { is: 'param' } } }),
      before: ['p1', 'p2'].map((name) =>
        post(`${core}/configmaps`, configMap(name, { value: name }, { labels: { is: 'param' } })),
      ),
    }),
    about('a binding of no policy', [label], { binding: { policyName: '$NS-other' } }),
    about('an object of another version, unchanged', [applied('Object{}')], {
      rules: [hpas('v1')],
      steps: [post(hpaPath('v2'), hpa('v2', 'a', {}))],
    }),
    about('an object of another version, ignored', [applied('Object{spec: Object.spec{minReplicas: 2}}')], {
      rules: [hpas('v1')],
      policy: { failurePolicy: 'Ignore' },
      steps: [post(hpaPath('v2'), hpa('v2', 'a', {}))],
    }),
    about('an object of another version, read only', [applied('Object{spec: object.zz}')], {
      rules: [hpas('v1')],
      steps: [post(hpaPath('v2'), hpa('v2', 'a', {}))],
    }),
    about(
      'an object of another version, patched',
      [patched('[JSONPatch{op: "add", path: "/spec/targetCPUUtilizationPercentage", value: 42}]')],
      {
        rules: [hpas('v1')],
        steps: [post(hpaPath('v2'), hpa('v2', 'a', {})), post(hpaPath('v1'), hpa('v1', 'b', {}))],
      },
    ),
  ]
}
