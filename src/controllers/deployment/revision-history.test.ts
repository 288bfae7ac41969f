import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject } from '../../api/object.ts'
import { compareRevision, maxRevision, newSetAnnotations } from './revision-history.ts'

const REVISION = 'deployment.kubernetes.io/revision'
const HISTORY = 'deployment.kubernetes.io/revision-history'

const set = (name: string, annotations: Record<string, string> = {}): KubeObject => ({
  apiVersion: 'apps/v1',
  kind: 'ReplicaSet',
  metadata: { name, creationTimestamp: '2026-01-01T00:00:00Z', annotations },
})
const at = (revision: string) => set(`at-${revision}`, { [REVISION]: revision })
const deployment = { ...set('d'), kind: 'Deployment', spec: { replicas: 1, selector: {}, template: {} } }

test('the highest revision is exact, and what is no integer does not count', () => {
  assert.equal(maxRevision([at('2'), at('3546343826724305832'), at('10'), set('none')]), 3546343826724305832n)
  assert.equal(maxRevision([at('many'), at('9223372036854775808')]), 0)
})

test('sets are in order of their revisions as numbers, those without a readable one by age', () => {
  const sorted = [at('10'), at('3546343826724305833'), at('9'), at('3546343826724305832')].sort(compareRevision)
  assert.deepEqual(
    sorted.map(({ metadata }) => metadata.annotations?.[REVISION]),
    ['9', '10', '3546343826724305832', '3546343826724305833'],
  )
  const older = { ...at('x'), metadata: { ...at('x').metadata, creationTimestamp: '2025-01-01T00:00:00Z' } }
  assert.ok(compareRevision(older, at('1')) < 0)
})

test('a set that becomes the newest takes the revision and remembers the one it was', () => {
  const annotated = newSetAnnotations(deployment, at('3546343826724305832'), 3546343826724305833n, true)
  assert.equal(annotated[REVISION], '3546343826724305833')
  assert.equal(annotated[HISTORY], '3546343826724305832')
})

test('a set keeps a revision that is higher, and one that cannot be read', () => {
  for (const revision of ['9', '9223372036854775807', 'mine'])
    assert.equal(newSetAnnotations(deployment, at(revision), 8, true)[REVISION], revision)
})
