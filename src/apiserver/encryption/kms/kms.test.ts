import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createScheme } from '../../../api/scheme/scheme.ts'
import { createMetrics } from '../../../base/metrics.ts'
import { simulatedRuntime } from '../../../base/simulated-runtime.ts'
import { encryptionOf } from '../config.ts'
import { parseEncryptionConfiguration } from '../configuration.ts'
import type { WrappedKey } from './encrypted-object.ts'
import { masked } from './plugin-stand-in.ts'
import { kmsProvider } from './provider.ts'
import type { KmsService } from './service.ts'

const SECRET = '/registry/secrets/default/s1'
const plain = Buffer.from('{"kind":"Secret"}')
const config = (provider: string) =>
  `kind: EncryptionConfiguration\napiVersion: apiserver.config.k8s.io/v1\nresources:\n- resources: [secrets]\n  providers:\n${provider}\n`

function fixture() {
  const metrics = createMetrics()
  const runtime = { ...simulatedRuntime(1), metrics }
  const plugin = {
    status: { version: 'v2', healthz: 'ok', keyId: 'one' },
    encryptKeyId: undefined as string | undefined,
    annotations: {} as Record<string, Uint8Array>,
    failing: {} as { [method: string]: string | undefined },
    asked: [] as string[],
  }
  const ask = (method: string) => {
    plugin.asked.push(method)
    const failure = plugin.failing[method]
    if (failure !== undefined) throw new Error(`rpc error: code = Unknown desc = ${failure}`)
  }
  const service: KmsService = {
    async status() {
      ask('Status')
      return plugin.status
    },
    async encrypt(_uid, bytes) {
      ask('Encrypt')
      const keyId = plugin.encryptKeyId ?? plugin.status.keyId
      return { source: masked(keyId, bytes), keyId, annotations: plugin.annotations }
    },
    async decrypt(_uid, { keyId, source }: WrappedKey) {
      ask('Decrypt')
      return masked(keyId, source)
    },
    close() {},
  }
  const begin = async () => {
    let readable = 0
    const provider = kmsProvider(runtime, { name: 'mine', server: 'sha256:this' }, service)
    await runtime.complete(provider.start(() => readable++))
    return { provider, readable: () => readable }
  }
  const problem = async (check: Promise<void>) => {
    try {
      await runtime.complete(check)
      return 'ok'
    } catch (error) {
      return (error as Error).message
    }
  }
  return { runtime, metrics, plugin, begin, problem }
}

/** As a kube-apiserver v1.37.1 put Secret default/s1 into its etcd by a plugin like this one (2026-11-27); it read what was written here, too. */
const WRITTEN_BY_KUBERNETES = [
  'azhzOmVuYzprbXM6djI6bWluZToKhAL+Lrg8XLVjE7GZqjtAGt87crsax0i0noTQWnt91X4aTWjXu6ILnOs1NXZ9CTRK830i7syAHp/1WPqN',
  'ZI3OSouOv+fIEeOTaaBm2cGsh/GmMmyg890FZzUBIe1hhbOBjNstzTIYTMQ7scmU5iVPtwk2lYJ+ylspjFuwRzkUX8XWhXxqT6U6uIZWok5E',
  '6Z1TXXKf4e4lL9aeV6I5ycpawHzJjro8IfRwqs2Fkw/bDiyf8GwvgGlcZIUg6ZsQVKkaBgrg2RkjP2GwTjNawV/c488RfYLIzn/U4+SrLmx3',
  'ct3xpIvxUwXdkvjl9j23plYnPB4jCyg6bMDC36/lTMTmxyEVf5OqJxIDb25lGiBlhOJh+rtPB98Pvpk6tyUn9VEAm5DOtKLuJhi1AGhLESgB',
].join('')

test('what Kubernetes wrote is read once its key is unwrapped, and refused where it was changed or moved', async () => {
  const { runtime, plugin, begin } = fixture()
  const { provider } = await begin()
  const stored = Buffer.from(WRITTEN_BY_KUBERNETES, 'base64')
  assert.throws(() => provider.decrypt(SECRET, stored), /failed to decrypt DEK/)
  const wait = provider.prepare([stored, Buffer.from('k8s:enc:kms:v2:mine:\x09')])
  assert.ok(wait)
  await runtime.complete(wait)
  assert.match(provider.decrypt(SECRET, stored).toString(), /107,56,115,0|k8s\0/)
  assert.equal(provider.prepare([stored]), undefined)
  assert.throws(() => provider.decrypt('/registry/secrets/default/s2', stored), /message authentication failed/)
  const changed = Buffer.from(stored)
  changed[100]! ^= 1
  assert.throws(() => provider.decrypt(SECRET, changed), /^Error: cipher: message authentication failed$/)
  assert.deepEqual(plugin.asked, ['Status', 'Encrypt', 'Decrypt'])
})

test('each value has a key of its own, by one seed that the plugin wrapped; another server’s values are read after asking it', async () => {
  const { runtime, plugin, begin } = fixture()
  plugin.annotations = { 'b.example.com': Buffer.from('b'), 'a.example.com': Buffer.from('a') }
  const [one, other] = [await begin(), await begin()]
  const [first, second] = [one.provider.encrypt(SECRET, plain), one.provider.encrypt(SECRET, plain)]
  assert.notDeepEqual(first, second)
  assert.match(Buffer.from(first).toString('latin1'), /^k8s:enc:kms:v2:mine:/)
  assert.deepEqual(Buffer.from(one.provider.decrypt(SECRET, first)), plain)
  const wait = other.provider.prepare([first, second])
  assert.ok(wait)
  await runtime.complete(wait)
  assert.deepEqual(Buffer.from(other.provider.decrypt(SECRET, second)), plain)
  assert.deepEqual(plugin.asked, ['Status', 'Encrypt', 'Status', 'Encrypt', 'Decrypt'])
  assert.equal(other.provider.isCurrent(first), true)
})

test('another key of the status is followed at the next look, and what the one before wrote is stale', async () => {
  const { runtime, plugin, begin } = fixture()
  const { provider } = await begin()
  const before = provider.encrypt(SECRET, plain)
  plugin.status = { ...plugin.status, keyId: 'two' }
  assert.equal(provider.isCurrent(before), true)
  await runtime.advance(60_000)
  assert.deepEqual(plugin.asked, ['Status', 'Encrypt', 'Status', 'Encrypt'])
  assert.equal(provider.isCurrent(before), false)
  assert.equal(provider.isCurrent(provider.encrypt(SECRET, plain)), true)
  assert.deepEqual(Buffer.from(provider.decrypt(SECRET, before)), plain)
})

test('a plugin that is away leaves three minutes in which values are written, and those read before can be read', async () => {
  const { runtime, plugin, begin } = fixture()
  const { provider, readable } = await begin()
  const began = runtime.machineClock.now()
  plugin.failing = { Status: 'away' }
  await runtime.advance(179_000)
  const written = provider.encrypt(SECRET, plain)
  await runtime.advance(2000)
  const expired = new Date(began + 180_000).toISOString().replace(/\.\d+/, '')
  assert.throws(
    () => provider.encrypt(SECRET, plain),
    (error: Error) =>
      error.message.startsWith(
        `encryptedDEKSource with keyID hash "sha256:7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed" expired at ${expired} (current time is `,
      ),
  )
  assert.deepEqual(Buffer.from(provider.decrypt(SECRET, written)), plain)
  const before = readable()
  plugin.failing = {}
  await runtime.advance(10_000)
  provider.encrypt(SECRET, plain)
  assert.equal(readable(), before + 1)
  assert.equal(plugin.asked.filter((method) => method === 'Encrypt').length, 1)
})

test('without a plugin at the start nothing is read or written until it comes, which is told', async () => {
  const { runtime, plugin, begin } = fixture()
  plugin.failing = { Status: 'away' }
  const { provider, readable } = await begin()
  const stored = Buffer.from(WRITTEN_BY_KUBERNETES, 'base64')
  assert.equal(provider.prepare([stored]), undefined)
  assert.throws(() => provider.decrypt(SECRET, stored), /^Error: got unexpected nil transformer$/)
  assert.throws(() => provider.encrypt(SECRET, plain), /^Error: got unexpected nil transformer$/)
  plugin.failing = {}
  await runtime.advance(10_000)
  assert.equal(readable(), 1)
  provider.encrypt(SECRET, plain)
})

test('a key that cannot be unwrapped is told to the reader, and tried again until it can', async () => {
  const { runtime, plugin, begin } = fixture()
  const { provider, readable } = await begin()
  const before = readable()
  const stored = Buffer.from(WRITTEN_BY_KUBERNETES, 'base64')
  plugin.failing = { Decrypt: 'no unwrap' }
  await runtime.complete(provider.prepare([stored]) as Promise<void>)
  assert.throws(
    () => provider.decrypt(SECRET, stored),
    /^Error: failed to decrypt DEK, error: rpc error: code = Unknown desc = no unwrap$/,
  )
  await runtime.advance(1000)
  assert.equal(readable(), before)
  plugin.failing = {}
  await runtime.advance(2000)
  assert.equal(readable(), before + 1)
  provider.decrypt(SECRET, stored)
})

test('while a plugin is away what needs its keys is not waited for again, and keys that are not needed any more are forgotten', async () => {
  const { runtime, plugin, begin } = fixture()
  const { provider, readable } = await begin()
  const [one, other] = await Promise.all(
    [await begin(), await begin()].map(async ({ provider: foreign }) => foreign.encrypt(SECRET, plain)),
  )
  const asked = () => plugin.asked.filter((method) => method === 'Decrypt').length
  plugin.failing = { Decrypt: 'away' }
  await runtime.complete(provider.prepare([one!]) as Promise<void>)
  assert.equal(provider.prepare([one!]), undefined)
  await runtime.complete(provider.prepare([one!, other!]) as Promise<void>)
  assert.equal(asked(), 2)
  assert.equal(provider.prepare([one!, other!]), undefined)
  assert.throws(() => provider.decrypt(SECRET, one!), /Unknown desc = away$/)
  await runtime.advance(10_000)
  assert.throws(() => provider.decrypt(SECRET, other!), /Unknown desc = away$/)
  const before = readable()
  plugin.failing = {}
  await runtime.advance(10_000)
  assert.ok(readable() > before)
  for (const stored of [one!, other!]) provider.decrypt(SECRET, stored)
  // A key that stays lost is asked for until nothing that was told to read anew has asked for it.
  plugin.failing = { Decrypt: 'lost' }
  const lost = (await begin()).provider.encrypt(SECRET, plain)
  await runtime.complete(provider.prepare([lost]) as Promise<void>)
  await runtime.advance(3_700_000)
  const soFar = asked()
  await runtime.advance(600_000)
  assert.equal(asked(), soFar)
})

// What a kube-apiserver v1.37.1 said at /healthz/kms-providers of such plugins (2026-11-27), behind "kms-provider-0: ".
for (const [what, change, words] of [
  [
    'is sick',
    { status: { version: 'v2', healthz: 'sick', keyId: 'one' } },
    /^kmsv2 Provider mine is not healthy, error: got unexpected healthz status: sick$/,
  ],
  [
    'has another version',
    { status: { version: 'v1', healthz: 'ok', keyId: 'one' } },
    /: expected KMSv2 API version v2, got v1$/,
  ],
  [
    'changes its version',
    { status: { version: 'v2beta1', healthz: 'ok', keyId: 'one' } },
    /: KMSv2 API version should not change after the initial status response version v2, got v2beta1$/,
  ],
  [
    'names no key',
    { status: { version: 'v2', healthz: 'ok', keyId: '' } },
    /: got invalid KMSv2 KeyID hash "": keyID is empty$/,
  ],
  [
    'names a key that is too long',
    { status: { version: 'v2', healthz: 'ok', keyId: 'x'.repeat(1025) } },
    /: got invalid KMSv2 KeyID hash "sha256:c6d8e9905300876046729949cc95c2385221270d389176f7234fe7ac00c4e430": keyID is 1025 bytes, which exceeds the max size of 1024$/,
  ],
  [
    'fails',
    { failing: { Status: 'no status' } },
    /^failed to perform status section of the healthz check for KMS Provider mine, error: rpc error: code = Unknown desc = no status$/,
  ],
  [
    'cannot wrap',
    { status: { version: 'v2', healthz: 'ok', keyId: 'six' }, failing: { Encrypt: 'no wrap' } },
    /: failed to rotate DEK uid="[-0-9a-f]{36}", useSeed=true, errState=<nil>, errGen=failed to encrypt DEK, error: rpc error: code = Unknown desc = no wrap, statusKeyIDHash="sha256:44778d82365e4af681c40d5f0eef5cf6f5899d3f0ac335050a7ed6779cf3f674", encryptKeyIDHash="", stateKeyIDHash="sha256:7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed", expirationTimestamp=20[-0-9T:]+Z$/,
  ],
  [
    'wraps by another key',
    { status: { version: 'v2', healthz: 'ok', keyId: 'three' }, encryptKeyId: 'four' },
    /, errState=<nil>, errGen=<nil>, statusKeyIDHash="sha256:8b5b9db0c13db24256c829aa364aa90c6d2eba318b9232a4ab9313b954d3555f", encryptKeyIDHash="sha256:04efaf080f5a3e74e1c29d1ca6a48569382cbbcd324e8d59d2b83ef21c039f00", stateKeyIDHash="sha256:7692/,
  ],
  [
    'has wrong annotations',
    { status: { version: 'v2', healthz: 'ok', keyId: 'five' }, annotations: { foo: Buffer.from('a') } },
    /, errGen=failed to validate annotations: annotations: Invalid value: "foo": should be a domain with at least two segments separated by dots, /,
  ],
] as const)
  test(`health tells of a plugin that ${what}, and goes on writing by the key before`, async () => {
    const { runtime, plugin, begin, problem } = fixture()
    const { provider } = await begin()
    Object.assign(plugin, change)
    // For 20 seconds what was found last is the answer, and 3 when that was not well.
    await runtime.advance(19_000)
    assert.equal(await problem(provider.check()), 'ok')
    await runtime.advance(1000)
    assert.match(await problem(provider.check()), words)
    provider.encrypt(SECRET, plain)
    const asked = plugin.asked.length
    await problem(provider.check())
    assert.equal(plugin.asked.length, asked)
    Object.assign(plugin, {
      status: { version: 'v2', healthz: 'ok', keyId: 'one' },
      failing: {},
      encryptKeyId: undefined,
      annotations: {},
    })
    await runtime.advance(3000)
    assert.equal(await problem(provider.check()), 'ok')
  })

test('keys, by their hashes, and what is unwrapped are counted under Kubernetes’ names', async () => {
  const { metrics, runtime, plugin, begin, problem } = fixture()
  const { provider } = await begin()
  provider.decrypt(SECRET, provider.encrypt(SECRET, plain))
  plugin.status = { ...plugin.status, keyId: '' }
  await runtime.advance(60_000)
  await problem(provider.check())
  const text = metrics.text()
  const hash = 'sha256:7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed'
  for (const line of [
    /^apiserver_envelope_encryption_dek_source_cache_size\{provider_name="mine"\} 1$/m,
    /^apiserver_envelope_encryption_invalid_key_id_from_status_total\{.*error="empty".*\} 1$/m,
    new RegExp(
      `^apiserver_envelope_encryption_key_id_hash_total\\{transformation_type="to_storage",provider_name="mine",key_id_hash="${hash}",.*\\} 1$`,
      'm',
    ),
    /^apiserver_envelope_encryption_key_id_hash_total\{transformation_type="from_storage",.*\} 1$/m,
    new RegExp(
      `^apiserver_envelope_encryption_key_id_hash_status_last_timestamp_seconds\\{provider_name="mine",key_id_hash="${hash}",`,
      'm',
    ),
  ])
    assert.match(text, line)
})

const at = 'resources[0].providers[0].kms'
// What a kube-apiserver v1.37.1 said of these (2026-11-27).
for (const [given, words] of [
  [
    '{apiVersion: v2, name: "a:b", endpoint: unix:///x}',
    `${at}.name: Invalid value: "a:b": invalid KMS provider name a:b, must not contain ':'`,
  ],
  ['{apiVersion: v2, endpoint: unix:///x}', `${at}.name: Required value: name is a mandatory field for a provider`],
  ['{apiVersion: v2, name: a}', `${at}.endpoint: Invalid value: "": endpoint is a mandatory field for a kms`],
  [
    '{apiVersion: v2, name: a, endpoint: "tcp:///x"}',
    `${at}.endpoint: Invalid value: "tcp:///x": unsupported scheme "tcp" for KMS provider, only unix is supported`,
  ],
  [
    '{apiVersion: v2, name: a, endpoint: "/x"}',
    `${at}.endpoint: Invalid value: "/x": unsupported scheme "" for KMS provider, only unix is supported`,
  ],
  [
    '{apiVersion: v2, name: a, endpoint: ":x"}',
    `${at}.endpoint: Invalid value: ":x": invalid endpoint for kms provider, error: parse ":x": missing protocol scheme`,
  ],
  [
    '{apiVersion: v2, name: a, endpoint: unix:///x, timeout: 0s}',
    `${at}.timeout: Invalid value: "0s": timeout should be a positive value`,
  ],
  [
    '{apiVersion: v2, name: a, endpoint: unix:///x, timeout: xx}',
    'error decoding encryption provider configuration file "file": time: invalid duration "xx"',
  ],
  [
    '{apiVersion: v2, name: a, endpoint: unix:///x, cachesize: 10}',
    `${at}.cachesize: Invalid value: 10: cachesize is not supported in v2`,
  ],
  [
    '{apiVersion: v3, name: a, endpoint: unix:///x}',
    `${at}.apiVersion: Invalid value: "v3": unsupported apiVersion apiVersion for KMS provider, only v1 and v2 are supported`,
  ],
  [
    '{apiVersion: v2, name: a, endpoint: unix:///x}\n  - kms: {apiVersion: v2, name: a, endpoint: unix:///y}',
    'resources[0].providers[1].kms.name: Invalid value: "a": duplicate KMS provider name a, names must be unique',
  ],
  [
    '{}',
    `[${at}.name: Required value: name is a mandatory field for a provider, ${at}.endpoint: Invalid value: "": endpoint is a mandatory field for a kms]`,
  ],
  [
    '{apiVersion: v3, name: "a:b", endpoint: "http://x", cachesize: 1, timeout: 0s}',
    `[${at}.name: Invalid value: "a:b": invalid KMS provider name a:b, must not contain ':', ${at}.timeout: Invalid value: "0s": timeout should be a positive value, ${at}.endpoint: Invalid value: "http://x": unsupported scheme "http" for KMS provider, only unix is supported, ${at}.cachesize: Invalid value: 1: cachesize is not supported in v2, ${at}.apiVersion: Invalid value: "v3": unsupported apiVersion apiVersion for KMS provider, only v1 and v2 are supported]`,
  ],
  [
    '{apiVersion: v1, name: a:b, endpoint: unix:///x, timeout: 0s, cachesize: 0}',
    `[${at}.timeout: Invalid value: "0s": timeout should be a positive value, ${at}.cachesize: Invalid value: 0: cachesize should be a positive value, or negative to disable]`,
  ],
  [
    '{apiVersion: v2, name: a, endpoint: unix:///x, bogus: 1}',
    `error decoding encryption provider configuration file "file": strict decoding error: unknown field "${at}.bogus"`,
  ],
  [
    'null',
    'resources[0].providers[0]: Invalid value: {"AESGCM":null,"AESCBC":null,"Secretbox":null,"Identity":null,"KMS":null}: provider does not contain any of the expected providers: KMS, AESGCM, AESCBC, Secretbox, Identity',
  ],
] as const)
  test(`kms: ${given.replaceAll('\n', ' ')} is refused in Kubernetes’ words`, () => {
    assert.throws(() => parseEncryptionConfiguration(config(`  - kms: ${given}`), 'file'), {
      message: `error while parsing file: ${words}`,
    })
  })

test('the older kind of the configuration is taken, and others are refused in Kubernetes’ words', () => {
  const resources = 'resources:\n- resources: [secrets]\n  providers:\n  - identity: {}\n'
  const [entry] = parseEncryptionConfiguration(`kind: EncryptionConfig\napiVersion: v1\n${resources}`, 'file')
  assert.deepEqual(entry, { resources: ['secrets'], providers: [{ kind: 'identity' }] })
  for (const [kind, version] of [
    ['EncryptionConfig', 'apiserver.config.k8s.io/v1'],
    ['EncryptionConfiguration', 'v1'],
    ['Foo', 'v1'],
  ])
    assert.throws(() => parseEncryptionConfiguration(`kind: ${kind}\napiVersion: ${version}\n${resources}`, 'file'), {
      message: `error while parsing file: error decoding encryption provider configuration file "file": no kind "${kind}" is registered for version "${version}" in scheme "pkg/runtime/scheme.go:111"`,
    })
})

test('a provider of a plugin is asked to make ready what is its own, and nothing where there is none', async () => {
  const { runtime, begin } = fixture()
  const { provider } = await begin()
  const configuration = parseEncryptionConfiguration(
    config('  - kms: {apiVersion: v2, name: mine, endpoint: unix:///x}\n  - identity: {}'),
    'file',
  )
  const [settings] = configuration.flatMap(({ providers }) =>
    providers.flatMap((each) => (each.kind === 'kms' ? [each.settings] : [])),
  )
  assert.ok(settings)
  assert.deepEqual(settings, { name: 'mine', path: '/x', timeoutMs: 3000 })
  const transformer = encryptionOf(configuration, createScheme(), runtime.random, new Map([[settings, provider]]))
  const value = Buffer.from(WRITTEN_BY_KUBERNETES, 'base64')
  assert.equal(transformer.prepare?.([{ key: SECRET, value: plain }]), undefined)
  assert.equal(transformer.prepare?.([{ key: '/registry/pods/default/s1', value }]), undefined)
  assert.ok(transformer.prepare?.([{ key: SECRET, value }]))
  const identity = parseEncryptionConfiguration(config('  - identity: {}'), 'file')
  assert.equal(encryptionOf(identity, createScheme(), runtime.random).prepare, undefined)
})
