import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject } from '../../api/object.ts'
import { countAndRelease } from './finalizer-tracking.ts'
import { isTracked, trackingFinalizer } from './job.ts'
import { progressOf } from './progress.ts'
import { createReleases } from './released-finalizers.ts'

const pod = (...finalizers: string[]): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'p', uid: 'u', finalizers },
  status: { phase: 'Failed' },
})

const tracked = pod(trackingFinalizer)
const atOnce = async () => {}

test('a released pod has no tracking finalizer, until the watch says so itself', async () => {
  const releases = createReleases()
  assert.equal(isTracked(releases.current(tracked)), true)
  await releases.release(tracked, atOnce)
  assert.deepEqual(releases.current(pod('other', trackingFinalizer)).metadata.finalizers, ['other'])
  releases.seen(tracked, false)
  assert.equal(isTracked(releases.current(tracked)), false)
  releases.seen(pod(), false)
  assert.equal(isTracked(releases.current(tracked)), true)
  await releases.release(tracked, atOnce)
  releases.seen(tracked, true)
  assert.equal(isTracked(releases.current(tracked)), true)
})

test('a finalizer is taken off once, while that is under way and until the watch shows it', async () => {
  const releases = createReleases()
  const answer = Promise.withResolvers<void>()
  let asked = 0
  const remove = () => {
    asked++
    return answer.promise
  }
  const both = [releases.release(tracked, remove), releases.release(tracked, remove)]
  assert.equal(isTracked(releases.current(tracked)), true, 'it is not off yet')
  answer.resolve()
  await Promise.all(both)
  await releases.release(tracked, remove)
  assert.equal(asked, 1)
  releases.seen(pod(), false)
  await releases.release(tracked, remove)
  assert.equal(asked, 2, 'it has come back')
})

test('a finalizer that could not be taken off is there, for all that asked, and the next one tries again', async () => {
  const releases = createReleases()
  const remove = () => Promise.reject(new Error('refused'))
  const both = [releases.release(tracked, remove), releases.release(tracked, remove)]
  for (const { status } of await Promise.allSettled(both)) assert.equal(status, 'rejected')
  assert.equal(isTracked(releases.current(tracked)), true)
  await releases.release(tracked, atOnce)
  assert.equal(isTracked(releases.current(tracked)), false)
})

test('a watch that is faster than the answer leaves nothing behind', async () => {
  const releases = createReleases()
  await releases.release(tracked, async () => {
    await undefined
    releases.seen(pod(), false)
  })
  assert.equal(isTracked(releases.current(tracked)), true)
})

test('a pod that was counted counts once, though the watch still shows its finalizer at the next sync', async () => {
  const releases = createReleases()
  let job: KubeObject = { apiVersion: 'batch/v1', kind: 'Job', metadata: { name: 'j' }, spec: { completions: 3 } }
  const parts = {
    writeStatus: async (object: KubeObject, status: object) => {
      job = { ...object, status }
      return job
    },
    release: (released: KubeObject) => releases.release(released, atOnce),
    now: () => 0,
  }
  for (let sync = 0; sync < 2; sync++) {
    const progress = progressOf(job, [releases.current(tracked)])
    await countAndRelease(parts, job, job['status'] ?? {}, progress, undefined)
  }
  assert.equal(job['status'].failed, 1)
})
