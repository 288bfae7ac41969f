import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject } from '../object.ts'
import { podWarnings } from './pod-warnings.ts'
import { claimTemplateWarnings, persistentVolumeWarnings } from './warnings.ts'

const object = (kind: string, more: Omit<KubeObject, 'apiVersion' | 'kind' | 'metadata'>): KubeObject => ({
  apiVersion: 'v1',
  kind,
  metadata: { name: 'o' },
  ...more,
})

test("a StatefulSet's claims are told of a fraction of a byte, without their spec in the path", () => {
  const claim = { spec: { resources: { requests: { storage: '1500m' } } } }
  assert.deepEqual(claimTemplateWarnings(object('StatefulSet', { spec: { volumeClaimTemplates: [claim] } })), [
    'spec.volumeClaimTemplates[0].resources.requests[storage]: fractional byte value "1500m" is invalid, must be an integer',
  ])
})

test('files of a volume that hide each other are told, each with those before it', () => {
  const projected = {
    sources: [
      { secret: { name: 's', items: [{ key: 'a', path: 'p' }] } },
      { serviceAccountToken: { path: 'p/token' } },
      { configMap: { name: 'c', items: [{ key: 'a', path: 'other' }] } },
    ],
  }
  assert.deepEqual(podWarnings(object('Pod', { spec: { volumes: [{ name: 'v', projected }] } })), [
    'volume "v" (Projected): overlapping paths: "p/token" (ServiceAccountToken) with "p" (Secret "s")',
  ])
})

test('mount options in an annotation of a PersistentVolume are told to be old', () => {
  const metadata = { name: 'v', annotations: { 'volume.beta.kubernetes.io/mount-options': 'ro' } }
  assert.deepEqual(persistentVolumeWarnings({ metadata, spec: {} } as never), [
    'metadata.annotations[volume.beta.kubernetes.io/mount-options]: deprecated since v1.31; use "mountOptions" attribute instead',
  ])
})
