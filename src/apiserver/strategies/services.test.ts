import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Service } from '../../api/generated/types.ts'
import { services } from './services.ts'

test('where a load balancer answers is forgotten when the service has none any more, and not before', () => {
  const loadBalancer = { ingress: [{ ip: '192.0.2.1' }] }
  const service = (type: string, ports: number): Service =>
    ({
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 's' },
      spec: { type, ports: [{ port: ports }] },
      status: { loadBalancer },
    }) as Service
  const left = (type: string) =>
    services.prepareForUpdate?.(service(type, 81), service('LoadBalancer', 80), {} as never)?.['status']?.loadBalancer
  assert.deepEqual(left('LoadBalancer'), loadBalancer)
  for (const type of ['ClusterIP', 'NodePort', 'ExternalName']) assert.deepEqual(left(type), {})
})
