/** Controller managers over two API servers and three members of etcd: the one that leads is killed with -9, then the other stands still. */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { KubeObject } from '../../src/api/object.ts'
import type { Client } from '../../src/client/client.ts'
import { type RunningProcess, startProcess } from '../components/processes.ts'
import { skiff } from '../e2e/cluster.ts'
import { follow } from '../faults/follow.ts'
import type { ServerProcess } from '../history/server-process.ts'
import { lacks } from '../machine.ts'
import { play } from './fault-stage.ts'

const SHORT = [
  ...['--leader-elect-lease-duration', '4s', '--leader-elect-renew-deadline', '3s'],
  ...['--leader-elect-retry-period', '500ms'],
]
const DEPLOYMENTS = { group: 'apps', version: 'v1', resource: 'deployments' }
const PODS = { group: '', version: 'v1', resource: 'pods' }

test(
  'a controller manager is killed, another stands still and wakes: what they are for goes on, and nothing is done twice',
  {
    skip: lacks.etcd(),
    timeout: 300_000,
  },
  () => play(({ servers, workload }) => managersIn(servers, () => workload.progress(30)), { apart: true }),
)

async function managersIn(servers: readonly ServerProcess[], progress: () => Promise<void>): Promise<void> {
  const [one, two] = servers as readonly [ServerProcess, ServerProcess]
  const started: RunningProcess[] = []
  const managerOf = async ({ dataDir }: ServerProcess): Promise<RunningProcess> => {
    const user = ['--user', 'system:kube-controller-manager', '--groups', 'system:masters']
    const { out } = await skiff('kubeconfig', '--data-dir', dataDir, ...user)
    const kubeconfig = join(dataDir, 'manager.kubeconfig')
    writeFileSync(kubeconfig, out)
    const limits = ['--kube-api-qps', '500', '--kube-api-burst', '500']
    const process = startProcess(
      'controller-manager',
      '--kubeconfig',
      kubeconfig,
      '--secure-port',
      '0',
      ...limits,
      ...SHORT,
    )
    started.push(process)
    return process
  }
  try {
    const first = await managerOf(one)
    await first.until(/The controllers run/)
    const second = await managerOf(two)
    await second.until(/"The lease has a holder"/)
    await two.client.resource(DEPLOYMENTS).namespace('default').create(deployment(2))
    await podsOf(two.client, 2)

    first.child.kill('SIGKILL')
    await scale(two.client, 5)
    await second.until(/leads/)
    await podsOf(two.client, 5)
    await progress()

    const third = await managerOf(one)
    await third.until(/"The lease has a holder"/)
    second.child.kill('SIGSTOP')
    await scale(one.client, 9)
    await third.until(/leads/)
    await podsOf(one.client, 9)
    second.child.kill('SIGCONT')
    assert.equal(await second.ended, 1)
    await progress()
    await podsOf(one.client, 9)
  } finally {
    for (const { child, ended } of started) {
      child.kill('SIGKILL')
      await ended
    }
  }
}

const deployment = (replicas: number): KubeObject => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web' },
  spec: {
    replicas,
    selector: { matchLabels: { app: 'web' } },
    template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'c', image: 'nginx' }] } },
  },
})

const scale = (client: Client, replicas: number) =>
  client.resource(DEPLOYMENTS).namespace('default').patch('web', 'merge', { spec: { replicas } })

/** Resolves when there are so many, and the Deployment has seen them. Never were there more. */
async function podsOf(client: Client, count: number): Promise<void> {
  const pods = await follow(client.resource(PODS).namespace('default'))
  await pods.until(`${count} pods`, (all) => {
    assert.ok(all.size <= count, `${all.size} pods instead of ${count}`)
    return all.size === count
  })
  const deployments = await follow(client.resource(DEPLOYMENTS).namespace('default'))
  await deployments.until(`${count} replicas`, (all) => all.get('web')?.['status']?.replicas === count)
}
