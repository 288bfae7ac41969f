import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createScaleOfOwner } from './scale-of-owner.ts'

const flocks = { group: 'g.io', version: 'v1', resource: 'flocks', kind: 'Flock', namespaced: true, verbs: [] }
const flock = (name: string) => ({ apiVersion: 'g.io/v1', kind: 'Flock', name })

function asked(answers: Readonly<Record<string, { status: number; body: string }>>) {
  let discoveries = 0
  let now = 0
  const client = {
    async discover() {
      discoveries++
      return { resources: [flocks], everyVersion: [flocks], failed: [] }
    },
    raw: async (_: string, path: string) => answers[path],
  }
  const scaleOf = createScaleOfOwner({ clock: { monotonic: () => now } } as never, client as never)
  return {
    scaleOf,
    discoveries: () => discoveries,
    pass(ms: number) {
      now += ms
    },
  }
}

test('what a custom resource wants is read from its scale; one that is gone has none', async () => {
  const { scaleOf } = asked({
    '/apis/g.io/v1/namespaces/n/flocks/a/scale': {
      status: 200,
      body: '{"metadata":{"uid":"u"},"spec":{"replicas":7}}',
    },
    '/apis/g.io/v1/namespaces/n/flocks/b/scale': { status: 404, body: '{"kind":"Status","details":{"name":"b"}}' },
    '/apis/g.io/v1/namespaces/n/flocks/c/scale': { status: 404, body: '404 page not found\n' },
  })
  assert.deepEqual(await scaleOf('n', flock('a')), { uid: 'u', replicas: 7 })
  assert.equal(await scaleOf('n', flock('b')), undefined)
  await assert.rejects(scaleOf('n', flock('c')), /^Error: flocks\.g\.io does not implement the scale subresource$/)
})

test('a kind that is not there is looked for again after 30 seconds, and not before', async () => {
  const { scaleOf, discoveries, pass } = asked({})
  const missing = () =>
    assert.rejects(
      scaleOf('n', { apiVersion: 'g.io/v2', kind: 'Flock', name: 'a' }),
      /^Error: no matches for kind "Flock" in version "g\.io\/v2"$/,
    )
  await missing()
  pass(29_000)
  await missing()
  assert.equal(discoveries(), 1)
  pass(1_000)
  await missing()
  assert.equal(discoveries(), 2)
})
