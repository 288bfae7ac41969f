import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Secret } from '../../api/generated/types.ts'
import type { Pod } from '../pod.ts'
import { createPullSecrets } from './pull-secrets.ts'

test('secrets for pulling that are not there are told of, and the others are taken', async () => {
  const told: string[] = []
  const there: Secret = { kind: 'Secret', apiVersion: 'v1', metadata: { name: 'there' } }
  const secrets = createPullSecrets(
    {
      async secret(_, name) {
        if (name === 'forbidden') throw new Error('forbidden')
        return name === 'there' ? there : undefined
      },
    },
    { normal() {}, about() {}, warning: (_, reason, message) => void told.push(`${reason} ${message}`) },
  )
  const pod = (...names: readonly string[]): Pod => ({
    kind: 'Pod',
    apiVersion: 'v1',
    metadata: { name: 'p', namespace: 'ns', uid: 'u' },
    spec: { containers: [], imagePullSecrets: names.map((name) => ({ name })) },
  })
  assert.deepEqual(await secrets.find(pod('a', 'there', 'forbidden', '')), [there])
  await secrets.check(pod('there', ''))
  assert.deepEqual(told, [])
  await secrets.check(pod('a', 'there', 'forbidden'))
  assert.deepEqual(told, [
    'FailedToRetrieveImagePullSecret Unable to retrieve some image pull secrets (a, forbidden); attempting to pull the image may not succeed.',
  ])
})

test('while a secret is still looked for no other look is begun, and a pod that is gone is told nothing', async () => {
  const told: string[] = []
  const answer = Promise.withResolvers<undefined>()
  let reads = 0
  const secret = () => {
    reads++
    return answer.promise
  }
  const events = { normal() {}, about() {}, warning: (_: Pod, reason: string) => void told.push(reason) }
  const secrets = createPullSecrets({ secret }, events)
  const spec = { containers: [], imagePullSecrets: [{ name: 'a' }] }
  const pod: Pod = { kind: 'Pod', apiVersion: 'v1', metadata: { name: 'p', namespace: 'ns', uid: 'u' }, spec }
  const looking = secrets.check(pod)
  assert.equal(secrets.check(pod), undefined)
  secrets.forget('u')
  answer.resolve(undefined)
  await looking
  assert.deepEqual([reads, told], [1, []])
})
