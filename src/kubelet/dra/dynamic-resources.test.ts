/** With the answers that a kubelet v1.37.1 gave on 2026-11-26, but that it tells the CDI names of a claim's first devices for the later ones too. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod } from '../pod.ts'
import { dynamicResources } from './dynamic-resources.ts'

const container = (name: string, ...claims: readonly { readonly name: string; readonly request?: string }[]) => ({
  name,
  image: 'x',
  resources: { claims },
})
const pod: Pod = {
  kind: 'Pod',
  apiVersion: 'v1',
  metadata: { name: 'p', namespace: 'n', uid: 'u' },
  spec: {
    containers: [],
    resourceClaims: [
      { name: 'mine', resourceClaimName: 'claim' },
      { name: 'made', resourceClaimTemplateName: 't' },
    ],
  },
  status: {
    resourceClaimStatuses: [{ name: 'made', resourceClaimName: 'of-template' }],
    extendedResourceClaimStatus: {
      resourceClaimName: 'extended',
      requestMappings: [{ containerName: 'c', requestName: 'r', resourceName: 'example.com/x' }],
    },
  },
}
const device = { request_names: ['r1'], pool_name: 'pool', device_name: 'd', cdi_device_ids: ['v/c=1', 'v/c=2'] }
const prepared = {
  claim: (uid: string, name: string) =>
    uid === 'u' && name !== 'of-template'
      ? {
          namespace: 'n',
          name,
          uid: `uid-${name}`,
          drivers: ['a', 'b'],
          devices: { a: [device], b: [{ ...device, cdi_device_ids: [], share_id: 's' }] },
        }
      : undefined,
}
const told = (name: string) => {
  const [one, two] = [{ name: 'v/c=1' }, { name: 'v/c=2' }]
  const common = { pool_name: 'pool', device_name: 'd' }
  return {
    claim_name: name,
    claim_namespace: 'n',
    claim_resources: [
      { cdi_devices: [one, two], driver_name: 'a', ...common },
      { cdi_devices: [], driver_name: 'b', ...common, share_id: 's' },
    ],
  }
}

test('a claim is told whole, also where one of its requests is named', () => {
  assert.deepEqual(dynamicResources(prepared, pod, container('d', { name: 'mine', request: 'r2' })), [told('claim')])
})

test('a container without claims has none, nor one whose claim is not prepared yet', () => {
  assert.deepEqual(dynamicResources(prepared, pod, container('d')), [])
  assert.deepEqual(dynamicResources(prepared, pod, container('d', { name: 'made' })), [])
})

test('what stands for extended resources is told of the containers that have some', () => {
  assert.deepEqual(dynamicResources(prepared, pod, container('c', { name: 'mine' })), [told('claim'), told('extended')])
})
