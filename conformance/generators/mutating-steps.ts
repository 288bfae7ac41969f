/** What cases about mutating policies are made of: the policy, its binding, the requests, and their removal. */
import type { Case, Step } from '../recording.ts'

// biome-ignore lint/suspicious/noExplicitAny: parts of objects of several kinds
export type Any = any

export const core = '/api/v1/namespaces/$NS'
export const group = '/apis/admissionregistration.k8s.io/v1'
export const apiVersion = 'admissionregistration.k8s.io/v1'
const json = JSON.stringify
export const post = (p: string, body: Any): Step => ({ m: 'POST', p, b: json(body) })
export const put = (p: string, body: Any): Step => ({ m: 'PUT', p, b: json(body) })
const patch =
  (type: string) =>
  (p: string, body: Any): Step => ({ m: 'PATCH', p, b: json(body), h: { 'content-type': `application/${type}` } })
export const merge = patch('merge-patch+json')
export const apply = patch('apply-patch+yaml')

export const configMap = (name: string, data: Any = { a: '1' }, meta: Any = {}): Any => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, ...meta },
  data,
})
export const create = post(`${core}/configmaps`, configMap('a'))
export const maps = { operations: ['*'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] }

export const applied = (expression: string): Any => ({
  patchType: 'ApplyConfiguration',
  applyConfiguration: { expression },
})
export const patched = (expression: string): Any => ({ patchType: 'JSONPatch', jsonPatch: { expression } })

interface Extra {
  readonly policy?: Any
  readonly binding?: Any
  readonly before?: readonly Step[]
  readonly steps?: readonly Step[]
  readonly rules?: Any[]
  readonly gadget?: boolean
}

export const policyStep = (name: string, mutations: Any[], rules: Any[], policy: Any = {}): Step =>
  post(`${group}/mutatingadmissionpolicies`, {
    apiVersion,
    kind: 'MutatingAdmissionPolicy',
    metadata: { name },
    spec: {
      matchConstraints: {
        resourceRules: rules,
        namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': '$NS' } },
      },
      reinvocationPolicy: 'Never',
      mutations,
      ...policy,
    },
  })

export const bindingStep = (name: string, policyName: string, binding: Any = {}): Step =>
  post(`${group}/mutatingadmissionpolicybindings`, {
    apiVersion,
    kind: 'MutatingAdmissionPolicyBinding',
    metadata: { name },
    spec: { policyName, ...binding },
  })

export const removal = (name: string): readonly Step[] => [
  { m: 'DELETE', p: `${group}/mutatingadmissionpolicybindings/${name}` },
  { m: 'DELETE', p: `${group}/mutatingadmissionpolicies/${name}` },
]

export function about(name: string, mutations: Any[], extra: Extra = {}): Case {
  const { policy, binding, before = [], steps = [create], rules = [maps], gadget } = extra
  const [first, ...rest] = steps
  return {
    name: `mutating policy: ${name}`,
    steps: [
      ...before,
      policyStep('$NS-p', mutations, rules, policy),
      bindingStep('$NS-p', '$NS-p', binding),
      { ...(first as Step), settle: true },
      ...rest,
      ...removal('$NS-p'),
    ],
    ...(gadget ? { gadget } : {}),
  }
}
