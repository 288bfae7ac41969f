import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseAuthorizationConfiguration } from './authorization.ts'
import { authorizationModes } from './authorization-flags.ts'

const parsed = (authorizers: unknown) =>
  parseAuthorizationConfiguration(
    JSON.stringify({
      apiVersion: 'apiserver.config.k8s.io/v1',
      kind: 'AuthorizationConfiguration',
      ...(authorizers === undefined ? {} : { authorizers }),
    }),
    (path) => (path.startsWith('/') ? undefined : 'must be an absolute path'),
  )
const RBAC = { type: 'RBAC', name: 'rbac' }
const hook = (more: object = {}) => ({
  type: 'Webhook',
  name: 'hook',
  webhook: {
    timeout: '3s',
    subjectAccessReviewVersion: 'v1',
    matchConditionSubjectAccessReviewVersion: 'v1',
    failurePolicy: 'NoOpinion',
    connectionInfo: { type: 'KubeConfigFile', kubeConfigFile: '/k' },
    ...more,
  },
})
const conditions = (...list: readonly string[]) => hook({ matchConditions: list.map((expression) => ({ expression })) })
const at = 'authorizers[0]'

// As kube-apiserver v1.37 says of the same files.
const refused: Readonly<Record<string, readonly [authorizers: unknown, why: string | RegExp]>> = {
  'nobody decides': [undefined, 'authorizers: Required value: at least one authorization mode must be defined'],
  'a type nobody knows': [
    [{ type: 'Foo', name: 'x' }],
    `${at}.type: Unsupported value: "Foo": supported values: "ABAC", "AlwaysAllow", "AlwaysDeny", "Node", "RBAC", "Webhook"`,
  ],
  'no name': [[{ type: 'RBAC' }], `${at}.name: Required value`],
  'a name that is none': [
    [{ type: 'RBAC', name: 'A_b' }],
    /^authorizers\[0\].name: Invalid value: "A_b": authorizer name is invalid: a lowercase RFC 1123 subdomain must /,
  ],
  'one type twice': [[RBAC, { type: 'RBAC', name: 'r2' }], 'authorizers[1].type: Duplicate value: "RBAC"'],
  'one name twice': [[RBAC, { type: 'Node', name: 'rbac' }], 'authorizers[1].name: Duplicate value: "rbac"'],
  'a webhook of another type': [
    [{ ...RBAC, webhook: hook().webhook }],
    `${at}.webhook: Invalid value: "non-null": may only be specified when type=Webhook`,
  ],
  'no webhook': [[{ type: 'Webhook', name: 'hook' }], `${at}.webhook: Required value: required when type=Webhook`],
  'no type': [[{ name: 'x' }], `${at}.type: Required value`],
  'an unknown field': [[{ ...RBAC, foo: 1 }], 'strict decoding error: unknown field "authorizers[0].foo"'],
  'another name than its own': [
    [{ type: 'AlwaysAllow', name: 'aa' }],
    'expected name alwaysallow for authorizer AlwaysAllow instead of aa',
  ],
  'no timeout': [[hook({ timeout: undefined })], `${at}.timeout: Required value`],
  'a long timeout': [[hook({ timeout: '31s' })], `${at}.timeout: Invalid value: "31s": must be > 0s and <= 30s`],
  'a timeout before now': [[hook({ timeout: '-1s' })], `${at}.timeout: Invalid value: "-1s": must be > 0s and <= 30s`],
  'a timeout that is none': [[hook({ timeout: 'x' })], /time: invalid duration "x"$/],
  'answers kept for less than no time': [
    [hook({ authorizedTTL: '-1s', unauthorizedTTL: '-2s' })],
    `[${at}.authorizedTTL: Invalid value: "-1s": must be > 0s, ${at}.unauthorizedTTL: Invalid value: "-2s": must be > 0s]`,
  ],
  'a version nobody knows': [
    [hook({ subjectAccessReviewVersion: 'v2' })],
    `${at}.subjectAccessReviewVersion: Unsupported value: "v2": supported values: "v1", "v1beta1"`,
  ],
  'conditions without a version': [
    [hook({ matchConditionSubjectAccessReviewVersion: undefined, matchConditions: [{ expression: 'true' }] })],
    `${at}.matchConditionSubjectAccessReviewVersion: Required value: required if match conditions are specified`,
  ],
  'conditions of an older version': [
    [hook({ matchConditionSubjectAccessReviewVersion: 'v1beta1', matchConditions: [{ expression: 'true' }] })],
    `${at}.matchConditionSubjectAccessReviewVersion: Unsupported value: "v1beta1": supported values: "v1"`,
  ],
  'no failure policy': [[hook({ failurePolicy: undefined })], `${at}.failurePolicy: Required value`],
  'another failure policy': [
    [hook({ failurePolicy: 'Allow' })],
    `${at}.failurePolicy: Unsupported value: "Allow": supported values: "NoOpinion", "Deny"`,
  ],
  'no connection': [[hook({ connectionInfo: undefined })], `${at}.connectionInfo.type: Required value`],
  'no file': [
    [hook({ connectionInfo: { type: 'KubeConfigFile' } })],
    `${at}.connectionInfo.kubeConfigFile: Required value`,
  ],
  'a file that could be anywhere': [
    [hook({ connectionInfo: { type: 'KubeConfigFile', kubeConfigFile: 'k' } })],
    `${at}.connectionInfo.kubeConfigFile: Invalid value: "k": must be an absolute path`,
  ],
  'a file in a cluster': [
    [hook({ connectionInfo: { type: 'InClusterConfig', kubeConfigFile: '/k' } })],
    `${at}.connectionInfo.kubeConfigFile: Invalid value: "/k": can only be set when type=KubeConfigFile`,
  ],
  'an empty condition': [[conditions('')], `${at}.matchConditions[0].expression: Required value`],
  'a condition that is no bool': [
    [conditions('request.user')],
    `${at}.matchConditions[0].expression: Invalid value: "request.user": must evaluate to bool but got string`,
  ],
  'a condition twice': [[conditions('true', 'true')], `${at}.matchConditions[1].expression: Duplicate value: "true"`],
  'a condition about what is not there': [
    [conditions("request.resourceAttributes.foo == ''")],
    /compilation failed: ERROR: <input>:1:27: undefined field 'foo'/,
  ],
  'a condition about somebody else': [[conditions('authorizer')], /undeclared reference to 'authorizer'/],
  'too many conditions': [
    [conditions(...Array.from({ length: 65 }, (_, i) => `request.user != '${i}'`))],
    `${at}.matchConditions: Too many: 65: must have at most 64 items`,
  ],
}

for (const [what, [authorizers, why]] of Object.entries(refused))
  test(`an authorization configuration is refused in one line: ${what}`, () => {
    assert.throws(
      () => parsed(authorizers),
      ({ message }: Error) => {
        if (typeof why === 'string') assert.equal(message, why)
        else assert.match(message, why)
        assert.ok(!message.includes('\n'))
        return true
      },
    )
  })

test('what a webhook is not told otherwise is as in Kubernetes', () => {
  const [found] = parsed([hook()])
  assert.ok(found?.type === 'Webhook')
  assert.deepEqual([found.timeoutMs, found.authorizedMs, found.unauthorizedMs], [3000, 300_000, 30_000])
  const [never] = parsed([hook({ cacheAuthorizedRequests: false, cacheUnauthorizedRequests: false })])
  assert.ok(never?.type === 'Webhook')
  assert.deepEqual([never.authorizedMs, never.unauthorizedMs], [0, 0])
})

test('a condition may ask for everything that a review says', () => {
  const source =
    "has(request.resourceAttributes) && request.resourceAttributes.namespace == 'a' && request.resourceAttributes.labelSelector.requirements.exists(r, r.key == 'a') && request.uid == '' && request.extra['a'].size() > 0 && request.groups.exists(g, g == 'a') && request.nonResourceAttributes.path == '' && request.resourceAttributes.fieldSelector.requirements.all(r, r.operator == 'In')"
  assert.equal(parsed([conditions(source)]).length, 1)
})

test('flags: modes in order, and what is wrong with them', () => {
  const modes = authorizationModes({ authorizationMode: ['Node', 'AlwaysAllow'] })
  assert.deepEqual(modes, [
    { type: 'Node', name: 'node' },
    { type: 'AlwaysAllow', name: 'alwaysallow' },
  ])
  assert.equal(authorizationModes({}), undefined)
  const why = (flags: object) => {
    try {
      authorizationModes(flags)
      return ''
    } catch (error) {
      return (error as Error).message
    }
  }
  const file = { authorizationWebhookConfigFile: '/k' }
  assert.equal(why({ authorizationMode: ['Foo'] }), 'authorization-mode "Foo" is not a valid mode')
  assert.equal(
    why({ authorizationMode: ['RBAC', 'RBAC'] }),
    'authorization-mode ["RBAC" "RBAC"] has mode specified more than once',
  )
  assert.equal(
    why({ authorizationMode: ['Webhook'] }),
    "authorization-mode Webhook's authorization config file not passed",
  )
  assert.equal(
    why({ authorizationMode: ['RBAC'], ...file }),
    'cannot specify --authorization-webhook-config-file without mode Webhook',
  )
  assert.equal(
    why({ authorizationMode: ['Webhook'], ...file, authorizationWebhookVersion: 'v2' }),
    'invalid authorization config: unsupported webhook authorizer version "v2", supported versions are "v1", "v1beta1"',
  )
})
