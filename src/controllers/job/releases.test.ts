import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject } from '../../api/object.ts'
import { isTracked, trackingFinalizer } from './job.ts'
import { progressOf } from './progress.ts'
import { createReleases } from './releases.ts'
import { countAndRelease } from './tracking.ts'

const pod = (...finalizers: string[]): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'p', uid: 'u', finalizers },
  status: { phase: 'Failed' },
})

test('a released pod has no tracking finalizer, until the watch says so itself', () => {
  const releases = createReleases()
  assert.equal(isTracked(releases.current(pod(trackingFinalizer))), true)
  releases.released(pod(trackingFinalizer))
  assert.deepEqual(releases.current(pod('other', trackingFinalizer)).metadata.finalizers, ['other'])
  releases.seen(pod(trackingFinalizer), false)
  assert.equal(isTracked(releases.current(pod(trackingFinalizer))), false)
  releases.seen(pod(), false)
  assert.equal(isTracked(releases.current(pod(trackingFinalizer))), true)
  releases.released(pod(trackingFinalizer))
  releases.seen(pod(trackingFinalizer), true)
  assert.equal(isTracked(releases.current(pod(trackingFinalizer))), true)
})

test('a pod that was counted counts once, though the watch still shows its finalizer at the next sync', async () => {
  const releases = createReleases()
  let job: KubeObject = { apiVersion: 'batch/v1', kind: 'Job', metadata: { name: 'j' }, spec: { completions: 3 } }
  const parts = {
    pods: { patch: async () => pod() },
    writeStatus: async (object: KubeObject, status: object) => {
      job = { ...object, status }
      return job
    },
    released: releases.released,
    now: () => 0,
  }
  for (let sync = 0; sync < 2; sync++) {
    const progress = progressOf(job, [releases.current(pod(trackingFinalizer))])
    await countAndRelease(parts, job, job['status'] ?? {}, progress, undefined)
  }
  assert.equal(job['status'].failed, 1)
})
