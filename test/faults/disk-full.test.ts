/** A disk that is really full, and one that fails: what the store says then, and that the process outlives its logs. */
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { liveRuntime } from '../../src/base/live-runtime.ts'
import { endpointFromKubeconfig } from '../../src/client/read-kubeconfig.ts'
import { type StoreState, startCluster } from '../../src/cluster/index.ts'
import { createHttpsClient, type HttpsClient } from '../../src/http/client.ts'
import { lacks } from '../machine.ts'
import { noiseOf } from './noise.ts'
import { straceMissing } from './power.ts'
import { ask, bin, CONFIG_MAPS, configMap, startServer } from './server.ts'

const MB = 1 << 20
const AUDIT_POLICY = 'apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{ level: Metadata }]\n'
const { clock } = liveRuntime()

/** A file system of so many megabytes, and room taken from it. */
function smallDisk(megabytes: number) {
  const path = mkdtempSync(join(tmpdir(), 'skiff-full-'))
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', path])
  return {
    path,
    take: (bytes: number) => writeFileSync(join(path, 'taken'), Buffer.alloc(bytes)),
    /** All that is left, to the last block. */
    takeRest() {
      for (let i = 0, bytes = megabytes * MB; bytes >= 4096; i++) {
        try {
          writeFileSync(join(path, `rest-${i}`), Buffer.alloc(bytes))
        } catch {
          bytes /= 2
        }
      }
    },
    giveBack() {
      for (const name of readdirSync(path)) if (/^(taken|rest)/.test(name)) rmSync(join(path, name))
    },
    [Symbol.dispose]() {
      execFileSync('umount', ['-l', path])
      rmSync(path, { recursive: true })
    },
  }
}

/** The store looks for room four times a second; a machine that is busy with other tests may need longer. */
const PATIENCE_MS = 30_000

/** Asks again and again until it is so. */
async function until(what: string, isSo: () => Promise<boolean>): Promise<void> {
  const began = clock.monotonic()
  while (!(await isSo())) {
    assert.ok(clock.monotonic() - began < PATIENCE_MS, `after ${PATIENCE_MS} ms still not: ${what}`)
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, 20)
      timer.ref()
    })
  }
}

/** Writes ConfigMaps of a megabyte until one is refused; gives how many there are. */
async function fill(client: HttpsClient): Promise<number> {
  const text = noiseOf(MB - 4096)
  for (let i = 0; ; i++) {
    assert.ok(i < 200, 'the disk is never full')
    const answer = await ask(client, 'POST', CONFIG_MAPS, configMap(`c-${i}`, text))
    if (answer.status === 201) continue
    assert.equal(answer.status, 500, answer.text)
    assert.match(JSON.parse(answer.text).message, /the store has no room on its disk \(.*ENOSPC/)
    return i
  }
}

const names = async (client: HttpsClient): Promise<string[]> =>
  JSON.parse((await ask(client, 'GET', CONFIG_MAPS)).text)
    .items.map(({ metadata }: { metadata: { name: string } }) => metadata.name)
    .filter((name: string) => name.startsWith('c-'))

const skiff = (...args: string[]) => spawnSync(process.execPath, [bin, ...args], { encoding: 'utf8' })

test('a full disk: writes are refused with why, health and status say so, logs fail alone, and with room it goes on', {
  skip: lacks.tmpfs(),
}, async () => {
  using disk = smallDisk(48)
  const policy = join(disk.path, 'policy.yaml')
  const dataDir = join(disk.path, 'data')
  writeFileSync(policy, AUDIT_POLICY)
  disk.take(12 * MB)
  const args = ['--components', 'apiserver', '--audit-policy-file', policy, '-v', '6']
  const server = await startServer(dataDir, { args, deaf: true })
  const { client } = server
  try {
    const count = await fill(client)
    assert.ok(count > 10)
    for (const path of ['/readyz', '/livez', '/healthz']) {
      const { status, text } = await ask(client, 'GET', path)
      assert.equal(status, 500, path)
      assert.match(text, /^\[-\]etcd failed: reason withheld$/m)
    }
    assert.match((await ask(client, 'GET', '/readyz')).text, /^\[-\]etcd-readiness failed: reason withheld$/m)
    assert.match((await ask(client, 'GET', '/healthz/etcd')).text, /ENOSPC: no space left on device/)
    assert.equal((await ask(client, 'GET', '/healthz/ping')).status, 200)
    const components = JSON.parse((await ask(client, 'GET', '/api/v1/componentstatuses/etcd-0')).text)
    assert.equal(components.conditions[0].status, 'False')
    const status = skiff('status', '--data-dir', dataDir)
    assert.equal(status.status, 1)
    assert.match(status.stdout, /^ready: +no: .*the store has no room on its disk/m)
    // The rest of the disk, so that no log has a place for a line.
    disk.takeRest()
    for (let i = 0; i < 100; i++) {
      assert.equal((await ask(client, 'POST', CONFIG_MAPS, configMap('refused', 'x'))).status, 500)
      assert.equal((await ask(client, 'GET', `${CONFIG_MAPS}/c-0`)).status, 200)
    }
    disk.giveBack()
    await until('ready', async () => (await ask(client, 'GET', '/readyz')).status === 200)
    assert.equal((await ask(client, 'POST', CONFIG_MAPS, configMap('c-after', 'x'))).status, 201)
    assert.equal((await names(client)).length, count + 1)
    assert.match(readFileSync(join(dataDir, 'log'), 'utf8'), /lines of this log were lost: .*ENOSPC/)
    server.kill('SIGTERM')
    assert.equal((await server.ended).code, 0)
    client.close()
    const again = await startServer(dataDir, { args })
    assert.equal((await names(again.client)).length, count + 1)
    again.client.close()
    again.kill('SIGTERM')
    assert.equal((await again.ended).code, 0)
  } finally {
    server.kill()
  }
})

test('a start on a full disk is refused in one line, and leaves what is there', { skip: lacks.tmpfs() }, async () => {
  using disk = smallDisk(16)
  const dataDir = join(disk.path, 'data')
  const first = await startServer(dataDir)
  assert.equal((await ask(first.client, 'POST', CONFIG_MAPS, configMap('c-0', 'x'))).status, 201)
  first.client.close()
  first.kill('SIGTERM')
  await first.ended
  const { size } = statSync(join(dataDir, 'store/data.mdb'))
  disk.takeRest()
  const { status, stderr } = skiff('up', '--data-dir', dataDir, '--port', '0', '--components', 'apiserver')
  assert.equal(status, 1)
  assert.match(stderr, /^skiff: [^\n]*ENOSPC[^\n]*\n$/)
  assert.equal(statSync(join(dataDir, 'store/data.mdb')).size, size)
  assert.equal(existsSync(join(dataDir, 'state.json')), false)
})

test('an embedding program is told of a full disk, and of room; its own process is left alone', {
  skip: lacks.tmpfs(),
}, async () => {
  using disk = smallDisk(24)
  const states: StoreState['type'][] = []
  disk.take(4 * MB)
  const cluster = await startCluster({
    dataDir: join(disk.path, 'data'),
    components: ['apiserver'],
    onStoreState: ({ type }) => states.push(type),
  })
  const client = createHttpsClient(endpointFromKubeconfig(cluster.kubeconfig))
  try {
    await fill(client)
    assert.deepEqual(states, ['waiting'])
    disk.giveBack()
    await until('told', async () => states.includes('well'))
    assert.equal((await ask(client, 'POST', CONFIG_MAPS, configMap('c-after', 'x'))).status, 201)
  } finally {
    client.close()
    await cluster.stop()
  }
})

test('a disk that fails ends skiff up with one line and exit 1', { skip: straceMissing() ?? false }, async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'skiff-eio-'))
  try {
    await (await startAndStop(dataDir)).ended
    // From some sync on, each of the store's fails.
    const inject = ['-e', 'trace=fdatasync', '-e', 'inject=fdatasync:error=EIO:when=40+']
    const server = await startServer(dataDir, { under: ['strace', '-f', '-qq', '-o', '/dev/null', ...inject] })
    for (let i = 0; i < 200; i++) {
      const answer = await ask(server.client, 'POST', CONFIG_MAPS, configMap(`c-${i}`, 'x')).catch(() => undefined)
      if (answer?.status !== 201) break
    }
    assert.equal((await server.ended).code, 1)
    server.client.close()
    assert.match(server.said().err, /^skiff: the store could not write to disk \(.*\); it has stopped: [^\n]*\n$/)
    assert.equal(existsSync(join(dataDir, 'pid')), false)
  } finally {
    rmSync(dataDir, { recursive: true })
  }
})

async function startAndStop(dataDir: string) {
  const server = await startServer(dataDir)
  server.client.close()
  server.kill('SIGTERM')
  return server
}
