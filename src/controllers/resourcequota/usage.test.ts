import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Fields, KubeObject } from '../../api/object.ts'
import { isLower, quotaStatus, usageOf, usesOtherwise } from './usage.ts'

const quota = (spec: Fields, status: Fields = {}): KubeObject =>
  ({ apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'q', namespace: 'n' }, spec, status }) as never
const pod = (spec: Fields, status: Fields = {}, metadata: Fields = {}): KubeObject =>
  ({ apiVersion: 'v1', kind: 'Pod', metadata, spec, status }) as never
const asking = (cpu: string): Fields => ({ containers: [{ name: 'c', resources: { requests: { cpu } } }] })
const pods = { group: '', resource: 'pods' }
const now = Date.parse('2026-01-01T00:01:00Z')

test('what pods ask for is added up; what has ended, or should have, counts only as an object', () => {
  const gone = { deletionTimestamp: '2026-01-01T00:00:00Z', deletionGracePeriodSeconds: 30 }
  const objects = [
    pod(asking('500m')),
    pod(asking('1')),
    pod(asking('4'), { phase: 'Failed' }),
    pod(asking('2'), {}, gone),
  ]
  const hard = { 'requests.cpu': '2', pods: '9', 'count/pods': '9', secrets: '1' }
  assert.deepEqual(usageOf(quota({ hard }), [{ resource: pods, objects }], now), {
    'requests.cpu': '1500m',
    pods: '2',
    'count/pods': '4',
  })
})

const running = (name: string, allocated: Fields | undefined, requests?: Fields, limits?: Fields): Fields => ({
  name,
  ...(allocated === undefined ? {} : { allocatedResources: allocated }),
  resources: { ...(requests && { requests }), ...(limits && { limits }) },
})

/** As a v1.37.1 counted them: cpu that is asked for, and limits of it. */
const resized: readonly (readonly [string, Fields, string, string])[] = [
  ['set aside is more', { containerStatuses: [running('c', { cpu: '2' })] }, '2010m', '3'],
  ['in use is more', { containerStatuses: [running('c', { cpu: '2' }, { cpu: '4' }, { cpu: '9' })] }, '4010m', '11'],
  ['less in use', { containerStatuses: [running('c', { cpu: '1m' }, { cpu: '2m' }, { cpu: '3m' })] }, '1010m', '3'],
  [
    'each sum is of the whole pod',
    { containerStatuses: [running('c', { cpu: '2' }, { cpu: '3' }), running('d', { cpu: '30m' }, { cpu: '20m' })] },
    '3020m',
    '3',
  ],
  [
    'what is not in use counts as set aside, and what is not set aside as asked for',
    { containerStatuses: [running('c', { memory: '5' }, { cpu: '3' }), running('d', { cpu: '30m' })] },
    '3030m',
    '3',
  ],
  ['another container', { containerStatuses: [running('x', { cpu: '7' })] }, '1010m', '3'],
  [
    'not to be had there',
    {
      conditions: [{ type: 'PodResizePending', status: 'False', reason: 'Infeasible' }],
      containerStatuses: [running('c', { cpu: '3m' }), running('d', undefined, { cpu: '4m' }, { cpu: '5m' })],
    },
    '7m',
    '5m',
  ],
  [
    'what the node tells of the pod as a whole is for its scheduler',
    { allocatedResources: { cpu: '9' }, resources: { requests: { cpu: '9' }, limits: { cpu: '9' } } },
    '1010m',
    '3',
  ],
  ['not yet to be had', { conditions: [{ type: 'PodResizePending', reason: 'Deferred' }] }, '1010m', '3'],
]

test('pods that are resized take the most of what they ask for, have set aside and run with', () => {
  const spec = {
    containers: [
      { name: 'c', resources: { requests: { cpu: '1' }, limits: { cpu: '1' } } },
      { name: 'd', resources: { requests: { cpu: '10m' }, limits: { cpu: '2' } } },
    ],
  }
  const used = (status: Fields) => {
    const hard = { 'requests.cpu': '9', 'limits.cpu': '9' }
    const usage = usageOf(quota({ hard }), [{ resource: pods, objects: [pod(spec, status)] }], now)
    return [usage['requests.cpu'], usage['limits.cpu']]
  }
  for (const [name, status, requests, limits] of resized) assert.deepEqual(used(status), [requests, limits], name)
})

test('scopes choose the pods; what has no scopes counts for no quota that has them', () => {
  const objects = [pod({ containers: [{ name: 'c' }] }), pod(asking('1')), pod({ priorityClassName: 'high' })]
  const hard = { pods: '9', 'count/configmaps': '3' }
  const counted = [
    { resource: pods, objects },
    { resource: { group: '', resource: 'configmaps' }, objects: [pod({})] },
  ]
  const high = { matchExpressions: [{ scopeName: 'PriorityClass', operator: 'In', values: ['high'] }] }
  assert.deepEqual(usageOf(quota({ hard, scopes: ['BestEffort'] }), counted, now), {
    pods: '2',
    'count/configmaps': '0',
  })
  assert.equal(usageOf(quota({ hard, scopeSelector: high }), counted, now)['pods'], '1')
})

test('a scope and its opposite share the pods between them', () => {
  const objects = [pod({ containers: [{ name: 'c' }], activeDeadlineSeconds: 0 }), pod(asking('1')), pod(asking('2'))]
  const podsIn = (scope: string) =>
    usageOf(quota({ hard: { pods: '9' }, scopes: [scope] }), [{ resource: pods, objects }], now)['pods']
  assert.deepEqual(['Terminating', 'NotTerminating'].map(podsIn), ['1', '2'])
  assert.deepEqual(['BestEffort', 'NotBestEffort'].map(podsIn), ['1', '2'])
})

test('a pod that is ended at once uses nothing from then on, though a finalizer holds it', () => {
  const spec = asking('1')
  const going = (deletionGracePeriodSeconds: number) =>
    pod(spec, {}, { deletionTimestamp: '2026-01-01T00:00:59Z', deletionGracePeriodSeconds })
  const uses = (old: KubeObject, next: KubeObject) => usesOtherwise(pods, old as never, next as never, now)
  assert.deepEqual(
    [uses(pod(spec), going(30)), uses(pod(spec), going(0)), uses(going(30), going(0))],
    [false, true, true],
  )
})

test('objects of any kind are counted by their resource', () => {
  const hard = { 'count/widgets.example.com': '5', 'count/gadgets.example.com': '5' }
  const widgets = { resource: { group: 'example.com', resource: 'widgets' }, objects: [pod({}), pod({})] }
  assert.deepEqual(usageOf(quota({ hard }), [widgets], now), { 'count/widgets.example.com': '2' })
})

test('a status changes when usage or limits do, forgets what is limited no more and keeps what could not be counted', () => {
  const status = { hard: { pods: '2', x: '1' }, used: { pods: '1', x: '1' } }
  const same = { hard: { pods: '2', x: '1' } }
  assert.equal(quotaStatus(quota(same, status), { pods: '1' }), undefined)
  assert.deepEqual(quotaStatus(quota(same, status), { pods: '0' })?.used, { pods: '0', x: '1' })
  assert.deepEqual(quotaStatus(quota({ hard: { pods: '2' } }, status), { pods: '1' })?.used, { pods: '1' })
  assert.ok(isLower({ pods: '500m' }, { pods: '1' }))
  assert.ok(!isLower({ pods: '2', x: '1' }, { pods: '1' }))
})

test('an update matters when it changes what is used or the scopes', () => {
  const before = pod(asking('1'), { phase: 'Running', containerStatuses: [running('c', undefined, { cpu: '1' })] })
  const with2 = { containerStatuses: [running('c', undefined, { cpu: '2' })] }
  assert.ok(!usesOtherwise(pods, before, { ...before, status: { ...before['status'], message: 'x' } }, now))
  assert.ok(usesOtherwise(pods, before, { ...before, status: { ...before['status'], ...with2 } }, now))
  assert.ok(usesOtherwise(pods, before, { ...before, status: { phase: 'Succeeded' } }, now))
  assert.ok(
    usesOtherwise(pods, before, { ...before, spec: { containers: [], ...asking('1'), activeDeadlineSeconds: 3 } }, now),
  )
  const service = pod({ type: 'NodePort', ports: [{ port: 80 }] })
  assert.ok(usesOtherwise({ group: '', resource: 'services' }, service, pod({ type: 'ClusterIP' }), now))
})
