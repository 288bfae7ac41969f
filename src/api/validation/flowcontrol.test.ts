import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Fields } from '../object.ts'
import { mandatoryFlowSchemas, mandatoryPriorityLevels } from '../objects/mandatory-flows.ts'
import { validateFlowSchema, validatePriorityLevelConfiguration } from './flowcontrol.ts'

const object = (kind: string, name: string, spec: Fields) => ({
  apiVersion: 'flowcontrol.apiserver.k8s.io/v1',
  kind,
  metadata: { name },
  spec: spec as never,
})
const schemaErrors = (name: string, spec: Fields) =>
  validateFlowSchema(object('FlowSchema', name, spec)).map(({ message }) => message)
const levelErrors = (name: string, spec: Fields) =>
  validatePriorityLevelConfiguration(object('PriorityLevelConfiguration', name, spec)).map(({ message }) => message)

test('FlowSchemas that every cluster has are as they are; others are what one likes', () => {
  const { exempt, 'catch-all': last } = mandatoryFlowSchemas
  assert.deepEqual([...schemaErrors('exempt', exempt), ...schemaErrors('catch-all', last)], [])
  const changed = { ...last, priorityLevelConfiguration: { name: 'nowhere' } }
  const [error = '', ...more] = schemaErrors('catch-all', changed)
  assert.match(error, /^Invalid value: \{"PriorityLevelConfiguration":\{"Name":"nowhere"\},"MatchingPrecedence":10000,/)
  assert.match(error, /: spec of 'catch-all' must equal the fixed value$/)
  assert.deepEqual(more, [])
  assert.deepEqual(schemaErrors('mine', changed), [])
})

test('priority levels that every cluster has are as they are, but for what others may borrow of exempt', () => {
  const { exempt, 'catch-all': last } = mandatoryPriorityLevels
  assert.deepEqual([...levelErrors('exempt', exempt), ...levelErrors('catch-all', last)], [])
  assert.deepEqual(levelErrors('exempt', { ...exempt, exempt: { nominalConcurrencyShares: 7 } }), [])
  const [error = '', ...more] = levelErrors('catch-all', { ...last, limited: { nominalConcurrencyShares: 50 } })
  assert.match(error, /: spec of 'catch-all' must equal the fixed value$/)
  assert.deepEqual(more, [])
})
