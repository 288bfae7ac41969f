/** skiff up --scheduler-config: the profiles of a file, in a whole cluster and its fork, and how a wrong file is refused. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { schedulerOf } from '../src/cli/scheduler-flags.ts'
import { startCluster } from '../src/cluster/cluster.ts'
import type { Cluster } from '../src/cluster/cluster-options.ts'

const folder = mkdtempSync(join(tmpdir(), 'skiff-scheduler-config-'))
after(() => rmSync(folder, { recursive: true }))
const file = join(folder, 'config.yaml')
const HEAD = 'apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n'

async function read(text: string | undefined, more: object = {}) {
  rmSync(file, { force: true })
  if (text !== undefined) writeFileSync(file, text)
  return schedulerOf({ schedulerConfig: file, ...more })
}

test('pods choose a profile of the file by name, and its plugins place them', async () => {
  const options = await read(
    `${HEAD}profiles:\n- schedulerName: default-scheduler\n- schedulerName: blind\n  plugins: {multiPoint: {disabled: [{name: NodeUnschedulable}, {name: TaintToleration}]}}\n`,
  )
  const cluster = await startCluster({ storage: 'memory', clock: 'manual', ...options })
  try {
    assert.deepEqual(await placed(cluster), ['', 'skiff-1'])
    const fork = await cluster.fork()
    await fork.running
    assert.deepEqual(await placed(fork), ['', 'skiff-1'])
  } finally {
    await cluster.stop()
  }
})

/** The nodes of a pod of each profile, where the only node is cordoned. */
async function placed({ client, clock }: Pick<Cluster, 'client' | 'clock'>): Promise<readonly string[]> {
  const pods = client.core.pods('default')
  const [node] = (await client.core.nodes().list()).items
  await client.core.nodes().patch(node?.metadata.name ?? '', 'merge', { spec: { unschedulable: true } })
  for (const name of PROFILES)
    await pods.create({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name },
      spec: { schedulerName: name, containers: [{ name: 'c', image: 'i' }] },
    })
  await clock.advance('5s')
  const found = await Promise.all(PROFILES.map((name) => pods.get(name)))
  await pods.deleteCollection({})
  await clock.advance('1m')
  return found.map(({ spec }) => spec?.nodeName ?? '')
}
const PROFILES = ['default-scheduler', 'blind'] as const

test('a file that is wrong, or says what would change nothing, ends the start with one line', async () => {
  const refusal = (text: string | undefined, more?: object) =>
    read(text, more).then(
      () => 'taken',
      (error: Error) => error.message.replaceAll(file, 'FILE'),
    )
  assert.equal(await refusal(undefined), "--scheduler-config FILE: ENOENT: no such file or directory, open 'FILE'")
  assert.equal(await refusal('kind: Pod'), "--scheduler-config FILE: Object 'apiVersion' is missing in 'kind: Pod'")
  assert.equal(
    await refusal(HEAD, { components: ['apiserver'] }),
    '--scheduler-config needs the scheduler among --components',
  )
  for (const text of [
    '',
    ': [',
    `${HEAD}profiles: 3`,
    `${HEAD}percentageOfNodesToScore: 200`,
    `${HEAD}profiles: [{schedulerName: a}, {schedulerName: a}]`,
  ])
    assert.match(await refusal(text), /^--scheduler-config FILE: [^\n]+$/)
})
