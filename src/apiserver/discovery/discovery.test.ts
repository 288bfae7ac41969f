import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import type { ApiRequest } from '../../api/request.ts'
import type { ResourceRow } from '../../api/scheme/resource.ts'
import { createScheme } from '../../api/scheme/scheme.ts'
import type { RemoteGroupVersion } from '../aggregation/aggregator.ts'
import { createDiscovery } from './discovery.ts'

const AGGREGATED = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'

function row(group: string, version: string, resource: string): ResourceRow {
  const configMap = createScheme().find('', 'v1', 'configmaps') as ResourceRow
  const kind = `Kind-${resource}`
  return { ...configMap, group, version, resource, kind, singular: '', shortNames: [], storagePrefix: `${group}/x` }
}

function server() {
  const scheme = createScheme()
  const remotes: RemoteGroupVersion[] = []
  const aggregator = { remotes: () => remotes, generation: 0 }
  const answer = createDiscovery({ scheme, serverAddress: () => 'a:1', aggregator })
  const found = (path: string, accept: string, more: ApiRequest['headers']) =>
    answer({
      method: 'GET',
      path,
      query: new URLSearchParams(),
      headers: { ...(accept === '' ? {} : { accept }), ...more },
      signal: new AbortController().signal,
      connection: { remoteAddress: '127.0.0.1' },
    })
  const ask = (path: string, accept = '', more: ApiRequest['headers'] = {}) => {
    const answered = found(path, accept, more)
    assert.ok(answered?.kind === 'bytes')
    const text = Buffer.concat(answered.bytes).toString()
    return { ...answered, text, body: answered.status === 200 ? JSON.parse(text) : undefined }
  }
  const isServed = (path: string) => found(path, '', {}) !== undefined
  return { scheme, remotes, aggregator, ask, isServed }
}

const namesIn = (items: readonly { metadata: { name: string } }[]) => items.map(({ metadata }) => metadata.name)

test('groups of custom resources stand behind the built-in ones, by name, versions in the order of their stability', () => {
  const { scheme, ask, isServed } = server()
  const before = ask('/apis').body.groups.length
  scheme.addRows([row('b.org', 'v1beta1', 'as'), row('b.org', 'v2', 'as'), row('b.org', 'v10', 'as')])
  scheme.addRows([row('a.org', 'v1', 'as')])
  const groups = ask('/apis').body.groups as { name: string; versions: { version: string }[] }[]
  assert.deepEqual(
    groups.slice(before).map(({ name }) => name),
    ['a.org', 'b.org'],
  )
  assert.deepEqual(
    groups.at(-1)?.versions.map(({ version }) => version),
    ['v10', 'v2', 'v1beta1'],
  )
  assert.ok(!isServed('/apis/b.org/v3'))
  assert.throws(() => ask('/apis/apps/v9'), { code: 404 })
})

test('a change is seen in every document that tells of it, and others stay the very bytes', () => {
  const { scheme, ask, isServed } = server()
  scheme.addRows([row('a.org', 'v1', 'as'), row('b.org', 'v1', 'bs')])
  const resources = (path: string) => ask(path).body.resources.map(({ name }: { name: string }) => name)
  assert.deepEqual(resources('/apis/a.org/v1'), ['as'])
  const [untouched] = ask('/apis/b.org/v1').bytes
  const list = ask('/apis', AGGREGATED)
  const added = row('a.org', 'v1', 'cs')
  scheme.addRows([added])
  assert.deepEqual(resources('/apis/a.org/v1'), ['as', 'cs'])
  assert.equal(ask('/apis/b.org/v1').bytes[0], untouched)
  const next = ask('/apis', AGGREGATED)
  assert.notEqual(next.headers?.['etag'], list.headers?.['etag'])
  const partsOf = (of: typeof list) => new Set(of.bytes)
  const [before, after] = [partsOf(list), partsOf(next)]
  assert.deepEqual([...after].filter((part) => !before.has(part)).length, 1, 'one group of all is made anew')
  scheme.removeRows([added])
  assert.equal(ask('/apis', AGGREGATED).headers?.['etag'], list.headers?.['etag'])
  scheme.removeRows(scheme.groups().get('a.org')?.rows('v1') ?? [])
  assert.ok(!isServed('/apis/a.org/v1'))
  assert.ok(!namesIn(ask('/apis', AGGREGATED).body.items).includes('a.org'))
})

test('the aggregated list is tagged by the hash of its groups, and is not sent to a client that has it', () => {
  const { ask } = server()
  const first = ask('/apis', AGGREGATED)
  const { kind: _, apiVersion: __, ...list } = first.body
  const hash = createHash('sha512').update(JSON.stringify(list)).digest('hex').toUpperCase()
  assert.equal(first.headers?.['etag'], `"${hash}"`)
  assert.equal(ask('/apis', AGGREGATED, { 'if-none-match': `"${hash}"` }).status, 304)
  assert.equal(first.text.endsWith(']}\n'), true)
})

test('what other servers serve is among the groups, also in a group of this server, and follows what they say', () => {
  const { scheme, remotes, aggregator, ask } = server()
  scheme.addRows([row('a.org', 'v1', 'as')])
  const alone = ask('/apis', AGGREGATED).body.items.length
  const change = (...next: RemoteGroupVersion[]) => {
    remotes.splice(0, remotes.length, ...next)
    aggregator.generation++
  }
  change({ group: 'z.org', version: 'v1', resources: undefined }, { group: 'a.org', version: 'v2', resources: [] })
  const items = ask('/apis', AGGREGATED).body.items
  assert.equal(items.length, alone + 1)
  assert.deepEqual(items.at(-1), { metadata: { name: 'z.org' }, versions: [{ version: 'v1', freshness: 'Stale' }] })
  assert.deepEqual(
    items.at(-2).versions.map(({ version }: { version: string }) => version),
    ['v1', 'v2'],
  )
  change({ group: 'z.org', version: 'v1', resources: [{ name: 'zs', kind: 'Z', namespaced: true }] })
  const [told] = ask('/apis', AGGREGATED).body.items.at(-1).versions
  assert.deepEqual([told.freshness, told.resources[0].resource], ['Current', 'zs'])
  change()
  assert.equal(ask('/apis', AGGREGATED).body.items.length, alone)
})

test('a client that people read with is given indented documents', () => {
  const { ask } = server()
  const curl = { 'user-agent': 'curl/8.0' }
  for (const path of ['/api', '/api/v1', '/apis', '/apis/apps', '/apis/apps/v1']) {
    const { text } = ask(path, '', curl)
    assert.equal(text, JSON.stringify(ask(path).body, null, 2), path)
  }
  assert.match(ask('/apis', AGGREGATED, curl).text, /^\{\n {2}"kind": "APIGroupDiscoveryList",\n/)
  assert.doesNotMatch(ask('/apis', AGGREGATED).text, /\n./)
})
