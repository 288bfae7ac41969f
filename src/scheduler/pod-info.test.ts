import assert from 'node:assert/strict'
import { test } from 'node:test'
import { podInfoOf, rememberedNeeds } from './pod-info.ts'
import { pod } from './test-objects.ts'

const asking = (name: string, cpu: string, init?: object) => {
  const made = pod(name, {}, { requests: { cpu } })
  return init === undefined ? made : { ...made, spec: { ...made['spec'], initContainers: [init] } }
}

test('pods that ask for the same share what is made of it, and it is what each would have alone', () => {
  const needsOf = rememberedNeeds()
  const init = { name: 'i', image: 'i', resources: { requests: { cpu: '2' } } }
  const pods = [
    asking('a', '1'),
    asking('b', '1'),
    asking('c', '500m'),
    asking('d', '1', init),
    asking('e', '1', { ...init, restartPolicy: 'Always' }),
  ]
  const infos = pods.map((one) => podInfoOf(one as (typeof pods)[0], needsOf))
  assert.equal(infos[0]?.requests, infos[1]?.requests)
  assert.equal(infos[0]?.assumed, infos[1]?.assumed)
  assert.deepEqual(
    infos.map(({ requests }) => requests.get('cpu')),
    [1000, 1000, 500, 2000, 3000],
  )
  for (const [at, one] of pods.entries()) {
    const alone = podInfoOf(one as (typeof pods)[0])
    assert.deepEqual([infos[at]?.requests, infos[at]?.assumed], [alone.requests, alone.assumed])
  }
})

test('a pod on its node has no shape: no node is looked for', () => {
  const waiting = asking('a', '1')
  assert.notEqual(podInfoOf(waiting).shape, undefined)
  assert.equal(podInfoOf({ ...waiting, spec: { ...waiting['spec'], containers: [], nodeName: 'n' } }).shape, undefined)
})
