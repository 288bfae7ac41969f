import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createMutableScheme } from './mutable.ts'
import type { ResourceRow } from './resource.ts'
import { builtinScheme, createScheme } from './scheme.ts'

const pods = builtinScheme().find('', 'v1', 'pods') as ResourceRow

const row = (version: string, resource: string, more: Partial<ResourceRow> = {}): ResourceRow => ({
  ...pods,
  group: 'example.com',
  version,
  resource,
  kind: `Kind-${resource}`,
  storagePrefix: `example.com/${resource}`,
  ...more,
})

test('custom rows come and go in a scheme of their own', () => {
  const scheme = createScheme()
  const widgets = row('v1', 'widgets')
  scheme.addRows([widgets])
  assert.equal(scheme.find('example.com', 'v1', 'widgets'), widgets)
  assert.equal(scheme.findKind('example.com', 'v1', 'Kind-widgets'), widgets)
  assert.equal(scheme.generation, 1)
  scheme.removeRows([widgets])
  assert.equal(scheme.findKind('example.com', 'v1', 'Kind-widgets'), undefined)
  assert.equal(scheme.generation, 2)
  scheme.removeRows([widgets])
  assert.equal(scheme.generation, 2)
  assert.equal(builtinScheme().find('example.com', 'v1', 'widgets'), undefined)
})

test("a group's generation rises with its own rows alone", () => {
  const scheme = createMutableScheme([row('v1', 'as'), row('v1', 'xs', { group: 'other.org' })])
  const generationOf = (group: string) => scheme.groups().get(group)?.generation
  scheme.addRows([row('v2', 'as')])
  assert.equal(generationOf('example.com'), 1)
  assert.equal(generationOf('other.org'), 0)
  scheme.removeRows([scheme.find('other.org', 'v1', 'xs') as ResourceRow])
  assert.equal(generationOf('other.org'), undefined)
  // One that comes again is not taken for what it was.
  scheme.addRows([row('v1', 'xs', { group: 'other.org' })])
  assert.equal(generationOf('other.org'), 3)
  assert.equal(generationOf('example.com'), 1)
})

test('a group has its versions and their rows', () => {
  const scheme = createMutableScheme([row('v1', 'as'), row('v2', 'as'), row('v1', 'bs')])
  const group = () => scheme.groups().get('example.com')
  const names = (version: string) =>
    group()
      ?.rows(version)
      .map(({ resource }) => resource)
  assert.deepEqual(group()?.versions, ['v1', 'v2'])
  assert.deepEqual(names('v1'), ['as', 'bs'])
  assert.deepEqual(names('v3'), [])
  scheme.removeRows([scheme.find('example.com', 'v2', 'as') as ResourceRow])
  assert.deepEqual(group()?.versions, ['v1'])
})

test('the stored row of a resource is the one that came first, also when it is replaced', () => {
  const scheme = createMutableScheme([row('v2', 'as'), row('v1', 'as'), row('v1', 'reviews', { storagePrefix: '' })])
  assert.equal(scheme.stored('example.com', 'as')?.version, 'v2')
  assert.equal(scheme.stored('example.com', 'reviews'), undefined)
  const next = row('v2', 'as')
  scheme.addRows([next])
  assert.equal(scheme.stored('example.com', 'as'), next)
  scheme.removeRows([next])
  assert.equal(scheme.stored('example.com', 'as')?.version, 'v1')
})

test('rows share their objects with those of the same store', () => {
  const scheme = createScheme()
  const sharing = (group: string, version: string, resource: string) =>
    scheme
      .sharing(scheme.find(group, version, resource) as ResourceRow)
      .map((one) => `${one.group}/${one.version}`)
      .sort()
  assert.deepEqual(sharing('', 'v1', 'events'), ['/v1', 'events.k8s.io/v1'])
  assert.deepEqual(sharing('', 'v1', 'pods'), ['/v1'])
  assert.deepEqual(sharing('authorization.k8s.io', 'v1', 'subjectaccessreviews'), [])
  scheme.addRows([row('v1', 'as'), row('v2', 'as')])
  assert.deepEqual(sharing('example.com', 'v1', 'as'), ['example.com/v1', 'example.com/v2'])
  scheme.removeRows([scheme.find('example.com', 'v1', 'as') as ResourceRow])
  assert.deepEqual(sharing('example.com', 'v2', 'as'), ['example.com/v2'])
})

test('a row that takes the place of one of another kind leaves no trace of it', () => {
  const scheme = createMutableScheme([row('v1', 'as')])
  scheme.addRows([row('v1', 'as', { kind: 'Other', storagePrefix: 'example.com/others' })])
  assert.equal(scheme.findKind('example.com', 'v1', 'Kind-as'), undefined)
  assert.equal(scheme.findKind('example.com', 'v1', 'Other')?.resource, 'as')
  assert.deepEqual(scheme.sharing(row('v1', 'as')), [])
  assert.equal(scheme.rows().length, 1)
})
