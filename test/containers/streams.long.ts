/** Sessions with real containers: long ones, and many at once. */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { busyboxArchive, type ContainerMachine, startContainerMachine, until, withoutContainers } from './stage.ts'
import { IMAGE, LINKED, NODE, podWithPrograms } from './traffic.ts'

const KUBECTL = join(process.cwd(), 'interop/bin/kubectl')
const MANY = fileURLToPath(new URL('many-sessions.mjs', import.meta.url))
const PATH = '/api/v1/namespaces/default/pods/p'
const MIB = 1024 * 1024
const MOST_GROWTH_MIB = 64
const AT_ONCE = 200
const HELD = 20
/** One that answers what it hears, beside the one of the pod's probe. */
const SERVERS = `${LINKED}
  ${NODE} -e "require('node:net').createServer((socket) => socket.on('error', () => {}).pipe(socket)).listen(8081)" &
  exec httpd -f -p 8080`

describe('sessions with real containers', { skip: withoutContainers }, () => {
  let machine: ContainerMachine
  /** Of the process that is API server and kubelet. */
  let pid = ''

  before(async () => {
    machine = await startContainerMachine()
    const { status, stderr } = machine.skiff('up', '--runtime', 'cri', '--port', '0', '--detach')
    assert.equal(status, 0, stderr)
    assert.equal(machine.skiff('image', 'load', busyboxArchive(machine.directory, IMAGE)).status, 0)
    machine.apply(podWithPrograms('p', 'p', SERVERS, { resources: { limits: { memory: '512Mi' } } }))
    await until('it is ready', () => /1\/1/.test(machine.kubectl('get', 'pod', 'p', '--no-headers').stdout))
    const own = /^pid: +(\d+)$/m.exec(machine.skiff('status').stdout)?.[1] ?? ''
    // The machine has process ids of its own: here the process has another.
    pid = await until('its process', () =>
      readdirSync('/proc').find((id) => {
        try {
          const words = /^NSpid:\s+(.*)$/m.exec(readFileSync(`/proc/${id}/status`, 'utf8'))?.[1]?.split('\t') ?? []
          return (
            words.length > 1 &&
            words.at(-1) === own &&
            readFileSync(`/proc/${id}/cmdline`, 'utf8').includes(machine.dataDir)
          )
        } catch {
          return false
        }
      }),
    )
  })
  after(async () => {
    machine?.skiff('down')
    await machine?.stop()
  })

  const peakMiB = () => Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024
  const forgetPeak = () => writeFileSync(`/proc/${pid}/clear_refs`, '5')
  const sockets = () => readdirSync(`/proc/${pid}/fd`).length
  /** Of those that sessions began in the container. */
  const processes = () =>
    machine
      .kubectl('exec', 'p', '--', '/bin/busybox', 'ps')
      .stdout.split('\n')
      .filter((line) => line.trimEnd().endsWith('/bin/busybox cat')).length

  /** Through `cat` in the container and back; compares the hash of each direction. However long that takes. */
  async function thereAndBack(mebibytes: number, how: string): Promise<void> {
    const script = `cd ${machine.directory}; export ${how}
       head -c ${mebibytes * MIB} /dev/urandom > given
       ${KUBECTL} exec -i p -- /bin/busybox cat < given | sha256sum; sha256sum < given; rm given`
    const child = machine.start('sh', '-c', script)
    const said = { stdout: '', stderr: '' }
    for (const stream of ['stdout', 'stderr'] as const)
      child[stream]?.on('data', (piece) => {
        said[stream] += piece
      })
    await new Promise((resolve) => child.once('close', resolve))
    const [back, given] = said.stdout.trim().split('\n')
    assert.ok(back !== undefined && back === given, `${back} for ${given}: ${said.stderr}`)
  }

  for (const [name, how] of [
    ['WebSocket', 'KUBECTL_REMOTE_COMMAND_WEBSOCKETS=true'],
    ['SPDY', 'KUBECTL_REMOTE_COMMAND_WEBSOCKETS=false'],
  ] as const)
    test(`a gigabyte into a container and out again by ${name} is whole, and memory grows by less than ${MOST_GROWTH_MIB} MiB`, async () => {
      await thereAndBack(256, how)
      const before = peakMiB()
      forgetPeak()
      await thereAndBack(1024, how)
      const growth = peakMiB() - before
      assert.ok(growth < MOST_GROWTH_MIB, `${growth} MiB more than ${before}`)
    })

  test(`${AT_ONCE} execs at once each get their own answer, and leave no process and no socket`, async () => {
    const before = sockets()
    const { stdout, stderr } = machine.run(process.execPath, MANY, 'exec', PATH, String(AT_ONCE))
    assert.equal(stdout, `${AT_ONCE} sessions\n`, stderr)
    await until('the sockets go', () => sockets() <= before + 2)
    await until('the processes go', () => processes() === 0)
  })

  test(`${AT_ONCE} port-forwards at once each get their own bytes back, and leave no socket`, async () => {
    const before = sockets()
    const { stdout, stderr } = machine.run(process.execPath, MANY, 'portforward', PATH, String(AT_ONCE))
    assert.equal(stdout, `${AT_ONCE} sessions\n`, stderr)
    await until('the sockets go', () => sockets() <= before + 2)
    await until('the processes go', () => processes() === 0)
  })

  const container = () =>
    machine
      .kubectl('get', 'pod', 'p', '-o', 'jsonpath={.status.containerStatuses[0].containerID}')
      .stdout.replace('containerd://', '')
  let restarts = 0
  const status = () =>
    machine.kubectl(
      ...['get', 'pod', 'p', '-o'],
      'jsonpath={.status.containerStatuses[0].ready} {.status.containerStatuses[0].restartCount}',
    ).stdout
  for (const kind of ['exec', 'portforward'])
    for (const [who, end] of [
      ['client that is killed', () => machine.run('pkill', '-9', '-f', 'many-sessions')],
      [
        'container that ends',
        () => machine.run('ctr', '-n', 'k8s.io', 'tasks', 'kill', '-a', '-s', 'SIGKILL', container()),
      ],
    ] as const)
      test(`a ${who} in the midst of ${HELD} sessions (${kind}) leaves no process and no socket`, async () => {
        const before = sockets()
        const held = machine.start(process.execPath, MANY, kind, PATH, String(HELD), 'hold')
        const ended = new Promise((resolve) => held.once('close', resolve))
        let said = ''
        held.stdout?.on('data', (piece) => {
          said += piece
        })
        await until('they are there', () => said === `${HELD} sessions\n`)
        end()
        // Sessions whose container is gone are ended by the server.
        await ended
        await until('the sockets go', () => sockets() <= before + 2)
        if (who.startsWith('container')) restarts += 1
        await until('it is ready', () => status() === `true ${restarts}`)
        await until('the processes go', () => processes() === 0)
      })
})
