import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Look } from './look.ts'
import { readWorkloads } from './workloads.ts'

/** What the workload of these containers is read to serve. */
async function served(...containers: readonly object[]): Promise<readonly string[] | undefined> {
  const deployment = { metadata: { name: 'd', namespace: 'own' }, spec: { template: { spec: { containers } } } }
  const list = async (gvr: { readonly resource: string }) => ({
    state: 'found',
    value: gvr.resource === 'deployments' ? [deployment] : [],
  })
  const { all } = await readWorkloads({ reader: { list } } as unknown as Look)
  assert.equal(all.length, 1)
  return all[0]?.serves?.namespaces
}

const env = (name: string, value: string) => ({ name: 'c', env: [{ name, value }] })

test('a workload serves the namespaces that its flags or environment name, and only names of namespaces', async () => {
  assert.deepEqual(await served(env('WATCH_NAMESPACE', 'a,b')), ['a', 'b'])
  assert.deepEqual(await served({ args: ['--watch-namespace', 'a'] }), ['a'])
  assert.deepEqual(await served(env('WATCH_NAMESPACE', 'a'), { name: 'sidecar' }), ['a'])
  for (const value of ['all', 'A', '"a"', '^a', 'a,!b', '$(NAMESPACE)', '*', ''])
    assert.equal(await served(env('WATCH_NAMESPACE', value)), undefined, value)
  assert.equal(await served({ args: ['--watch-namespace', '--leader-elect'] }), undefined)
  for (const name of ['EXCLUDE_WATCH_NAMESPACE', 'IGNORE_WATCH_NAMESPACES', 'MY_SKIP_WATCH_NAMESPACE'])
    assert.equal(await served(env(name, 'a')), undefined, name)
})

test('containers that are told different namespaces say nothing of the workload', async () => {
  assert.deepEqual(await served(env('WATCH_NAMESPACE', 'a,b'), env('WATCH_NAMESPACE', 'b,a')), ['a', 'b'])
  assert.equal(await served(env('WATCH_NAMESPACE', 'a'), env('WATCH_NAMESPACE', 'b')), undefined)
  assert.equal(await served(env('WATCH_NAMESPACE', 'a'), env('WATCH_NAMESPACE', '')), undefined)
})
