/** The managers of CPUs, memory and topology of skiff kubelet, on the two CPUs and more of this machine. */
import assert from 'node:assert/strict'
import { type ChildProcess, spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { cpuDifference, cpuSetText } from '../../src/kubelet/cpu-manager/cpu-set.ts'
import { machineTopology } from '../../src/kubelet/machine/machine-topology.ts'
import {
  busyboxArchive,
  type ContainerMachine,
  NETWORK_OF_OTHERS,
  startContainerMachine,
  until,
  withoutContainers,
} from './stage.ts'

const IMAGE = 'example.test/busybox:1'
const agent = fileURLToPath(new URL('../../src/kubelet/server/agent-stand-in.ts', import.meta.url))
const skiff = fileURLToPath(new URL('../../bin/skiff.js', import.meta.url))
const { cpus, numaNodes } = machineTopology()
const [reserved = 0] = cpus.cpus
const [firstNode] = numaNodes

const configuration = (clientCAFile: string, cpuManagerPolicy: string) => `
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
authentication: {x509: {clientCAFile: ${clientCAFile}}}
containerRuntimeEndpoint: unix:///run/containerd/containerd.sock
cpuManagerPolicy: ${cpuManagerPolicy}
cpuManagerReconcilePeriod: 500ms
evictionHard: {memory.available: 100Mi, nodefs.available: 1%, imagefs.available: 1%}
memoryManagerPolicy: Static
reservedMemory: [{numaNode: ${firstNode?.id}, limits: {memory: 100Mi}}]
reservedSystemCPUs: "${reserved}"
topologyManagerPolicy: single-numa-node
`

describe('CPUs and memory of containers', { skip: withoutContainers || cpus.cpus.length < 2 }, () => {
  let machine: ContainerMachine
  let kubelet: ChildProcess | undefined
  let log = ''

  const start = (cpuManagerPolicy = 'static') => {
    const file = join(machine.directory, 'config.yaml')
    writeFileSync(file, configuration(join(machine.dataDir, 'pki/ca.crt'), cpuManagerPolicy))
    kubelet = machine.start(
      process.execPath,
      ...[skiff, 'kubelet', '--hostname-override=pinned', '--node-ip=127.0.0.1', `--config=${file}`],
      `--kubeconfig=${join(machine.dataDir, 'kubeconfig')}`,
      ...[`--root-dir=${join(machine.directory, 'kubelet')}`, `--cert-dir=${join(machine.directory, 'certificates')}`],
    )
    log = ''
    kubelet.stderr?.on('data', (text: Buffer) => {
      log += text.toString()
    })
  }
  const stop = (signal: NodeJS.Signals) =>
    new Promise<void>((resolve) => {
      kubelet?.once('exit', () => resolve())
      // nsenter is its parent.
      machine.run('pkill', `-${signal.slice(3)}`, '-f', 'skiff.js kubelet --hostname-override=pinned')
    })
  const field = (kind: string, name: string, path: string) =>
    machine.kubectl('get', kind, name, '-o', `jsonpath=${path}`).stdout
  const phase = (name: string) => field('pod', name, '{.status.phase}')
  const running = (name: string) =>
    until(`${name} runs`, () => phase(name) === 'Running', 20_000).catch((error: unknown) => {
      throw new Error(machine.kubectl('describe', 'pod', name).stdout, { cause: error })
    })
  const within = (name: string) =>
    machine.kubectl('exec', name, '--', '/bin/busybox', 'cat', '/proc/self/status').stdout
  const cpusOf = (name: string) => /^Cpus_allowed_list:\t(.*)$/m.exec(within(name))?.[1]
  const memsOf = (name: string) => /^Mems_allowed_list:\t(.*)$/m.exec(within(name))?.[1]
  const kept = (file: string) => JSON.parse(readFileSync(join(machine.directory, 'kubelet', file), 'utf8'))
  const apply = (name: string, limits: object) =>
    machine.apply({
      ...{ kind: 'Pod', apiVersion: 'v1', metadata: { name } },
      spec: {
        ...{ nodeName: 'pinned', terminationGracePeriodSeconds: 0 },
        containers: [
          {
            ...{ name: 'c', image: IMAGE, imagePullPolicy: 'Never', resources: { limits } },
            command: ['/bin/busybox', 'sleep', '9999'],
          },
        ],
      },
    })

  before(async () => {
    machine = await startContainerMachine()
    writeFileSync(join(machine.directory, 'cni/10-others.conflist'), JSON.stringify(NETWORK_OF_OTHERS))
    const archive = busyboxArchive(machine.directory, IMAGE)
    assert.equal(machine.run('ctr', '-n', 'k8s.io', 'images', 'import', archive).status, 0)
    const up = machine.skiff('up', '--port', '0', '--detach', '--components', 'apiserver,controllers,scheduler')
    assert.equal(up.status, 0, up.stderr)
    start()
    await until(`the node is ready: ${log}`, () =>
      field('node', 'pinned', '{.status.conditions[?(@.type=="Ready")].status}').includes('True'),
    )
  })
  after(async () => {
    machine?.skiff('down')
    const { cluster } = kept('node.json')
    await machine?.stop()
    const own = ['-path', `*/skiff-${cluster}*`, '-exec', 'rmdir', '{}', ';']
    spawnSync('find', ['/sys/fs/cgroup', '-depth', '-type', 'd', ...own])
  })

  const all = cpuSetText(cpus.cpus)
  const [own = 0] = cpuDifference(cpus.cpus, [reserved])
  const others = cpuSetText(cpuDifference(cpus.cpus, [own]))

  test('a container that asks for whole CPUs of a Guaranteed pod has them for itself, without a quota; the others share the rest', async () => {
    apply('shared', {})
    await running('shared')
    assert.equal(cpusOf('shared'), all)
    apply('exclusive', { cpu: '1', memory: '32Mi' })
    await running('exclusive')
    assert.deepEqual([cpusOf('exclusive'), memsOf('exclusive')], [String(own), String(firstNode?.id)])
    const quota = (top: string, file: string) =>
      machine.kubectl('exec', 'exclusive', '--', '/bin/busybox', 'cat', join('/sys/fs/cgroup', top, file)).stdout
    assert.match(quota('cpu', 'cpu.cfs_quota_us') || quota('', 'cpu.max'), /^(-1|max 100000)\n$/)
    await until('the shared pool is smaller', () => cpusOf('shared') === others)
    const uid = field('pod', 'exclusive', '{.metadata.uid}')
    const { policyName, defaultCpuSet, entries } = kept('cpu_manager_state')
    assert.deepEqual([policyName, defaultCpuSet, entries], ['static', others, { [uid]: { c: String(own) } }])
    assert.deepEqual(kept('memory_manager_state').entries[uid], {
      c: [{ numaAffinity: [firstNode?.id], type: 'memory', size: 32 * 1024 * 1024 }],
    })
    const socket = join(machine.directory, 'kubelet/pod-resources/kubelet.sock')
    const told = (method: string, request: object = {}) => {
      const service = ['podresources', 'v1.PodResourcesLister', method, JSON.stringify(request)]
      return JSON.parse(machine.run(process.execPath, agent, socket, ...service).stdout)
    }
    const [{ cpu_ids, memory }] = told('Get', { pod_name: 'exclusive', pod_namespace: 'default' }).pod_resources
      .containers
    const nodes = [{ ID: firstNode?.id }]
    assert.deepEqual(
      [cpu_ids, memory],
      [[own], [{ memory_type: 'memory', size: 32 * 1024 * 1024, topology: { nodes } }]],
      'an agent on the machine is told of both',
    )
    assert.deepEqual(told('GetAllocatableResources').cpu_ids, cpuDifference(cpus.cpus, [reserved]))
    assert.equal(
      field('node', 'pinned', '{.status.allocatable.cpu}'),
      String(cpus.cpus.length - 1),
      'what is reserved by name is not allocatable',
    )
  })

  test('what a node cannot give is refused as a kubelet refuses it', async () => {
    apply('too-much', { cpu: String(cpus.cpus.length), memory: '32Mi' })
    await until('the refusal', () => phase('too-much') === 'Failed')
    assert.deepEqual(
      [field('pod', 'too-much', '{.status.reason}'), field('pod', 'too-much', '{.status.message}')],
      ['TopologyAffinityError', 'Pod was rejected: Resources cannot be allocated with Topology locality'],
    )
  })

  test('a kubelet that starts anew leaves each its CPUs, one of another policy does not start', async () => {
    await stop('SIGKILL')
    start('none')
    await until('the refusal', () => kubelet?.exitCode !== null)
    assert.match(log, /configured policy "none" differs from state checkpoint policy "static", please drain this node/)
    start()
    await until('exec by the new process', () => cpusOf('exclusive') === String(own))
    await until('the other pod', () => cpusOf('shared') === others)
  })

  test('what a pod had is shared again once it has ended', async () => {
    assert.equal(machine.kubectl('delete', 'pod', 'exclusive').status, 0)
    await until('the shared pool is whole', () => cpusOf('shared') === all)
    assert.equal(kept('cpu_manager_state').entries, undefined)
    assert.equal(kept('memory_manager_state').machineState[String(firstNode?.id)].memoryMap.memory.reserved, 0)
  })
})
