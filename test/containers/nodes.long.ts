/** How nodes in namespaces end when nothing tells them to. Each test goes on where the one before it ended. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { busyboxArchive, type ContainerMachine, startContainerMachine, until, withoutContainers } from './stage.ts'
import { groupNames, groupsLeft, traces } from './traces.ts'
import { IMAGE, pod, sh } from './traffic.ts'

describe('nodes that are killed', { skip: withoutContainers }, () => {
  let machine: ContainerMachine
  let untouched: ReturnType<typeof traces>
  let groups: readonly string[]
  const field = (kind: string, name: string, path: string) =>
    machine.kubectl('get', kind, name, '-o', `jsonpath=${path}`).stdout
  const ready = '{.status.conditions[?(@.type=="Ready")].status}'
  const restarts = (name: string) => field('pod', name, '{.status.containerStatuses[0].restartCount}')
  const up = (nodes: number) => {
    const { status, stderr } = machine.skiff('up', '--runtime', 'cri', '--nodes', `${nodes}`, '--port', '0', '--detach')
    assert.equal(status, 0, stderr)
  }
  const killCluster = async () => {
    const pid = /^pid: +(\d+)$/m.exec(machine.skiff('status').stdout)?.[1] ?? ''
    assert.equal(machine.run('kill', '-9', pid).status, 0)
    // The kernel ends the namespaces, nothing else does.
    await until('its nodes have ended', () => machine.run('pgrep', '-f', 'node-in-namespaces').status !== 0)
  }

  before(async () => {
    machine = await startContainerMachine()
    untouched = traces(machine)
    up(3)
    assert.equal(machine.skiff('image', 'load', busyboxArchive(machine.directory, IMAGE)).status, 0)
    const volumes = [{ name: 'kept', emptyDir: {} }]
    const container = { volumeMounts: [{ name: 'kept', mountPath: '/kept' }], readinessProbe: undefined }
    machine.apply(
      ...[1, 2, 3].map((n) =>
        pod(
          `on-${n}`,
          'app',
          'echo line >> /kept/lines; exec sleep 99999',
          { nodeName: `skiff-${n}`, volumes },
          container,
        ),
      ),
    )
    groups = groupNames(machine)
    for (const n of [1, 2, 3]) await until(`on-${n}`, () => field('pod', `on-${n}`, ready) === 'True')
  })
  after(async () => {
    machine?.skiff('down')
    await machine?.stop()
  })

  test('kill -9 of skiff up ends the nodes in namespaces, and the next one starts them with their images and volumes', async () => {
    await killCluster()
    up(3)
    for (const n of [2, 3])
      await until(`on-${n} again`, () => restarts(`on-${n}`) === '1' && field('pod', `on-${n}`, ready) === 'True')
    assert.equal(restarts('on-1'), '0')
    const lines = machine.kubectl('exec', 'on-2', '--', ...sh('cat /kept/lines')).stdout
    assert.equal(lines, 'line\nline\n')
  })

  test('a node that is killed becomes NotReady, and the others go on', { timeout: 200_000 }, async () => {
    const pids = machine.run('pgrep', '-f', 'sh -c.*skiff-3').stdout.trim().split('\n')
    assert.equal(machine.run('kill', '-9', ...pids).status, 0)
    await until('it is NotReady', () => field('node', 'skiff-3', ready) === 'Unknown')
    assert.deepEqual([field('node', 'skiff-1', ready), field('node', 'skiff-2', ready)], ['True', 'True'])
    assert.equal(machine.kubectl('exec', 'on-2', '--', ...sh('echo here')).stdout, 'here\n')
  })

  test('kill -9 of all of it, an up with one node, and down leave nothing', async () => {
    await killCluster()
    up(1)
    await until('the first node goes on', () => field('node', 'skiff-1', ready) === 'True')
    assert.doesNotMatch(machine.run('ip', '-o', 'link').stdout, /skiff[n2-9a-f]-/)
    const { status, stderr } = machine.skiff('down')
    assert.equal(status, 0, stderr)
    assert.deepEqual([traces(machine), groupsLeft(groups)], [untouched, []])
  })

  test('kill -9 and down leave nothing either', async () => {
    up(2)
    await killCluster()
    const { status, stdout, stderr } = machine.skiff('down')
    assert.deepEqual([status, /its nodes are taken down/.test(stdout)], [0, true], stderr)
    assert.deepEqual([traces(machine), groupsLeft(groups)], [untouched, []])
  })
})
