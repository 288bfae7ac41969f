/** Quotas, stateful sets, daemon sets and cron jobs, by the commands their users type. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { withoutKubectl } from '../kubectl.ts'
import { type E2eCluster, startE2eCluster } from './cluster.ts'

describe('workload controllers', { skip: withoutKubectl, concurrency: true }, () => {
  let cluster: E2eCluster
  before(async () => {
    cluster = await startE2eCluster('--nodes', '2')
  })
  after(() => cluster.stop())

  test('quota: what is used is shown, what would exceed it is refused, what goes makes room', async () => {
    const kubectl = await cluster.namespace('quota')
    using quotas = kubectl.watch('resourcequotas')
    await kubectl('create', 'quota', 'q', '--hard=configmaps=2,count/deployments.apps=1')
    const used = (count: string) => quotas.until(({ object }) => object.status?.used?.configmaps === count)
    await used('1')
    await kubectl('create', 'configmap', 'a')
    assert.match(await kubectl('describe', 'quota', 'q'), /configmaps +2 +2\ncount\/deployments.apps +0 +1/)
    const { code, err } = await kubectl.run(['create', 'configmap', 'b'])
    assert.equal(code, 1)
    assert.match(err, /exceeded quota: q, requested: configmaps=1, used: configmaps=2, limited: configmaps=2/)
    await kubectl('delete', 'configmap', 'a')
    await used('1')
    await kubectl('create', 'configmap', 'b')
  })
})
