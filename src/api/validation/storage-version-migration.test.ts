/** What a real v1.37.1 refused of migrations and their status, in its words. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Fields, KubeObject } from '../object.ts'
import {
  validateStorageVersionMigrationStatus,
  validateStorageVersionMigrationUpdate,
} from './storage-version-migration.ts'

const object = (resource: Fields, status: Fields = {}): KubeObject =>
  ({
    apiVersion: 'storagemigration.k8s.io/v1',
    kind: 'StorageVersionMigration',
    metadata: { name: 'm' },
    spec: { resource },
    status,
  }) as KubeObject
const lastTransitionTime = '2026-11-24T02:38:17Z'
const is = (type: string, status: string) => ({ type, status, reason: 'X', lastTransitionTime })
const printed = (type: string, status: string) =>
  `{"type":"${type}","status":"${status}","lastTransitionTime":"${lastTransitionTime}","reason":"X","message":""}`
const told = (old: Fields, status: Fields): readonly string[] =>
  validateStorageVersionMigrationStatus(
    object({ resource: 'secrets' }, status),
    object({ resource: 'secrets' }, old),
  ).map(({ field, message }) => `${field}: ${message}`)

test('what is migrated stays what it is', () => {
  const old = object({ group: '', resource: 'configmaps' })
  const errors = validateStorageVersionMigrationUpdate(object({ resource: 'secrets' }), old)
  assert.deepEqual(
    errors.map(({ field, message }) => `${field}: ${message}`),
    ['spec: Invalid value: {"Resource":{"group":"","resource":"secrets"}}: field is immutable'],
  )
  assert.deepEqual(validateStorageVersionMigrationUpdate(object({ resource: 'configmaps' }), old), [])
})

test('the version is a number without leading zeros, and stays', () => {
  for (const version of ['0', '00', '01', '-5', '1.5', ' 5', 'abc'])
    assert.deepEqual(told({}, { resourceVersion: version }), [
      `status.resourceVersion: Invalid value: "${version}": resource version is not well formed: ${version}`,
    ])
  for (const version of ['', '7', '18446744073709551616']) assert.deepEqual(told({}, { resourceVersion: version }), [])
  const stays = (version: string) => `status.resourceVersion: Invalid value: "${version}": field is immutable`
  assert.deepEqual(told({ resourceVersion: '7' }, { resourceVersion: '5' }), [stays('5')])
  assert.deepEqual(told({ resourceVersion: '7' }, {}), [stays('')])
})

test('a migration has one outcome, and keeps it', () => {
  const conditions = (...list: readonly Fields[]) => ({ conditions: list })
  const success = conditions(is('Succeeded', 'True'))
  const failure = conditions(is('Failed', 'True'))
  const invalid = (value: string, message: string) => `status.conditions: Invalid value: ${value}: ${message}`
  const both = conditions(is('Succeeded', 'True'), is('Failed', 'True'))
  const refusal = invalid(
    `[${printed('Succeeded', 'True')},${printed('Failed', 'True')}]`,
    'Both success and failed conditions cannot be true at the same time',
  )
  assert.deepEqual(told({}, both), [refusal])
  assert.deepEqual(told(success, both), [refusal])
  const kept = 'condition cannot be set to false once it is true'
  assert.deepEqual(told(success, {}), [invalid('null', `Success ${kept}`)])
  assert.deepEqual(told(success, failure), [invalid(`[${printed('Failed', 'True')}]`, `Success ${kept}`)])
  assert.deepEqual(told(success, conditions(is('Succeeded', 'Unknown'))), [
    invalid(`[${printed('Succeeded', 'Unknown')}]`, `Success ${kept}`),
  ])
  assert.deepEqual(told(failure, success), [invalid(`[${printed('Succeeded', 'True')}]`, `Failed ${kept}`)])
  assert.deepEqual(told(failure, conditions(is('Failed', 'True'), is('Running', 'True'))), [])
})

test('all that is wrong with a status is told in the order of a real server', () => {
  const old = { resourceVersion: '322', conditions: [is('Failed', 'True')] }
  assert.deepEqual(told(old, { resourceVersion: 'abc', conditions: [is('Odd', 'Maybe')] }), [
    'status.resourceVersion: Invalid value: "abc": resource version is not well formed: abc',
    'status.conditions[0].status: Unsupported value: "Maybe": supported values: "False", "True", "Unknown"',
    'status.resourceVersion: Invalid value: "abc": field is immutable',
    `status.conditions: Invalid value: [${printed('Odd', 'Maybe')}]: Failed condition cannot be set to false once it is true`,
  ])
  const untimed = { type: 'Odd', status: 'True', observedGeneration: 4, reason: 'Y', message: 'm' }
  assert.deepEqual(told(old, { resourceVersion: '322', conditions: [untimed] }), [
    'status.conditions[0].lastTransitionTime: Required value',
    'status.conditions: Invalid value: [{"type":"Odd","status":"True","observedGeneration":4,"lastTransitionTime":null,"reason":"Y","message":"m"}]: Failed condition cannot be set to false once it is true',
  ])
})
