import assert from 'node:assert/strict'
import { test } from 'node:test'
import { schemaOf } from '../schema/builtin.ts'
import { atomicPaths } from './atomics.ts'

const paths = (value: object) => atomicPaths(value as never, schemaOf('io.k8s.api.core.v1.Pod'))

test('atomic parts are named by their paths, sorted, items by index', () => {
  const spec = { nodeSelector: {}, containers: [{ name: 'c', command: ['x'], args: ['y'] }], hostNetwork: true }
  assert.deepEqual(paths({ spec }), ['.spec.containers[0].args', '.spec.containers[0].command', '.spec.nodeSelector'])
})

test('what is merged by key or name is not atomic', () => {
  assert.deepEqual(
    paths({ metadata: { labels: { a: 'b' }, finalizers: ['x'] }, spec: { containers: [{ name: 'c' }] } }),
    [],
  )
})
