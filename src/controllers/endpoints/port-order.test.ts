import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inEndpointsOrder, inSliceOrder } from './port-order.ts'

/** a: 1, …, j: 10; i by UDP, j with an application's protocol. */
const ports = [...'abcdefghij'].map((name, i) => ({
  name,
  port: i + 1,
  protocol: name === 'i' ? 'UDP' : 'TCP',
  ...(name === 'j' ? { appProtocol: 'x.y/z' } : {}),
}))
const namesOf = (list: readonly { readonly name: string }[]) => list.map(({ name }) => name).join(' ')

test('ports stand as a Kubernetes v1.37.1 has put them in a slice, and in Endpoints', () => {
  assert.equal(namesOf(inSliceOrder(ports)), 'g j i e f b h c d a')
  assert.equal(namesOf(inEndpointsOrder(ports)), 'c i d b j a f h e g')
  assert.equal(namesOf(inSliceOrder(ports.toReversed())), 'g j i e f b h c d a')
})
