/** Webhook configurations, admission policies and their bindings that use every part of their types. */
import type { CorpusEntry } from '../mutations.ts'
import { entry } from './entry.ts'

const rules = [
  {
    apiGroups: ['apps'],
    apiVersions: ['v1'],
    operations: ['CREATE', 'UPDATE'],
    resources: ['deployments', 'deployments/scale'],
    scope: 'Namespaced',
  },
]
const hook = {
  admissionReviewVersions: ['v1', 'v1beta1'],
  sideEffects: 'NoneOnDryRun',
  failurePolicy: 'Ignore',
  matchPolicy: 'Exact',
  timeoutSeconds: 5,
  rules,
  objectSelector: { matchLabels: { never: 'matches' } },
  namespaceSelector: { matchExpressions: [{ key: 'k', operator: 'In', values: ['v'] }] },
  matchConditions: [{ name: 'm', expression: "request.userInfo.username == 'nobody'" }],
}
const webhooks = [
  { name: 'a.hooks.example.com', ...hook, clientConfig: { url: 'https://nowhere.example.com/path' } },
  {
    name: 'b.hooks.example.com',
    ...hook,
    clientConfig: { service: { name: 's', namespace: 'n', path: '/p', port: 8443 } },
  },
]
const constraints = {
  resourceRules: [{ ...rules[0], resourceNames: ['nobody'] }],
  excludeResourceRules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['*'], resources: ['pods'] }],
  namespaceSelector: { matchLabels: { a: 'b' } },
  objectSelector: { matchLabels: { c: 'd' } },
  matchPolicy: 'Equivalent',
}
const bindingSpec = {
  policyName: 'rich-policy',
  paramRef: { name: 'p', namespace: 'n', parameterNotFoundAction: 'Allow' },
  matchResources: constraints,
}
export const richAdmission: readonly CorpusEntry[] = [
  entry(
    'admissionregistration.k8s.io/v1',
    'validatingwebhookconfigurations',
    'ValidatingWebhookConfiguration',
    'rich-vwc',
    { webhooks },
  ),
  entry(
    'admissionregistration.k8s.io/v1',
    'mutatingwebhookconfigurations',
    'MutatingWebhookConfiguration',
    'rich-mwc',
    {
      webhooks: webhooks.map((one) => ({ ...one, reinvocationPolicy: 'IfNeeded' })),
    },
  ),
  entry('admissionregistration.k8s.io/v1', 'validatingadmissionpolicies', 'ValidatingAdmissionPolicy', 'rich-policy', {
    spec: {
      failurePolicy: 'Ignore',
      paramKind: { apiVersion: 'v1', kind: 'ConfigMap' },
      matchConstraints: constraints,
      matchConditions: [{ name: 'c', expression: "object.metadata.name != 'x'" }],
      variables: [{ name: 'n', expression: 'object.spec.replicas' }],
      validations: [
        { expression: 'variables.n <= 5', message: 'too many', reason: 'Invalid' },
        { expression: "params.data.x == 'y'", messageExpression: "'no ' + object.metadata.name" },
      ],
      auditAnnotations: [{ key: 'a', valueExpression: "'x'" }],
    },
  }),
  entry(
    'admissionregistration.k8s.io/v1',
    'validatingadmissionpolicybindings',
    'ValidatingAdmissionPolicyBinding',
    'rich-binding',
    {
      spec: { ...bindingSpec, validationActions: ['Warn', 'Audit'] },
    },
  ),
  entry('admissionregistration.k8s.io/v1', 'mutatingadmissionpolicies', 'MutatingAdmissionPolicy', 'rich-map', {
    spec: {
      failurePolicy: 'Ignore',
      reinvocationPolicy: 'Never',
      paramKind: { apiVersion: 'v1', kind: 'ConfigMap' },
      matchConstraints: constraints,
      mutations: [
        {
          patchType: 'ApplyConfiguration',
          applyConfiguration: { expression: 'Object{metadata: Object.metadata{labels: {"a": "b"}}}' },
        },
        {
          patchType: 'JSONPatch',
          jsonPatch: { expression: '[JSONPatch{op: "add", path: "/metadata/labels/x", value: "y"}]' },
        },
      ],
    },
  }),
  entry(
    'admissionregistration.k8s.io/v1',
    'mutatingadmissionpolicybindings',
    'MutatingAdmissionPolicyBinding',
    'rich-mapb',
    { spec: bindingSpec },
  ),
]
