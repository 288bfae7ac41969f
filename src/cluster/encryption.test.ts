import assert from 'node:assert/strict'
import { mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { createScheme } from '../api/scheme/scheme.ts'
import { createCaches } from '../apiserver/cache/caches.ts'
import { startKmsPlugin } from '../apiserver/encryption/kms/plugin-stand-in.ts'
import { liveRuntime } from '../base/live-runtime.ts'
import { createMetrics } from '../base/metrics.ts'
import { simulatedRuntime } from '../base/simulated-runtime.ts'
import { openStorage } from '../storage/open.ts'
import { transformed } from '../storage/transform.ts'
import { loadEncryption } from './encryption.ts'

const folder = mkdtempSync(join(tmpdir(), 'skiff-encryption-'))
after(() => rmSync(folder, { recursive: true }))
const scheme = createScheme()
const SECRET = '/registry/secrets/default/s'
const plain = Buffer.from('{"kind":"Secret","apiVersion":"v1","metadata":{"name":"s","namespace":"default"}}')

const configOf = (...keys: readonly string[]) =>
  `kind: EncryptionConfiguration\napiVersion: apiserver.config.k8s.io/v1\nresources:\n- resources: [secrets]\n  providers:\n  - aesgcm: {keys: [${keys.map((name) => `{name: ${name}, secret: ${Buffer.alloc(32, name).toString('base64')}}`).join()}]}\n`

let files = 0
/** As mounted Secrets are replaced: `file` is a link to what is new. */
function replace(file: string, text: string): void {
  const target = join(folder, `data-${++files}`)
  writeFileSync(target, text)
  symlinkSync(target, `${target}.link`)
  renameSync(`${target}.link`, file)
}

async function fixture(isReloaded: boolean, text = configOf('one')) {
  const logged: string[] = []
  const metrics = createMetrics()
  const log = { level: 0, write: (line: string) => logged.push(line) }
  const runtime = { ...simulatedRuntime(1, { log }), metrics }
  const file = join(folder, `config-${++files}.yaml`)
  replace(file, text)
  const encryption = await loadEncryption(runtime, scheme, {
    encryptionProviderConfig: file,
    encryptionProviderConfigAutomaticReload: isReloaded,
  })
  assert.ok(encryption)
  const { transformer } = encryption
  const stored = () => Buffer.from(transformer.encode(SECRET, plain)).toString('latin1').slice(0, 22)
  const told = (name: string) =>
    [...metrics.text().matchAll(new RegExp(`^apiserver_encryption_config_controller_${name}\\{(.*)\\} (.*)$`, 'gm'))]
      .map(([, labels, value]) => `${labels?.replace(/apiserver_id_hash="sha256:\w{64}",/, '')} ${value}`)
      .sort()
  return { runtime, encryption, transformer, logged, file, stored, told }
}

test('a configuration that is replaced is used from the next look on, and one that is wrong never', async () => {
  const { runtime, encryption, transformer, logged, file, stored, told } = await fixture(true)
  let changes = 0
  encryption.start(async () => {
    changes++
  })
  const before = transformer.encode(SECRET, plain)
  const [hash] = told('last_config_info')
  assert.match(String(hash), /^hash="sha256:\w{64}" 1$/)
  assert.deepEqual(told('automatic_reloads_total'), [])
  replace(file, configOf('two', 'one'))
  assert.equal(stored(), 'k8s:enc:aesgcm:v1:one:')
  await runtime.advance(1000)
  assert.equal(stored(), 'k8s:enc:aesgcm:v1:two:')
  assert.deepEqual(Buffer.from(transformer.decode(SECRET, before)), plain)
  assert.equal(transformer.isStale(SECRET, before), true)
  const [next] = told('last_config_info')
  assert.notEqual(next, hash)
  replace(file, 'kind: Nothing\n')
  await runtime.advance(1000)
  assert.equal(stored(), 'k8s:enc:aesgcm:v1:two:')
  assert.deepEqual(told('automatic_reloads_total'), ['status="failure" 1', 'status="success" 1'])
  assert.deepEqual(
    told('automatic_reload_last_timestamp_seconds').map((line) => line.split(' ')[1]),
    [2, 1].map((seconds) => String(runtime.clock.now() / 1000 - 2 + seconds).replace(/^(\d)(\d+)$/, '$1.$2e+09')),
  )
  assert.deepEqual(told('last_config_info'), [next])
  assert.match(logged.join('\n'), /the changed encryption configuration is not used/)
  // What is in use came back: nothing is reloaded.
  replace(file, configOf('two', 'one'))
  await runtime.advance(1000)
  assert.deepEqual(told('automatic_reloads_total'), ['status="failure" 1', 'status="success" 1'])
  assert.equal(changes, 1)
  encryption.close()
  replace(file, configOf('three'))
  await runtime.advance(5000)
  assert.equal(stored(), 'k8s:enc:aesgcm:v1:two:')
})

test('without the flag the file is read at the start alone', async () => {
  const { runtime, encryption, file, stored, told } = await fixture(false)
  encryption.start(() => assert.fail('nothing changes'))
  replace(file, configOf('two', 'one'))
  await runtime.advance(5000)
  assert.equal(stored(), 'k8s:enc:aesgcm:v1:one:')
  assert.equal(told('last_config_info').length, 1)
})

test('what could not be decrypted is read once its key is in the configuration', async () => {
  const { runtime, encryption, transformer, file } = await fixture(true)
  const disk = await openStorage({ runtime, driver: 'memory' })
  const storage = transformed(disk, transformer)
  const others = await fixture(false, configOf('two'))
  const write = (key: string, value: Uint8Array) =>
    runtime.complete(disk.write({ type: 'put', key, value, expectRevision: 0 }))
  await write(SECRET, others.transformer.encode(SECRET, plain))
  const caches = await runtime.complete(createCaches(runtime, storage))
  const secrets = caches.resource('secrets')
  encryption.start(caches.readAnew)
  await write('/registry/configmaps/default/later', plain)
  assert.match(String(secrets.get(SECRET)?.unreadable?.message), /no matching key was found/)
  replace(file, configOf('one', 'two'))
  await runtime.advance(1000)
  assert.equal(secrets.get(SECRET)?.object.metadata.name, 's')
  assert.equal(secrets.get(SECRET)?.revision, 2)
  assert.equal(secrets.unreadable().length, 0)
  assert.equal(secrets.list().length, 1)
})

test('a configuration with a plugin is used once that is well, and the one before until then', async (t) => {
  const socket = join(folder, 'kms.sock')
  const kms = (name: string) =>
    `kind: EncryptionConfiguration\napiVersion: apiserver.config.k8s.io/v1\nresources:\n- resources: [secrets]\n  providers:\n  - identity: {}\n  - kms: {apiVersion: v2, name: ${name}, endpoint: "unix://${socket}", timeout: 10s}\n`
  const plugin = await startKmsPlugin(socket)
  t.after(plugin.stop)
  const file = join(folder, 'kms.yaml')
  replace(file, kms('one'))
  const refused = Promise.withResolvers<void>()
  const write = (line: string) => {
    if (line.includes('the changed encryption configuration is not used')) refused.resolve()
  }
  const runtime = liveRuntime({ log: { write } })
  const encryption = await loadEncryption(runtime, scheme, {
    encryptionProviderConfig: file,
    encryptionProviderConfigAutomaticReload: true,
  })
  assert.ok(encryption)
  t.after(encryption.close)
  await encryption.checkPlugins?.()
  plugin.state.healthz = 'sick'
  const used = Promise.withResolvers<void>()
  encryption.start(async () => used.resolve())
  replace(file, kms('two').replace('  - identity: {}\n', ''))
  await refused.promise
  assert.equal(encryption.transformer.encode(SECRET, plain), plain)
  plugin.state.healthz = 'ok'
  replace(file, kms('three').replace('  - identity: {}\n', ''))
  await used.promise
  assert.match(Buffer.from(encryption.transformer.encode(SECRET, plain)).toString('latin1'), /^k8s:enc:kms:v2:three:/)
})
