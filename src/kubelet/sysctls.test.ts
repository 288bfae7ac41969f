/** What a kubelet v1.37.1 was seen to take and to refuse. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod } from './pod.ts'
import { checkUnsafeSysctls, sysctlRefusal } from './sysctls.ts'

const podWith = (...names: readonly string[]): Pod => ({
  kind: 'Pod',
  apiVersion: 'v1',
  metadata: { name: 'p', namespace: 'n', uid: 'u' },
  spec: { containers: [], securityContext: { sysctls: names.map((name) => ({ name, value: '1' })) } },
})
const forbidden = (name: string) => ({
  reason: 'SysctlForbidden',
  message: `forbidden sysctl: "${name}" not allowlisted`,
})

test('safe sysctls are taken, with dots or slashes, and the first of the others is named', () => {
  for (const name of [
    'kernel.shm_rmid_forced',
    'net/ipv4/tcp_syncookies',
    'net.ipv4.tcp_rmem',
    'net.ipv4.tcp_fin_timeout',
  ])
    assert.equal(sysctlRefusal(podWith(name)), undefined, name)
  assert.equal(sysctlRefusal(podWith()), undefined)
  for (const name of ['kernel.msgmax', 'vm.swappiness', 'fs.mqueue.msg_max'])
    assert.deepEqual(sysctlRefusal(podWith('net.ipv4.tcp_wmem', name)), forbidden(name))
  assert.deepEqual(sysctlRefusal(podWith('kernel.msgmax', 'net.core.somaxconn')), forbidden('kernel.msgmax'))
})

test('others may be allowed by name or by their beginning, but none of the whole machine', () => {
  assert.equal(
    sysctlRefusal(podWith('kernel.msgmax', 'net.core.somaxconn'), ['kernel.msg*', 'net.core.somaxconn']),
    undefined,
  )
  assert.deepEqual(
    sysctlRefusal(podWith('net.core.rmem'), ['kernel.msg*', 'net.core.somaxconn']),
    forbidden('net.core.rmem'),
  )
  checkUnsafeSysctls(['kernel.sem', 'kernel.shm*', 'fs.mqueue.*', 'net.*'])
  for (const wrong of ['vm.swappiness', '*', 'kernel.*', 'kernel.semaphore'])
    assert.throws(() => checkUnsafeSysctls([wrong]), /is of the whole machine/)
})
