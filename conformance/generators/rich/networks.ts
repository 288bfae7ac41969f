/** Network policies, ingresses and service address ranges that use every part of their types. */
import type { CorpusEntry } from '../mutations.ts'
import { entry } from './entry.ts'

const peer = {
  podSelector: { matchLabels: { a: 'b' } },
  namespaceSelector: { matchExpressions: [{ key: 'k', operator: 'In', values: ['v'] }] },
}
export const richNetworks: readonly CorpusEntry[] = [
  entry('networking.k8s.io/v1 ns', 'networkpolicies', 'NetworkPolicy', 'np', {
    spec: {
      podSelector: { matchExpressions: [{ key: 'a', operator: 'NotIn', values: ['x'] }] },
      policyTypes: ['Ingress', 'Egress'],
      ingress: [
        {
          from: [peer, { ipBlock: { cidr: '10.0.0.0/8', except: ['10.1.0.0/16'] } }],
          ports: [{ protocol: 'TCP', port: 80, endPort: 90 }, { port: 'http' }],
        },
      ],
      egress: [{ to: [{ ipBlock: { cidr: 'fd00::/8' } }], ports: [{ protocol: 'UDP', port: 53 }] }],
    },
  }),
  entry('networking.k8s.io/v1 ns', 'ingresses', 'Ingress', 'ing', {
    spec: {
      ingressClassName: 'nginx',
      defaultBackend: { service: { name: 'd', port: { number: 80 } } },
      tls: [{ hosts: ['a.example.com', '*.b.example.com'], secretName: 's' }],
      rules: [
        {
          host: 'a.example.com',
          http: {
            paths: [
              { path: '/x', pathType: 'Prefix', backend: { service: { name: 's', port: { name: 'http' } } } },
              {
                path: '/y',
                pathType: 'Exact',
                backend: { resource: { apiGroup: 'k8s.example.com', kind: 'Bucket', name: 'b' } },
              },
            ],
          },
        },
        {
          host: '*.b.example.com',
          http: {
            paths: [{ pathType: 'ImplementationSpecific', backend: { service: { name: 's', port: { number: 1 } } } }],
          },
        },
      ],
    },
  }),
  entry('networking.k8s.io/v1', 'ingressclasses', 'IngressClass', 'rich-ic', {
    spec: {
      controller: 'example.com/c',
      parameters: { apiGroup: 'k8s.example.com', kind: 'Params', name: 'p', scope: 'Namespace', namespace: 'n' },
    },
  }),
  entry(
    'networking.k8s.io/v1',
    'ipaddresses',
    'IPAddress',
    '192.0.2.7',
    {
      spec: { parentRef: { group: '', resource: 'services', namespace: 'default', name: 'x' } },
    },
    { labels: { a: 'b' } },
  ),
  entry('networking.k8s.io/v1', 'servicecidrs', 'ServiceCIDR', 'rich-cidr', { spec: { cidrs: ['198.51.100.0/24'] } }),
]
