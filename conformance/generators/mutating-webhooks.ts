/** Mutating policies and mutating webhooks about one object: who runs first, and who again. */
import type { Case } from '../recording.ts'
import { apiVersion, applied, bindingStep, create, group, maps, policyStep, post, removal } from './mutating-steps.ts'

type Again = 'Never' | 'IfNeeded'

/** The policy marks the object at every run; what the webhook does is its way (hook/server.ts). */
function both(policy: Again, way: string, webhook: Again): Case {
  const mark = applied('Object{data: {"policy": object.data[?"policy"].orValue("") + "x"}}')
  return {
    name: `mutating policy: ${policy}, with a webhook that answers ${way}, ${webhook}`,
    steps: [
      policyStep('$NS-p', [mark], [maps], { reinvocationPolicy: policy }),
      bindingStep('$NS-p', '$NS-p'),
      post(`${group}/mutatingwebhookconfigurations`, {
        apiVersion,
        kind: 'MutatingWebhookConfiguration',
        metadata: { name: '$NS-w' },
        webhooks: [
          {
            name: 'hook.example.com',
            clientConfig: { url: `$HOOK/${way}`, caBundle: '$CA' },
            rules: [maps],
            sideEffects: 'None',
            admissionReviewVersions: ['v1'],
            reinvocationPolicy: webhook,
            namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': '$NS' } },
          },
        ],
      }),
      { ...create, settle: true },
      { m: 'DELETE', p: `${group}/mutatingwebhookconfigurations/$NS-w` },
      ...removal('$NS-p'),
    ],
  }
}

export function reinvocationCases(): readonly Case[] {
  const policies: readonly Again[] = ['Never', 'IfNeeded']
  return ['count', 'allow', 'data'].flatMap((way) =>
    policies.flatMap((policy) => policies.map((webhook) => both(policy, way, webhook))),
  )
}
