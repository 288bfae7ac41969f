import assert from 'node:assert/strict'
import { test } from 'node:test'
import { listHead, readListText } from './list-text.ts'

const HEAD = '{"kind":"Pod","apiVersion":"v1",'
const fields = [{ manager: 'a "]},', fieldsV1: { 'f:spec': { 'k:{"ip":"1"}': {}, '\\"': ['ü', '}'] } } }]
const about = { kind: 'PodList', apiVersion: 'v1', metadata: { resourceVersion: '9', continue: 'to"ken\\' } }

const bytesOf = (list: object) => Buffer.from(JSON.stringify(list))
const read = (items: readonly object[], head = HEAD) => readListText(bytesOf({ ...about, items }), head)

test('an item is stored with kind, apiVersion and metadata in front, without resourceVersion', () => {
  const spec = { template: { metadata: { resourceVersion: '7', managedFields: [] } }, text: '"metadata":{ü\\' }
  const others = { name: 'a', labels: { resourceVersion: '5', managedFields: 'x' }, generation: 7 }
  const orders = [
    { resourceVersion: '3', ...others, managedFields: fields },
    { managedFields: fields, ...others, resourceVersion: '3' },
    { name: 'a', resourceVersion: '3', managedFields: fields, labels: others.labels, generation: 7 },
    { name: 'a', managedFields: fields, resourceVersion: '3', labels: others.labels, generation: 7 },
  ]
  const { items = [] } = read(orders.map((metadata) => ({ metadata, spec }))) ?? {}
  assert.equal(items.length, orders.length)
  for (const [at, { metadata, stored }] of items.entries()) {
    const { resourceVersion: _, ...kept } = orders[at] as { readonly resourceVersion: string }
    const wanted = { kind: 'Pod', apiVersion: 'v1', metadata: kept, spec }
    assert.equal(Buffer.from(stored).toString(), JSON.stringify(wanted))
    assert.deepEqual(metadata, { ...others, resourceVersion: '3' })
  }
})

test('metadata may be next to nothing, and integers are exact', () => {
  const { items = [] } =
    read([{ metadata: {} }, { metadata: { resourceVersion: '1' } }, { metadata: { managedFields: [] } }]) ?? {}
  assert.deepEqual(
    items.map(({ stored }) => Buffer.from(stored).toString()),
    [`${HEAD}"metadata":{}}`, `${HEAD}"metadata":{}}`, `${HEAD}"metadata":{"managedFields":[]}}`],
  )
  assert.deepEqual(
    items.map(({ metadata }) => metadata),
    [{}, { resourceVersion: '1' }, {}],
  )
  const large = readListText(Buffer.from('{"items":[{"metadata":{"generation":9007199254740993}}]}'), HEAD)
  assert.equal(large?.items[0]?.metadata.generation, 9007199254740993n)
})

test('the items of a custom resource have kind and apiVersion of their own, and their list says of itself behind them', () => {
  const item = { apiVersion: 'acme.test/v2', kind: 'Widget', metadata: { name: 'w', resourceVersion: '4' }, spec: {} }
  const list = { apiVersion: 'acme.test/v2', items: [item, item], kind: 'WidgetList', metadata: { continue: 'c' } }
  const found = readListText(bytesOf(list), '{"kind":"Widget","apiVersion":"acme.test/v1",')
  assert.deepEqual(found?.list, { apiVersion: 'acme.test/v2', kind: 'WidgetList', metadata: { continue: 'c' } })
  const stored = '{"kind":"Widget","apiVersion":"acme.test/v1","metadata":{"name":"w"},"spec":{}}'
  assert.deepEqual(
    found?.items.map(({ stored }) => Buffer.from(stored).toString()),
    [stored, stored],
  )
})

test('an empty list has no items', () => {
  assert.deepEqual(read([]), { list: about, items: [] })
})

test('of another form than API servers give nothing is said', () => {
  const item = { metadata: { name: 'a' } }
  const text = JSON.stringify({ ...about, items: [item] })
  for (const other of [
    '',
    '[]',
    'null',
    JSON.stringify(about),
    JSON.stringify({ ...about, items: null }),
    JSON.stringify({ ...about, items: [item], 'items ': 1 })
      .replace('items ', 'items')
      .replace('1}', '[]}'),
    JSON.stringify({ ...about, items: [item] }, null, 2),
    JSON.stringify({ ...about, items: [item, 7] }),
    JSON.stringify({ ...about, items: [{ spec: {}, ...item }] }),
    ...Array.from({ length: text.length - 1 }, (_, end) => text.slice(0, end + 1)),
  ])
    assert.equal(readListText(Buffer.from(other), HEAD), undefined, other)
})

test('what stands before the items of a list is read without them', () => {
  assert.deepEqual(listHead(bytesOf({ ...about, items: [{ metadata: {} }] })), about)
  assert.equal(listHead(bytesOf({ items: [], ...about })), undefined)
  assert.equal(listHead(Buffer.from('no list')), undefined)
})
