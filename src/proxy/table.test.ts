import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createServiceTable } from './service-table.ts'
import type { Element, Rules } from './table.ts'

const rules = (chain: string, lines: readonly string[], elements: readonly Element[], sets = {}): Rules => ({
  chains: new Map([[chain, lines]]),
  sets: new Map(Object.entries(sets)),
  elements,
})
const leads = (key: string, value: string, rank = 0): Element => ({ set: 'services', key, value, rank })
const cluster = (key: string): Element => ({ set: 'cluster-ips', key, value: '', rank: 0 })

function started() {
  const table = createServiceTable('skiff-1', 'IPv4', ['10.244.0.0/24'])
  table.fill('service-ranges', ['10.96.0.0/16'])
  table.set(
    'a',
    rules('svc-a', ['dnat to 1.1.1.1:1'], [cluster('10.96.0.1'), leads('10.96.0.1 . tcp . 80', 'goto svc-a')]),
  )
  return { table, whole: table.whole() }
}

test('the whole replaces the table in one transaction, and touches no other', () => {
  const { whole } = started()
  assert.match(whole, /^add table ip skiff-1\ndelete table ip skiff-1\ntable ip skiff-1 \{\n/)
  assert.match(
    whole,
    /set pod-ranges \{ type ipv4_addr; flags interval; auto-merge; elements = \{ 10\.244\.0\.0\/24 \}; \}/,
  )
  assert.match(whole, /\nadd chain ip skiff-1 svc-a\nadd rule ip skiff-1 svc-a dnat to 1\.1\.1\.1:1\n/)
  assert.match(whole, /add element ip skiff-1 services \{ 10\.96\.0\.1 \. tcp \. 80 : goto svc-a \}\n/)
  assert.doesNotMatch(whole, /flush ruleset/)
})

test('an endpoint that changes costs its chain alone', () => {
  const { table } = started()
  assert.equal(table.changes(), '')
  table.set(
    'a',
    rules('svc-a', ['dnat to 2.2.2.2:1'], [cluster('10.96.0.1'), leads('10.96.0.1 . tcp . 80', 'goto svc-a')]),
  )
  assert.equal(table.changes(), 'flush chain ip skiff-1 svc-a\nadd rule ip skiff-1 svc-a dnat to 2.2.2.2:1\n')
  assert.equal(table.changes(), '')
})

test('what goes is let go of before it is deleted, its sets too', () => {
  const { table } = started()
  const sets = { clients: 'type ipv4_addr;' }
  table.set('b', rules('ep-b', ['update @clients { ip saddr }'], [leads('10.96.0.2 . tcp . 80', 'goto ep-b')], sets))
  assert.match(table.changes(), /^add set ip skiff-1 clients \{ type ipv4_addr; \}\nadd chain ip skiff-1 ep-b\n/)
  table.set('b', undefined)
  assert.deepEqual(table.changes().trim().split('\n'), [
    'delete element ip skiff-1 services { 10.96.0.2 . tcp . 80 : goto ep-b }',
    'flush chain ip skiff-1 ep-b',
    'delete chain ip skiff-1 ep-b',
    'delete set ip skiff-1 clients',
  ])
})

test('of two that want one address the first has it, and the other when that goes; a Service’s own comes before any', () => {
  const { table } = started()
  const key = '10.96.0.9 . tcp . 80'
  table.set('b', rules('svc-b', [], [leads(key, 'goto svc-b', 1)]))
  table.set('c', rules('svc-c', [], [leads(key, 'goto svc-c', 1)]))
  assert.match(table.changes(), /add element .*\{ 10\.96\.0\.9 \. tcp \. 80 : goto svc-b \}\n$/)
  table.set('b', undefined)
  assert.match(table.changes(), /delete element .*goto svc-b \}\n(.*\n)*add element .*goto svc-c \}\n/)
  table.set('d', rules('svc-d', [], [leads(key, 'goto svc-d', 0)]))
  assert.match(table.changes(), /delete element .*goto svc-c \}\n(.*\n)*add element .*goto svc-d \}\n/)
})

test('an element that several want stays until the last of them goes', () => {
  const { table } = started()
  table.set('b', rules('svc-b', [], [cluster('10.96.0.1')]))
  table.set('a', undefined)
  assert.doesNotMatch(table.changes(), /cluster-ips/)
  table.set('b', undefined)
  assert.match(table.changes(), /delete element ip skiff-1 cluster-ips \{ 10\.96\.0\.1 \}/)
})

test('other ranges of Services are told by themselves', () => {
  const { table } = started()
  table.fill('service-ranges', ['10.97.0.0/16'])
  const ranges = 'flush set ip skiff-1 service-ranges\nadd element ip skiff-1 service-ranges { 10.97.0.0/16 }\n'
  assert.equal(table.changes(), ranges)
})
