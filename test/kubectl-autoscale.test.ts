/** kubectl autoscale on simulated pods: their annotations say what they use, and the clock is moved by hand. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type Cluster, startCluster } from '../src/cluster/index.ts'
import { type Kubectl, kubectlFor, withoutKubectl } from './kubectl.ts'

let cluster: Cluster
let kubectl: Kubectl
before(async () => {
  cluster = await startCluster({ storage: 'memory', clock: 'manual' })
  kubectl = kubectlFor(cluster.kubeconfigFile)
})
after(() => cluster?.stop())

const use = async (cpu: string) => {
  await kubectl('annotate', 'pods', '-l', 'app=web', '--overwrite', `sim.skiff.dev/cpu=${cpu}`)
}
/** TARGETS and REPLICAS. */
const shown = async () => {
  const [heads = '', row = ''] = (await kubectl('get', 'hpa', 'web')).split('\n')
  const [targets, , , replicas] = row.slice(heads.indexOf('TARGETS')).split(/\s{2,}/)
  return [targets, replicas]
}
const ready = async () =>
  Number((await kubectl('get', 'deployment', 'web', '-o', 'jsonpath={.status.readyReplicas}')) || 0)

test('kubectl autoscale scales a Deployment up and, after five minutes, down', { skip: withoutKubectl }, async () => {
  await kubectl('create', 'deployment', 'web', '--image=nginx', '--replicas=2')
  await kubectl('set', 'resources', 'deployment', 'web', '--requests=cpu=100m')
  await kubectl('autoscale', 'deployment', 'web', '--cpu=50%', '--min=2', '--max=4')
  // Samples of pods that have only just become ready do not count: their windows began before.
  await cluster.clock.advance('60s')
  assert.deepEqual(await shown(), ['cpu: 10%/50%', '2'])

  await use('120m')
  await cluster.clock.advance('15s')
  assert.deepEqual(await shown(), ['cpu: 120%/50%', '2'])
  await cluster.clock.advance('15s')
  assert.equal(await ready(), 4)

  await use('10m')
  await cluster.clock.advance('4m')
  assert.equal(await ready(), 4)
  await cluster.clock.advance('2m')
  assert.equal(await ready(), 2)
  assert.deepEqual(await shown(), ['cpu: 10%/50%', '2'])
  const told = await kubectl(
    'get',
    'events',
    '--field-selector=reason=SuccessfulRescale',
    '-o',
    'jsonpath={.items[*].message}',
  )
  assert.match(told, /New size: 4; reason: cpu resource utilization \(percentage of request\) above target/)
  assert.match(told, /New size: 2; reason: All metrics below target/)
})
