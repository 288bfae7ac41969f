import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Fields, KubeObject } from '../../../api/object.ts'
import { asGiven, noteEmpty } from '../../../api/schema/canonical.ts'
import { StatusError } from '../../../api/status.ts'
import { createMetrics } from '../../../base/metrics.ts'
import type { AdmissionAttributes } from '../plugin.ts'
import { configMap, creating, type Given, pluginOver } from './fixture.test.ts'
import { mutatingAdmissionPolicy } from './mutating-policy.ts'

const machineClock = { monotonic: () => 0 } as never
const applied = (expression: string) => ({ patchType: 'ApplyConfiguration', applyConfiguration: { expression } })
const patched = (expression: string) => ({ patchType: 'JSONPatch', jsonPatch: { expression } })
const policy = (mutations: readonly object[], spec: Fields = {}, binding: Fields = {}, name = 'p'): Given => ({
  name,
  spec: { mutations, reinvocationPolicy: 'Never', ...spec },
  binding,
})

const pluginOf = (given: readonly Given[], configMaps: readonly KubeObject[] = []) =>
  pluginOver(mutatingAdmissionPolicy({ machineClock }), 'mutating', given, configMaps)

const mutate = async (
  given: readonly Given[],
  attributes: AdmissionAttributes,
  configMaps: readonly KubeObject[] = [],
) => (await pluginOf(given, configMaps).mutate?.(attributes)) as KubeObject

const refusal = async (given: readonly Given[], attributes = creating(configMap({ a: '1' }))) => {
  try {
    await mutate(given, attributes)
  } catch (error) {
    assert.ok(error instanceof StatusError)
    return [error.code, error.reason, error.message]
  }
  return []
}

test('without policies the object goes on as it is, at once', () => {
  const attributes = creating(configMap({}))
  assert.equal(pluginOf([]).mutate?.(attributes), attributes.object)
})

test('mutations run in order, each on what the one before made', async () => {
  const made = await mutate(
    [
      policy([
        applied('Object{data: {"b": object.data.a + "2"}}'),
        patched('[JSONPatch{op: "add", path: "/data/c", value: object.data.b + "3"}]'),
      ]),
    ],
    creating(configMap({ a: '1' })),
  )
  assert.deepEqual(made['data'], { a: '1', b: '12', c: '123' })
})

test('what was given empty is forgotten once a policy ran, though it changed nothing', async () => {
  for (const source of ['Object{metadata: Object.metadata{labels: {"l": "1"}}}', 'Object{}']) {
    const sent = { ...configMap({ a: '1' }) }
    noteEmpty(sent, ['binaryData'])
    const made = await mutate([policy([applied(source)])], creating(sent))
    assert.equal(asGiven(made, 'binaryData', []), null)
    assert.deepEqual(asGiven(sent, 'binaryData', []), [])
  }
})

test('a patch whose test fails changes nothing', async () => {
  const attributes = creating(configMap({ a: '1' }))
  const source =
    '[JSONPatch{op: "add", path: "/data/b", value: "x"}, JSONPatch{op: "test", path: "/data/a", value: "2"}]'
  assert.equal(await mutate([policy([patched(source)])], attributes), attributes.object)
})

test('a policy that fails denies, whatever comes after it; one that may fail is passed by', async () => {
  const failing = [applied('Object{data: {"b": object.data.missing}}'), applied('Object{data: {"c": "3"}}')]
  assert.deepEqual(await refusal([policy(failing)]), [
    403,
    'Invalid',
    `policy 'p' with binding 'p' denied request: expression 'Object{data: {"b": object.data.missing}}' resulted in error: no such key: missing`,
  ])
  const made = await mutate([policy(failing, { failurePolicy: 'Ignore' })], creating(configMap({ a: '1' })))
  assert.deepEqual(made['data'], { a: '1', c: '3' })
})

test('configurations that do not fit the kind, or set atomic parts, are refused', async () => {
  const message = async (expression: string) => (await refusal([policy([applied(expression)])]))[2]
  assert.match(String(await message('Object{nothing: 1}')), /typed object: \.nothing: field not declared in schema$/)
  assert.match(String(await message('Object{data: {"b": 1}}')), /\.data\.b: expected string, got/)
  assert.match(
    String(await message('Object{metadata: Object.spec{}}')),
    /type mismatch: unexpected type name "Object.spec"/,
  )
  assert.match(
    String(await message('Object{metadata: Object.metadata{managedFields: []}}')),
    /may not mutate atomic arrays, maps or structs: \.metadata\.managedFields$/,
  )
})

test('a patched object that cannot be read fails the request, even when failures are ignored', async () => {
  const source = '[JSONPatch{op: "add", path: "/data/b", value: 1}]'
  const [code, reason, message] = await refusal([policy([patched(source)], { failurePolicy: 'Ignore' })])
  assert.equal(code, 500)
  assert.equal(reason, 'InternalError')
  assert.match(String(message), /cannot unmarshal number into Go struct field ConfigMap.data of type string/)
})

test('params: one mutation for each that is found, a denial where none must be missing', async () => {
  const spec = { paramKind: { apiVersion: 'v1', kind: 'ConfigMap' } }
  const source = 'Object{data: {params.metadata.name: params.data.v}}'
  const binding = (action: string) => ({ paramRef: { selector: {}, parameterNotFoundAction: action } })
  const params = [configMap({ v: '1' }, 'p1'), configMap({ v: '2' }, 'p2')]
  const made = await mutate([policy([applied(source)], spec, binding('Deny'))], creating(configMap({})), params)
  assert.deepEqual(made['data'], { p1: '1', p2: '2' })
  assert.deepEqual(await refusal([policy([applied(source)], spec, binding('Deny'))]), [
    403,
    'Forbidden',
    "policy 'p' with binding 'p' denied request: failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction",
  ])
  assert.deepEqual(await refusal([policy([applied(source)], spec, binding('Allow'))]), [])
})

test('in a second run only those run that asked to, and only if something changed', async () => {
  const again = (name: string, reinvocationPolicy: string) =>
    policy(
      [applied(`Object{data: {"${name}": object.data[?"${name}"].orValue("") + "x"}}`)],
      { reinvocationPolicy },
      {},
      name,
    )
  const plugin = pluginOf([again('a', 'IfNeeded'), again('b', 'Never')])
  const attributes = creating(configMap({}))
  const first = (await plugin.mutate?.(attributes)) as KubeObject
  assert.deepEqual(first['data'], { a: 'x', b: 'x' })
  assert.ok(attributes.reinvocation?.requested)
  attributes.reinvocation.isSecond = true
  const second = (await plugin.mutate?.({ ...attributes, object: first })) as KubeObject
  assert.deepEqual(second['data'], { a: 'xx', b: 'x' })
})

test('policies and reviews are never changed', () => {
  const plugin = pluginOf([policy([applied('Object{data: {"b": "x"}}')])])
  for (const [group, resource] of [
    ['admissionregistration.k8s.io', 'mutatingadmissionpolicies'],
    ['authorization.k8s.io', 'subjectaccessreviews'],
    ['authentication.k8s.io', 'tokenreviews'],
  ]) {
    const attributes = creating(configMap({}), { endpoint: { row: { group, resource } } as never })
    assert.equal(plugin.mutate?.(attributes), attributes.object)
  }
})

test('what the merge keeps is kept: keys of hostile names are data', async () => {
  const made = await mutate(
    [policy([applied('Object{data: {"__proto__": "x", "constructor": "y"}}')])],
    creating(configMap({ a: '1' })),
  )
  assert.deepEqual(Object.entries(made['data']).sort(), [
    ['__proto__', 'x'],
    ['a', '1'],
    ['constructor', 'y'],
  ])
})

test('mutations are counted by policy and binding', async () => {
  const metrics = createMetrics()
  const plugin = pluginOver(mutatingAdmissionPolicy({ machineClock, metrics }), 'mutating', [
    policy([applied('Object{}')]),
  ])
  await plugin.mutate?.(creating(configMap({})))
  assert.match(
    metrics.text(),
    /apiserver_mutating_admission_policy_check_total{error_type="no_error",policy="p",policy_binding="p"} 1/,
  )
})

test('variables that double each other are no object: the policy fails, at once', async () => {
  const variables = Array.from({ length: 40 }, (_, i) => ({
    name: `v${i}`,
    expression: i === 0 ? '["x"]' : `[variables.v${i - 1}, variables.v${i - 1}]`,
  }))
  for (const mutation of [
    patched('[JSONPatch{op: "add", path: "/data/b", value: variables.v39}]'),
    applied('Object{data: Object.data{b: variables.v39}}'),
    applied('Object{?data: variables.v39}'),
  ]) {
    const [code, , message] = await refusal([policy([mutation], { variables })])
    assert.equal(code, 403)
    assert.match(String(message), /actual cost limit exceeded/)
  }
})
