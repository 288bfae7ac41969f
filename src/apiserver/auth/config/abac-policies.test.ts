import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parsePolicies } from './abac-policies.ts'

const GROUP = 'abac.authorization.kubernetes.io'
const policy = (spec: string, version = 'v1beta1') =>
  `{"apiVersion":"${GROUP}/${version}","kind":"Policy","${version === '__internal' ? 'Spec' : 'spec'}":${spec}}`
const unregistered = (kind: string, version: string) =>
  `no kind "${kind}" is registered for version "${version}" in scheme "pkg/runtime/scheme.go:111"`
const notAnObject = (json: string) =>
  `couldn't get version/kind; json parse error: json: cannot unmarshal ${json} into Go value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }`

// What a kube-apiserver v1.37.1 said of these lines (2026-11-27), after the line itself.
for (const [line, words] of [
  [policy('{"user":1}'), 'json: cannot unmarshal number into Go struct field PolicySpec.spec.user of type string'],
  [
    policy('{"user":"a","readonly":"yes"}'),
    'json: cannot unmarshal string into Go struct field PolicySpec.spec.readonly of type bool',
  ],
  [policy('[]'), 'json: cannot unmarshal array into Go struct field Policy.spec of type v1beta1.PolicySpec'],
  [policy('[]', '__internal'), 'json: cannot unmarshal array into Go struct field Policy.Spec of type abac.PolicySpec'],
  [policy('{}', 'v1'), unregistered('Policy', `${GROUP}/v1`)],
  ['{"apiVersion":"v1"}', unregistered('Policy', 'v1')],
  ['{"apiVersion":"/v0","kind":"x"}', unregistered('x', 'v0')],
  ['{"kind":"policy"}', unregistered('policy', `${GROUP}/v0`)],
  [`{"apiVersion":"${GROUP}/","kind":"Foo"}`, unregistered('Foo', `${GROUP}/v0`)],
  ['{"apiVersion":"a/b/c","kind":"Policy"}', 'unexpected GroupVersion string: a/b/c'],
  ['{"apiVersion":"a/"}', `Object 'apiVersion' is missing in '{"apiVersion":"a/"}'`],
  [`{"apiVersion":"${GROUP}/v1beta1","spec":{}}`, 'converting (v1beta1.Policy) to (v0.Policy): unknown conversion'],
  [`{"apiVersion":"${GROUP}/__internal"}`, 'converting (abac.Policy) to (v0.Policy): unknown conversion'],
  ['{"user":"a","readonly":"x"}', 'json: cannot unmarshal string into Go struct field Policy.readonly of type bool'],
  ['{"a":', "couldn't get version/kind; json parse error: unexpected end of JSON input"],
  ['{"user":"a"} # x', "couldn't get version/kind; json parse error: invalid character '#' after top-level value"],
  ['x', notAnObject('string')],
  ['[]', notAnObject('array')],
] as const)
  test(`a policy is refused: ${line}`, () => {
    assert.throws(() => parsePolicies(`# policies\r\n${line}\r\n`, 'F'), {
      message: `error reading policy file F, line 2: ${line}: ${words}`,
    })
  })

test('a line may have 65,535 bytes, its carriage return among them', () => {
  const long = `#${'é'.repeat(32_767)}`
  assert.deepEqual(parsePolicies(long, 'F'), [])
  for (const more of ['\r\n', 'x'])
    assert.throws(() => parsePolicies(`${long}${more}`, 'F'), {
      message: 'error reading policy file F: bufio.Scanner: token too long',
    })
})

test('lines that are empty or begin with # say nothing; one that YAML takes for nothing is a policy for all that are known', () => {
  assert.deepEqual(parsePolicies('\n# a\n  # b\n\u3000\n\u0085# c\n', 'F'), [])
  const all = {
    group: 'system:authenticated',
    readonly: false,
    ...{ apiGroup: '*', namespace: '*', resource: '*', nonResourcePath: '*' },
  }
  for (const line of [
    'null',
    '~',
    '{}',
    '---',
    '\uFEFF# x',
    '\uFEFF{}',
    'a: 1 # y',
    '{"kind":"Policy","spec":{"user":"b"}}',
  ])
    assert.deepEqual(parsePolicies(line, 'F'), [all], line)
})

test('without a version what is not said means all of it, and groups of resources and paths cannot be said', () => {
  const whole = { group: '', readonly: false, apiGroup: '*', namespace: '*', resource: '*' }
  const line = '{"user":"a","group":null,"readonly":true,"resource":"pods","apiGroup":"apps","nonResourcePath":"/x"}'
  assert.deepEqual(parsePolicies(line, 'F'), [{ ...whole, user: 'a', readonly: true, resource: 'pods' }])
  assert.deepEqual(parsePolicies('user: a', 'F'), [{ ...whole, user: 'a', nonResourcePath: '*' }])
  for (const version of ['/', `${GROUP}/`, `${GROUP}/v0`])
    assert.deepEqual(parsePolicies(`{"apiVersion":"${version}","user":"a","namespace":"n"}`, 'F'), [
      { ...whole, user: 'a', namespace: 'n' },
    ])
})

test('a user or group of * means those that are known, but in the internal version', () => {
  const group = 'system:authenticated'
  assert.deepEqual(parsePolicies(policy('{"user":"*","x":1}'), 'F'), [{ user: '*', group, x: 1 }])
  assert.deepEqual(parsePolicies(policy('{"group":"*"}'), 'F'), [{ group }])
  assert.deepEqual(parsePolicies(policy('{"User":"*","APIGroup":"a","user":"b"}', '__internal'), 'F'), [
    { user: '*', apiGroup: 'a' },
  ])
})
