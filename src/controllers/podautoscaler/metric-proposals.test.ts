import assert from 'node:assert/strict'
import { test } from 'node:test'
import { answerMetrics, type Metrics } from '../../../test/autoscaling/metrics-stub.ts'
import type { MetricSpec, MetricTarget, Pod } from '../../api/generated/types.ts'
import { simulatedRuntime } from '../../base/simulated-runtime.ts'
import { createClient, inProcessTransport } from '../../client/transport.ts'
import { MetricFailure, proposalOf } from './metric-proposals.ts'
import { createMetricsClient } from './metrics-client.ts'
import { valueReplicas } from './replica-calculator.ts'
import { USUAL_OPTIONS } from './settings.ts'

const services = { group: '', version: 'v1', resource: 'services', kind: 'Service', namespaced: true }

/** What two replicas become, of which none or each is ready. */
async function replicasFor(spec: MetricSpec, metrics: Metrics, ready = false): Promise<number> {
  const runtime = simulatedRuntime(1)
  const pods = ['a', 'b'].map((name) => podOf(name, ready))
  const transport = inProcessTransport(async ({ path }) => {
    const { code, body } = answerMetrics(path, runtime.clock.now(), () => ({ metrics, pods: ['a', 'b'] })) ?? {
      code: 404,
      body: {},
    }
    const bytes = [Buffer.from(JSON.stringify(body))]
    return { kind: 'bytes', status: code, contentType: 'application/json', bytes }
  })
  const client = createClient(runtime, transport, { user: { name: 'test', groups: [] }, userAgent: 'test' })
  const reader = createMetricsClient(runtime, client, async () => services as never, 1000)
  const tolerances = { down: 0.1, up: 0.1 }
  const counted = { pods, nowMs: runtime.clock.now(), options: USUAL_OPTIONS, tolerances }
  const target = { namespace: 'here', selector: '', wanted: 2, present: 2, counted }
  return (await runtime.complete(proposalOf(reader, spec, target))).replicas
}

const podOf = (name: string, ready: boolean): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'here' },
  spec: { containers: [{ name: 'c', resources: { requests: { memory: '1Mi' } } }] },
  status: { phase: 'Running', conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }] },
})

const metric = { name: 'load' }
const describedObject = { apiVersion: 'v1', kind: 'Service', name: 'x' }
const value = (amount: string): MetricTarget => ({ type: 'Value', value: amount })
const average = (amount: string): MetricTarget => ({ type: 'AverageValue', averageValue: amount })
const custom = (amount: string) => ({ custom: { 'services/load': [amount], 'pods/load': [amount] } })
const TOO_MUCH = /the amount -?1e400 is more than can be counted/

for (const amount of ['1e400', '-1e400'])
  test(`a metrics API that tells ${amount} makes no number of replicas, whatever the metric's type`, async () => {
    const answers: readonly (readonly [MetricSpec, Metrics])[] = [
      [{ type: 'External', external: { metric, target: value('5') } }, { external: { load: [amount] } }],
      [{ type: 'External', external: { metric, target: average('5') } }, { external: { load: ['1', amount] } }],
      [{ type: 'Object', object: { metric, describedObject, target: value('5') } }, custom(amount)],
      [{ type: 'Object', object: { metric, describedObject, target: average('5') } }, custom(amount)],
      [{ type: 'Pods', pods: { metric, target: average('5') } }, custom(amount)],
      [
        { type: 'Resource', resource: { name: 'memory', target: average('5') } },
        { pods: [{ containers: { c: { memory: amount } } }] },
      ],
      [
        { type: 'Resource', resource: { name: 'memory', target: { type: 'Utilization', averageUtilization: 50 } } },
        { pods: [{ containers: { c: { memory: amount } } }] },
      ],
    ]
    for (const [spec, metrics] of answers)
      await assert.rejects(replicasFor(spec, metrics), (error) => {
        assert.ok(error instanceof MetricFailure, JSON.stringify(spec))
        assert.equal(error.reason, `FailedGet${spec.type}Metric`)
        assert.match(error.message, TOO_MUCH)
        return true
      })
  })

test('a target beyond what can be counted is told too, and the largest amount that can be is followed', async () => {
  const external = (target: MetricTarget): MetricSpec => ({ type: 'External', external: { metric, target } })
  await assert.rejects(replicasFor(external(value('1e400')), { external: { load: ['5'] } }), TOO_MUCH)
  const most = { external: { load: ['9223372036854775807m'] } }
  assert.equal(await replicasFor(external(value('1m')), most, true), 2_147_483_647)
  assert.equal(await replicasFor(external(value('1m')), most), 0)
})

test('what is no number is never a proposal', () => {
  const counted = { pods: [podOf('a', false)], tolerances: { down: 0.1, up: 0.1 } }
  assert.throws(() => valueReplicas(2, 1n, 10n ** 400n, counted), /make no number of replicas/)
  assert.throws(() => valueReplicas(0, 1n, 10n ** 400n, counted), /make no number of replicas/)
})
