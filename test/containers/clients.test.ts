/** Sessions with a pod of real containers, and its logs, by clients as they are published: client-go and @kubernetes/client-node. */
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { startMachineWithServer } from './clients/machine-with-server.ts'
import { type ContainerMachine, withoutContainers } from './stage.ts'

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url))
const binary = at('../../interop/bin/streams.test')
const withoutGo = existsSync(binary) ? false : 'the Go clients are not built: interop/build does it (needs Go)'

const GO = {
  TestCommandsEndWithTheirCode: 'a command ends with its code: by SPDY, by WebSocket, by WebSocket else SPDY',
  TestStandardInputIsWhole: 'standard input comes back whole, and its end is told',
  TestTerminalsHaveSizes: 'a terminal has the size that the client tells',
  TestWhatIsMissingIsTold: 'a program or a container that is not there is told of',
  TestPortsAreForwarded: 'a port is reached by SPDY, and by SPDY within WebSocket',
  TestLogsAreFollowed: 'logs are followed',
}

describe('sessions by published clients', { skip: withoutContainers }, () => {
  let machine: ContainerMachine
  before(async () => {
    machine = await startMachineWithServer()
  })
  after(async () => {
    machine?.skiff('down')
    await machine?.stop()
  })

  test('every test of the binary is named here', { skip: withoutGo }, () => {
    const { stdout } = machine.run(binary, '-test.list', '.*')
    assert.deepEqual(stdout.trim().split('\n').sort(), Object.keys(GO).sort())
  })
  for (const [name, what] of Object.entries(GO))
    test(`client-go: ${what}`, { skip: withoutGo }, () => {
      const { status, stdout, stderr } = machine.run(binary, '-test.run', `^${name}$`, '-test.timeout', '100s')
      assert.equal(status, 0, `${stdout}${stderr}`)
    })
  test('@kubernetes/client-node: commands, input, attach, logs, ports', () => {
    const { status, stdout, stderr } = machine.run(process.execPath, at('clients/node.mjs'))
    assert.equal(status, 0, `${stdout}${stderr}`)
  })
})
