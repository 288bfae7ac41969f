import assert from 'node:assert/strict'
import { test } from 'node:test'
import { encodeYaml } from '../../api/codec/encode-yaml.ts'
import { asJson, type KubeObject } from '../../api/object.ts'
import { jsonText, prettyJson } from '../../api/values/json.ts'
import { encodedPieces, type PiecedList } from './send-large-list-in-pieces.ts'

const rows = Array.from({ length: 21 }, (_, index) => ({
  cells: [`name-${index}`, 'PLACE', index],
  object: { metadata: { name: `name-${index}`, annotations: { text: 'a\n- PLACE\nb', items: '[]\n}' } } },
}))
const envelope: KubeObject = {
  kind: 'Table',
  apiVersion: 'meta.k8s.io/v1',
  metadata: { resourceVersion: '7' },
  columnDefinitions: [{ name: 'PLACE', description: 'a column\n- PLACE\n"rows": []' }],
}
const whole = { ...envelope, rows }
const list = { envelope, field: 'rows', count: rows.length, part: (from: number, to: number) => rows.slice(from, to) }
const text = (encoding: 'json' | 'yaml', pretty: boolean, of: PiecedList = list) =>
  Buffer.concat([...encodedPieces(of, { encoding, pretty })]).toString()

test('a list made piece by piece has the bytes of the whole one, in each encoding', () => {
  assert.equal(text('json', false), `${jsonText(whole)}\n`)
  assert.equal(text('json', true), prettyJson(whole))
  assert.equal(text('yaml', false), encodeYaml(asJson(whole)))
})

test('texts that are there already stand for what would be made', () => {
  const refuse = (): never => assert.fail('made')
  const texts = (from: number, to: number) => rows.slice(from, to).map((row) => jsonText(row))
  assert.equal(text('json', false, { ...list, part: refuse, texts }), `${jsonText(whole)}\n`)
})

test('so has one whose field stands before others when they are sorted', () => {
  const items = rows.map(({ object }) => object)
  const pods = { kind: 'PodList', apiVersion: 'v1', metadata: { resourceVersion: '7' } }
  const part = (from: number, to: number) => items.slice(from, to)
  const made = text('yaml', false, { envelope: pods, field: 'items', count: items.length, part })
  assert.equal(made, encodeYaml(asJson({ ...pods, items })))
})

test('what is not asked for yet is not made', () => {
  let made = 0
  const counted = {
    ...list,
    part: (from: number, to: number) => {
      made += to - from
      return list.part(from, to)
    },
  }
  const pieces = encodedPieces(counted, { encoding: 'json', pretty: false })
  pieces.next()
  pieces.next()
  assert.equal(made, 8)
})
