import assert from 'node:assert/strict'
import { test } from 'node:test'
import { asKubeObject, type KubeObject } from '../../api/object.ts'
import { partsForTest } from '../../api/parts-fixture.test.ts'
import { jsonText } from '../../api/values/json.ts'
import { createEntry, type EntryOptions, encodeStored } from './entry.ts'
import { createEntryMemory } from './entry-memory.ts'
import { createRecent } from './recent.ts'

const pod = (name: string): KubeObject => ({
  kind: 'Pod',
  apiVersion: 'v1',
  metadata: { name },
  spec: { nodeName: 'n' },
})
const text = (bytes: Uint8Array) => Buffer.from(bytes).toString()

function entries(count: number, keep: number) {
  const options: EntryOptions = { freeze: false, memory: createEntryMemory(), recent: createRecent(keep) }
  return Array.from({ length: count }, (_, i) => {
    const object = pod(`p${i}`)
    return createEntry(`/registry/pods/x/p${i}`, i + 1, encodeStored(object), options, { object, spec: undefined })
  })
}

test('only so many objects are kept beside their bytes; one that was given stays the same as long as somebody has it', () => {
  const all = entries(20, 4)
  const first = all[0]!
  const given = first.object
  assert.equal(given.metadata.resourceVersion, '1')
  for (const entry of all) entry.object
  assert.equal(first.object, given)
  // One that was given to no reader is parsed from its bytes when it is asked for: another object of the same content.
  const known = pod('known')
  const options: EntryOptions = { freeze: false, memory: createEntryMemory(), recent: createRecent(1) }
  const entry = createEntry('/registry/pods/x/known', 7, encodeStored(known), options, {
    object: known,
    spec: undefined,
  })
  createEntry('/registry/pods/x/next', 8, encodeStored(pod('next')), options, { object: pod('next'), spec: undefined })
  assert.notEqual(entry.object['spec'], known['spec'])
  assert.deepEqual(entry.object, { ...known, metadata: { name: 'known', resourceVersion: '7' } })
})

test('the request that wrote it is given its own object though it was let go of', () => {
  const written = pod('written')
  const options: EntryOptions = { freeze: false, memory: createEntryMemory(), recent: createRecent(1) }
  const add = (name: string, object: KubeObject) =>
    createEntry(`/registry/pods/x/${name}`, 7, encodeStored(object), options, { object, spec: undefined })
  const entry = add('written', written)
  add('next', pod('next'))
  const answered = entry.asWritten(written)
  assert.equal(answered['spec'], written['spec'])
  assert.equal(answered.metadata.resourceVersion, '7')
  assert.equal(entry.object, answered)
})

test('what is used again and again outlasts what was used once', () => {
  const released: string[] = []
  const recent = createRecent(3)
  const holder = (name: string, used: () => boolean) => ({
    release: () => {
      if (used()) return false
      released.push(name)
      return true
    },
  })
  recent.add(holder('hot', () => true))
  for (let i = 0; i < 6; i++) recent.add(holder(`cold ${i}`, () => false))
  assert.deepEqual(released, ['cold 0', 'cold 1', 'cold 2', 'cold 3'])
})

test('the same object as of a later revision has the same bytes but for the revision', () => {
  const bare: KubeObject = { kind: 'ConfigMap', apiVersion: 'v1', metadata: {} }
  for (const object of [pod('a'), bare]) {
    const entry = createEntry('/registry/x', 9, encodeStored(object), { freeze: false, memory: createEntryMemory() })
    const before = text(entry.json('full'))
    const later = entry.at(1234)
    assert.equal(text(later.json('full')), before.replace('"resourceVersion":"9"', '"resourceVersion":"1234"'))
    assert.equal(text(entry.at(9).json('full')), before)
    assert.equal(later.object.metadata.resourceVersion, '1234')
  }
})

test('bytes of different kinds, one after the other, are each cut at their own metadata', () => {
  const kinds = ['Pod', 'ConfigMap', 'Pod', 'PodTemplate', 'Po']
  for (const kind of kinds) {
    const entry = createEntry('/registry/x', 1, encodeStored({ ...pod('a'), kind }), {
      freeze: false,
      memory: createEntryMemory(),
    })
    assert.equal(
      text(entry.json('full')).indexOf('"metadata":{"resourceVersion":"1","name":"a"}'),
      `{"kind":"${kind}","apiVersion":"v1",`.length,
    )
    assert.equal(`{${text(entry.tail())}`, text(entry.json('item')))
  }
})

test('metadata is taken out of the bytes as it stands there, and what is behind it is not looked at', () => {
  const deep: KubeObject['metadata'] = {
    name: 'a',
    annotations: { '{"metadata":{': 'a \\"}] ü {"spec":' },
    ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: ']', uid: '}' }],
  }
  for (const metadata of [deep, { name: 'b' }, {}] as KubeObject['metadata'][]) {
    const object: KubeObject = { kind: 'Pod', apiVersion: 'v1', metadata }
    const shown = jsonText({ resourceVersion: '7', ...metadata })
    const own = Buffer.concat([encodeStored(object).subarray(0, -1), Buffer.from(',"spec":no JSON}')])
    const turned = Buffer.from(jsonText({ metadata, kind: 'Pod', apiVersion: 'v1' }))
    for (const value of [encodeStored(object), own]) {
      const entry = createEntry('/registry/pods/x/a', 7, value, { freeze: false, memory: createEntryMemory() })
      assert.equal(entry.metadataJson(), shown)
      entry.json('full')
      assert.equal(entry.metadataJson(), shown)
    }
    const others = createEntry('/registry/pods/x/a', 7, turned, { freeze: false, memory: createEntryMemory() })
    assert.deepEqual(JSON.parse(others.metadataJson()), JSON.parse(shown))
  }
})

test('a spec that recurs is written as it was before, and is not parsed again', () => {
  const { parts, known } = partsForTest()
  const spec = known({ containers: [{ name: 'c', image: 'a "quoted" one' }], big: 2n ** 60n })
  const fieldsV1 = { 'f:metadata': { 'f:labels': {} }, 'f:spec': known({ 'f:big': {} }) }
  for (const managedFields of [undefined, [], [{ manager: 'm', fieldsV1, subresource: 's' }, { manager: 'n' }]]) {
    const metadata = { name: '"spec":', annotations: { a: JSON.stringify(spec.containers) }, managedFields }
    const object = asKubeObject({ kind: 'Pod', apiVersion: 'v1', metadata, spec, gone: undefined, status: { spec } })
    const value = encodeStored(object, parts)
    assert.equal(text(value), jsonText(object))
    const options: EntryOptions = { freeze: false, memory: createEntryMemory(), recent: createRecent(1) }
    const entry = createEntry('/registry/pods/x/a', 7, value, options, { object, spec: parts.written(spec, jsonText) })
    createEntry('/registry/pods/x/b', 8, encodeStored(pod('b')), options, { object: pod('b'), spec: undefined })
    assert.equal(entry.object['spec'], spec)
    assert.equal(jsonText(entry.object), jsonText({ ...object, metadata: { ...metadata, resourceVersion: '7' } }))
  }
})

test('a form in which nothing changes is asked for once, and its entry is the very same', () => {
  let asked = 0
  const convert = (object: KubeObject) => {
    asked++
    return object
  }
  const same = { name: 'same', convert }
  const [entry] = entries(1, 1)
  assert.equal(entry!.as(same), entry)
  assert.equal(entry!.as(same), entry)
  assert.equal(entry!.at(9).as(same).revision, 9)
  assert.equal(asked, 1)
})

test('of forms with one name the newest counts', () => {
  const labelled = (value: string) => ({
    name: 'v2',
    convert: (object: KubeObject) => ({ ...object, apiVersion: 'v2', data: value }),
  })
  const [entry] = entries(1, 1)
  const before = labelled('before')
  const made = entry!.as(before)
  assert.equal(entry!.as(before), made)
  assert.equal(entry!.as(labelled('after')).object['data'], 'after')
})

test('a form that differs in its beginning alone is served from the bytes there are; from other bytes it is made', () => {
  const own: KubeObject = { kind: 'Pod', apiVersion: 'g/v1', metadata: { name: 'a' }, spec: { x: 'ü' } }
  const entryOf = (object: KubeObject) =>
    createEntry('/registry/x', 7, encodeStored(object), { freeze: false, memory: createEntryMemory() })
  let converted = 0
  const head = (version: string) => Buffer.from(`{"kind":"Pod","apiVersion":"g/${version}",`)
  const form = { name: 'g/v1', convert: (object: KubeObject) => object }
  const other = {
    name: 'g/v1beta1-and-longer',
    convert: (object: KubeObject) => {
      converted++
      return { ...object, apiVersion: 'g/v1beta1-and-longer' }
    },
    like: { form, head: head('v1'), ownHead: head('v1beta1-and-longer') },
  }
  const shown = entryOf(own).as(other)
  assert.equal(converted, 0)
  const expected = `{"kind":"Pod","apiVersion":"g/v1beta1-and-longer","metadata":{"resourceVersion":"7","name":"a"},"spec":{"x":"ü"}}`
  assert.equal(text(shown.json('full')), expected)
  assert.equal(text(shown.line?.() ?? new Uint8Array()), `${expected}\n`)
  assert.equal(text(shown.json('item')), `{${expected.slice(expected.indexOf('"metadata"'))}`)
  assert.equal(shown.object.apiVersion, 'g/v1beta1-and-longer')
  assert.equal(
    text(
      entryOf({ ...own, kind: 'Foreign' })
        .as(other)
        .json('full'),
    ).slice(0, 17),
    '{"kind":"Foreign"',
  )
  assert.equal(converted, 1)
})

test('informers get an object without managedFields: one for all of them, as long as it is current', () => {
  const specOf = (object: KubeObject) => object['spec']
  const options: EntryOptions = { freeze: false, memory: createEntryMemory(), recent: createRecent(1) }
  const managed: KubeObject = {
    ...pod('a'),
    metadata: { name: 'a', managedFields: [{ manager: 'm', operation: 'Update' }], labels: { a: 'b' } },
  }
  const less = { ...pod('a'), metadata: { name: 'a', labels: { a: 'b' } } }
  const withVersion = (version: string) => ({ ...less, metadata: { ...less.metadata, resourceVersion: version } })
  const known = { object: managed, spec: undefined }
  const written = createEntry('/registry/pods/x/a', 3, encodeStored(managed), options, known)
  assert.deepEqual(written.trimmed, withVersion('3'))
  // What was written and what informers keep share all but metadata.
  assert.equal(specOf(written.trimmed), specOf(managed))
  assert.equal(written.trimmed, written.trimmed)

  const read = createEntry('/registry/pods/x/a', 4, encodeStored(managed), options)
  assert.deepEqual(read.trimmed, withVersion('4'))
  read.json('full')
  const { trimmed } = read
  assert.equal(read.trimmed, trimmed)
  assert.deepEqual(read.at(5).trimmed, withVersion('5'))
  assert.equal(specOf(read.at(5).trimmed), specOf(trimmed))
  assert.ok(read.object.metadata.managedFields)

  read.forgetTrimmed()
  assert.notEqual(read.trimmed, trimmed)
  assert.deepEqual(read.trimmed, trimmed)
})
