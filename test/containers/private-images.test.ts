/**
 * Images of a registry that asks for credentials: which pods may use one that is on the node (KEP-2535). Words and outcomes are those of a
 * kubelet v1.37.1 over the same registry. Each test goes on where the one before it ended.
 */
import assert from 'node:assert/strict'
import type { ChildProcess } from 'node:child_process'
import { readdirSync, readFileSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { busyboxArchive, type ContainerMachine, startContainerMachine, until, withoutContainers } from './stage.ts'

const REGISTRY = '127.0.0.1:5055'
const PRIVATE = `${REGISTRY}/private/x:1`
const LOADED = 'example.test/busybox:1'
const NEVER = `Container image "${PRIVATE}" is not present with pull policy of Never`

function secret(name: string, namespace: string, username: string, password = `${username}-password`) {
  const auths = { [REGISTRY]: { username, password } }
  return {
    kind: 'Secret',
    apiVersion: 'v1',
    metadata: { name, namespace },
    type: 'kubernetes.io/dockerconfigjson',
    stringData: { '.dockerconfigjson': JSON.stringify({ auths }) },
  }
}

describe('images of a private registry', { skip: withoutContainers }, () => {
  let machine: ContainerMachine
  let registry: ChildProcess | undefined
  let pulls = ''
  let count = 0

  const up = () => {
    const { status, stderr } = machine.skiff('up', '--runtime', 'cri', '--port', '0', '--detach')
    assert.equal(status, 0, stderr)
  }
  const killCluster = async () => {
    const pid = /^pid: +(\d+)$/m.exec(machine.skiff('status').stdout)?.[1] ?? ''
    assert.equal(machine.run('kill', '-9', pid).status, 0)
    await until('its end', () => machine.run('kill', '-0', pid).status !== 0)
  }
  /** Of a new pod, once it runs or cannot: what it waits for, and why; the Events about its image. */
  async function outcome(namespace: string, image: string, policy: string, pullSecret?: string) {
    const name = `p${count++}`
    const container = { name: 'c', image, imagePullPolicy: policy, command: ['/bin/busybox', 'sleep', '9999'] }
    machine.apply({
      kind: 'Pod',
      apiVersion: 'v1',
      metadata: { name, namespace },
      spec: {
        terminationGracePeriodSeconds: 0,
        containers: [container],
        ...(pullSecret === undefined ? {} : { imagePullSecrets: [{ name: pullSecret }] }),
      },
    })
    const { waiting, running } = await until(`${name} is decided`, () => {
      const { stdout } = machine.kubectl('get', 'pod', name, '-n', namespace, '-o', 'json')
      const { state } = JSON.parse(stdout).status?.containerStatuses?.[0] ?? {}
      return state?.running !== undefined || /^(Err|ImagePull)/.test(state?.waiting?.reason ?? '') ? state : undefined
    })
    return running === undefined ? { reason: waiting.reason, message: waiting.message } : 'runs'
  }
  const isRefused = (found: Awaited<ReturnType<typeof outcome>>) => {
    assert.ok(found !== 'runs')
    assert.match(found.reason, /^(ErrImagePull|ImagePullBackOff)$/)
    assert.match(found.message, /401 Unauthorized/)
  }
  const kept = () => join(machine.dataDir, 'nodes/skiff-1')
  const records = () => {
    const directory = join(kept(), 'image_manager/pulled')
    return readdirSync(directory).map((file) => JSON.parse(readFileSync(join(directory, file), 'utf8')))
  }

  before(async () => {
    machine = await startContainerMachine()
    registry = machine.start(
      process.execPath,
      fileURLToPath(new URL('private-registry.ts', import.meta.url)),
      new URL(`http://${REGISTRY}`).port,
    )
    registry.stdout?.on('data', (text: Buffer) => {
      pulls += text.toString()
    })
    await until('the registry', () => pulls.includes('images at'))
    up()
    assert.equal(machine.skiff('image', 'load', busyboxArchive(machine.directory, LOADED)).status, 0)
    machine.apply(
      ...['a', 'b'].map((name) => ({ kind: 'Namespace', apiVersion: 'v1', metadata: { name } })),
      secret('own', 'a', 'team1'),
      secret('same', 'b', 'team1'),
      secret('other', 'b', 'team2'),
      secret('wrong', 'b', 'team3', 'nope'),
    )
    for (const namespace of ['a', 'b'])
      await until(
        'the account',
        () => machine.kubectl('get', 'serviceaccount', 'default', '-n', namespace).status === 0,
      )
  })
  after(async () => {
    registry?.kill()
    machine?.skiff('down')
    await machine?.stop()
  })

  test('what a Secret brought is there for pods with that Secret, not for those without it', async () => {
    assert.equal(await outcome('a', PRIVATE, 'IfNotPresent', 'own'), 'runs')
    const asked = pulls
    assert.equal(await outcome('a', PRIVATE, 'Never', 'own'), 'runs')
    assert.deepEqual(await outcome('b', PRIVATE, 'Never'), { reason: 'ErrImageNeverPull', message: NEVER })
    assert.equal(pulls, asked, 'no pull')
    isRefused(await outcome('b', PRIVATE, 'IfNotPresent'))
    isRefused(await outcome('b', PRIVATE, 'IfNotPresent', 'wrong'))
  })

  test('after a restart too; the same credentials in another Secret do, others have to pull once', async () => {
    await killCluster()
    up()
    assert.deepEqual(await outcome('b', PRIVATE, 'Never', 'wrong'), { reason: 'ErrImageNeverPull', message: NEVER })
    assert.equal(await outcome('a', PRIVATE, 'Never', 'own'), 'runs')
    assert.equal(await outcome('b', PRIVATE, 'Never', 'same'), 'runs')
    assert.deepEqual(await outcome('b', PRIVATE, 'Never', 'other'), { reason: 'ErrImageNeverPull', message: NEVER })
    assert.equal(await outcome('b', PRIVATE, 'IfNotPresent', 'other'), 'runs')
    assert.equal(await outcome('b', PRIVATE, 'Never', 'other'), 'runs')
    const [{ credentialMapping }] = records() as [
      { credentialMapping: Record<string, { kubernetesSecrets: object[] }> },
    ]
    assert.equal(credentialMapping[`${REGISTRY}/private/x`]?.kubernetesSecrets.length, 3)
  })

  test('what was loaded, and what was pulled without credentials, is there for all', async () => {
    assert.equal(await outcome('b', LOADED, 'Never'), 'runs')
    assert.equal(await outcome('a', `${REGISTRY}/public/y:1`, 'IfNotPresent'), 'runs')
    assert.equal(await outcome('b', `${REGISTRY}/public/y:1`, 'Never'), 'runs')
  })

  test('down leaves images where they are, and what is known of them: another up lets the same pods in, and knows which it may remove', async () => {
    const pulledImages = () => readFileSync(join(kept(), 'pulled-images.json'), 'utf8')
    const before = pulledImages()
    const noted: readonly { since?: string }[] = Object.values(JSON.parse(before))
    assert.equal(noted.length, 2)
    for (const { since } of noted) assert.match(since ?? '', /^\d{10}\.\d{9}$/)
    assert.equal(machine.skiff('down').status, 0)
    assert.match(machine.run('ctr', '-n', 'k8s.io', 'images', 'ls', '-q').stdout, /private\/x:1/)
    up()
    assert.equal(pulledImages(), before)
    assert.equal(await outcome('a', PRIVATE, 'Never', 'own'), 'runs')
    assert.deepEqual(await outcome('b', PRIVATE, 'Never', 'wrong'), { reason: 'ErrImageNeverPull', message: NEVER })
    isRefused(await outcome('b', PRIVATE, 'IfNotPresent'))
    assert.equal(await outcome('b', LOADED, 'Never'), 'runs')
    assert.equal(await outcome('b', `${REGISTRY}/public/y:1`, 'Never'), 'runs')
  })

  test('records that an earlier version kept with the node outlive it too, where this one takes it down', async () => {
    await killCluster()
    renameSync(join(kept(), 'image_manager'), join(machine.dataDir, 'kubelet/skiff-1/image_manager'))
    assert.equal(machine.skiff('down').status, 0)
    up()
    assert.equal(await outcome('a', PRIVATE, 'Never', 'own'), 'runs')
    assert.deepEqual(await outcome('b', PRIVATE, 'Never', 'wrong'), { reason: 'ErrImageNeverPull', message: NEVER })
  })
})
