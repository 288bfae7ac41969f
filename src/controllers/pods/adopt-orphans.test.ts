import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Fields, KubeObject } from '../../api/object.ts'
import { StatusError } from '../../api/status.ts'
import type { ResourceClient } from '../../client/client.ts'
import { claim } from './adopt-orphans.ts'

const set = (metadata: Fields = {}): KubeObject =>
  ({
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: { name: 'r', namespace: 'n', uid: 'own', ...metadata },
  }) as never
const pod = (name: string, owner?: string, metadata: Fields = {}): KubeObject => {
  const reference = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'r', controller: true }
  const ownerReferences = owner === undefined ? [] : [{ ...reference, uid: owner }]
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, uid: `uid-${name}`, labels: { app: 'a' }, ownerReferences, ...metadata },
  } as never
}

interface Given {
  readonly controller?: KubeObject
  readonly live?: KubeObject
  readonly code?: number
  readonly finalizers?: readonly string[]
}

/** Claims as the set of uid `own`, whose live state is `live`; tells what was claimed and each patch. */
async function claimed(
  candidates: readonly KubeObject[],
  { controller = set(), live = set(), code, finalizers }: Given = {},
) {
  const patches: string[] = []
  let asked = 0
  const objects: Pick<ResourceClient, 'patch'> = {
    async patch(name, _type, body) {
      const { ownerReferences, uid, ...kept } = (body as Fields)['metadata']
      const [reference] = ownerReferences
      const more = Object.keys(kept).length > 0 ? ` ${JSON.stringify(kept)}` : ''
      patches.push(`${reference.$patch ?? 'adopt'} ${name} (${uid}) by ${reference.uid}${more}`)
      if (code !== undefined) throw new StatusError(code, 'Refused', 'refused')
      return pod(name)
    },
  }
  const result = await claim(candidates, {
    controller,
    ...(finalizers === undefined ? {} : { finalizers }),
    objects: objects as ResourceClient,
    matches: ({ metadata }) => metadata.labels?.['app'] === 'a',
    async liveController() {
      asked++
      return live
    },
  }).catch((error: Error) => error)
  const names = result instanceof Error ? result.message : result.map(({ metadata }) => metadata.name).join(' ')
  return { names, patches, asked }
}

test('its own that match are claimed, orphans that match adopted, its own that do not match released', async () => {
  const other = { labels: { app: 'b' } }
  const pods = [pod('mine', 'own'), pod('orphan'), pod('stray', undefined, other), pod('changed', 'own', other)]
  assert.deepEqual(await claimed(pods), {
    names: 'mine orphan',
    patches: ['adopt orphan (uid-orphan) by own', 'delete changed (uid-changed) by own'],
    asked: 1,
  })
})

test('the finalizer that an adopted one gets goes in the same write in which it is released', async () => {
  const pods = [pod('orphan'), pod('changed', 'own', { labels: { app: 'b' } })]
  assert.deepEqual((await claimed(pods, { finalizers: ['x/y'] })).patches, [
    'adopt orphan (uid-orphan) by own {"finalizers":["x/y"]}',
    'delete changed (uid-changed) by own {"$deleteFromPrimitiveList/finalizers":["x/y"]}',
  ])
})

test('an adopted one is claimed as it is afterwards: with the finalizer that it got', async () => {
  const adopted = pod('orphan', 'own', { finalizers: ['x/y'] })
  const [found] = await claim([pod('orphan')], {
    controller: set(),
    finalizers: ['x/y'],
    objects: { patch: async () => adopted } as never,
    matches: () => true,
    liveController: async () => set(),
  })
  assert.equal(found, adopted)
})

test('an owner of its name with another uid is another owner', async () => {
  assert.deepEqual(await claimed([pod('theirs', 'former')]), { names: '', patches: [], asked: 0 })
})

test('before it adopts, it asks whether it is still there: not when it is another by now, or is being deleted', async () => {
  const orphans = [pod('x'), pod('y')]
  const gone = await claimed(orphans, { live: set({ uid: 'next' }) })
  assert.deepEqual(
    [gone.names, gone.patches, gone.asked],
    ['original ReplicaSet n/r is gone: got uid next, wanted own', [], 1],
  )
  const going = await claimed(orphans, { live: set({ deletionTimestamp: '2026-01-01T00:00:00Z' }) })
  assert.deepEqual([going.names, going.patches], ['n/r has just been deleted at 2026-01-01T00:00:00Z', []])
})

test('while it is being deleted it neither adopts nor releases; what is being deleted is not adopted', async () => {
  const deletionTimestamp = '2026-01-01T00:00:00Z'
  const pods = [pod('mine', 'own'), pod('orphan'), pod('changed', 'own', { labels: {} })]
  const going = await claimed(pods, { controller: set({ deletionTimestamp }) })
  assert.deepEqual(going, { names: 'mine', patches: [], asked: 0 })
  assert.deepEqual((await claimed([pod('orphan', undefined, { deletionTimestamp })])).patches, [])
})

test('what has gone, or is another by now, is no failure', async () => {
  assert.equal((await claimed([pod('orphan'), pod('mine', 'own')], { code: 404 })).names, 'mine')
  assert.equal((await claimed([pod('changed', 'own', { labels: {} })], { code: 422 })).names, '')
  assert.equal((await claimed([pod('orphan')], { code: 409 })).names, 'refused')
})
