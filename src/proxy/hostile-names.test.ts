/** What users write never reaches an nft script as text, also of an API server that refuses none of it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { EndpointSlice, NetworkPolicy, Service } from '../api/generated/types.ts'
import { createPolicyTable, type PolicyPod, podRules, policyRules, readPolicy } from './network-policy-rules.ts'
import { servicePorts } from './service-port.ts'
import { rulesOfService } from './service-rules.ts'
import { createServiceTable } from './service-table.ts'

const SLY = '"; } add table ip sly; # $(touch /sly)\n`sly` accept'
/** Numbers, names that the code gives, and nft's own words. */
const PLAIN = /^[\w\s.:,;@!=&{}[\]/-]*$/

const slyService: Service = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: SLY, namespace: SLY, labels: { [SLY]: SLY }, annotations: { [SLY]: SLY } },
  spec: {
    clusterIPs: ['10.96.0.9', 'fd00:10:96::9'],
    type: 'LoadBalancer',
    externalTrafficPolicy: 'Local',
    sessionAffinity: 'ClientIP',
    externalIPs: [SLY, '192.0.2.1', `192.0.2.2${SLY}`, '2001:DB8:0::1', `2001:db8::2%${SLY}`, '::ffff:192.0.2.3'],
    loadBalancerSourceRanges: [SLY, '192.0.2.0/24', `192.0.2.0/24${SLY}`],
    ports: [
      { name: SLY, port: 80, nodePort: 30_000, appProtocol: SLY },
      { name: 'odd', port: SLY as never },
      { name: 'other', port: 81, protocol: SLY },
    ],
  },
  status: { loadBalancer: { ingress: [{ ip: SLY, hostname: SLY }, { ip: '192.0.2.9' }] } },
}

const sliceOfIPv6 = (slice: EndpointSlice): EndpointSlice => ({
  ...slice,
  addressType: 'IPv6',
  endpoints: [{ addresses: ['fd00::1'], nodeName: SLY }, { addresses: [`fd00::2%${SLY}`] }, { addresses: [SLY] }],
})

const slySlice: EndpointSlice = {
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  metadata: { name: SLY, namespace: SLY },
  addressType: 'IPv4',
  ports: [
    { name: SLY, port: 8080 },
    { name: SLY, port: SLY as never },
  ],
  endpoints: [
    { addresses: ['10.0.0.1'], nodeName: SLY, zone: SLY, hints: { forZones: [{ name: SLY }] } },
    { addresses: [SLY] },
    { addresses: [`10.0.0.2 ${SLY}`] },
  ],
}

test('of a Service nothing but addresses and numbers is in the script', () => {
  const slices = [slySlice, sliceOfIPv6(slySlice)]
  for (const family of ['IPv4', 'IPv6'] as const) {
    const table = createServiceTable('skiff-0-services', family, ['10.0.0.0/24'])
    const ports = servicePorts(slyService, slices, family)
    assert.equal(ports.length, 1)
    for (const port of ports)
      table.set(port.key, rulesOfService(port, { nodeName: SLY, zone: SLY, nodePortAddresses: ['10.0.0.254'], family }))
    const script = table.whole()
    assert.match(script, PLAIN)
    assert.match(script, family === 'IPv4' ? /192\.0\.2\.1 / : /2001:db8::1 /)
    assert.doesNotMatch(script, /sly|ffff/)
  }
})

test('of a policy and its pods neither', () => {
  const pod: PolicyPod = {
    key: SLY,
    namespace: SLY,
    labels: { [SLY]: SLY },
    address: '10.0.0.1',
    isLocal: true,
    namedPorts: [{ name: SLY, protocol: 'TCP', port: 8080 }],
  }
  const policy: NetworkPolicy = {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: { name: SLY, namespace: SLY },
    spec: {
      podSelector: {},
      policyTypes: ['Ingress', 'Egress', SLY],
      ingress: [
        {
          from: [{ ipBlock: { cidr: SLY, except: [SLY] } }, { ipBlock: { cidr: '10.0.0.0/8', except: [SLY] } }],
          ports: [
            { port: SLY as never, protocol: 'TCP' },
            { port: 80, protocol: SLY },
          ],
        },
      ],
      egress: [{ to: [{ podSelector: {} }] }],
    },
  }
  const read = readPolicy(policy)
  const table = createPolicyTable('skiff-0-policies', 'IPv4')
  const around = {
    family: 'IPv4' as const,
    labelsOf: () => ({ [SLY]: SLY }),
    namespaces: () => [SLY],
    podsIn: () => [pod],
  }
  table.set('policy', policyRules(read, around))
  table.set('pod', podRules(pod, [read], 'IPv4'))
  const script = table.whole()
  assert.match(script.replace('"veth*"', ''), PLAIN)
  assert.match(script, /10\.0\.0\.1 /)
  assert.doesNotMatch(script, /sly/)
})
