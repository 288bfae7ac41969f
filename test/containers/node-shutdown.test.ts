/**
 * The machine of two nodes goes down, as its logind (a program that stands for it) tells them: pods of both end first. Each test goes on where
 * the one before it ended.
 */
import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { type LogindStandIn, startLogind } from '../logind/stand-in.ts'
import { lacks } from '../machine.ts'
import { busyboxArchive, type ContainerMachine, startContainerMachine, until, withoutContainers } from './stage.ts'

const IMAGE = 'example.test/busybox:1'
const NODES = ['skiff-1', 'skiff-2']

describe('graceful shutdown of skiff up’s nodes', { skip: withoutContainers || lacks.messageBus() }, () => {
  let machine: ContainerMachine
  let logind: LogindStandIn
  const field = (path: string, ...object: readonly string[]) =>
    machine.kubectl('get', ...object, '-o', `jsonpath=${path}`).stdout
  const calls = (text: string) => logind.calls().filter((call) => call.includes(text)).length
  const overrides = () => readdirSync(join(logind.override, '..'))

  before(async () => {
    machine = await startContainerMachine()
    logind = await startLogind(join(machine.directory, 'logind'))
    mkdirSync(join(logind.override, '..'))
    symlinkSync('bus', join(machine.directory, 'logind/system_bus_socket'))
    for (const [own, at] of [
      ['logind', '/run/dbus'],
      ['logind/conf.d', '/run/systemd/logind.conf.d'],
    ] as const) {
      machine.run('mkdir', '-p', at)
      assert.equal(machine.run('mount', '--bind', join(machine.directory, own), at).status, 0)
    }
  })
  after(async () => {
    machine?.skiff('down')
    await logind?.stop()
    await machine?.stop()
  })

  test('up has each node hold the shutdown up, and logind wait long enough', async () => {
    const { status, stderr } = machine.skiff(
      'up',
      ...'--runtime cri --nodes 2 --port 0 --detach'.split(' '),
      ...'--shutdown-grace-period 8s --shutdown-grace-period-critical-pods 2s'.split(' '),
    )
    assert.equal(status, 0, stderr)
    await until('both locks', () => calls('Inhibit shutdown') === 2)
    assert.match(overrides().join(), /^99-skiff-[0-9a-f]{8}\.conf$/)
    assert.equal(
      machine.run('cat', `/run/systemd/logind.conf.d/${overrides()[0]}`).stdout.split('\n')[2],
      'InhibitDelayMaxSec=8',
    )
  })

  test('pods of both end before the locks are given back, as pods that were terminated', async () => {
    const loaded = machine.skiff('image', 'load', busyboxArchive(machine.directory, IMAGE))
    assert.equal(loaded.status, 0, loaded.stderr)
    const stubborn = ['/bin/busybox', 'sh', '-c', "trap '' TERM; while :; do /bin/busybox sleep 0.1; done"]
    machine.apply(
      ...NODES.map((nodeName) => ({
        ...{ kind: 'Pod', apiVersion: 'v1', metadata: { name: `on-${nodeName}` } },
        spec: { nodeName, containers: [{ name: 'c', image: IMAGE, imagePullPolicy: 'Never', command: stubborn }] },
      })),
    )
    for (const node of NODES)
      await until(`a pod runs on ${node}`, () => field('{.status.phase}', 'pod', `on-${node}`) === 'Running')
    logind.says(true)
    await until('the end', () => calls('released kubelet') === 2)
    for (const node of NODES) {
      await until('it is told', () => field('{.status.reason}', 'pod', `on-${node}`) === 'Terminated')
      const terminated = '{.status.containerStatuses[0].state.terminated.exitCode}'
      assert.equal(field(terminated, 'pod', `on-${node}`), '137')
      const ready = '{.status.conditions[?(@.type=="Ready")].message}'
      assert.equal(field(ready, 'node', node), 'node is shutting down')
    }
  })

  test('down has logind wait as long as before', async () => {
    const before = calls('KillUnit')
    assert.equal(machine.skiff('down').status, 0)
    assert.deepEqual(overrides(), [])
    assert.ok(calls('KillUnit') > before)
  })

  test('simulated nodes hold nothing up, and say so', () => {
    const { status, stderr } = machine.skiff('up', '--port', '0', '--detach', '--shutdown-grace-period', '8s')
    assert.equal(status, 1)
    assert.match(stderr, /no machine goes down under simulated nodes: --shutdown-grace-period… needs --runtime cri/)
  })
})
