import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod } from '../api/generated/types.ts'
import { assignedPodUpdates } from './cluster-events.ts'
import { sameForScheduling } from './pod-changes.ts'
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

test('a pod that is resized takes what its node has set aside; where it cannot be, only that', () => {
  const cpu = (status: object) => podInfoOf({ ...asking('a', '3'), status }, rememberedNeeds()).requests.get('cpu')
  const aside = (amount: string) => [{ name: 'c', allocatedResources: { cpu: amount } }]
  const conditions = [{ type: 'PodResizePending', status: 'True', reason: 'Infeasible' }]
  assert.equal(cpu({ containerStatuses: aside('4') }), 4000)
  assert.equal(cpu({ containerStatuses: aside('1') }), 3000)
  assert.equal(cpu({ containerStatuses: aside('1'), conditions }), 1000)
})

test('a pod that is resized as a whole takes what its node has told of the whole, once it tells what that runs with', () => {
  const cpu = (amount: string | undefined) => (amount === undefined ? {} : { cpu: amount })
  const conditions = [{ type: 'PodResizePending', status: 'True', reason: 'Infeasible' }]
  const known = rememberedNeeds()
  const taken = (
    whole: string | undefined,
    aside?: string,
    runs?: object,
    isInfeasible = false,
    ofContainer = '100m',
  ) => {
    const pod = asking('a', '500m')
    const spec = { ...pod['spec'], ...(whole === undefined ? {} : { resources: { requests: { cpu: whole } } }) }
    const status = {
      containerStatuses: [{ name: 'c', allocatedResources: { cpu: ofContainer } }],
      ...(aside === undefined ? {} : { allocatedResources: { cpu: aside } }),
      ...(runs === undefined ? {} : { resources: runs }),
      ...(isInfeasible ? { conditions } : {}),
    }
    return podInfoOf({ ...pod, spec, status } as never, known).requests.get('cpu')
  }
  const runs = (amount: string) => ({ requests: cpu(amount) })
  // As a kube-scheduler v1.37.1 left room on a node.
  assert.deepEqual(
    [
      taken('2', '3'),
      taken('2', '3', {}),
      taken('2', '3', runs('1')),
      taken('2', '1', runs('3')),
      taken('2', '1', runs('1500m')),
      taken('2', '1', undefined, true),
      taken('2', '1', runs('1500m'), true, '3'),
      taken('2', '1', runs('500m'), true),
      taken('2', undefined, runs('3'), true),
      taken('2', undefined, { requests: { memory: '1Gi' } }, true, '3'),
      taken(undefined, undefined, runs('3')),
      taken(undefined, '3', runs('3'), true),
    ],
    [2000, 3000, 3000, 3000, 2000, 2000, 1500, 1000, 3000, 3000, 500, 3000],
  )
})

test('of a status only what changes the amounts that are taken matters, and less of them may help others', () => {
  const with_ = (status: object) => ({ ...asking('a', '3'), status }) as Pod
  const aside = (amount: string) => with_({ containerStatuses: [{ name: 'c', allocatedResources: { cpu: amount } }] })
  assert.ok(sameForScheduling(with_({}), aside('3')))
  assert.ok(!sameForScheduling(aside('3'), aside('4')))
  const whole = (amount: string) =>
    ({
      ...asking('a', '3'),
      spec: { resources: { requests: { cpu: '3' } } },
      status: { resources: { requests: { cpu: amount } } },
    }) as unknown as Pod
  assert.ok(!sameForScheduling(whole('3'), whole('4')))
  const names = (old: Pod, now: Pod) => assignedPodUpdates(old, now).map(({ name }) => name)
  assert.deepEqual(names(aside('3'), aside('4')), [])
  assert.deepEqual(names(aside('4'), aside('3')), ['AssignedPodUpdatePodScaleDown'])
})

test('a pod on its node has no shape: no node is looked for', () => {
  const waiting = asking('a', '1')
  assert.notEqual(podInfoOf(waiting).shape, undefined)
  assert.equal(podInfoOf({ ...waiting, spec: { ...waiting['spec'], containers: [], nodeName: 'n' } }).shape, undefined)
})
