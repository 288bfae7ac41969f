/** kill -9 of a whole cluster in the middle of a deletion: started again, it brings the deletion to its end. */
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { liveRuntime } from '../../src/base/live-runtime.ts'
import { httpsTransport } from '../../src/client/https-transport.ts'
import { endpointFromKubeconfig } from '../../src/client/read-kubeconfig.ts'
import { createClient } from '../../src/client/transport.ts'
import { clusterDirectory } from '../../src/cluster/directory.ts'
import { rounds } from './answers.ts'
import { begin, ends, namespaceOf, type Policy, policies, prepare, progressIn } from './cascades.ts'
import { startServer } from './server.ts'

/** One for each kind of deletion. A round takes as long as twenty of those that kill a store alone. */
const ROUNDS = Math.floor(rounds(20 * policies.length) / 20)
const MOST_MORE = 10
/** Of the hundred dependents of the one that is watched, so many are left when the cluster is killed; all: it was only asked for. */
const LEFT = [99, 50, 'all'] as const

test('each kind of deletion, killed in its midst, ends after a new start, and nothing is half deleted', async (t) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'skiff-cascade-'))
  const { store } = clusterDirectory(dataDir)
  /** How often each kind was met in its midst, or (all left) at its beginning, in its own rounds, and how often not. */
  const met = new Map<Policy, { amid: number; missed: number }>()
  let cluster = await startCluster(dataDir)
  try {
    /** A busy machine may be through with a deletion before its watcher is told of the first step: then it is tried again. */
    const unmet = () => policies.find((policy) => (met.get(policy)?.amid ?? 0) === 0)
    for (let round = 0; round < ROUNDS || (round < ROUNDS + MOST_MORE && unmet() !== undefined); round++) {
      const watched = (round < ROUNDS ? policies[round % policies.length] : unmet()) as Policy
      const left = LEFT[Math.floor(round / policies.length) % LEFT.length] ?? 'all'
      const { client } = cluster
      await Promise.all(policies.map((policy) => prepare(client, namespaceOf(policy, round))))
      const begun = await Promise.all(
        policies.map(async (policy) => [policy, await begin(client, policy, namespaceOf(policy, round))] as const),
      )
      if (left !== 'all') await new Map(begun).get(watched)?.until(left)
      await cluster.kill()

      const progress = (await progressIn(store, round)).get(watched)
      const isMet = left === 'all' ? progress !== 'ended' : progress === 'under way'
      const share = met.get(watched) ?? { amid: 0, missed: 0 }
      met.set(watched, share)
      share[isMet ? 'amid' : 'missed']++

      cluster = await startCluster(dataDir)
      for (const policy of policies) await ends(cluster.client, policy, namespaceOf(policy, round))
    }
    for (const policy of policies) {
      const { amid, missed } = met.get(policy) ?? { amid: 0, missed: 0 }
      t.diagnostic(`${policy} was killed in its midst ${amid} times of ${amid + missed}`)
      assert.ok(amid > 0, `${policy} was never killed in its midst, of ${missed} times`)
    }
  } finally {
    await cluster.kill()
    rmSync(dataDir, { recursive: true, force: true })
  }
})

async function startCluster(dataDir: string) {
  const server = await startServer(dataDir, { args: ['--nodes', '2'] })
  server.client.close()
  const kubeconfig = readFileSync(clusterDirectory(dataDir).kubeconfig, 'utf8')
  const transport = httpsTransport(endpointFromKubeconfig(kubeconfig))
  return {
    client: createClient(liveRuntime(), transport, { userAgent: 'test' }),
    async kill() {
      server.kill()
      await server.ended
      transport.close()
    },
  }
}
