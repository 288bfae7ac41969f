import assert from 'node:assert/strict'
import { test } from 'node:test'
import { simulatedRuntime } from '../base/simulated-runtime.ts'
import { createCorrelation } from './event-correlation.ts'

const event = (name: string, message: string, host = 'a') => ({
  kind: 'Event',
  apiVersion: 'v1',
  metadata: { name: `${name}.1`, namespace: 'default' },
  involvedObject: { kind: 'Pod', apiVersion: 'v1', namespace: 'default', name, uid: name },
  source: { component: 'kubelet', host },
  type: 'Normal',
  reason: 'Started',
  message,
  count: 1,
  firstTimestamp: '2026-01-01T00:00:00Z',
  reportingComponent: 'kubelet',
  reportingInstance: host,
})

const count = (correlated: ReturnType<ReturnType<typeof createCorrelation>['correlate']>) => correlated?.event.count

test('recorders that share what is remembered count each its own Events', () => {
  const { correlate } = createCorrelation(simulatedRuntime(1).clock)
  assert.equal(count(correlate(event('pod', 'up', 'a'))), 1)
  assert.equal(count(correlate(event('pod', 'up', 'b'))), 1)
  assert.equal(count(correlate(event('pod', 'up', 'a'))), 2)
})

test('of more objects than are remembered those told of least recently are forgotten', () => {
  const { correlate } = createCorrelation(simulatedRuntime(1).clock, 2)
  correlate(event('one', 'up'))
  correlate(event('two', 'up'))
  assert.equal(count(correlate(event('one', 'up'))), 2)
  correlate(event('three', 'up'))
  assert.equal(count(correlate(event('one', 'up'))), 3)
  assert.equal(count(correlate(event('two', 'up'))), 1)
})

test('an Event that differs by the container it is about is not the same one again', () => {
  const { correlate } = createCorrelation(simulatedRuntime(1).clock)
  const about = (fieldPath: string) => {
    const whole = event('pod', 'up')
    return { ...whole, involvedObject: { ...whole.involvedObject, fieldPath } }
  }
  correlate(about('spec.containers{a}'))
  assert.equal(count(correlate(about('spec.containers{b}'))), 1)
  assert.equal(count(correlate(about('spec.containers{a}'))), 2)
})

test('an object’s warnings leave it its share of other Events', () => {
  const { correlate } = createCorrelation(simulatedRuntime(1).clock)
  const warning = () => correlate({ ...event('pod', 'no'), type: 'Warning', reason: 'Failed' })
  for (let told = 0; told < 25; told += 1) assert.ok(warning() !== undefined)
  assert.equal(warning(), undefined)
  assert.equal(count(correlate(event('pod', 'up'))), 1)
})
