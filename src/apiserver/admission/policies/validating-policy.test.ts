import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Fields } from '../../../api/object.ts'
import { configMap, creating, type Given, pluginOver } from './fixture.test.ts'
import { validatingAdmissionPolicy } from './validating-policy.ts'

const machineClock = { monotonic: () => 0 } as never
const policy = (
  validations: readonly object[],
  actions: readonly string[],
  spec: Fields = {},
  binding: Fields = {},
): Given => ({
  name: 'p',
  spec: { validations, ...spec },
  binding: { validationActions: actions, ...binding },
})

async function judged(given: Given) {
  const notes = new Map<string, string>()
  const warnings: string[] = []
  const attributes = creating(configMap({ a: '1' }), {
    warn: (text) => warnings.push(text),
    annotate: (key, value) => notes.set(key, value),
  })
  let error: Error | undefined
  try {
    await pluginOver(validatingAdmissionPolicy({ machineClock }), 'validating', [given]).validate?.(attributes)
  } catch (thrown) {
    error = thrown as Error
  }
  return { notes, warnings, error }
}

test('an audited failure names the rule by its place', async () => {
  const { notes, error } = await judged(
    policy([{ expression: 'true' }, { expression: 'false', message: 'm' }], ['Audit']),
  )
  assert.equal(error, undefined)
  assert.deepEqual(JSON.parse(notes.get('validation.policy.admission.k8s.io/validation_failure') ?? ''), [
    { message: 'm', policy: 'p', binding: 'p', expressionIndex: 1, validationActions: ['Audit'] },
  ])
})

test('audit annotations carry the name of their policy', async () => {
  const spec = { auditAnnotations: [{ key: 'size', valueExpression: "'is ' + string(object.data.size())" }] }
  const { notes } = await judged(policy([], ['Deny'], spec))
  assert.deepEqual([...notes], [['p/size', 'is 1']])
})

test('a policy that cannot be configured denies, even where a warning would do', async () => {
  const spec = { paramKind: { apiVersion: 'nowhere.example.com/v1', kind: 'Nothing' } }
  const { error, warnings } = await judged(policy([{ expression: 'true' }], ['Warn'], spec))
  assert.match(
    String(error?.message),
    /ValidatingAdmissionPolicy 'p' denied request: failed to configure policy: failed/,
  )
  assert.deepEqual(warnings, [])
  assert.equal(
    (await judged(policy([{ expression: 'true' }], ['Warn'], { ...spec, failurePolicy: 'Ignore' }))).error,
    undefined,
  )
})

test('a kind of params that is not there is named with its group, also the empty one', async () => {
  for (const [apiVersion, shown] of [
    ['v1', '/v1'],
    ['example.com/v1', 'example.com/v1'],
  ]) {
    const spec = { paramKind: { apiVersion, kind: 'Nothing' } }
    const { error } = await judged(policy([{ expression: 'true' }], ['Deny'], spec))
    assert.ok(String(error?.message).endsWith(`referenced by paramKind: '${shown}, Kind=Nothing'`), error?.message)
  }
})

test('rules that cost too much together end the judgement, and count alone', async () => {
  // To look for one text in another costs by both their lengths.
  const long = 'x'.repeat(9000)
  const costly = Array(15).fill({ expression: `'${long}'.contains('${long}')` })
  const { error } = await judged(policy([{ expression: 'false' }, ...costly], ['Deny']))
  assert.match(String(error?.message), /denied request: validation failed due to running out of cost budget/)
})

test('the user may be asked about what the request is about', async () => {
  const { error } = await judged(
    policy([{ expression: "authorizer.requestResource.check('create').allowed()" }], ['Deny']),
  )
  assert.equal(error, undefined)
})

for (const [variable, told] of [
  ["authorizer.path('/healthz').check('get').allowed()", 'failed expression: !variables.v'],
  ["authorizer.requestResource.check('get').allowed()", 'failed expression: !variables.v'],
  ['true', 'it is true'],
] as const)
  test(`a message asks no authorizer: ${variable}`, async () => {
    const rule = { expression: '!variables.v', messageExpression: "'it is ' + string(variables.v)" }
    const { error } = await judged(policy([rule], ['Deny'], { variables: [{ name: 'v', expression: variable }] }))
    assert.equal(error?.message.split('denied request: ')[1], told)
  })
