import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startTestApi } from '../../../test/harness.ts'
import type { KubeObject } from '../../api/object.ts'
import type { StoredObject } from '../../api/request.ts'
import { builtinScheme } from '../../api/scheme/scheme.ts'
import { liveRuntime } from '../../base/live-runtime.ts'
import type { AdmissionAttributes } from '../admission/plugin.ts'
import type { ResourceRequest } from './context.ts'
import { deleteEach } from './deletecollection.ts'

const path = '/api/v1/namespaces/default/configmaps'
const NAMES = ['a', 'b', 'c', 'd', 'e']

for (const isSlow of [false, true])
  test(`what comes behind one whose delete is refused stays, as on kube-apiserver${isSlow ? ', where admission takes its time' : ''}`, async () => {
    const asked: string[] = []
    const guard = () => ({
      name: 'Guard',
      handles: (operation: string) => operation === 'DELETE',
      async validate({ oldObject }: AdmissionAttributes) {
        const name = oldObject?.metadata.name ?? ''
        // The first takes longest.
        if (isSlow) for (let turns = NAMES.length - NAMES.indexOf(name); turns > 0; turns--) await Promise.resolve()
        asked.push(name)
        if (name === 'c') throw new Error('kept')
      },
    })
    const api = await startTestApi(liveRuntime(), { admission: { plugins: { Guard: guard } } })
    try {
      await api.namespace('default')
      for (const name of NAMES)
        await api.request('POST', path, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } })
      assert.equal((await api.request('DELETE', path)).code, 500)
      assert.deepEqual(asked, ['a', 'b', 'c'])
      const { body } = await api.request('GET', path)
      assert.deepEqual(
        body.items.map(({ metadata }: { metadata: { name: string } }) => metadata.name),
        ['c', 'd', 'e'],
      )
      assert.equal((await api.request('DELETE', `${path}?fieldSelector=metadata.name!=c`)).code, 200)
      assert.equal((await api.request('GET', path)).body.items.length, 1)
    } finally {
      await api.stop()
    }
  })

test('one that cannot be read fails the whole, and those behind it do not wait for it', async () => {
  const object: KubeObject = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'b', namespace: 'n' } }
  const resource = {
    context: {
      runtime: liveRuntime(),
      registry: { current: () => ({ revision: 1, object }) },
    },
    request: { headers: {}, query: new URLSearchParams() },
    info: { verb: 'deletecollection', subresource: '' },
    endpoint: {
      row: builtinScheme().find('', 'v1', 'configmaps'),
      strategy: {},
      worked: { ofStored: (stored: KubeObject) => stored },
    },
  } as Partial<Record<keyof ResourceRequest, unknown>> as ResourceRequest
  const unreadable = {
    get object(): KubeObject {
      throw new Error('unreadable')
    },
  } as StoredObject
  const deleting = deleteEach(resource, [unreadable, { object } as StoredObject], {}, () => assert.fail('not asked'))
  await assert.rejects(deleting, { message: 'unreadable' })
})
