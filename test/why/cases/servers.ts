/** What the API server asks before it writes, and which is gone or refuses. */
import type { Namespace } from '../../../src/api/generated/types.ts'
import type { Fields } from '../../../src/api/object.ts'
import { configMap, define, pod, version } from '../stage.ts'
import { type Case, failingHook, held, inForce, unserved } from './case.ts'

export const servers: Readonly<Record<string, Case>> = {
  '1': {
    title: 'a namespace is empty, but an aggregated API is down',
    async setUp(stage, namespace) {
      const service = unserved('agg.example.com')
      await stage.make(service)
      await stage.until(service, ({ status }) => status?.conditions?.[0]?.status === 'False')
      const space = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } }
      await stage.remove(space)
      await stage.until(
        space,
        ({ status }) =>
          (status?.conditions as readonly Fields[] | undefined)?.some(
            ({ type, status: is }) => type === 'NamespaceDeletionDiscoveryFailure' && is === 'True',
          ) === true,
      )
      return { kind: 'ns', name: namespace, remove: [service] }
    },
    verdict: 'nobody',
    cause: 'api-unavailable',
    responsible: /apiservices\/v1\.agg\.example\.com/,
    sentence: /gone-system does not exist/,
  },
  '3': {
    title: 'a webhook whose service is gone refuses the removal of the finalizer',
    async setUp(stage, namespace) {
      const object = configMap(namespace, 'a', held)
      await stage.make(object)
      await stage.remove(object)
      const hook = failingHook('guard', {
        operations: ['UPDATE', 'DELETE'],
        apiGroups: [''],
        resources: ['configmaps'],
      })
      await stage.make(hook)
      return { kind: 'cm', name: 'a', remove: [hook] }
    },
    verdict: 'refused',
    cause: 'admission-refuses',
    responsible: /webhook guard\.acme\.test of guard/,
    sentence: /namespace gone-system does not exist/,
  },
  '4': {
    title: 'a conversion webhook is gone: what a namespace holds cannot be read',
    async setUp(stage, namespace) {
      const versions = [version('v1', true), version('v2', false)]
      const crd = await define(stage, 'conv.acme.test', 'Gizmo', { versions })
      await stage.make({ apiVersion: 'conv.acme.test/v1', kind: 'Gizmo', metadata: { name: 'g', namespace } })
      const service = { namespace: 'gone-system', name: 'converter', path: '/convert' }
      const webhook = { clientConfig: { service, caBundle: '' }, conversionReviewVersions: ['v1'] }
      await stage
        .of(crd)
        .patch(crd['metadata'].name, 'merge', { spec: { conversion: { strategy: 'Webhook', webhook } } } as never)
      await stage.remove({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } })
      const none = { spec: { conversion: { strategy: 'None', webhook: null } } }
      const undo = () => stage.of(crd).patch(crd['metadata'].name, 'merge', none as never)
      return { kind: 'ns', name: namespace, undo }
    },
    verdict: 'nobody',
    cause: 'conversion-webhook',
    responsible: /conversion webhook of gizmos\.conv\.acme\.test/,
    sentence: /gone-system does not exist/,
  },
  '5': {
    title: "a policy refuses the update that takes a Job's tracking finalizer off",
    async setUp(stage, namespace) {
      const policy = {
        apiVersion: 'admissionregistration.k8s.io/v1',
        kind: 'ValidatingAdmissionPolicy',
        metadata: { name: 'frozen-pods' },
        spec: {
          matchConstraints: {
            resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['UPDATE'], resources: ['pods'] }],
          },
          validations: [{ expression: "object.metadata.namespace != 'case-5'", message: 'pods here are frozen' }],
        },
      }
      const binding = {
        apiVersion: 'admissionregistration.k8s.io/v1',
        kind: 'ValidatingAdmissionPolicyBinding',
        metadata: { name: 'frozen-pods' },
        spec: { policyName: 'frozen-pods', validationActions: ['Deny'] },
      }
      const object = pod(
        namespace,
        'p',
        { schedulerName: 'none' },
        { finalizers: ['batch.kubernetes.io/job-tracking'] },
      )
      // A Job's controller frees a pod that belongs to no Job: the policy is there before the pod.
      const probe = pod(namespace, 'probe', { schedulerName: 'none' })
      await stage.make(policy, binding, probe)
      await inForce(stage, probe, (answer) =>
        answer.then(
          () => false,
          () => true,
        ),
      )
      await stage.make(object)
      await stage.remove(object)
      return { kind: 'pod', name: 'p', remove: [binding, policy] }
    },
    verdict: 'refused',
    cause: 'admission-refuses',
    responsible: /ValidatingAdmissionPolicy frozen-pods/,
    sentence: /pods here are frozen/,
  },
  '5 namespace': {
    title: 'a policy refuses the deletes of what is in a namespace',
    async setUp(stage, namespace) {
      const admission = 'admissionregistration.k8s.io/v1'
      const policy = {
        apiVersion: admission,
        kind: 'ValidatingAdmissionPolicy',
        metadata: { name: 'kept-maps' },
        spec: {
          matchConstraints: {
            resourceRules: [
              { apiGroups: [''], apiVersions: ['v1'], operations: ['UPDATE', 'DELETE'], resources: ['configmaps'] },
            ],
          },
          validations: [{ expression: `request.namespace != '${namespace}'`, message: 'maps here are kept' }],
        },
      }
      const binding = {
        apiVersion: admission,
        kind: 'ValidatingAdmissionPolicyBinding',
        metadata: { name: 'kept-maps' },
        spec: { policyName: 'kept-maps', validationActions: ['Deny'] },
      }
      const probe = configMap(namespace, 'probe')
      await stage.make(policy, binding, probe)
      await inForce(stage, probe, (answer) =>
        answer.then(
          () => false,
          () => true,
        ),
      )
      const object = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } }
      await stage.remove(object)
      await stage.until(object, (now) =>
        ((now as Namespace).status?.conditions ?? []).some(
          ({ type, status }) => type === 'NamespaceDeletionContentFailure' && status === 'True',
        ),
      )
      return { kind: 'ns', name: namespace, remove: [binding, policy] }
    },
    verdict: 'refused',
    cause: 'admission-refuses',
    responsible: /ValidatingAdmissionPolicy kept-maps/,
    sentence: /maps here are kept/,
  },
  '22': {
    title: 'a policy puts the finalizer back',
    async setUp(stage, namespace) {
      const policy = {
        apiVersion: 'admissionregistration.k8s.io/v1',
        kind: 'MutatingAdmissionPolicy',
        metadata: { name: 'keeper' },
        spec: {
          matchConstraints: {
            resourceRules: [
              { apiGroups: [''], apiVersions: ['v1'], operations: ['UPDATE'], resources: ['configmaps'] },
            ],
          },
          matchConditions: [{ name: 'here', expression: "object.metadata.namespace == 'case-22'" }],
          failurePolicy: 'Fail',
          reinvocationPolicy: 'Never',
          mutations: [
            {
              patchType: 'ApplyConfiguration',
              applyConfiguration: {
                expression: "Object{metadata: Object.metadata{finalizers: ['acme.test/cleanup']}}",
              },
            },
          ],
        },
      }
      const binding = {
        apiVersion: 'admissionregistration.k8s.io/v1',
        kind: 'MutatingAdmissionPolicyBinding',
        metadata: { name: 'keeper' },
        spec: { policyName: 'keeper' },
      }
      const object = configMap(namespace, 'a', held)
      await stage.make(object)
      await stage.remove(object)
      await stage.make(policy, binding)
      await inForce(stage, object, async (answer) => ((await answer).metadata.finalizers ?? []).length > 0)
      return { kind: 'cm', name: 'a', remove: [binding, policy] }
    },
    verdict: 'refused',
    cause: 'put-back',
    responsible: /MutatingAdmissionPolicy keeper/,
  },
}
