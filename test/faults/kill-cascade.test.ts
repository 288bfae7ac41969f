/** kill -9 of a whole cluster in the middle of a deletion: started again, it brings the deletion to its end. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { liveRuntime } from '../../src/base/live.ts'
import type { HttpsClient } from '../../src/http/client.ts'
import { rounds } from './answers.ts'
import { ask, startServer } from './server.ts'

const APPS = '/apis/apps/v1/namespaces'
const PODS = 4
const KINDS = ['deployments', 'replicasets', 'pods'] as const
const POLICIES = ['Foreground', 'Background', 'Orphan', 'namespace'] as const
/** Between the delete's answer and the kill: none, so that it is only marked, or some time for a part of it. */
const PAUSES_MS = [0, 60, 300]
/** A round takes as long as twenty of those that kill a store alone. */
const ROUNDS = Math.floor(rounds(60) / 20)
const { clock } = liveRuntime()

const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))

async function until(what: string, isSo: () => Promise<boolean>): Promise<void> {
  const began = clock.monotonic()
  while (!(await isSo())) {
    assert.ok(clock.monotonic() - began < 60_000, `after a minute still not: ${what}`)
    await sleep(50)
  }
}

async function must(client: HttpsClient, method: string, path: string, body?: object) {
  const { status, text } = await ask(client, method, path, body)
  assert.ok(status < 300, `${method} ${path}: ${text}`)
  return JSON.parse(text)
}

interface Found {
  readonly metadata: {
    readonly name: string
    readonly deletionTimestamp?: string
    readonly finalizers?: readonly string[]
    readonly ownerReferences?: readonly { readonly kind: string }[]
  }
}

async function found(
  client: HttpsClient,
  namespace: string,
): Promise<Record<(typeof KINDS)[number], readonly Found[]>> {
  const lists = await Promise.all(
    KINDS.map(async (kind) => {
      const root = kind === 'pods' ? '/api/v1/namespaces' : APPS
      return [kind, (await must(client, 'GET', `${root}/${namespace}/${kind}`)).items] as const
    }),
  )
  return Object.fromEntries(lists) as unknown as Record<(typeof KINDS)[number], readonly Found[]>
}

const deployment = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web' },
  spec: {
    replicas: PODS,
    selector: { matchLabels: { app: 'web' } },
    template: {
      metadata: { labels: { app: 'web' } },
      spec: { terminationGracePeriodSeconds: 1, containers: [{ name: 'c', image: 'i' }] },
    },
  },
}

test('each kind of deletion, killed in its midst, ends after a new start, and nothing is half deleted', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'skiff-cascade-'))
  const args = ['--nodes', '2']
  try {
    for (let round = 0; round < ROUNDS; round++) {
      const server = await startServer(dataDir, { args })
      const namespace = (policy: string) => `${policy.toLowerCase()}-${round}`
      for (const policy of POLICIES) {
        const name = namespace(policy)
        await must(server.client, 'POST', '/api/v1/namespaces', {
          apiVersion: 'v1',
          kind: 'Namespace',
          metadata: { name },
        })
        await until(
          'accounts',
          async () =>
            (await ask(server.client, 'GET', `/api/v1/namespaces/${name}/serviceaccounts/default`)).status === 200,
        )
        await must(server.client, 'POST', `${APPS}/${name}/deployments`, deployment)
      }
      for (const policy of POLICIES) {
        const path = `${APPS}/${namespace(policy)}/deployments/web`
        await until('available', async () => (await must(server.client, 'GET', path)).status.readyReplicas === PODS)
      }
      await Promise.all(
        POLICIES.map((policy) =>
          policy === 'namespace'
            ? must(server.client, 'DELETE', `/api/v1/namespaces/${namespace(policy)}`)
            : must(server.client, 'DELETE', `${APPS}/${namespace(policy)}/deployments/web`, {
                apiVersion: 'v1',
                kind: 'DeleteOptions',
                propagationPolicy: policy,
              }),
        ),
      )
      await sleep(PAUSES_MS[round % PAUSES_MS.length] as number)
      server.kill()
      await server.ended
      server.client.close()

      const again = await startServer(dataDir, { args })
      for (const policy of ['Foreground', 'Background'] as const) {
        await until(`the end of ${policy}`, async () => {
          const left = await found(again.client, namespace(policy))
          return KINDS.every((kind) => left[kind].length === 0)
        })
      }
      await until(
        'the end of the namespace',
        async () => (await ask(again.client, 'GET', `/api/v1/namespaces/${namespace('namespace')}`)).status === 404,
      )
      assert.equal(Object.values(await found(again.client, namespace('namespace'))).flat().length, 0)
      await until(
        'the end of Orphan',
        async () => (await found(again.client, namespace('Orphan'))).deployments.length === 0,
      )
      const orphans = await found(again.client, namespace('Orphan'))
      assert.deepEqual([orphans.replicasets.length, orphans.pods.length], [1, PODS])
      for (const { metadata } of [...orphans.replicasets, ...orphans.pods]) {
        assert.equal(metadata.deletionTimestamp, undefined, metadata.name)
        assert.equal(metadata.finalizers, undefined, metadata.name)
      }
      assert.equal(orphans.replicasets[0]?.metadata.ownerReferences, undefined)
      again.client.close()
      again.kill()
      await again.ended
    }
  } finally {
    rmSync(dataDir, { recursive: true, force: true })
  }
})
