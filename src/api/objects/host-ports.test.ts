import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Container } from '../generated/types.ts'
import { hostPortsOf, portsClash } from './host-ports.ts'

const listening = (hostIP?: string): Container => ({
  name: 'c',
  image: 'i',
  ports: [{ containerPort: 80, hostPort: 80, ...(hostIP === undefined ? {} : { hostIP }) }],
})
const portsAt = (hostIP?: string) => hostPortsOf({ containers: [listening(hostIP)] })

test('a host port at no address, or at 0.0.0.0, is one at all addresses; ::, ::1 and 127.0.0.1 are an address each', () => {
  const addresses = [undefined, '', '0.0.0.0', '::', '::1', '127.0.0.1']
  const isAll = (address: string | undefined) => (address ?? '') === '' || address === '0.0.0.0'
  for (const a of addresses)
    for (const b of addresses)
      assert.equal(portsClash(portsAt(a), portsAt(b)), a === b || isAll(a) || isAll(b), `${a} and ${b}`)
})

test('ports of a sidecar are taken as long as the pod runs, those of an init container that ends are not', () => {
  const init = listening()
  assert.deepEqual(hostPortsOf({ containers: [], initContainers: [init] }), [])
  const sidecar: Container = { ...init, restartPolicy: 'Always' }
  assert.equal(hostPortsOf({ containers: [], initContainers: [sidecar] }).length, 1)
})
