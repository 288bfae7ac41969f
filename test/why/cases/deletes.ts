/** Deletes that are refused: of what is not being deleted yet, and the last one of what is. */
import type { Fields } from '../../../src/api/object.ts'
import { configMap, define, node, runningPod, type Stage } from '../stage.ts'
import { type Case, failingHook, held, inForce, ownerOf } from './case.ts'

const ADMISSION = 'admissionregistration.k8s.io/v1'

/** A policy about the deletes of a resource in one namespace, by its binding, which is in force. */
async function deletePolicy(
  stage: Stage,
  namespace: string,
  group: string,
  resource: string,
  { variables = [], validations }: Fields,
) {
  const metadata = { name: `keeps-${namespace}` }
  const policy = {
    apiVersion: ADMISSION,
    kind: 'ValidatingAdmissionPolicy',
    metadata,
    spec: {
      matchConstraints: {
        // Updates are among them to see when it is in force.
        resourceRules: [
          { apiGroups: [group], apiVersions: ['*'], operations: ['DELETE'], resources: [resource] },
          { apiGroups: [''], apiVersions: ['*'], operations: ['UPDATE'], resources: ['secrets'] },
        ],
      },
      variables,
      validations: [{ expression: "request.operation == 'DELETE'", message: 'in force' }, ...validations],
    },
  }
  const namespaceSelector = { matchLabels: { 'kubernetes.io/metadata.name': namespace } }
  const binding = {
    apiVersion: ADMISSION,
    kind: 'ValidatingAdmissionPolicyBinding',
    metadata,
    spec: { policyName: metadata.name, validationActions: ['Deny'], matchResources: { namespaceSelector } },
  }
  const probe = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'probe', namespace } }
  await stage.make(probe, policy, binding)
  await inForce(stage, probe, (answer) =>
    answer.then(
      () => false,
      () => true,
    ),
  )
  return [binding, policy]
}

export const deletes: Readonly<Record<string, Case>> = {
  'delete webhook': {
    title: 'what is there would not be deleted: a webhook that must answer to its delete cannot',
    async setUp(stage, namespace) {
      await stage.make(configMap(namespace, 'a'))
      const hook = failingHook('keeper', { operations: ['DELETE'], apiGroups: [''], resources: ['configmaps'] })
      await stage.make(hook)
      return { kind: 'cm', name: 'a', remove: [hook] }
    },
    verdict: 'refused',
    cause: 'admission-refuses',
    responsible: /webhook keeper\.acme\.test of keeper/,
    sentence: /refuses the DELETE.*namespace gone-system does not exist/,
  },
  'delete policy': {
    title: 'what is there would not be deleted: a policy says so, in its own words',
    async setUp(stage, namespace) {
      await define(stage, 'kept.acme.test', 'Vault')
      await stage.make({
        apiVersion: 'kept.acme.test/v1',
        kind: 'Vault',
        metadata: { name: 'v', namespace },
        spec: { locked: true },
      })
      const remove = await deletePolicy(stage, namespace, 'kept.acme.test', 'vaults', {
        variables: [{ name: 'locked', expression: 'oldObject.?spec.?locked.orValue(false)' }],
        validations: [{ expression: '!variables.locked', messageExpression: "oldObject.metadata.name + ' is locked'" }],
      })
      return { kind: 'vault', name: 'v', remove }
    },
    verdict: 'refused',
    cause: 'admission-refuses',
    responsible: /ValidatingAdmissionPolicy keeps-case-delete-policy/,
    sentence: /refuses the DELETE: v is locked/,
  },
  'delete expression': {
    title: 'a policy for deletes reads the new object, which a delete has none of: each is refused',
    async setUp(stage, namespace) {
      await stage.make(configMap(namespace, 'a'))
      const remove = await deletePolicy(stage, namespace, '', 'configmaps', {
        validations: [{ expression: "object.metadata.name != 'b'" }],
      })
      return { kind: 'cm', name: 'a', remove }
    },
    verdict: 'refused',
    cause: 'admission-refuses',
    responsible: /ValidatingAdmissionPolicy keeps-case-delete-expression/,
    sentence: /resulted in error/,
  },
  'delete pod': {
    title: "a pod's containers have ended, and the kubelet's last delete is refused",
    async setUp(stage, namespace) {
      await node(stage, 'tidy', true)
      const pod = await runningPod(stage, namespace, 'p', 'tidy')
      await stage.remove(pod)
      const ended = { exitCode: 0, reason: 'Completed' }
      const main = { name: 'main', image: 'busybox', imageID: '', ready: false, restartCount: 0 }
      await stage.status(pod, { containerStatuses: [{ ...main, state: { terminated: ended }, lastState: {} }] })
      const remove = await deletePolicy(stage, namespace, '', 'pods', {
        validations: [{ expression: 'false', message: 'pods here are counted first' }],
      })
      return { kind: 'pod', name: 'p', remove }
    },
    verdict: 'refused',
    cause: 'admission-refuses',
    responsible: /ValidatingAdmissionPolicy keeps-case-delete-pod/,
    sentence: /refuses the DELETE: .*pods here are counted first/,
  },
  'delete status': {
    title:
      "the kubelet cannot tell that a pod's containers have ended: a webhook that must answer to all that is written cannot",
    async setUp(stage, namespace) {
      await node(stage, 'mute', true)
      const pod = await runningPod(stage, namespace, 'p', 'mute')
      await stage.remove(pod)
      const hook = failingHook('all', { operations: ['UPDATE'], apiGroups: [''], resources: ['pods/status'] })
      await stage.make(hook)
      return { kind: 'pod', name: 'p', remove: [hook] }
    },
    verdict: 'refused',
    cause: 'admission-refuses',
    responsible: /webhook all\.acme\.test of all/,
    sentence: /refuses the UPDATE of its status/,
  },
  'delete dependent': {
    title: 'an owner waits for a dependent whose delete a policy refuses to the garbage collector',
    async setUp(stage, namespace) {
      const remove = await deletePolicy(stage, namespace, '', 'configmaps', {
        validations: [{ expression: "oldObject.metadata.name != 'part'", message: 'parts stay' }],
      })
      const owner = {
        apiVersion: 'v1',
        kind: 'Service',
        metadata: { name: 'o', namespace },
        spec: { ports: [{ port: 1 }] },
      }
      const [made] = await stage.make(owner)
      await stage.make(
        configMap(namespace, 'part', ownerOf(owner, made?.metadata.uid ?? '', { blockOwnerDeletion: true })),
      )
      await stage.remove(owner, { propagationPolicy: 'Foreground' })
      return { kind: 'svc', name: 'o', remove }
    },
    verdict: 'refused',
    cause: 'admission-refuses',
    responsible: /ValidatingAdmissionPolicy keeps-case-delete-dependent/,
    sentence: /parts stay/,
  },
  'delete pods of a namespace': {
    title: 'a namespace whose pods may not be deleted',
    async setUp(stage, namespace) {
      await node(stage, 'busy', true)
      await runningPod(stage, namespace, 'p', 'busy')
      await stage.make(configMap(namespace, 'a', held))
      const remove = await deletePolicy(stage, namespace, '', 'pods', {
        validations: [{ expression: 'false', message: 'pods here are kept' }],
      })
      await stage.remove({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } })
      return { kind: 'ns', name: namespace, remove }
    },
    verdict: 'refused',
    cause: 'admission-refuses',
    responsible: /ValidatingAdmissionPolicy keeps-case-delete-pods-of-a-namespace/,
    sentence: /pods here are kept/,
  },
}
