/**
 * What npm run release makes, for this machine: unpacked and run where nothing else is, and installed by the real setup-envtest out
 * of its own index. Needs Go, as interop/build does.
 */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
} from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { lacks } from './machine.ts'

const run = promisify(execFile)
const root = fileURLToPath(new URL('..', import.meta.url))
const setupEnvtest = join(root, 'interop/bin/setup-envtest')
const envtest = join(root, 'interop/bin/envtest.test')
const platform = `${process.platform}-${process.arch}`
const skip = existsSync(setupEnvtest)
  ? platform === 'linux-x64' || platform === 'linux-arm64'
    ? false
    : `no release is tested on ${platform}`
  : 'setup-envtest is not built: interop/build does it (needs Go)'

const pytest = join(root, 'sdk/pytest')

/** A user whom no machine knows, without a home. */
const STRANGER = 54321

describe('the release', { skip, timeout: 900_000 }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'skiff-release-'))
  const out = join(folder, 'out')
  const server = createServer((request, response) => {
    const file = join(out, (request.url ?? '').slice(1))
    if (existsSync(file)) response.end(readFileSync(file))
    else response.writeHead(404).end()
  })
  let url = ''
  const python = join(folder, 'python')
  let installed: Promise<unknown> | undefined

  before(async () => {
    // Beside all that comes before it is needed.
    if (lacks.python() === false) installed = installPytest(folder, python)
    installed?.catch(() => {})
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const args = [join(root, 'tools/release/main.ts'), '--platform', platform, '--out', out, '--base-url', url]
    await run(process.execPath, args, { cwd: root })
  })
  after(() => {
    server.close()
    rmSync(folder, { recursive: true, force: true })
  })

  const archive = () => readdirSync(out).find((name) => name.startsWith('skiff-') && name.endsWith('.tar.gz')) as string

  test('its sums are those of its files, and its bill of materials names what is in it', () => {
    const sums = readFileSync(join(out, 'SHA256SUMS'), 'utf8').trimEnd().split('\n')
    for (const line of sums) {
      const [sum, name = ''] = line.split('  ')
      assert.equal(
        createHash('sha256')
          .update(readFileSync(join(out, name)))
          .digest('hex'),
        sum,
      )
    }
    assert.equal(sums.length, 2)
    const bill = readdirSync(out).find((name) => name.endsWith('.cdx.json')) as string
    const { components } = JSON.parse(readFileSync(join(out, bill), 'utf8'))
    const names = components.map(({ name }: { name: string }) => name)
    for (const name of [
      'lmdb',
      'ws',
      'pino',
      'preact',
      'kubectl',
      `node-${platform}`,
      `@lmdb/lmdb-${platform}`,
      'libstdc++6',
    ])
      assert.ok(names.includes(name), name)
    assert.ok(!names.includes('typescript'))
  })

  test('it runs where nothing is but glibc and a shell, as a user without a home', {
    skip: lacks.chroot(),
  }, async () => {
    const bare = join(folder, 'bare')
    for (const path of ['bin', 'dev', 'tmp']) mkdirSync(join(bare, path), { recursive: true })
    chmodSync(join(bare, 'tmp'), 0o1777)
    await run('mknod', ['-m', '666', join(bare, 'dev/null'), 'c', '1', '3'])
    copyFileSync(realpathSync('/bin/sh'), join(bare, 'bin/sh'))
    // What the shell and Node ask of the loader, but for the C++ library: Node's own comes with the archive.
    const { stdout: asked } = await run('ldd', [process.execPath])
    for (const path of new Set([...asked.matchAll(/\/\S+/g)].map(([found]) => found))) {
      if (/libstdc|libgcc_s|bin\/node/.test(path)) continue
      mkdirSync(join(bare, dirname(path)), { recursive: true })
      copyFileSync(path, join(bare, path))
    }
    await run('tar', ['-xzf', join(out, archive()), '-C', bare])
    const unpacked = join(bare, archive().replace('.tar.gz', ''))
    const missing = readdirSync(unpacked)
      .filter((name) => name.endsWith('.mjs'))
      .flatMap((name) => [
        ...readFileSync(join(unpacked, name), 'utf8').matchAll(/new URL\("\.\/([^"]+)", import\.meta\.url\)/g),
      ])
      .filter(([, name = '']) => !existsSync(join(unpacked, name)))
    assert.deepEqual(missing.map(String), [], 'files that the code reads from beside it')
    const at = `/${archive().replace('.tar.gz', '')}`
    const inside = (program: string, ...args: string[]) =>
      run('chroot', [`--userspec=${STRANGER}:${STRANGER}`, bare, `${at}/${program}`, ...args], {
        env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' },
        timeout: 120_000,
      })
    await assert.rejects(inside('skiff', 'up', '--detach'), {
      stderr: "skiff: required option '--data-dir <dir>' not specified\n",
    })
    await inside('skiff', 'up', '--detach', '--data-dir', '/tmp/c', '--port', '0')
    try {
      const { stdout } = await inside('kubectl', '--kubeconfig', '/tmp/c/kubeconfig', 'get', 'nodes', '-o', 'name')
      assert.equal(stdout, 'node/skiff-1\n')
      const { stdout: explained } = await inside(
        'kubectl',
        '--kubeconfig',
        '/tmp/c/kubeconfig',
        'explain',
        'pods.spec.nodeName',
      )
      assert.match(explained, /DESCRIPTION:\n {4}\w/)
    } finally {
      await inside('skiff', 'down', '--data-dir', '/tmp/c')
    }
    assert.equal((await inside('skiff', 'envtest', 'path')).stdout, `${at}\n`)
    assert.match((await inside('etcd', '--help')).stdout, /--listen-client-urls/)
  })

  test('setup-envtest installs it from its index, and envtest runs on what it installed', async () => {
    const args = ['--index', `${url}/envtest-releases.yaml`, '--bin-dir', join(folder, 'installed')]
    const { stdout } = await run(setupEnvtest, ['use', '1.37.x', ...args, '-p', 'path'])
    try {
      const env = {
        ...process.env,
        KUBEBUILDER_ASSETS: stdout,
        KUBEBUILDER_ATTACH_CONTROL_PLANE_OUTPUT: 'true',
        SKIFF_COMPONENTS: '',
      }
      const ended = await run(envtest, ['-test.run', '^TestTheApiServerAlone$', '-test.timeout', '150s'], {
        env,
      }).catch((error) => error)
      assert.equal(ended.code ?? 0, 0, `${ended.stdout}${ended.stderr}`)
    } finally {
      // It takes the right to write away.
      await run('chmod', ['-R', 'u+w', join(folder, 'installed')])
    }
  })

  test('the plugin for pytest passes its tests on it', { skip: lacks.python() }, async () => {
    const unpacked = join(folder, 'unpacked')
    mkdirSync(unpacked)
    await run('tar', ['-xzf', join(out, archive()), '-C', unpacked])
    const env = { ...process.env, SKIFF_BIN: join(unpacked, archive().replace('.tar.gz', ''), 'skiff') }
    await installed
    const args = ['-q', '-p', 'no:cacheprovider', join(pytest, 'tests')]
    const ended = await run(join(python, 'bin/pytest'), args, { env }).catch((error) => error)
    assert.match(ended.stdout, /^15 passed/m, `${ended.stdout}${ended.stderr}`)
  })
})

/** With the official client from PyPI, in a virtual environment. pip writes into what it installs from: a copy. */
async function installPytest(folder: string, python: string): Promise<void> {
  const copy = join(folder, 'pytest')
  cpSync(pytest, copy, { recursive: true })
  await run('python3', ['-m', 'venv', python])
  await run(join(python, 'bin/pip'), ['install', '--quiet', `${copy}[kubernetes]`])
}
