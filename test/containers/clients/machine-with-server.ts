/** A machine with the pod `p`: its container `c` has busybox, prints that it is ready, and answers HTTP on port 8080. */
import assert from 'node:assert/strict'
import { busyboxArchive, type ContainerMachine, startContainerMachine, until } from '../stage.ts'
import { IMAGE } from '../traffic.ts'

const SERVE = 'mkdir /tmp; echo hi > /tmp/index.html; echo ready; exec busybox httpd -f -p 8080 -h /tmp'

export async function startMachineWithServer(): Promise<ContainerMachine> {
  const machine = await startContainerMachine()
  const { status, stderr } = machine.skiff('up', '--runtime', 'cri', '--port', '0', '--detach')
  assert.equal(status, 0, stderr)
  assert.equal(machine.skiff('image', 'load', busyboxArchive(machine.directory, IMAGE)).status, 0)
  const container = {
    name: 'c',
    image: IMAGE,
    imagePullPolicy: 'Never',
    command: ['/bin/busybox', 'sh', '-c', SERVE],
    env: [{ name: 'PATH', value: '/bin' }],
    readinessProbe: { tcpSocket: { port: 8080 }, periodSeconds: 1 },
  }
  machine.apply({ kind: 'Pod', apiVersion: 'v1', metadata: { name: 'p' }, spec: { containers: [container] } })
  await until('it is ready', () => /1\/1/.test(machine.kubectl('get', 'pod', 'p', '--no-headers').stdout))
  return machine
}
