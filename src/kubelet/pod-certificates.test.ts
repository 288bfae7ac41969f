import assert from 'node:assert/strict'
import { createPublicKey, verify } from 'node:crypto'
import { test } from 'node:test'
import type { Fields, KubeObject } from '../api/object.ts'
import type { Handler } from '../api/request.ts'
import { notFound } from '../api/status.ts'
import { readElements } from '../base/der.ts'
import { liveRuntime } from '../base/live-runtime.ts'
import { createClient, inProcessTransport } from '../client/transport.ts'
import type { Pod } from './pod.ts'
import { createPodCertificates } from './pod-certificates.ts'

const pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'p', namespace: 'n', uid: 'u' },
  spec: { containers: [], serviceAccountName: 'sa' },
} as Pod
const source = { signerName: 'example.com/s', keyType: 'ECDSAP256', credentialBundlePath: 'bundle' }
const PEM = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n'
const T0 = Date.parse('2026-01-01T00:00:00Z')

/** An API server with an account, and what is asked for in `requests`, whose statuses the tests write. */
function setup() {
  const runtime = liveRuntime()
  const requests: (KubeObject & { spec: Fields; status?: Fields })[] = []
  const handler: Handler = async ({ method, path, body }) => {
    if (path.includes('/serviceaccounts/'))
      return {
        kind: 'object',
        status: 200,
        object: { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { uid: 'a' } },
      }
    if (method === 'POST' && body?.kind === 'object') {
      const name = `req-${requests.length}`
      const object = { ...body.object, metadata: { ...(body.object as KubeObject).metadata, name } }
      requests.push(object as (typeof requests)[number])
      return { kind: 'object', status: 201, object: object as KubeObject }
    }
    const found = requests.find(({ metadata }) => path.endsWith(`/${metadata.name}`))
    if (found === undefined) throw notFound({ group: 'certificates.k8s.io', resource: 'podcertificaterequests' }, path)
    return { kind: 'object', status: 200, object: found }
  }
  const time = { now: T0 }
  const told: string[] = []
  const certificates = createPodCertificates({
    runtime: { random: runtime.random, clock: { ...runtime.clock, now: () => time.now } },
    client: createClient(runtime, inProcessTransport(handler), { userAgent: 'kubelet' }),
    events: { normal: () => {}, about: () => {}, warning: (_pod, reason) => void told.push(reason) },
    nodeName: 'node-1',
    node: () => ({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'node-1', uid: 'node-uid' } }),
  })
  const ask = (kind: object = {}) => certificates.credentials(pod, 'v/0', { ...source, ...kind })
  const answer = (at: number, type: string, status: object = {}) => {
    requests[at]!.status = { conditions: [{ type, status: 'True', reason: 'R', message: 'm' }], ...status }
  }
  const issue = (at: number, chain: string, refreshAt: number) =>
    answer(at, 'Issued', {
      certificateChain: chain,
      beginRefreshAt: new Date(refreshAt).toISOString(),
      notAfter: new Date(refreshAt + 1_800_000).toISOString(),
    })
  return { requests, time, told, ask, answer, issue }
}

test('a certificate is asked for once, and there when the signer has issued it', async () => {
  const { requests, ask, issue } = setup()
  await assert.rejects(ask({ userAnnotations: { 'a/b': 'c' } }), /not issued yet/)
  await assert.rejects(ask(), /not issued yet/)
  assert.equal(requests.length, 1)
  const { stubPKCS10Request, ...spec } = requests[0]!.spec
  assert.deepEqual(spec, {
    signerName: 'example.com/s',
    podName: 'p',
    podUID: 'u',
    serviceAccountName: 'sa',
    serviceAccountUID: 'a',
    nodeName: 'node-1',
    nodeUID: 'node-uid',
    unverifiedUserAnnotations: { 'a/b': 'c' },
  })
  issue(0, `left over\n${PEM.replace('AAAA', 'Key: value\n\nAAAA')}between${PEM}`, T0 + 3_600_000)
  const { key, chain } = await ask()
  assert.equal(chain, PEM + PEM)
  assert.deepEqual(
    createPublicKey(key).export({ type: 'spki', format: 'der' }),
    Buffer.from(keyOf(Buffer.from(stubPKCS10Request, 'base64'))),
  )
})

for (const keyType of ['RSA3072', 'ECDSAP256', 'ECDSAP384', 'ECDSAP521', 'ED25519'])
  test(`a request for a key of type ${keyType} is signed by that key`, async () => {
    const { requests, ask } = setup()
    await assert.rejects(ask({ keyType }), /not issued yet/)
    const [whole] = readElements(Buffer.from(requests[0]!.spec['stubPKCS10Request'], 'base64'))
    const [info, , signature] = readElements(whole!.content)
    const key = createPublicKey({ key: Buffer.from(keyOf(whole!.whole)), type: 'spki', format: 'der' })
    const hash = { ECDSAP384: 'sha384', ECDSAP521: 'sha512' }[keyType] ?? 'sha256'
    assert.ok(verify(keyType === 'ED25519' ? null : hash, info!.whole, key, signature!.content.subarray(1)))
  })

function keyOf(request: Uint8Array): Uint8Array {
  const [info] = readElements(readElements(request)[0]!.content)
  return readElements(info!.content)[2]!.whole
}

test('what was refused is not asked for again', async () => {
  const { requests, told, ask, answer } = setup()
  await assert.rejects(ask(), /not issued yet/)
  answer(0, 'Denied')
  await assert.rejects(ask(), /permanently denied: reason="R" message="m"/)
  await assert.rejects(ask(), /permanently denied/)
  assert.deepEqual([requests.length, told], [1, ['Denied']])
})

test('a certificate is renewed when its signer says, and serves on until the new one is there', async () => {
  const { requests, time, told, ask, issue } = setup()
  await assert.rejects(ask(), /not issued yet/)
  issue(0, PEM, T0 + 3_600_000)
  const first = await ask()
  time.now += 3_500_000
  assert.equal((await ask()).key, first.key)
  time.now = T0 + 3_600_000 + 300_000
  assert.equal((await ask()).key, first.key)
  assert.deepEqual([requests.length, told], [2, []])
  time.now += 600_000
  assert.equal((await ask()).key, first.key)
  assert.deepEqual(told, ['CertificateOverdueForRefresh'])
  issue(1, PEM, time.now + 3_600_000)
  assert.notEqual((await ask()).key, first.key)
})

test('a request that someone deleted is made again', async () => {
  const { requests, time, ask } = setup()
  await assert.rejects(ask(), /not issued yet/)
  requests[0] = { ...requests[0]!, metadata: { name: 'other' } }
  await assert.rejects(ask(), /not found/)
  await assert.rejects(ask(), /not found/)
  time.now += 900_000
  await assert.rejects(ask(), /not found/)
  await assert.rejects(ask(), /not issued yet/)
  assert.equal(requests.length, 2)
})
