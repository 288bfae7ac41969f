/** Webhooks that cannot be asked: addresses, connections, certificates and answers that are wrong. */
import { CERTIFICATES, HABITS } from '../hook/failing.ts'
import type { Case, Step } from '../recording.ts'
import { about, definition, get, integer, merge, object, path, post, text, version, widget } from './definitions.ts'

const group = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations'
const map = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } }
const rule = { operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] }

const asked = (name: string, clientConfig: object, more: object = {}): Case => ({
  name: `webhook failure: ${name}`,
  steps: [
    post(group, {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingWebhookConfiguration',
      metadata: { name: '$NS-w' },
      webhooks: [
        {
          name: 'failing.example.com',
          clientConfig,
          rules: [rule],
          sideEffects: 'None',
          admissionReviewVersions: ['v1'],
          namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': '$NS' } },
          ...more,
        },
      ],
    }),
    { ...post('/api/v1/namespaces/$NS/configmaps', map), settle: true },
    { m: 'DELETE', p: `${group}/$NS-w` },
  ],
})

const at = (name: string, host = '127.0.0.1') => ({
  url: `https://${host}:{{port ${name}}}/x`,
  caBundle: '$AUTHORITY',
})

const converted = (name: string, clientConfig: object): Case =>
  about(
    `conversion failure: ${name}`,
    definition([version('v1', object({ size: integer, mode: text })), version('v2', object({ size: integer }))], {
      spec: { conversion: { strategy: 'Webhook', webhook: { conversionReviewVersions: ['v1'], clientConfig } } },
    }),
    [
      post(path('v1'), widget({ size: 1 })),
      get(`${path('v2')}/a`),
      merge(`${path('v2')}/a`, { spec: { size: 2 } }),
      post(path('v2'), widget({ size: 1 }, { metadata: { name: 'b' } }, 'v2')),
    ] satisfies readonly Step[],
  )

export function webhookFailureCases(): readonly Case[] {
  const service = (more: object) => ({ service: { namespace: '$NS', name: 'none', ...more }, caBundle: '$AUTHORITY' })
  return [
    ...[...CERTIFICATES, ...HABITS].map((name) => asked(name, at(name))),
    ...CERTIFICATES.map((name) => asked(`${name}, by name`, at(name, 'localhost'))),
    asked('another authority', { ...at('good'), caBundle: '$CA' }),
    asked('no authority', { url: at('good').url }),
    asked('nobody listens', { url: 'https://127.0.0.1:1/x' }),
    asked('no service', service({ path: '/p' })),
    asked('no service, another port', service({ port: 8443 })),
    ...['expired', 'other-names', 'forged', 'plain', 'closing', 'malformed', 'cut'].map((name) =>
      converted(name, at(name)),
    ),
    converted('no service', service({ path: '/p/q' })),
  ]
}
