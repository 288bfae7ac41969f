import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compareAnswers } from './compare.ts'
import { createTimekeeper, createTimeNames } from './times.ts'

const at = (second: number) => new Date(Date.UTC(2027, 0, 1, 0, 0, second)).toISOString().replace('.000Z', 'Z')
const ms = (second: number) => Date.UTC(2027, 0, 1, 0, 0, second)
const answer = (metadata: object, code = 200) => ({
  code,
  text: JSON.stringify({ kind: 'Pod', metadata: { uid: 'u', creationTimestamp: at(10), ...metadata } }),
})
const during = (second: number) => ({ sentMs: ms(second) + 400, receivedMs: ms(second) + 500 })
const post = { m: 'POST', p: '/pods' }
const get = { m: 'GET', p: '/pods/a' }
const remove = { m: 'DELETE', p: '/pods/a' }

test('an object is created in the second of its request, and stays so', () => {
  const { judge } = createTimekeeper()
  assert.deepEqual(judge(post, during(10), answer({}, 201)), [])
  assert.deepEqual(judge(get, during(12), answer({})), [])
  assert.deepEqual(judge(get, during(13), answer({ creationTimestamp: at(11) })), ['creationTimestamp has changed'])
  assert.deepEqual(createTimekeeper().judge(post, during(9), answer({}, 201)), [
    'creationTimestamp is ahead of the answer',
  ])
  assert.deepEqual(createTimekeeper().judge(post, during(11), answer({}, 201)), [
    'creationTimestamp is before the request',
  ])
})

test('a deletionTimestamp is a request and its grace period', () => {
  const marked = (second: number, grace: number) =>
    answer({ deletionTimestamp: at(second), deletionGracePeriodSeconds: grace })
  const keeper = () => {
    const one = createTimekeeper()
    one.judge(post, during(10), answer({}, 201))
    return one
  }
  assert.deepEqual(keeper().judge(remove, during(12), marked(42, 30)), [])
  assert.deepEqual(keeper().judge(remove, during(12), marked(41, 30)), [
    'deletionTimestamp is earlier than the request and its grace period',
  ])
  assert.deepEqual(keeper().judge(remove, during(12), marked(43, 30)), [
    'deletionTimestamp is later than the request and its grace period',
  ])
  const going = keeper()
  going.judge(remove, during(12), marked(42, 30))
  assert.deepEqual(going.judge({ m: 'PATCH', p: '/pods/a' }, during(14), answer({})), ['deletionTimestamp is gone'])
})

test('a managedFields time is that of its write, and entries are in their order', () => {
  const entry = (manager: string, second: number, operation = 'Update') => ({ manager, operation, time: at(second) })
  const one = createTimekeeper()
  assert.deepEqual(one.judge(post, during(10), answer({ managedFields: [entry('a', 10)] }, 201)), [])
  const patch = { m: 'PATCH', p: '/pods/a' }
  assert.deepEqual(one.judge(patch, during(12), answer({ managedFields: [entry('a', 10), entry('b', 12)] })), [])
  assert.deepEqual(one.judge(patch, during(14), answer({ managedFields: [entry('a', 10), entry('b', 13)] })), [
    'a managedFields time is before its write',
  ])
  assert.deepEqual(one.judge(patch, during(14), answer({ managedFields: [entry('a', 10), entry('b', 15)] })), [
    'a managedFields time is ahead of the answer',
  ])
  assert.deepEqual(one.judge(get, during(16), answer({ managedFields: [entry('b', 12), entry('a', 10)] })), [
    'managedFields are out of order',
  ])
  assert.deepEqual(one.judge(get, during(16), answer({ managedFields: [entry('a', 10), entry('b', 10, 'Apply')] })), [
    'managedFields are out of order',
  ])
  const said = { m: 'PATCH', p: '/pods/a', b: JSON.stringify({ time: at(2) }) }
  assert.deepEqual(one.judge(said, during(17), answer({ managedFields: [entry('c', 2)] })), [])
})

test('at a pace each time is named by the request it comes from', () => {
  const names = createTimeNames()
  names.begin(ms(10))
  assert.equal(names.name(at(10)), '<step 0>')
  assert.equal(names.name(at(3)), '<before>')
  names.begin(ms(13))
  assert.equal(names.name(at(43)), '<step 1 + 30 s>')
  assert.equal(names.name(at(12)), '<after step 0>')
  names.begin(ms(14))
  assert.equal(names.name(at(43)), '<step 1 + 30 s>')
  assert.equal(names.name(at(13)), '<step 1>')
})

test('one second of two writes is chance, another manager is not', () => {
  const body = (...managers: readonly string[]) => ({
    metadata: { managedFields: managers.map((manager) => ({ manager, time: '<time>' })) },
  })
  const alike = (a: object, b: object) => compareAnswers({ code: 200, body: a }, { code: 200, body: b }).managedFields
  assert.equal(alike(body('a', 'b'), body('b', 'a')), true)
  assert.equal(alike(body('a', 'b'), body('a', 'c')), false)
  assert.equal(compareAnswers({ code: 200, body: 1 }, { code: 200, body: 1, broken: ['x'] }).times, false)
})
