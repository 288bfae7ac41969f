import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createScheme } from '../../api/scheme/scheme.ts'
import { simulatedRuntime } from '../../base/simulated-runtime.ts'
import { openStorage } from '../../storage/open.ts'
import { transformed } from '../../storage/transform.ts'
import { encryptionOf } from './config.ts'
import { parseEncryptionConfiguration } from './configuration.ts'

const runtime = simulatedRuntime(1)
const secret = (fill: number) => Buffer.alloc(32, fill).toString('base64')
const config = (providers: string, named: string) =>
  `kind: EncryptionConfiguration\napiVersion: apiserver.config.k8s.io/v1\nresources:\n- resources: ['${named}']\n  providers:\n${providers}`
const key = (name: string, fill: number) => `{name: ${name}, secret: ${secret(fill)}}`
const encryption = (providers: string, named = 'secrets') =>
  encryptionOf(parseEncryptionConfiguration(config(providers, named), 'file'), createScheme(), runtime.random)
const SECRET = '/registry/secrets/default/s'
const plain = Buffer.from('{"kind":"Secret"}')

for (const provider of ['aesgcm', 'aescbc', 'secretbox']) {
  test(`${provider}: what is stored is not readable, and comes back`, () => {
    const { encode, decode } = encryption(`  - ${provider}: {keys: [${key('one', 1)}]}`)
    const stored = Buffer.from(encode(SECRET, plain))
    assert.match(stored.toString('latin1'), new RegExp(`^k8s:enc:${provider}:v1:one:`))
    assert.ok(!stored.includes('Secret'))
    assert.deepEqual(Buffer.from(decode(SECRET, stored)), plain)
  })

  test(`${provider}: after a new key is put first the old values are still read, and new ones use the new key`, () => {
    const before = encryption(`  - ${provider}: {keys: [${key('one', 1)}]}`)
    const after = encryption(`  - ${provider}: {keys: [${key('two', 2)}, ${key('one', 1)}]}`)
    assert.deepEqual(Buffer.from(after.decode(SECRET, before.encode(SECRET, plain))), plain)
    assert.match(Buffer.from(after.encode(SECRET, plain)).toString('latin1'), /:two:/)
    // What tells an update that changes nothing to write all the same.
    assert.equal(after.isStale(SECRET, before.encode(SECRET, plain)), true)
    assert.equal(after.isStale(SECRET, after.encode(SECRET, plain)), false)
  })
}

test('aesgcm: a value that was changed or moved to another key is refused', () => {
  const { encode, decode } = encryption(`  - aesgcm: {keys: [${key('one', 1)}]}`)
  const stored = Buffer.from(encode(SECRET, plain))
  const changed = Buffer.from(stored)
  changed[changed.length - 1]! ^= 1
  assert.throws(() => decode(SECRET, changed))
  assert.throws(() => decode('/registry/secrets/default/other', stored))
})

/** As a kube-apiserver v1.37.1 put ConfigMap default/sb1 into its etcd, by the key that `key('one', 1)` names (2026-11-27); it read what was sealed here, too. */
const SEALED_BY_KUBERNETES = [
  'azhzOmVuYzpzZWNyZXRib3g6djE6b25lOo+l83++R8/uApuAD6cln//MgiR3SOVCtSFCMJRyciJp+EAtXs/7HTwJdV/FxTKKgPbV',
  '0OTnjb82zdysgM4GLK+5SI7YjMYOybHfMEMkGLkijStX6IzHt5xoYL1/U2LyQdcRSm+Sws3z1051DMcjlu2FCKI7J0uAlALwLqwo',
  'RZNxJ9Uk3C+d8S4AVWzfMXKUjaFHV3uqOsGZcuTxokXp2+7B/zmoNfJdYc8TyJ0p5UEH8OWihBsEDKPUITR7XAhJKRDzn1W0vISo',
  'ReQ9UfhfSLJVysy9lXERxsdYHJKVcdv+pPxGLZwmwo5AwA==',
].join('')

test('secretbox: what Kubernetes sealed is opened, and refused in its words when it was changed', () => {
  const stored = Buffer.from(SEALED_BY_KUBERNETES, 'base64')
  const { decode } = encryption(`  - secretbox: {keys: [${key('one', 1)}]}`, 'configmaps')
  const at = '/registry/configmaps/default/sb1'
  assert.match(Buffer.from(decode(at, stored)).toString('latin1'), /^k8s\0.*ConfigMap.*sb1/s)
  for (const place of [stored.length - 1, 30, 60]) {
    const changed = Buffer.from(stored)
    changed[place]! ^= 1
    assert.throws(() => decode(at, changed), /^Error: output array was not large enough for encryption$/)
  }
})

test('plain values are read only where identity is listed, and other resources are left alone', () => {
  const strict = encryption(`  - aesgcm: {keys: [${key('one', 1)}]}`)
  const lenient = encryption(`  - aesgcm: {keys: [${key('one', 1)}]}\n  - identity: {}`)
  assert.throws(() => strict.decode(SECRET, plain), /no matching prefix found/)
  assert.equal(lenient.decode(SECRET, plain), plain)
  assert.equal(strict.encode('/registry/configmaps/default/c', plain), plain)
})

test('custom resources are encrypted by name, by group and with everything', () => {
  const crontab = '/registry/stable.example.com/crontabs/default/c'
  for (const named of ['crontabs.stable.example.com', '*.stable.example.com', '*.*']) {
    const { encode, decode, isStale } = encryption(`  - aesgcm: {keys: [${key('one', 1)}]}`, named)
    const stored = encode(crontab, plain)
    assert.match(Buffer.from(stored).toString('latin1'), /^k8s:enc:aesgcm/)
    assert.deepEqual(Buffer.from(decode(crontab, stored)), plain)
    assert.equal(isStale(crontab, stored), false)
  }
  for (const named of ['secrets', 'others.stable.example.com', '*.example.com', '*.'])
    assert.equal(encryption(`  - aesgcm: {keys: [${key('one', 1)}]}`, named).encode(crontab, plain), plain)
})

for (const [what, providers, message] of [
  ['a key of the wrong length', `  - aesgcm: {keys: [{name: a, secret: YQ==}]}`, /got 1, expected one of \[16 24 32\]/],
  [
    'a short key of secretbox',
    '  - secretbox: {keys: [{name: a, secret: AQEBAQEBAQEBAQEBAQEBAQ==}]}',
    /got 16, expected one of \[32\]/,
  ],
  ['what is no base64', "  - aesgcm: {keys: [{name: a, secret: '!!'}]}", /secrets must be base64 encoded/],
  [
    'an unknown provider',
    '  - rot13: {}',
    /: strict decoding error: unknown field "resources\[0\]\.providers\[0\]\.rot13"$/,
  ],
  ['no keys', '  - aesgcm: {keys: []}', /at least one keys is required/],
  [
    'two providers in one',
    '  - {aesgcm: {}, identity: {}}',
    /^Error: error while parsing file: \[resources\[0\]\.providers\[0\]: Invalid value: "REDACTED": more than one/,
  ],
  ['a KMS of the first version', '  - kms: {name: a, endpoint: unix:///tmp/x}', /KMSv1 is deprecated/],
] as const)
  test(`a configuration with ${what} is refused with the reason`, () => {
    assert.throws(() => encryption(providers), message)
  })

test('a storage under encryption gives plain values to readers and the writer’s own bytes to its subscriber', async () => {
  const disk = await openStorage({ runtime, driver: 'memory' })
  const storage = transformed(disk, encryption(`  - aesgcm: {keys: [${key('one', 1)}]}`))
  const seen: (Uint8Array | undefined)[] = []
  storage.subscribe('/registry/', 0, { events: (events) => seen.push(...events.map((event) => event.value)) })
  await runtime.complete(storage.write({ type: 'put', key: SECRET, value: plain, expectRevision: 0 }))
  const read = await runtime.complete(storage.get(SECRET))
  const raw = await runtime.complete(disk.get(SECRET))
  assert.equal(seen[0], plain)
  assert.deepEqual(Buffer.from(read.item!.value), plain)
  assert.notDeepEqual(Buffer.from(raw.item!.value), plain)
})

const listed = (...lists: readonly string[]) =>
  `kind: EncryptionConfiguration\napiVersion: apiserver.config.k8s.io/v1\nresources:\n${lists.map((list) => `- resources: [${list}]\n  providers: [{identity: {}}]\n`).join('')}`
const said = (text: string): string => {
  try {
    parseEncryptionConfiguration(text, 'file')
    return ''
  } catch (error) {
    return (error as Error).message.replace(/^error while (parsing file|building transformers): /, '')
  }
}
const OVERLAPPING =
  "using overlapping resources such as 'secrets' and '*.' in the same resource list is not allowed as they will be masked"

// What a kube-apiserver v1.37.1 said of these on 2026-11-27, behind "error while parsing file" or "error while building transformers".
for (const [lists, message] of [
  [['secrets', 'secrets'], ''],
  [['secrets', "'*.*'"], ''],
  [["'*.apps', '*.'"], ''],
  [['nothings.apps', 'pods/status'], ''],
  [["'*.apps'", 'deployments.apps'], 'resource "deployments.apps" is masked by earlier rule "*.apps"'],
  [["'*.apps'", "'*.apps'"], 'resource "*.apps" is masked by earlier rule "*.apps"'],
  [["'*.*'", "'*.'"], 'resource "*." is masked by earlier rule "*.*"'],
  [["'*.'", "'*.*'", 'secrets', 'deployments.apps'], 'resource "secrets" is masked by earlier rule "*."'],
  [
    ["'*.apps', '*.apps'"],
    `[resources[0].resources: Invalid value: ["*.apps","*.apps"]: the same resource cannot be specified multiple times, resources[0].resources: Invalid value: ["*.apps","*.apps"]: ${OVERLAPPING}]`,
  ],
  [["'*.*', secrets"], `resources[0].resources: Invalid value: ["*.*","secrets"]: ${OVERLAPPING}`],
  [
    ["secrets, secrets, '*.'"],
    `[resources[0].resources: Invalid value: ["secrets","secrets","*."]: the same resource cannot be specified multiple times, resources[0].resources: Invalid value: ["secrets","secrets","*."]: ${OVERLAPPING}]`,
  ],
  [
    ['deployments.Extensions'],
    'resources[0].resources[0]: Invalid value: "deployments.Extensions": resource name should not contain capital letters',
  ],
  [
    ['apiserveripinfo'],
    'resources[0].resources[0]: Invalid value: "apiserveripinfo": resources which do not have REST API/s cannot be encrypted',
  ],
  [
    ["'*'"],
    `resources[0].resources[0]: Invalid value: "*": use '*.' to encrypt all the resources from core API group or *.* to encrypt all resources`,
  ],
  [
    ['Secrets', 'events.events.k8s.io', 'deployments.extensions', ''],
    `[resources[0].resources[0]: Invalid value: "Secrets": resource name should not contain capital letters, resources[1].resources[0]: Invalid value: "events.events.k8s.io": '*.events.k8s.io' objects are stored using the 'events' API group in etcd. Use 'events' instead in the config file, resources[2].resources[0]: Invalid value: "deployments.extensions": 'extensions' group has been removed and cannot be used for encryption, resources[3].resources: Required value: at least one resources[3].resources is required]`,
  ],
] as const)
  test(`resources named ${JSON.stringify(lists)} are ${message === '' ? 'taken' : 'refused as Kubernetes refuses them'}`, () => {
    assert.equal(said(listed(...lists)), message)
  })

test('of wrong keys all are told, in their order, and no secret with them', () => {
  const text = `kind: EncryptionConfiguration\napiVersion: apiserver.config.k8s.io/v1\nresources:\n- resources: [secrets]\n  providers: [{aesgcm: {keys: [{name: one, secret: AQ==}, {name: one, secret: '!!'}, {secret: AQEBAQEBAQEBAQEBAQEBAQ==}, {name: x}]}}]\n- resources: [configmaps]\n  providers: [{secretbox: {}}]\n- resources: [pods]\n  providers: []\n`
  const at = 'resources[0].providers[0].aesgcm.keys'
  assert.equal(
    said(text),
    `[${[
      `${at}[0].secret: Invalid value: "REDACTED": secret is not of the expected length, got 1, expected one of [16 24 32]`,
      `${at}[1].secret: Invalid value: "REDACTED": secrets must be base64 encoded`,
      `${at}[2].name: Required value: name is a mandatory field for a key`,
      `${at}[3].secret: Required value: secret is a mandatory field for a key`,
      'resources[1].providers[0].secretbox.keys: Required value: at least one keys is required',
      'resources[2].providers: Required value: at least one resources[2].providers is required',
    ].join(', ')}]`,
  )
})

test('keys may have one name, and names may have colons', () => {
  const [one, other, colon] = [key('a', 1), key('a', 2), key("'a:b'", 3)]
  const written = [one, other, colon].map((first) => encryption(`  - aesgcm: {keys: [${first}]}`).encode(SECRET, plain))
  const { decode } = encryption(`  - aesgcm: {keys: [${one}, ${other}, ${colon}]}`)
  for (const stored of written) assert.deepEqual(Buffer.from(decode(SECRET, stored)), plain)
})

test('a key may end in a line break and in bits that are left over, as Go decodes base64', () => {
  const secret = Buffer.alloc(32, 1).toString('base64')
  const sealed = encryption(`  - secretbox: {keys: [{name: one, secret: ${secret}}]}`, 'configmaps').encode(
    'k',
    Buffer.from('plain'),
  )
  for (const written of [`"${secret}\\n"`, secret.replace(/E=$/, 'F=')]) {
    const { decode } = encryption(`  - secretbox: {keys: [{name: one, secret: ${written}}]}`, 'configmaps')
    assert.equal(Buffer.from(decode('k', sealed)).toString(), 'plain')
  }
})
