import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Ingress } from '../../../api/generated/types.ts'
import type { CacheReads } from '../../reads.ts'
import type { AdmissionAttributes, AdmissionHost } from '../plugin.ts'
import { defaultIngressClass } from './default-class.ts'

const ingressClass = (name: string, creationTimestamp: string, isDefault = 'true') => ({
  apiVersion: 'networking.k8s.io/v1',
  kind: 'IngressClass',
  metadata: { name, creationTimestamp, annotations: { 'ingressclass.kubernetes.io/is-default-class': isDefault } },
})

function classGiven(...classes: object[]): string | undefined {
  const { mutate } = defaultIngressClass({ list: () => classes } as unknown as CacheReads, {} as AdmissionHost)
  const endpoint = { row: { group: 'networking.k8s.io', resource: 'ingresses' } }
  const object = { apiVersion: 'networking.k8s.io/v1', kind: 'Ingress', metadata: { name: 'i' }, spec: {} }
  const asked = { operation: 'CREATE', endpoint, subresource: '', object } as unknown as AdmissionAttributes
  return (mutate?.(asked) as Ingress | undefined)?.spec?.ingressClassName
}

test('of several default ingress classes the newest is given, of those of one second the first by name', () => {
  const old = ingressClass('a', '2026-01-01T00:00:00Z')
  const second = '2026-01-01T00:00:01Z'
  assert.equal(classGiven(old, ingressClass('z', second)), 'z')
  assert.equal(classGiven(ingressClass('z', second), old, ingressClass('y', second)), 'y')
  assert.equal(classGiven(old, ingressClass('z', second, 'false')), 'a')
  assert.equal(classGiven(ingressClass('z', second, 'false')), undefined)
})
