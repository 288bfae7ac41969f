import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, test } from 'node:test'
import { simulatedRuntime } from '../../base/simulated-runtime.ts'
import { createPodAddresses, podCIDROf } from '../pod-addresses.ts'
import type { PullCredentials } from '../runtimes/runtime.ts'
import { createSimulatedRuntime } from '../runtimes/simulated/simulated-runtime.ts'
import { createImages } from './pull-policy-and-back-off.ts'
import { createPullRecords, type PullRecords, takeOverRecords } from './pull-records.ts'
import { DEFAULT_VERIFICATION, mustVerify, type PullVerification, repositoryOf } from './pull-verification.ts'

const temporary = mkdtempSync(join(tmpdir(), 'skiff-pull-records-'))
after(() => rmSync(temporary, { recursive: true, force: true }))

const IMAGE = '127.0.0.1:5055/private/x:1'
const ID = 'sha256:2ba9a2dd9c33f52691535d8612920b2a6d88371698fea7a280891fa24918e22d'
/** As a kubelet v1.37.1 named and hashed them. */
const FILE = 'sha256-7ab47bdde030e140816fd50621f3ebb7abf786ff76a4760a26fab1edb0e4956c'
const HASH = '31da7233d13bfe801c2d67898f852c519ab4294d0c9e1b6de69a7718583f4f1f'

const by = (name: string, user = 'team1', namespace = 'a'): PullCredentials => ({
  username: user,
  password: `${user}-password`,
  secret: { uid: `uid-${name}`, namespace, name },
})

function stage(verification: PullVerification = DEFAULT_VERIFICATION) {
  const runtime = simulatedRuntime(1)
  const directory = join(mkdtempSync(join(temporary, 'd-')), 'image_manager')
  const counted: string[] = []
  const kept = { pulled: 0, intents: 0 }
  const counts = {
    verified: (result: string) => void counted.push(result),
    recordsKept: (pulled: number, intents: number) => void Object.assign(kept, { pulled, intents }),
  }
  /** As a kubelet that starts finds them. */
  const start = () => createPullRecords(runtime, directory, verification, counts)
  return {
    runtime,
    directory,
    counted,
    kept,
    start,
    files: (kind: string) => readdirSync(join(directory, kind)),
    read: (kind: string, file: string) => JSON.parse(readFileSync(join(directory, kind, file), 'utf8')),
    write: (kind: string, file: string, text: string) => writeFileSync(join(directory, kind, file), text),
  }
}

const asks = (records: PullRecords, ...shown: readonly PullCredentials[]) =>
  records.mustPull(IMAGE, ID, async () => shown)

function pull(records: PullRecords, credentials?: PullCredentials, image = IMAGE, id = ID) {
  records.begin(image)
  records.pulled(image, id, credentials)
}

test('what was pulled with a Secret is recorded as a kubelet does it, and known after a restart to that Secret and that hash', async () => {
  const { start, read, files, counted, kept } = stage()
  const first = start()
  first.begin(IMAGE)
  const [intent = ''] = files('pulling')
  assert.deepEqual(read('pulling', intent), {
    kind: 'ImagePullIntent',
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    image: IMAGE,
  })
  assert.deepEqual(kept, { pulled: 0, intents: 1 })
  first.pulled(IMAGE, ID, by('s1'))
  assert.deepEqual(files('pulling'), [])
  const { lastUpdatedTime, ...record } = read('pulled', FILE)
  assert.match(lastUpdatedTime, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
  const s1 = { uid: 'uid-s1', namespace: 'a', name: 's1', credentialHash: HASH }
  assert.deepEqual(record, {
    kind: 'ImagePulledRecord',
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    imageRef: ID,
    credentialMapping: { '127.0.0.1:5055/private/x': { kubernetesSecrets: [s1] } },
  })

  const again = start()
  assert.deepEqual(kept, { pulled: 1, intents: 0 })
  assert.equal(await asks(again), true, 'no credentials')
  assert.equal(await asks(again, by('other', 'team2')), true, 'others')
  assert.equal(await asks(again, by('s1', 'rotated')), false, 'the same Secret with new contents')
  assert.equal(await asks(again, by('same', 'rotated', 'b')), false, 'another Secret with the same contents')
  const { kubernetesSecrets } = read('pulled', FILE).credentialMapping['127.0.0.1:5055/private/x']
  assert.deepEqual(
    kubernetesSecrets.map(({ name, credentialHash }: { name: string; credentialHash: string }) => [
      name,
      credentialHash === HASH,
    ]),
    [
      ['s1', false],
      ['same', false],
    ],
  )
  assert.equal(await again.mustPull('127.0.0.1:5055/private/z:1', ID, async () => [by('s1', 'rotated')]), true)
  assert.deepEqual(counted, [
    'mustAuthenticate',
    'mustAuthenticate',
    'credentialRecordFound',
    'credentialRecordFound',
    'mustAuthenticate',
  ])
})

test('a hundred Secrets with the same contents are noted, more are let in all the same', async () => {
  const { start, read } = stage()
  const records = start()
  pull(records, by('first'))
  for (let n = 0; n < 120; n++) assert.equal(await asks(records, by(`s${n}`)), false)
  const { kubernetesSecrets } = read('pulled', FILE).credentialMapping['127.0.0.1:5055/private/x']
  assert.equal(kubernetesSecrets.length, 100)
})

test('what was pulled without credentials is there for all pods, whoever pulls it later', async () => {
  const { start, read } = stage()
  pull(start())
  const records = start()
  assert.equal(await asks(records), false)
  pull(records, by('s1'))
  assert.equal(await asks(start()), false)
  assert.deepEqual(read('pulled', FILE).credentialMapping['127.0.0.1:5055/private/x'], { nodePodsAccessible: true })
})

test('what a record has of credential providers stays; a damaged or foreign one lets no pod in, until a pull mends it', async () => {
  const { start, files, read, write } = stage()
  const records = start()
  const accounts = [{ uid: 'u', namespace: 'n', name: 'sa' }]
  pull(records, by('s1'))
  const record = read('pulled', FILE)
  record.credentialMapping['127.0.0.1:5055/private/x'].kubernetesServiceAccounts = accounts
  write('pulled', FILE, JSON.stringify(record))
  pull(start(), by('s2', 'team2'))
  assert.deepEqual(
    read('pulled', FILE).credentialMapping['127.0.0.1:5055/private/x'].kubernetesServiceAccounts,
    accounts,
  )
  for (const text of [
    '',
    '{"kind":"ImagePul',
    'null',
    JSON.stringify({ ...record, imageRef: 'sha256:other' }),
    JSON.stringify({ ...record, kind: 'Other' }),
    JSON.stringify({ ...record, credentialMapping: { __proto__: null, '127.0.0.1:5055/private/x': [1] } }),
  ]) {
    write('pulled', FILE, text)
    write('pulled', `${FILE}.new`, '{')
    assert.equal(await asks(start(), by('s1')), true, text)
  }
  pull(start(), by('s1'))
  assert.equal(await asks(start(), by('s1')), false)
  assert.ok(files('pulled').includes(FILE))
})

test('a pull that a kubelet was killed in lets no pod in at the next start: what came of it has to be pulled', async () => {
  const { start, files, write } = stage()
  const records = start()
  records.begin(IMAGE)
  records.begin('gone:1')
  const again = start()
  assert.equal(await asks(again), true, 'before it was looked at')
  await again.recover(async (image) => (image === IMAGE ? ID : undefined))
  assert.deepEqual(files('pulling'), [])
  assert.deepEqual(files('pulled'), [FILE])
  assert.equal(await asks(again, by('s1')), true)
  again.begin(IMAGE)
  again.failed(IMAGE)
  assert.equal(await asks(start(), by('s1')), true, 'nor after a failure')

  again.begin(IMAGE)
  const [torn = ''] = files('pulling')
  again.forget(ID)
  write('pulling', torn, '{"kind":')
  const third = start()
  await third.recover(async () => ID)
  assert.equal(await asks(third, by('s1')), true, 'an intent that cannot be read')
  third.begin(IMAGE)
  third.failed(IMAGE)
  assert.equal(await asks(start(), by('s1')), true, 'nor after its failure')
  pull(start(), by('s1'))
  assert.deepEqual(files('pulling'), [])
})

test('an image that is being pulled is no preloaded one, however its name is written', async () => {
  const { start } = stage()
  const records = start()
  records.begin('docker.io/library/x')
  const shown = async () => []
  for (const name of ['x', 'x:latest', 'x@sha256:2ba9a2dd9c33f52691535d8612920b2a6d88371698fea7a280891fa24918e22d'])
    assert.equal(await records.mustPull(name, ID, shown), true, name)
  for (const name of ['x:1', 'y']) assert.equal(await records.mustPull(name, ID, shown), false, name)
})

test('what cannot be asked about at the start keeps no node from starting, and stays to be pulled', async () => {
  const { start, files } = stage()
  start().begin(IMAGE)
  const again = start()
  await again.recover(() => Promise.reject(new Error('the runtime is slow')))
  assert.equal(files('pulling').length, 1)
  assert.equal(await asks(again, by('s1')), true)
})

test('an intent ends with the last of the pulls that it stands for', () => {
  const { start, files } = stage()
  const records = start()
  records.begin(IMAGE)
  records.begin(IMAGE)
  records.failed(IMAGE)
  assert.equal(files('pulling').length, 1)
  records.failed(IMAGE)
  assert.deepEqual(files('pulling'), [])
})

test('records go with their images, but not one that was made after the images were listed', () => {
  const { start, runtime, files, write } = stage()
  const records = start()
  pull(records, by('s1'))
  const now = runtime.clock.now()
  records.prune(new Set([ID]), now + 5000)
  records.prune(new Set(), now)
  assert.deepEqual(files('pulled'), [FILE])
  records.prune(new Set(), now + 5000)
  assert.deepEqual(files('pulled'), [])
  write('pulled', FILE, '{')
  start().prune(new Set(), 0)
  assert.deepEqual(files('pulled'), [])
})

test('each policy verifies what it names: patterns are compared with names as pods have them', async () => {
  const verified = (policy: PullVerification['policy'], image: string, isPulled: boolean) =>
    mustVerify({ policy, allowlist: ['busybox', 'r.io:5000/team/*'] }, image, isPulled)
  assert.deepEqual(
    (['NeverVerify', 'NeverVerifyPreloadedImages', 'NeverVerifyAllowlistedImages', 'AlwaysVerify'] as const).map(
      (policy) => [true, false].map((isPulled) => verified(policy, 'r.io/x:1', isPulled)),
    ),
    [
      [false, false],
      [true, false],
      [true, true],
      [true, true],
    ],
  )
  for (const [image, isVerified] of [
    ['busybox:1.28', false],
    ['docker.io/library/busybox:1.28', true],
    ['r.io:5000/team/a/b@sha256:1', false],
    ['r.io:5000/teams/a', true],
  ] as const)
    assert.deepEqual(
      [true, false].map((isPulled) => verified('NeverVerifyAllowlistedImages', image, isPulled)),
      [isVerified, isVerified],
      image,
    )
  assert.deepEqual(['r.io:5000/x', 'x:1@sha256:1', 'r.io:5000/x:1'].map(repositoryOf), [
    'r.io:5000/x',
    'x',
    'r.io:5000/x',
  ])
  const { start, counted } = stage({ policy: 'AlwaysVerify', allowlist: [] })
  assert.equal(await asks(start()), true)
  assert.deepEqual(counted, ['mustAuthenticate'])
})

test('a pod without the credentials pulls an image that is there, and with Never it is refused; preloaded ones are for all', async () => {
  const { start, files } = stage()
  const { runtime } = stage()
  const there = new Map([['loaded:1', 'sha256:loaded']])
  const told: string[] = []
  const note = (_: unknown, reason: string, message: string) => void told.push(`${reason}: ${message}`)
  const pulls: string[] = []
  const ensure = (records: PullRecords, shown: readonly PullCredentials[]) => {
    const images = createImages(
      runtime,
      {
        ...createSimulatedRuntime(runtime, createPodAddresses(podCIDROf(0))),
        imageStatus: async (image) => (there.has(image) ? { id: there.get(image)!, size: 1 } : undefined),
        async pullImage(image, _annotations, _signal, credentials = []) {
          const [first] = credentials
          pulls.push(first?.username ?? 'nameless')
          if (image === 'torn:1') {
            there.set(image, 'sha256:torn')
            throw new Error('cut off')
          }
          if (first?.username !== 'team1') throw new Error('401 Unauthorized')
          there.set(image, ID)
          return { id: ID, credentials: first }
        },
      },
      { normal: note, warning: note, about: () => {} },
      async () => shown,
      undefined,
      undefined,
      records,
    )
    const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p', namespace: 'a', uid: 'u' } }
    return (policy: string, image = IMAGE) => images.ensure(pod, { image, policy }, new AbortController().signal)
  }
  assert.equal(await ensure(start(), [by('s1')])('IfNotPresent'), ID)
  const records = start()
  assert.equal(await ensure(records, [by('s1')])('Never'), ID)
  const stranger = ensure(records, [])
  const NEVER = `Container image "${IMAGE}" is not present with pull policy of Never`
  await assert.rejects(stranger('Never'), { reason: 'ErrImageNeverPull', message: NEVER })
  assert.deepEqual(told.at(-1), `ErrImageNeverPull: ${NEVER}`)
  await assert.rejects(stranger('IfNotPresent'), { reason: 'ErrImagePull', message: '401 Unauthorized' })
  await assert.rejects(stranger('IfNotPresent'), { reason: 'ImagePullBackOff' })
  assert.equal(await stranger('Never', 'loaded:1'), 'sha256:loaded')
  await assert.rejects(ensure(records, [by('s1')])('IfNotPresent', 'torn:1'), { reason: 'ErrImagePull' })
  await assert.rejects(stranger('Never', 'torn:1'), { reason: 'ErrImageNeverPull' })
  assert.deepEqual(pulls, ['team1', 'nameless', 'team1'])
  assert.deepEqual(files('pulling'), [])
})

test('records of an earlier version, kept elsewhere, are taken over: what a Secret brought stays with that Secret', async () => {
  const earlier = stage()
  pull(earlier.start(), by('own'))
  const { directory, files, start } = stage()
  takeOverRecords(dirname(earlier.directory), dirname(directory))
  assert.equal(existsSync(earlier.directory), false)
  assert.deepEqual([await asks(start()), await asks(start(), by('own'))], [true, false])
  // Once more, and where there is nothing, or only what is known better here.
  takeOverRecords(dirname(earlier.directory), dirname(directory))
  takeOverRecords(dirname(directory), dirname(directory))
  const open = stage()
  pull(open.start())
  takeOverRecords(dirname(open.directory), dirname(directory))
  assert.deepEqual([await asks(start()), files('pulled').length], [true, 1])
})
