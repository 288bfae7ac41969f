import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Look } from './look.ts'
import { deletionOf, isMatched, ruleMatches } from './rules.ts'

const served = (group: string, version: string, resource: string) => ({ group, version, resource })
const look = {
  kinds: {
    everyVersion: [
      ...[served('acme.test', 'v1', 'things'), served('acme.test', 'v1beta1', 'things')],
      ...[served('', 'v1', 'events'), served('events.k8s.io', 'v1', 'events'), served('other.test', 'v1', 'events')],
    ],
  },
} as unknown as Look
const rule = (group: string, version: string, resource: string) => [
  { operations: ['DELETE'], apiGroups: [group], apiVersions: [version], resources: [resource] },
]
const deletes = (group: string, resource: string) => {
  const ref = { ...served(group, 'v1', resource), kind: 'Thing', namespace: '', name: 'a' }
  return deletionOf(ref, { apiVersion: 'v1', kind: 'Thing', metadata: { name: 'a' } })
}

test('rules of another version count by matchPolicy Equivalent, the default, and not by Exact', () => {
  const asks = (version: string, matchPolicy?: string) =>
    ruleMatches(look, rule('acme.test', version, 'things'), deletes('acme.test', 'things'), matchPolicy)
  assert.deepEqual([asks('v1beta1'), asks('v1beta1', 'Equivalent'), asks('v1beta1', 'Exact')], [true, true, false])
  assert.deepEqual([asks('v1'), asks('v1', 'Exact'), asks('v2')], [true, true, false])
})

test('Events are the same objects in both of their groups, and in no other', () => {
  const asks = (group: string, matchPolicy?: string) =>
    ruleMatches(look, rule(group, 'v1', 'events'), deletes('', 'events'), matchPolicy)
  assert.deepEqual([asks('events.k8s.io'), asks('events.k8s.io', 'Exact'), asks('other.test')], [true, false, false])
})

test('what is excluded in any version is not asked about, by Exact only in the version of the request', async () => {
  const asks = (matchPolicy?: string) =>
    isMatched(
      look,
      {
        resourceRules: rule('acme.test', '*', 'things'),
        excludeResourceRules: rule('acme.test', 'v1beta1', 'things'),
        ...(matchPolicy === undefined ? {} : { matchPolicy }),
      },
      deletes('acme.test', 'things'),
    )
  assert.deepEqual([await asks(), await asks('Exact')], [false, true])
})
