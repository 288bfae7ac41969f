import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DEFINITIONS, definition, MERGE, thing, version, withApi } from '../../../test/definitions-in-simulated-time.ts'
import type { TestAnswer } from '../../../test/harness.ts'
import { simulatedRuntime } from '../../base/simulated-runtime.ts'
import { openStorage } from '../../storage/open.ts'
import type { Storage } from '../../storage/storage.ts'
import type { AdmissionAttributes } from '../admission/plugin.ts'

test('A DELETE sent right behind the create finds the definition established, as both of its status writes were begun before', () =>
  withApi(async ({ runtime, api }) => {
    const made = await runtime.complete(api.request('POST', DEFINITIONS, definition('quick')))
    assert.equal(made.code, 201)
    const { code, body } = await runtime.complete(api.request('DELETE', `${DEFINITIONS}/quick.t.org`))
    assert.equal(code, 200)
    const conditions = body.status.conditions.map(({ type, status }: Record<string, string>) => `${type} ${status}`)
    assert.deepEqual(conditions, ['NamesAccepted True', 'Established True', 'Terminating True'])
  }))

test('a definition is established and serves each version', () =>
  withApi(async ({ ask, conditions }) => {
    await ask('POST', DEFINITIONS, definition('as'))
    assert.deepEqual(await conditions('as.t.org'), {
      NamesAccepted: 'True NoConflicts',
      Established: 'True InitialNamesAccepted',
    })
    for (const name of ['v1', 'v2']) assert.equal((await ask('GET', `/apis/t.org/${name}/as`)).code, 200)
  }))

test('names that another definition has are refused until it is gone', () =>
  withApi(async ({ ask, conditions }) => {
    await ask('POST', DEFINITIONS, definition('as', { kind: 'Same' }))
    await ask('POST', DEFINITIONS, definition('bs', { kind: 'Same', listKind: 'OtherList' }))
    assert.deepEqual(await conditions('bs.t.org'), {
      NamesAccepted: 'False KindConflict',
      Established: 'False NotAccepted',
    })
    assert.equal((await ask('GET', '/apis/t.org/v1/bs')).code, 404)
    await ask('DELETE', `${DEFINITIONS}/as.t.org`)
    assert.equal((await conditions('bs.t.org'))['Established'], 'True InitialNamesAccepted')
    assert.equal((await ask('GET', '/apis/t.org/v1/bs')).code, 200)
  }))

test('a deleted definition takes its objects along, and their watches end a second after the last DELETED', () =>
  withApi(async ({ runtime, ask, watch }) => {
    await ask('POST', DEFINITIONS, definition('as'))
    await ask('POST', '/apis/t.org/v1/as', thing('as'))
    const events = [await watch('/apis/t.org/v1/as?watch=1'), await watch('/apis/t.org/v2/as?watch=1')]
    await ask('DELETE', `${DEFINITIONS}/as.t.org`)
    assert.equal((await ask('GET', '/apis/t.org/v1/as')).code, 404)
    await runtime.advance(900)
    for (const seen of events) assert.deepEqual(seen, ['ADDED a', 'DELETED a'])
    await runtime.advance(200)
    for (const seen of events) assert.deepEqual(seen, ['ADDED a', 'DELETED a', 'end'])
  }))

test('one write says that the objects of a definition are gone and lets it go, as kube-apiserver was seen to do', () =>
  withApi(async ({ ask, watch }) => {
    await ask('POST', DEFINITIONS, definition('as'))
    await ask('POST', '/apis/t.org/v1/as', thing('as'))
    const events = await watch(`${DEFINITIONS}?watch=1`)
    await ask('DELETE', `${DEFINITIONS}/as.t.org`)
    // The mark of the deletion, and that the deletion of the objects has begun.
    assert.deepEqual(events.slice(1), ['MODIFIED as.t.org', 'MODIFIED as.t.org', 'DELETED as.t.org'])
  }))

test('its objects go as kube-apiserver was seen to delete them: admission is not asked', () => {
  const asked: string[] = []
  const guard = () => ({
    name: 'Guard',
    handles: (operation: string) => operation === 'DELETE',
    validate: ({ endpoint, name }: AdmissionAttributes) => {
      const { row } = endpoint
      asked.push(`${row.resource} ${name}`)
      if (row.resource === 'as') throw new Error('kept')
    },
  })
  return withApi(
    async ({ ask }) => {
      await ask('POST', DEFINITIONS, definition('as'))
      await ask('POST', '/apis/t.org/v1/as', thing('as'))
      assert.equal((await ask('DELETE', '/apis/t.org/v1/as/a')).code, 500)
      await ask('DELETE', `${DEFINITIONS}/as.t.org`)
      assert.equal((await ask('GET', `${DEFINITIONS}/as.t.org`)).code, 404)
      assert.deepEqual(asked, ['as a', 'customresourcedefinitions as.t.org'])
    },
    simulatedRuntime(1),
    { admission: { plugins: { Guard: guard } } },
  )
})

test('while an object keeps a definition, its watches go on', () =>
  withApi(async ({ runtime, ask, watch, conditions }) => {
    await ask('POST', DEFINITIONS, definition('as'))
    await ask('POST', '/apis/t.org/v1/as', thing('as', { finalizers: ['t.org/f'] }))
    const events = await watch('/apis/t.org/v1/as?watch=1')
    const from = revisionOf(await ask('GET', '/apis/t.org/v1/as'))
    await ask('DELETE', `${DEFINITIONS}/as.t.org`)
    await runtime.advance(60_000)
    assert.deepEqual(events, ['ADDED a', 'MODIFIED a'])
    assert.deepEqual(await watch(`/apis/t.org/v1/as?watch=1&resourceVersion=${from}`), ['MODIFIED a'])
    assert.equal((await conditions('as.t.org'))['Terminating'], 'True InstanceDeletionInProgress')
    await ask('PATCH', '/apis/t.org/v1/as/a', { metadata: { finalizers: null } }, MERGE)
    await runtime.advance(7000)
    assert.deepEqual(events, ['ADDED a', 'MODIFIED a', 'DELETED a', 'end'])
    assert.equal((await ask('GET', `${DEFINITIONS}/as.t.org`)).code, 404)
  }))

const changes: Readonly<Record<string, { readonly path?: string; readonly patch: object; readonly ends: boolean }>> = {
  'a version is no longer served': {
    patch: { spec: { versions: [version('v1'), version('v2', { served: false })] } },
    ends: true,
  },
  'another version is stored': {
    patch: { spec: { versions: [version('v1', { storage: false }), version('v2', { storage: true })] } },
    ends: true,
  },
  'a schema changes': {
    patch: {
      spec: {
        versions: [version('v1', { schema: { openAPIV3Schema: { type: 'object' } } }), version('v2')],
      },
    },
    ends: true,
  },
  'a short name comes': { patch: { spec: { names: { shortNames: ['x'] } } }, ends: true },
  'a label comes': { patch: { metadata: { labels: { a: 'b' } } }, ends: false },
  'its stored versions are written': {
    path: '/status',
    patch: { status: { storedVersions: ['v1', 'v2'] } },
    ends: false,
  },
}
for (const [what, { path = '', patch, ends }] of Object.entries(changes))
  test(`watches ${ends ? 'end a second after' : 'go on when'} ${what}`, () =>
    withApi(async ({ runtime, ask, watch }) => {
      await ask('POST', DEFINITIONS, definition('as'))
      await ask('POST', '/apis/t.org/v1/as', thing('as'))
      const events = await watch('/apis/t.org/v1/as?watch=1')
      assert.equal((await ask('PATCH', `${DEFINITIONS}/as.t.org${path}`, patch, MERGE)).code, 200)
      const later = await watch('/apis/t.org/v1/as?watch=1')
      await runtime.advance(900)
      assert.deepEqual(events, ['ADDED a'])
      await runtime.advance(5000)
      assert.deepEqual(events, ends ? ['ADDED a', 'end'] : ['ADDED a'])
      assert.deepEqual(later, ['ADDED a'], 'a watch that began with the change goes on')
    }))

test('a definition that comes back serves anew, and old watches do not see it', () =>
  withApi(async ({ runtime, ask, watch }) => {
    await ask('POST', DEFINITIONS, definition('as'))
    await ask('POST', '/apis/t.org/v1/as', thing('as'))
    const old = await watch('/apis/t.org/v1/as?watch=1')
    await ask('DELETE', `${DEFINITIONS}/as.t.org`)
    await runtime.advance(2000)
    await ask('POST', DEFINITIONS, definition('as'))
    await ask('POST', '/apis/t.org/v1/as', thing('as'))
    const anew = await watch('/apis/t.org/v1/as?watch=1')
    await runtime.advance(2000)
    assert.deepEqual([old, anew], [['ADDED a', 'DELETED a', 'end'], ['ADDED a']])
  }))

const tooOld = (from: string, begin: string) => [
  'ADDED a',
  'end',
  `ERROR too old resource version: ${from} (${begin})`,
  'end',
]
const revisionOf = ({ body }: TestAnswer): string => body.metadata.resourceVersion

for (const [what, { path = '', patch, ends }] of Object.entries(changes))
  test(`a watch from before ${what} ${ends ? 'is too old' : 'begins there'}`, () =>
    withApi(async ({ runtime, ask, watch }) => {
      await ask('POST', DEFINITIONS, definition('as'))
      const from = revisionOf(await ask('GET', '/apis/t.org/v1/as'))
      await ask('POST', '/apis/t.org/v1/as', thing('as'))
      const before = await watch(`/apis/t.org/v1/as?watch=1&timeoutSeconds=1&resourceVersion=${from}`)
      await runtime.advance(2000)
      await ask('PATCH', `${DEFINITIONS}/as.t.org${path}`, patch, MERGE)
      // A name is accepted by a write of its own.
      const changed = revisionOf(await ask('GET', `${DEFINITIONS}/as.t.org`))
      const after = await watch(`/apis/t.org/v1/as?watch=1&timeoutSeconds=1&resourceVersion=${from}`)
      const since = await watch(`/apis/t.org/v1/as?watch=1&timeoutSeconds=1&resourceVersion=${changed}`)
      await runtime.advance(2000)
      assert.deepEqual([...before, ...after], ends ? tooOld(from, changed) : ['ADDED a', 'end', 'ADDED a', 'end'])
      assert.deepEqual(since, ['end'])
    }))

test('a definition that was made again begins anew: a watch from its former life, or between them, is too old', () =>
  withApi(async ({ runtime, ask, watch }) => {
    await ask('POST', DEFINITIONS, definition('as'))
    const first = revisionOf(await ask('POST', '/apis/t.org/v1/as', thing('as')))
    await ask('DELETE', `${DEFINITIONS}/as.t.org`)
    const between = revisionOf(await ask('GET', DEFINITIONS))
    await ask('POST', DEFINITIONS, definition('as'))
    const begin = revisionOf(await ask('GET', `${DEFINITIONS}/as.t.org`))
    await ask('POST', '/apis/t.org/v1/as', thing('as'))
    for (const from of [first, between])
      assert.deepEqual(await watch(`/apis/t.org/v1/as?watch=1&resourceVersion=${from}`), [
        `ERROR too old resource version: ${from} (${begin})`,
        'end',
      ])
    const events = await watch(`/apis/t.org/v1/as?watch=1&timeoutSeconds=1&resourceVersion=${begin}`)
    await runtime.advance(2000)
    assert.deepEqual(events, ['ADDED a', 'end'])
  }))

test('after a restart a watch goes on, but not from before its definition', async () => {
  const runtime = simulatedRuntime(1)
  const storage = await openStorage({ runtime, driver: 'memory' })
  const kept: Storage = { ...storage, close: async () => {} }
  let [first, begin] = ['', '']
  await withApi(
    async ({ ask }) => {
      await ask('POST', DEFINITIONS, definition('as'))
      first = revisionOf(await ask('POST', '/apis/t.org/v1/as', thing('as')))
      await ask('DELETE', `${DEFINITIONS}/as.t.org`)
      await ask('POST', DEFINITIONS, definition('as'))
      begin = revisionOf(await ask('GET', `${DEFINITIONS}/as.t.org`))
      await ask('POST', '/apis/t.org/v1/as', thing('as'))
    },
    runtime,
    { storage: kept },
  )
  await withApi(
    async ({ watch }) => {
      const events = [
        await watch(`/apis/t.org/v1/as?watch=1&timeoutSeconds=1&resourceVersion=${first}`),
        await watch(`/apis/t.org/v1/as?watch=1&timeoutSeconds=1&resourceVersion=${begin}`),
      ]
      await runtime.advance(2000)
      assert.deepEqual(events, [
        [`ERROR too old resource version: ${first} (${begin})`, 'end'],
        ['ADDED a', 'end'],
      ])
    },
    runtime,
    { storage: kept },
  )
  await storage.close()
})
