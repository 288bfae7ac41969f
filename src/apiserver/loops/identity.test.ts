import assert from 'node:assert/strict'
import { test } from 'node:test'
import { internalError } from '../../api/status.ts'
import { formatMicroTime } from '../../base/clock.ts'
import { identityName, startIdentityLease } from './identity.ts'
import { startStandIn } from './test-stand-in.ts'

const GROUP = 'coordination.k8s.io'
const PATH = `/apis/${GROUP}/v1/namespaces/kube-system/leases`
const NAME = identityName('host')

function started() {
  const it = startStandIn()
  const { runtime, handler, signal } = it.options
  startIdentityLease({ runtime, handler, hostname: 'host', address: '192.0.2.1', signal })
  return { ...it, lease: () => it.get(GROUP, 'leases', 'kube-system', NAME) }
}

test("a server's name is made of its host's alone", () => {
  assert.match(NAME, /^apiserver-[a-z2-7]{26}$/)
  assert.equal(identityName('host'), NAME)
  assert.notEqual(identityName('other'), NAME)
})

test('the lease is made at once and renewed every ten seconds', async () => {
  const it = started()
  await it.runtime.advance(0)
  assert.deepEqual(it.taken(), [`POST ${PATH}`])
  const begin = it.runtime.clock.now()
  const { metadata, spec } = it.lease() ?? assert.fail('there is no lease')
  assert.deepEqual(metadata, {
    name: NAME,
    namespace: 'kube-system',
    labels: { 'apiserver.kubernetes.io/identity': 'kube-apiserver', 'kubernetes.io/hostname': 'host' },
    annotations: { 'kubernetes.io/peer-advertise-address': '192.0.2.1' },
  })
  assert.equal(spec.leaseDurationSeconds, 3600)
  assert.ok(spec.holderIdentity.startsWith(`${NAME}_`))
  await it.runtime.advance(9999)
  assert.deepEqual(it.taken(), [])
  await it.runtime.advance(1)
  assert.deepEqual(it.taken(), [`PUT ${PATH}/${NAME}`])
  assert.deepEqual(it.lease()?.['spec'], { ...spec, renewTime: formatMicroTime(begin + 10_000) })
})

test('a renewal that fails is tried again at its next turn, a lease that is gone is made anew', async () => {
  const it = started()
  await it.runtime.advance(0)
  it.refuse(`PUT ${PATH}/${NAME}`, internalError(new Error('no')))
  await it.runtime.advance(20_000)
  it.remove(GROUP, 'leases', 'kube-system', NAME)
  await it.runtime.advance(10_000)
  assert.deepEqual(it.taken(), [`POST ${PATH}`, `PUT ${PATH}/${NAME}`, `PUT ${PATH}/${NAME}`, `POST ${PATH}`])
  it.stop()
  await it.runtime.advance(60_000)
  assert.deepEqual(it.taken(), [])
})
