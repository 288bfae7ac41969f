import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject } from '../../../../api/object.ts'
import type { ApiRequest, ApiResponse } from '../../../../api/request.ts'
import { conflict, type StatusError } from '../../../../api/status.ts'
import type { CacheReads } from '../../../reads.ts'
import type { AdmissionAttributes, AdmissionHost } from '../../plugin.ts'
import { resourceQuota } from './resource-quota.ts'

function quotaServer(
  hard: Readonly<Record<string, string>>,
  failFirst = 0,
  scopes: readonly string[] = [],
  counted: Readonly<Record<string, string>> = Object.fromEntries(Object.keys(hard).map((name) => [name, '0'])),
) {
  let quota: KubeObject = {
    apiVersion: 'v1',
    kind: 'ResourceQuota',
    metadata: { name: 'q', namespace: 'n' },
    spec: { hard, scopes },
    status: { hard, used: counted },
  }
  let writes = 0
  const loopback = async ({ body }: ApiRequest): Promise<ApiResponse> => {
    if (++writes <= failFirst) throw conflict({ group: '', resource: 'resourcequotas' }, 'q', 'modified')
    if (body?.kind === 'object') quota = body.object
    return { kind: 'object', status: 200, object: quota }
  }
  const reads = { list: () => [quota] } as unknown as CacheReads
  return {
    plugin: resourceQuota(reads, { loopback, fresh: () => undefined } as unknown as AdmissionHost),
    used: () => quota['status'].used as Readonly<Record<string, string>>,
    writes: () => writes,
  }
}

const creating = (i: number, spec: object = {}, dryRun = false): AdmissionAttributes =>
  ({
    operation: 'CREATE',
    endpoint: { row: { group: '', resource: 'pods', namespaced: true, chargesQuota: true } },
    subresource: '',
    namespace: 'n',
    name: `p${i}`,
    object: {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {},
      spec: { containers: [{ name: 'c', resources: {} }], ...spec },
    },
    dryRun,
  }) as unknown as AdmissionAttributes

test('of many creations at once no more are let through than the quota has left', async () => {
  const { plugin, used, writes } = quotaServer({ pods: '5' })
  const outcomes = await Promise.allSettled(Array.from({ length: 40 }, async (_, i) => plugin.validate?.(creating(i))))
  assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 5)
  assert.equal(used()['pods'], '5')
  assert.ok(writes() < 5, 'those that wait together are written together')
})

test('a quota that somebody else writes meanwhile is read and counted again', async () => {
  const { plugin, used, writes } = quotaServer({ pods: '1' }, 2)
  await plugin.validate?.(creating(1))
  assert.equal(used()['pods'], '1')
  assert.equal(writes(), 3)
})

test('a request that is judged once more, as another has come before its write, is charged once', async () => {
  const { plugin, used } = quotaServer({ pods: '1' })
  const request = { ...creating(1), charges: new Map() }
  await plugin.validate?.(request)
  await plugin.validate?.({ ...request, object: request.object })
  assert.equal(used()['pods'], '1')
  await assert.rejects(async () => plugin.validate?.({ ...creating(2), charges: new Map() }), /exceeded quota/)
})

test('what exceeds a quota is refused with what was asked, used and allowed', async () => {
  const { plugin } = quotaServer({ 'requests.cpu': '1', pods: '3' })
  const wanting = creating(1, { containers: [{ name: 'c', resources: { requests: { cpu: '1500m' } } }] })
  await assert.rejects(async () => plugin.validate?.(wanting), {
    message:
      'pods "p1" is forbidden: exceeded quota: q, requested: requests.cpu=1500m, used: requests.cpu=0, limited: requests.cpu=1',
  })
})

test('a quota of cpu makes every container say what it needs', async () => {
  const { plugin } = quotaServer({ 'limits.cpu': '1' })
  await assert.rejects(
    async () => plugin.validate?.(creating(1)),
    (error: StatusError) => error.message.endsWith('failed quota: q: must specify limits.cpu for: c'),
  )
  await plugin.validate?.(creating(2, { resources: { requests: { memory: '1' } } }))
})

test('what is not counted yet is told after what a pod does not say, with all that the quota has of pods', async () => {
  const { plugin } = quotaServer({ 'requests.cpu': '1', pods: '1', secrets: '1' }, 0, [], { pods: '0' })
  const says = (containers: readonly object[], told: string) =>
    assert.rejects(
      async () => plugin.validate?.(creating(1, { containers })),
      (error: StatusError) => error.message.endsWith(told),
    )
  await says([{ name: 'c' }], 'failed quota: q: must specify requests.cpu for: c')
  const asking = { requests: { cpu: '1' } }
  await says([{ name: 'c', resources: asking }], 'status unknown for quota: q, resources: pods,requests.cpu')
})

test('a dry run is judged and uses nothing', async () => {
  const { plugin, used } = quotaServer({ pods: '1' })
  await plugin.validate?.(creating(1, {}, true))
  assert.equal(used()['pods'], '0')
})

test('a deadline that is set on a pod brings the whole of it into the quotas of pods that end', async () => {
  const withDeadline = { ...creating(1, { activeDeadlineSeconds: 50 }), operation: 'UPDATE' } as AdmissionAttributes
  const setting = { ...withDeadline, oldObject: creating(1).object } as AdmissionAttributes
  const full = quotaServer({ pods: '0' }, 0, ['Terminating'])
  await assert.rejects(async () => full.plugin.validate?.(setting), {
    message: 'pods "p1" is forbidden: exceeded quota: q, requested: pods=1, used: pods=0, limited: pods=0',
  })
  const changing = { ...setting, oldObject: creating(1, { activeDeadlineSeconds: 60 }).object } as AdmissionAttributes
  await full.plugin.validate?.(changing)
  const open = quotaServer({ pods: '1' }, 0, ['Terminating'])
  await open.plugin.validate?.(setting)
  assert.equal(open.used()['pods'], '1')
  const all = quotaServer({ pods: '0', 'limits.cpu': '1' })
  await all.plugin.validate?.(setting)
})
