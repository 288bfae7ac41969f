import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Pod, runsToCompletion } from './pod.ts'

const ofJob = { ownerReferences: [{ apiVersion: 'batch/v1', kind: 'Job', name: 'j', uid: 'u', controller: true }] }
const ofSet = {
  ownerReferences: [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'r', uid: 'u', controller: true }],
}

/** Of the init container, the sidecar, the container and the one that its own policy starts again. */
function waitedFor(metadata: Pod['metadata'], restartPolicy?: string): readonly boolean[] {
  const containers = [{ name: 'main' }, { name: 'again', restartPolicy: 'Always' }]
  const initContainers = [{ name: 'init' }, { name: 'sidecar', restartPolicy: 'Always' }]
  const spec = { containers, initContainers, ...(restartPolicy === undefined ? {} : { restartPolicy }) }
  return [...initContainers, ...containers].map((container) =>
    runsToCompletion({ apiVersion: 'v1', kind: 'Pod', metadata, spec }, container),
  )
}

test('init containers are waited for, sidecars never, containers where a Job or an installer waits for their pod', () => {
  const onlyInit = [true, false, false, false]
  const both = [true, false, true, false]
  assert.deepEqual(waitedFor({}), onlyInit)
  assert.deepEqual(waitedFor({}, 'Never'), onlyInit)
  assert.deepEqual(waitedFor(ofSet, 'Always'), onlyInit)
  assert.deepEqual(waitedFor(ofJob, 'Never'), both)
  assert.deepEqual(waitedFor(ofJob, 'OnFailure'), both)
  assert.deepEqual(waitedFor(ofJob, 'Always'), onlyInit)
  assert.deepEqual(waitedFor({ annotations: { 'helm.sh/hook': 'test' } }, 'Never'), both)
  assert.deepEqual(waitedFor({ annotations: { 'helm.sh/hook': 'test' } }), onlyInit)
  assert.deepEqual(waitedFor({ annotations: { 'argocd.argoproj.io/hook': 'PreSync' } }, 'OnFailure'), both)
})
