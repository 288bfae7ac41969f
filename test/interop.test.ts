/**
 * Go clients against a cluster of a process of its own: the tests of interop/clients, each one a test here. The binary is
 * built by interop/build, where Go is.
 */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { type E2eCluster, startE2eCluster } from './e2e/cluster.ts'

const binary = fileURLToPath(new URL('../interop/bin/clients.test', import.meta.url))
const skip = existsSync(binary) ? false : 'the Go clients are not built: interop/build does it (needs Go)'
const run = promisify(execFile)

const TESTS = {
  TestTypedClient: 'typed client-go clients, in JSON and in protobuf',
  TestDynamicAndMetadataClients: 'dynamic and metadata clients, discovery and OpenAPI',
  TestSharedInformersStreamTheirLists: 'shared informers stream their lists',
  TestLeaderElection: 'leader election hands over',
  TestServerSideApply: 'server-side apply with apply configurations',
  TestOperatorIsDeletedInTheForeground: 'an operator of controller-runtime, deleted in the foreground',
  TestOperatorWithWebhooks:
    'an operator as kubebuilder scaffolds it: two versions, conversion, defaulting and validating webhooks over TLS behind a Service',
}

describe('Go clients', { skip }, () => {
  let cluster: E2eCluster | undefined
  before(async () => {
    cluster = await startE2eCluster('--components', 'apiserver,controllers,scheduler')
  })
  after(() => cluster?.stop())

  test('every test of the binary is named here', async () => {
    const { stdout } = await run(binary, ['-test.list', '.*'])
    assert.deepEqual(stdout.trim().split('\n').sort(), Object.keys(TESTS).sort())
  })

  for (const [name, what] of Object.entries(TESTS))
    test(what, async () => {
      const env = { ...process.env, KUBECONFIG: cluster?.kubeconfig }
      const ended = await run(binary, ['-test.run', `^${name}$`, '-test.timeout', '90s'], { env }).catch(
        (error) => error,
      )
      assert.equal(ended.code ?? 0, 0, `${ended.stdout}${ended.stderr}`)
    })
})
