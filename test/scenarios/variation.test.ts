import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Json } from '../../src/api/object.ts'
import type { Write } from './recording.ts'
import { partsOf, unlikeRecorded } from './variation.ts'

const write = (verb: string, uri: string, body: Json): Write => ({ user: 'c', verb, uri, code: 200, body })
const pod = (name: string, labels: Json) => write('create', '/pods', { metadata: { name, labels } })
const status = (value: Json) => write('update', '/sets/s/status', { metadata: { name: 's' }, status: value })
const conditions = (...types: string[]) => types.map((type) => ({ type, status: 'True' }))

describe('writes unlike the recorded ones', () => {
  const told = (recorded: Write[], writes: Write[]) => unlikeRecorded(recorded, writes).told

  test('are those with other values, but for names by chance', () => {
    const recorded = [pod('a-bcdfg', { app: 'a' })]
    assert.deepEqual(told(recorded, [pod('a-24567', { app: 'a' })]), [])
    assert.deepEqual(told(recorded, [pod('a-24567', { app: 'b' })]), [
      'c create /pods: {"metadata":{"labels":{"app":"b"},"name":"a-<5>"}}',
    ])
  })

  test('are those too many, too few, and of two that are the same instead of two that are not', () => {
    const [one, other] = [pod('x', { n: '1' }), pod('x', { n: '2' })]
    assert.deepEqual(told([one], [one, one]), [
      'c create /pods: 2 times instead of 1',
      'c create /pods: {"metadata":{"labels":{"n":"1"},"name":"x"}}',
    ])
    assert.deepEqual(told([one, other], [one]), ['c create /pods: 1 times instead of 2'])
    assert.equal(told([one, other], [one, one]).length, 1)
  })

  test('are statuses that were not recorded, before each right one too; some in between may be left out, not all', () => {
    const recorded = [status({ replicas: 0 }), status({ replicas: 1 }), status({ replicas: 2 })]
    assert.deepEqual(told(recorded, [status({ replicas: 2 })]), [])
    assert.deepEqual(told(recorded, []), ['c update /sets/s/status: 0 times instead of 3'])
    assert.deepEqual(told(recorded, [status({ replicas: 3 }), status({ replicas: 2 })]), [
      'c update /sets/s/status: {"replicas":3}',
    ])
    assert.equal(told(recorded, [status({ replicas: 0 }), status({ replicas: 0 }), status({ replicas: 2 })]).length, 1)
  })

  test('are no conditions in another order, and no older metadata around a status', () => {
    const older = write('update', '/sets/s/status', { metadata: {}, status: { conditions: conditions('B', 'A') } })
    assert.deepEqual(told([status({ conditions: conditions('A', 'B') })], [older]), [])
  })
})

describe('an exception', () => {
  const recorded = [status({ ready: 0, total: 2, kind: 'a' })]
  const exception = { writes: 'c update /sets', more: 1, counts: ['ready', 'total'], between: 1, why: '' }
  const unlike = (...writes: Write[]) => unlikeRecorded(recorded, writes, [exception])

  test('allows its counts up to the highest, beside what was recorded, and tells what was used', () => {
    const { told, used } = unlike(status({ ready: 1, total: 2, kind: 'a' }), status({ ready: 0, total: 2, kind: 'a' }))
    assert.deepEqual(told, [])
    assert.deepEqual([...used].sort(), ['c update /sets: more', 'c update /sets: ready'])
    assert.equal(unlike(status({ ready: 3, total: 2, kind: 'a' })).told.length, 1, 'more than the highest')
    assert.equal(unlike(status({ ready: 1, total: 2, kind: 'b' })).told.length, 1, 'another field')
    const twice = unlike(status({ ready: 1, total: 2, kind: 'a' }), status({ ready: 2, total: 2, kind: 'a' }))
    assert.equal(twice.told.length, 1, 'more often than said')
  })

  test('of other bodies allows those alone', () => {
    const also = { writes: 'c create', more: 1, also: [{ metadata: { name: 'y' } }], why: '' }
    const extra = (name: string) => write('create', '/pods', { metadata: { name } })
    const { told, used } = unlikeRecorded([], [extra('y')], [also])
    assert.deepEqual([told, used.has(partsOf(also)[1] ?? '')], [[], true])
    assert.equal(unlikeRecorded([], [extra('z')], [also]).told.length, 1)
  })
})
