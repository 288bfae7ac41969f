/** What the status of a ValidatingAdmissionPolicy says of its expressions: every warning as a real cluster gave it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Fields, KubeObject } from '../../src/api/object.ts'
import { simulatedRuntime } from '../../src/base/simulated-runtime.ts'
import { startStage } from '../scenarios/stage.ts'

const policies = { group: 'admissionregistration.k8s.io', version: 'v1', resource: 'validatingadmissionpolicies' }
const about = (apiGroups: readonly string[], apiVersions: readonly string[], resources: readonly string[]) => ({
  matchConstraints: { resourceRules: [{ apiGroups, apiVersions, operations: ['CREATE'], resources }] },
})
const deployments = about(['apps'], ['v1'], ['deployments'])

async function warningsOf(...specs: readonly Fields[]): Promise<readonly (readonly Fields[])[]> {
  const runtime = simulatedRuntime(1)
  const stage = await startStage(runtime, { nodes: 0 })
  const resource = stage.user.resource(policies)
  const told: (readonly Fields[])[] = []
  for (const [at, spec] of specs.entries()) {
    const name = `p${at}`
    const policy = {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingAdmissionPolicy',
      metadata: { name },
      spec,
    }
    await runtime.complete(resource.create(policy as KubeObject))
    await runtime.advance(1000)
    const { observedGeneration, typeChecking }: Fields = (await runtime.complete(resource.get(name)))['status'] ?? {}
    assert.equal(observedGeneration, 1)
    assert.ok(typeChecking)
    told.push(typeChecking.expressionWarnings ?? [])
  }
  await stage.stop()
  return told
}
const warning = (fieldRef: string, text: string) => ({ fieldRef, warning: text })

test('expressions are checked against the types of the objects, of params and of variables', async () => {
  const [numbers, variables, params] = await warningsOf(
    {
      ...deployments,
      validations: [
        { expression: 'object.spec.replicas > "1"' },
        { expression: 'true', messageExpression: '"a" + object.foo' },
        { expression: 'oldObject.metadata.creationTimestamp == 1' },
      ],
    },
    {
      ...deployments,
      variables: [
        { name: 'y', expression: 'object.metadata.name' },
        { name: 'z', expression: 'object.nope' },
      ],
      validations: [{ expression: 'object.spec.replicas == variables.y' }, { expression: 'variables.z == 1' }],
    },
    {
      ...about([''], ['v1'], ['configmaps']),
      paramKind: { apiVersion: 'v1', kind: 'ConfigMap' },
      validations: [{ expression: 'params.data.x > 1' }],
    },
  )
  assert.deepEqual(numbers, [
    warning(
      'spec.validations[0].expression',
      `apps/v1, Kind=Deployment: ERROR: <input>:1:22: found no matching overload for '_>_' applied to '(int, string)'\n | object.spec.replicas > "1"\n | .....................^\n`,
    ),
    warning(
      'spec.validations[1].messageExpression',
      `apps/v1, Kind=Deployment: ERROR: <input>:1:13: undefined field 'foo'\n | "a" + object.foo\n | ............^\n`,
    ),
    warning(
      'spec.validations[2].expression',
      `apps/v1, Kind=Deployment: ERROR: <input>:1:38: found no matching overload for '_==_' applied to '(timestamp, int)'\n | oldObject.metadata.creationTimestamp == 1\n | .....................................^\n`,
    ),
  ])
  assert.deepEqual(variables, [
    warning(
      'spec.validations[0].expression',
      `apps/v1, Kind=Deployment: ERROR: <input>:1:22: found no matching overload for '_==_' applied to '(int, string)'\n | object.spec.replicas == variables.y\n | .....................^\n`,
    ),
  ])
  assert.deepEqual(params, [
    warning(
      'spec.validations[0].expression',
      `/v1, Kind=ConfigMap: ERROR: <input>:1:15: found no matching overload for '_>_' applied to '(string, int)'\n | params.data.x > 1\n | ..............^\n`,
    ),
  ])
})

test('of several kinds each is told; of wildcards and unknown kinds nothing is known', async () => {
  const validations = [{ expression: 'object.foo == 1' }]
  const [several, ...unknown] = await warningsOf(
    { ...about(['apps', ''], ['v1'], ['replicasets', 'daemonsets', 'daemonsets/status']), validations },
    { ...about(['apps'], ['*'], ['deployments']), validations },
    { ...about(['nope.example.com'], ['v1'], ['things']), validations },
  )
  const text = (kind: string) =>
    `apps/v1, Kind=${kind}: ERROR: <input>:1:7: undefined field 'foo'\n | object.foo == 1\n | ......^\n`
  assert.deepEqual(several, [warning('spec.validations[0].expression', `${text('DaemonSet')}\n${text('ReplicaSet')}`)])
  assert.deepEqual(unknown, [[], []])
})
