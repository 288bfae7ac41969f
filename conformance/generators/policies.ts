/** Validating admission policies, and match conditions of webhooks: expressions about requests, and what they answer. */
import type { Case, Step } from '../recording.ts'
import { mutatingPolicyCases } from './mutating-policies.ts'

// biome-ignore lint/suspicious/noExplicitAny: parts of objects of several kinds
type Any = any

const core = '/api/v1/namespaces/$NS'
const group = '/apis/admissionregistration.k8s.io/v1'
const apiVersion = 'admissionregistration.k8s.io/v1'
const json = JSON.stringify
const post = (p: string, body: Any): Step => ({ m: 'POST', p, b: json(body) })
const merge = (p: string, body: Any): Step => ({
  m: 'PATCH',
  p,
  b: json(body),
  h: { 'content-type': 'application/merge-patch+json' },
})
const configMap = (name: string, data: Any = { a: '1' }, meta: Any = {}): Any => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, ...meta },
  data,
})
const create = post(`${core}/configmaps`, configMap('a'))
const maps = { operations: ['*'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] }

interface Extra {
  readonly policy?: Any
  readonly binding?: Any
  readonly before?: readonly Step[]
  readonly steps?: readonly Step[]
  readonly rules?: Any[]
}

function about(name: string, validations: Any[], extra: Extra = {}): Case {
  const { policy = {}, binding = {}, before = [], steps = [create], rules = [maps] } = extra
  const [first, ...rest] = steps
  return {
    name: `policy: ${name}`,
    steps: [
      ...before,
      post(`${group}/validatingadmissionpolicies`, {
        apiVersion,
        kind: 'ValidatingAdmissionPolicy',
        metadata: { name: '$NS-p' },
        spec: {
          matchConstraints: {
            resourceRules: rules,
            namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': '$NS' } },
          },
          validations,
          ...policy,
        },
      }),
      post(`${group}/validatingadmissionpolicybindings`, {
        apiVersion,
        kind: 'ValidatingAdmissionPolicyBinding',
        metadata: { name: '$NS-b' },
        spec: { policyName: '$NS-p', validationActions: ['Deny'], ...binding },
      }),
      { ...(first as Step), settle: true },
      ...rest,
      { m: 'DELETE', p: `${group}/validatingadmissionpolicybindings/$NS-b` },
      { m: 'DELETE', p: `${group}/validatingadmissionpolicies/$NS-p` },
    ],
  }
}

const no = { expression: 'false' }
const params = { paramKind: { apiVersion: 'v1', kind: 'ConfigMap' } }
const wide = [maps, { ...maps, resources: ['pods', 'pods/*', 'serviceaccounts'] }]

/** As many loops over ten items, each in the one before. */
const nested = (depth: number): string => {
  const names = 'abcdefg'.slice(0, depth)
  return `${[...names].map((name) => `[0,1,2,3,4,5,6,7,8,9].all(${name}, `).join('')}${names.at(-1)} < 20${')'.repeat(depth)}`
}

export function policyCases(): readonly Case[] {
  return [
    about('false', [no]),
    about('true', [{ expression: 'true' }]),
    about('a message', [{ ...no, message: 'not like this' }]),
    about('a message made', [{ ...no, messageExpression: "'data is ' + string(size(object.data))" }]),
    about('a message that fails', [{ ...no, message: 'written', messageExpression: 'object.data.missing' }]),
    about('a message of two lines', [{ ...no, message: 'written', messageExpression: "'a\\nb'" }]),
    ...['Unauthorized', 'Forbidden', 'Invalid', 'RequestEntityTooLarge'].map((reason) =>
      about(`reason ${reason}`, [{ ...no, reason }]),
    ),
    about('several rules', [
      { expression: 'true', message: 'one' },
      { ...no, message: 'two' },
      { ...no, message: 'three' },
    ]),
    about('an expression that fails', [{ expression: 'object.data.missing == "x"' }]),
    about('an expression that fails, ignored', [{ expression: 'object.data.missing == "x"' }], {
      policy: { failurePolicy: 'Ignore' },
    }),
    about('a failing and a false rule', [{ expression: 'object.data.missing == "x"' }, { ...no, message: 'two' }]),
    about('warn', [{ ...no, message: 'careful' }], { binding: { validationActions: ['Warn'] } }),
    about('audit', [{ ...no, message: 'careful' }], { binding: { validationActions: ['Audit'] } }),
    about('warn and audit', [{ ...no, message: 'careful' }], { binding: { validationActions: ['Warn', 'Audit'] } }),
    about(
      'old and new',
      [{ expression: 'oldObject == null || object.data.a == oldObject.data.a', message: 'a stays' }],
      {
        steps: [
          create,
          merge(`${core}/configmaps/a`, { data: { b: '2' } }),
          merge(`${core}/configmaps/a`, { data: { a: '2' } }),
        ],
      },
    ),
    about(
      'deletes',
      [{ expression: "request.operation != 'DELETE' || !('keep' in oldObject.data)", message: 'kept' }],
      {
        steps: [
          post(`${core}/configmaps`, configMap('a', { keep: 'me' })),
          { m: 'DELETE', p: `${core}/configmaps/a` },
          create,
        ],
      },
    ),
    about(
      'the request',
      [
        {
          ...no,
          messageExpression:
            "request.operation + ' ' + request.kind.kind + ' ' + request.resource.resource + ' ' + request.name + ' ' + string(request.dryRun) + ' ' + request.userInfo.username + ' ' + request.namespace",
        },
      ],
      { steps: [create, post(`${core}/configmaps?dryRun=All`, configMap('b'))] },
    ),
    about('groups of the user', [{ ...no, messageExpression: "request.userInfo.groups.join(',')" }]),
    about('the namespace', [
      { ...no, messageExpression: "namespaceObject.metadata.labels['kubernetes.io/metadata.name']" },
    ]),
    about(
      'variables',
      [{ expression: 'variables.size < 2', messageExpression: "'too many: ' + string(variables.double)" }],
      {
        policy: {
          variables: [
            { name: 'size', expression: 'object.data.size()' },
            { name: 'double', expression: 'variables.size * 2' },
          ],
        },
        steps: [create, post(`${core}/configmaps`, configMap('b', { a: '1', b: '2' }))],
      },
    ),
    about('a variable that fails', [{ expression: 'variables.bad == "x"' }], {
      policy: { variables: [{ name: 'bad', expression: 'object.data.missing' }] },
    }),
    about('conditions', [no], {
      policy: { matchConditions: [{ name: 'only', expression: "object.metadata.name.startsWith('x')" }] },
      steps: [create, post(`${core}/configmaps`, configMap('xa'))],
    }),
    about('a condition that fails', [no], {
      policy: { matchConditions: [{ name: 'bad', expression: "object.data.missing == 'x'" }] },
    }),
    about('a condition that fails, ignored', [no], {
      policy: { failurePolicy: 'Ignore', matchConditions: [{ name: 'bad', expression: "object.data.missing == 'x'" }] },
    }),
    about(
      'params',
      [{ expression: 'object.data.size() <= int(params.data.max)', messageExpression: "'at most ' + params.data.max" }],
      {
        policy: params,
        binding: { paramRef: { name: 'limits', parameterNotFoundAction: 'Deny' } },
        before: [post(`${core}/configmaps`, configMap('limits', { max: '1' }))],
        steps: [create, post(`${core}/configmaps`, configMap('b', { a: '1', b: '2' }))],
      },
    ),
    about('params that are not there', [no], {
      policy: params,
      binding: { paramRef: { name: 'limits', parameterNotFoundAction: 'Deny' } },
    }),
    about('params that need not be there', [no], {
      policy: params,
      binding: { paramRef: { name: 'limits', parameterNotFoundAction: 'Allow' } },
    }),
    about(
      'params by selector',
      [{ expression: 'object.data.size() <= int(params.data.max)', messageExpression: "'at most ' + params.data.max" }],
      {
        policy: params,
        binding: { paramRef: { selector: { matchLabels: { is: 'limit' } }, parameterNotFoundAction: 'Deny' } },
        before: [
          post(`${core}/configmaps`, configMap('l1', { max: '5' }, { labels: { is: 'limit' } })),
          post(`${core}/configmaps`, configMap('l2', { max: '1' }, { labels: { is: 'limit' } })),
        ],
        steps: [create, post(`${core}/configmaps`, configMap('b', { a: '1', b: '2' }))],
      },
    ),
    about('a binding that matches less', [no], {
      binding: { matchResources: { objectSelector: { matchLabels: { guard: 'me' } } } },
      steps: [create, post(`${core}/configmaps`, configMap('b', {}, { labels: { guard: 'me' } }))],
    }),
    about('a binding with rules', [no], {
      rules: wide,
      binding: { matchResources: { resourceRules: [{ ...maps, operations: ['UPDATE'] }] } },
      steps: [create, merge(`${core}/configmaps/a`, { data: { b: '2' } })],
    }),
    about('resources excluded', [no], {
      policy: {
        matchConstraints: {
          resourceRules: wide,
          excludeResourceRules: [maps],
          namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': '$NS' } },
        },
      },
      steps: [create, merge(`${core}/serviceaccounts/default`, { metadata: { labels: { a: 'b' } } })],
    }),
    about(
      'pods',
      [
        {
          expression:
            'object.spec.containers.all(c, has(c.resources.limits) && quantity(c.resources.limits.cpu).isLessThan(quantity("2")))',
          message: 'limits, please',
        },
      ],
      {
        rules: wide,
        steps: [
          post(`${core}/pods`, {
            apiVersion: 'v1',
            kind: 'Pod',
            metadata: { name: 'a' },
            spec: { containers: [{ name: 'c', image: 'i' }] },
          }),
          post(`${core}/pods`, {
            apiVersion: 'v1',
            kind: 'Pod',
            metadata: { name: 'b' },
            spec: { containers: [{ name: 'c', image: 'i', resources: { limits: { cpu: '1' } } }] },
          }),
          post(`${core}/pods`, {
            apiVersion: 'v1',
            kind: 'Pod',
            metadata: { name: 'c' },
            spec: { containers: [{ name: 'c', image: 'i', resources: { limits: { cpu: '3' } } }] },
          }),
        ],
      },
    ),
    about('regular expressions', [{ expression: "object.metadata.name.matches('^[a-c]+$')", message: 'a to c' }], {
      steps: [create, post(`${core}/configmaps`, configMap('xyz'))],
    }),
    about('generated names', [{ ...no, messageExpression: "'name ' + object.metadata.?name.orValue('none')" }]),
    about('the namespace in a condition', [no], {
      policy: { matchConditions: [{ name: 'ns', expression: "namespaceObject.metadata.name == 'x'" }] },
    }),
    about('params of an unknown kind', [no], {
      policy: { paramKind: { apiVersion: 'nowhere.example.com/v1', kind: 'Nothing' } },
      binding: { paramRef: { name: 'limits', parameterNotFoundAction: 'Deny' } },
    }),
    about('params of an unknown kind, ignored', [no], {
      policy: { paramKind: { apiVersion: 'nowhere.example.com/v1', kind: 'Nothing' }, failurePolicy: 'Ignore' },
      binding: { paramRef: { name: 'limits', parameterNotFoundAction: 'Deny' } },
    }),
    about('params that are not there, where a warning would do', [no], {
      policy: params,
      binding: { paramRef: { name: 'limits', parameterNotFoundAction: 'Deny' }, validationActions: ['Warn'] },
    }),
    about('a namespace for params of the cluster', [no], {
      policy: { paramKind: { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole' } },
      binding: { paramRef: { name: 'admin', namespace: 'default', parameterNotFoundAction: 'Deny' } },
    }),
    about('what the user may do with it', [
      { expression: "authorizer.requestResource.check('create').allowed()", message: 'may not' },
      {
        ...no,
        messageExpression: "'is ' + object.metadata.name",
      },
    ]),
    about('the authorizer in a message', [{ ...no, messageExpression: "authorizer.path('/x').check('get').reason()" }]),
    about('the authorizer misread', [{ expression: "authorizer.resource('pods').check('get').allowed()" }]),
    about('too much work', [{ expression: nested(7) }]),
    about(
      'too much work together',
      Array.from({ length: 25 }, () => ({ expression: nested(5) })),
    ),
    about('another type than it was written for', [{ expression: "object.data.startsWith('a')" }]),
    ...mutatingPolicyCases(),
  ]
}
