import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ClusterRole, PolicyRule } from '../../api/generated/types.ts'
import { aggregatedRules, applied } from './clusterrole-aggregation-controller.ts'

const role = (name: string, labels: Record<string, string>, rules: readonly PolicyRule[]): ClusterRole => ({
  apiVersion: 'v1',
  kind: 'ClusterRole',
  metadata: { name, labels },
  rules,
})
const rule = (verb: string) => ({ verbs: [verb], apiGroups: [''], resources: ['pods'] })

test('an aggregated role has the rules of the roles its selectors match, by name, each once', () => {
  const whole = {
    ...role('whole', { part: 'a' }, [rule('own')]),
    aggregationRule: { clusterRoleSelectors: [{ matchLabels: { part: 'b' } }, { matchLabels: { part: 'a' } }] },
  }
  const all = [
    role('z', { part: 'a' }, [rule('get'), rule('list')]),
    role('m', { part: 'a' }, [rule('watch'), rule('get')]),
    role('x', { part: 'b' }, [rule('create')]),
    role('other', { part: 'c' }, [rule('delete')]),
    whole,
  ]
  const verbs = aggregatedRules(whole, all).map(({ verbs }) => verbs[0])
  assert.deepEqual(verbs, ['create', 'watch', 'get', 'list'])
})

test('no rules are applied by naming none', () => {
  assert.deepEqual(applied(role('r', {}, []), [rule('get')])['rules'], [rule('get')])
  assert.ok(!('rules' in applied(role('r', {}, [rule('own')]), [])))
})
