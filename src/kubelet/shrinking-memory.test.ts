import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod } from './pod.ts'
import type { ContainerUsage } from './runtimes/runtime.ts'
import { shrinkProblem, shrinks } from './shrinking-memory.ts'

const container = (memory: string) => ({ name: 'm', resources: { limits: { memory } } })
const pod = (memory: string) =>
  ({ metadata: { name: 'p', uid: 'u' }, spec: { containers: [container(memory)] } }) as unknown as Pod
const usage = (usageBytes: number) => [{ podUid: 'u', name: 'm', usageBytes }] as unknown as readonly ContainerUsage[]

test('only limits that become less are looked at', () => {
  const of = (wanted: string, limit: string | undefined) => shrinks({ wanted, limit })
  assert.deepEqual(
    [of('1Mi', '2Mi'), of('1Mi', undefined), of('2Mi', '2Mi'), of('3Mi', '2Mi')],
    [true, true, false, false],
  )
})

test('a limit below what is used is told of in the words of a kubelet; one that is not is no problem', () => {
  const own = [{ container: container('100Ki'), wanted: '100Ki', limit: '40Mi' }]
  assert.equal(
    shrinkProblem(pod('100Ki'), own, usage(778240)),
    'cannot decrease memory limits: [attempting to set pod memory limit (102400) below current usage (778240), attempting to set container "m" memory limit (102400) below current usage (778240)]',
  )
  assert.equal(shrinkProblem(pod('100Ki'), own, usage(102400)), undefined)
  assert.equal(shrinkProblem(pod('100Ki'), own, undefined), undefined)
  // Of one that does not run.
  assert.equal(
    shrinkProblem(pod('100Ki'), own, []),
    'cannot decrease memory limits: missing container "m" memory usage',
  )
})
