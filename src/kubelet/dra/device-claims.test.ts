import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject } from '../../api/object.ts'
import type { Handler } from '../../api/request.ts'
import { notFound } from '../../api/status.ts'
import { liveRuntime } from '../../base/live-runtime.ts'
import { createClient, inProcessTransport } from '../../client/transport.ts'
import type { Container, Pod } from '../pod.ts'
import { createDeviceClaims } from './device-claims.ts'
import type { PreparedClaims } from './prepared-claims.ts'

const allocation = { devices: { results: [{ request: 'r', driver: 'd.example.com', pool: 'n', device: 'd0' }] } }
const reservedFor = [{ resource: 'pods', name: 'p', uid: 'u' }]

/** A pod with that claim; `status` is the one of the claim `c`, the only one there is. */
function stage(claim: object, status: object, prepared?: PreparedClaims) {
  const handler: Handler = async ({ path }) => {
    if (!path.endsWith('/c')) throw notFound({ group: 'resource.k8s.io', resource: 'resourceclaims' }, 'none')
    const metadata = { name: 'c', namespace: 'n', uid: 'claim' }
    const object = {
      apiVersion: 'resource.k8s.io/v1',
      kind: 'ResourceClaim',
      metadata,
      status,
    } as unknown as KubeObject
    return { kind: 'object', status: 200, object }
  }
  const client = createClient(liveRuntime(), inProcessTransport(handler), { userAgent: 'kubelet' })
  const metadata = { name: 'p', namespace: 'n', uid: 'u' }
  const spec = { containers: [], resourceClaims: [{ name: 'r', ...claim }] }
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata, spec } as Pod
  return { claims: createDeviceClaims(client, prepared), pod }
}

function prepare(claim: object, status: object): Promise<void> {
  const { claims, pod } = stage(claim, status)
  return claims.prepare(pod)
}

test('a simulated driver has the devices of a claim that the pod may use ready at once', async () => {
  await prepare({ resourceClaimName: 'c' }, { allocation, reservedFor })
})

test("a real node's drivers prepare the claim once for the pod, and containers get the devices of the requests that they name", async () => {
  const asked: unknown[] = []
  const device = (request: string, id: string) => ({
    request_names: [request],
    pool_name: 'n',
    device_name: id,
    cdi_device_ids: [`example.com/kind=${id}`],
  })
  const known = [device('r', 'd0'), device('s', 'd1')]
  const prepared: PreparedClaims = {
    prepare: async (uid, claims) => void asked.push([uid, claims]),
    async unprepare(uid) {
      if (uid === 'stuck') throw new Error('its driver is gone')
      asked.push(uid)
    },
    devices: (uid, claim, request) => {
      assert.deepEqual([uid, claim], ['u', 'c'])
      return known.filter(({ request_names: [name] }) => request === undefined || name === request)
    },
    pods: () => ['u', 'stuck', 'gone'],
  }
  const results = [...allocation.devices.results, { request: 's', driver: 'd.example.com', pool: 'n', device: 'd1' }]
  const { claims, pod } = stage(
    { resourceClaimName: 'c' },
    { allocation: { devices: { results } }, reservedFor },
    prepared,
  )
  await claims.prepare(pod)
  assert.deepEqual(asked.splice(0), [['u', [{ namespace: 'n', name: 'c', uid: 'claim', drivers: ['d.example.com'] }]]])
  const devicesOf = (...names: object[]) =>
    claims.devices(pod, { name: 'x', resources: { claims: names } } as Container)
  assert.deepEqual(devicesOf(), [])
  assert.deepEqual(devicesOf({ name: 'r', request: 's' }), ['example.com/kind=d1'])
  assert.deepEqual(devicesOf({ name: 'r' }, { name: 'r', request: 'r' }), [
    'example.com/kind=d0',
    'example.com/kind=d1',
  ])
  const status = {
    extendedResourceClaimStatus: {
      resourceClaimName: 'c',
      requestMappings: [{ containerName: 'x', resourceName: 'example.com/kind', requestName: 'r' }],
    },
  }
  const byResource = { ...pod, spec: { containers: [] }, status } as Pod
  assert.deepEqual(claims.devices(byResource, { name: 'x' } as Container), ['example.com/kind=d0'])
  assert.deepEqual(claims.devices(byResource, { name: 'y' } as Container), [])
  await assert.rejects(
    claims.unprepareUnknown((uid) => uid === 'u'),
    { message: 'its driver is gone' },
  )
  assert.deepEqual(asked, ['gone'])
})

test('a claim that is not reserved for the pod is not its own', async () => {
  await assert.rejects(prepare({ resourceClaimName: 'c' }, { allocation }), {
    message: 'pod p (u) is not allowed to use ResourceClaim c (claim)',
  })
})

test('claims that are not there are told by name', async () => {
  await assert.rejects(prepare({ resourceClaimName: 'none' }, {}), {
    message: 'fetch ResourceClaim none: resourceclaims.resource.k8s.io "none" not found',
  })
  await assert.rejects(prepare({ resourceClaimTemplateName: 't' }, {}), {
    message: 'pod "n/p": ResourceClaim not created yet',
  })
})
