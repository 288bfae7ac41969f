/** Limits of single pods on the disk of a real node: who uses more is evicted, in the kubelet's words. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { busyboxArchive, type ContainerMachine, startContainerMachine, until, withoutContainers } from './stage.ts'

const IMAGE = 'example.test/busybox:1'
const filling = (...files: string[]) => [
  '/bin/busybox',
  'sh',
  '-c',
  `for f in ${files.join(' ')}; do dd if=/dev/zero of=$f bs=1M count=3; done; exec sleep 9999`,
]
const limit = (size: string) => ({ resources: { limits: { 'ephemeral-storage': size } } })

function pod(name: string, containers: readonly object[], emptyDir: object = {}) {
  const whole = containers.map((one, at) => ({
    name: `c${at}`,
    image: IMAGE,
    imagePullPolicy: 'Never',
    command: ['/bin/busybox', 'sleep', '9999'],
    volumeMounts: [{ name: 'v', mountPath: '/v' }],
    ...one,
  }))
  const spec = { containers: whole, volumes: [{ name: 'v', emptyDir }], terminationGracePeriodSeconds: 1 }
  return { kind: 'Pod', apiVersion: 'v1', metadata: { name }, spec }
}

describe('limits on disk', { skip: withoutContainers }, () => {
  let machine: ContainerMachine
  const field = (name: string, path: string) => machine.kubectl('get', 'pod', name, '-o', `jsonpath=${path}`).stdout

  before(async () => {
    machine = await startContainerMachine()
    // Whatever the disk of this machine has left.
    const flags = ['--port', '0', '--detach', '--eviction-hard', 'memory.available<10Mi']
    const { status, stderr } = machine.skiff('up', '--runtime', 'cri', ...flags)
    assert.equal(status, 0, stderr)
    assert.equal(machine.skiff('image', 'load', busyboxArchive(machine.directory, IMAGE)).status, 0)
  })
  after(async () => {
    machine?.skiff('down')
    await machine?.stop()
  })

  test('an emptyDir, a pod and a container that are larger than they may be', async () => {
    machine.apply(
      pod('volume', [{ command: filling('/v/f') }], { sizeLimit: '1Mi' }),
      pod('whole', [{ command: filling('/v/f', '/f'), ...limit('2Mi') }, limit('2Mi')]),
      pod('container', [{ command: filling('/f'), ...limit('1Mi') }, limit('100Mi')]),
      pod('within', [{ command: filling('/f'), ...limit('10Mi') }], { sizeLimit: '1Mi' }),
    )
    const messages = {
      volume: 'Usage of EmptyDir volume "v" exceeds the limit "1Mi". ',
      whole: 'Pod ephemeral local storage usage exceeds the total limit of containers 4Mi. ',
      container: 'Container c0 exceeded its local ephemeral storage limit "1Mi". ',
    }
    for (const [name, message] of Object.entries(messages)) {
      await until(`${name} is evicted`, () => field(name, '{.status.reason}') === 'Evicted')
      assert.deepEqual([field(name, '{.status.phase}'), field(name, '{.status.message}')], ['Failed', message])
    }
    assert.equal(field('within', '{.status.phase}'), 'Running')
  })

  test('an emptyDir in memory takes no more than its limit', async () => {
    machine.apply(pod('memory', [{ command: filling('/v/f') }], { medium: 'Memory', sizeLimit: '1Mi' }))
    await until('it runs', () => field('memory', '{.status.phase}') === 'Running')
    const size = () => machine.kubectl('exec', 'memory', '--', '/bin/busybox', 'stat', '-c', '%s', '/v/f').stdout
    await until('it is full', () => size() === `${1024 * 1024}\n`)
  })
})
