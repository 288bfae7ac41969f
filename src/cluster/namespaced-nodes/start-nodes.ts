/**
 * Further nodes of real containers on this machine, each in namespaces of its own under a process of its own (node-process.ts), which is
 * started once and ends with this one: by the kernel where this one is killed. Here they are started, told what they need, and ended.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, existsSync, mkdirSync, openSync, readdirSync, readFileSync } from 'node:fs'
import { isIPv4 } from 'node:net'
import { dirname, join } from 'node:path'
import { parseIPRange } from '../../api/objects/ip-range.ts'
import { messageOf } from '../../base/errors.ts'
import type { Runtime } from '../../base/runtime.ts'
import { addressWithLength } from '../../kubelet/machine/network-ranges.ts'
import { linkNode, nodeAddress } from '../../kubelet/machine/node-links.ts'
import type { PreparedNode } from '../../kubelet/machine/prepare-node.ts'
import type { NodeSettings } from '../../kubelet/node-settings.ts'
import { issue, type KeyAndCertificate } from '../certificate.ts'
import { StartError } from '../errors.ts'
import { type NodeServices, PROXY } from '../node-proxy-and-dns.ts'
import { NETWORK_READER } from '../node-traffic.ts'
import { nodeName, nodeUser } from '../nodes.ts'
import type { Pki } from '../pki.ts'
import { keptDirectory } from '../real-node.ts'
import { endNode, type NamespacesRecord, processId, writeNamespaces } from './left-nodes.ts'
import type { FromNode, NodeTask, TaskFamily, ToNode } from './messages.ts'

export interface FurtherNodesOptions {
  readonly runtime: Runtime
  /** The cluster's directory, and that of its nodes, by the paths that the kernel knows them by. */
  readonly dataDir: string
  /** The node that is this machine itself. */
  readonly first: PreparedNode
  /** How many nodes there are with the first. */
  readonly nodes: number
  readonly server: string
  readonly serverCa: string
  readonly pki: Pick<Pki, 'ca'>
  readonly serviceRanges: readonly string[]
  readonly hasProxy: boolean
  readonly settings: NodeSettings
  readonly verbosity: number
}

export interface FurtherNodes {
  /** Resolves when all are Ready. @throws StartError for the first that is not */
  start(services: Pick<NodeServices, 'dnsServers' | 'dnsPort'>): Promise<void>
  /** Ends them, with all that is theirs. @throws Error with what is left */
  stop(): Promise<void>
}

const CERTIFICATE_DAYS = 365
/** Containers have two seconds between SIGTERM and SIGKILL. */
const STOP_MS = 20_000

export function furtherNodes(options: FurtherNodesOptions): FurtherNodes {
  const { runtime } = options
  const running: RunningNode[] = []
  return {
    async start(services) {
      const numbers = Array.from({ length: options.nodes - 1 }, (_, i) => i + 2)
      await Promise.all(
        numbers.map(async (number) => {
          const node = spawnNode(options, number)
          running.push(node)
          await node.begin(taskOf(options, node.record, number, services))
        }),
      )
    },
    async stop() {
      const ended = await Promise.allSettled(running.map((node) => node.stop()))
      const failed = ended.flatMap((one) => (one.status === 'rejected' ? [messageOf(one.reason)] : []))
      if (failed.length > 0) {
        runtime.log.info(0, 'Of nodes something is left', { failed })
        throw new Error(failed.join('; '))
      }
    },
  }
}

interface RunningNode {
  readonly record: NamespacesRecord
  /** Resolves when it is Ready. @throws StartError */
  begin(task: NodeTask): Promise<void>
  stop(): Promise<void>
}

/** All its namespaces are made by one call of unshare; the shell in the first of its processes takes up what loses its parent there. */
const NAMESPACES = [
  '--mount',
  '--propagation',
  'slave',
  '--net',
  '--uts',
  '--pid',
  '--fork',
  '--kill-child',
  '--mount-proc',
]
const FIRST_PROCESS = '"$@" & wait $!'

function spawnNode({ runtime, dataDir, first }: FurtherNodesOptions, number: number): RunningNode {
  const name = nodeName(number - 1)
  const directories = {
    node: join(dirname(first.directory), name),
    kept: keptDirectory(dataDir, name),
    run: join('/run', `skiff-${first.cluster}`, name),
  }
  mkdirSync(directories.kept, { recursive: true, mode: 0o700 })
  mkdirSync(dirname(directories.run), { recursive: true, mode: 0o700 })
  for (const directory of [directories.run, directories.node, '/var/lib/cni'])
    mkdirSync(directory, { recursive: true, mode: 0o755 })
  const log = join(directories.kept, 'log')
  const out = openSync(log, 'a', 0o600)
  const command = [process.execPath, '--disable-warning=ExperimentalWarning', skiffProgram(), 'node-in-namespaces']
  const child = spawn(
    'setpriv',
    ['--pdeathsig', 'KILL', 'unshare', ...NAMESPACES, 'sh', '-c', FIRST_PROCESS, name, ...command],
    {
      // Ctrl-C in a terminal is for all its group.
      detached: true,
      stdio: ['ignore', out, out, 'ipc'],
      env: { ...process.env, SKIFF_REEXECUTED: '1', PATH: `${process.env['PATH'] ?? ''}:/usr/sbin:/sbin` },
    },
  )
  closeSync(out)
  let record: NamespacesRecord = {
    nodeName: name,
    directories,
    processes: child.pid === undefined ? [] : [processId(child.pid)],
  }
  writeNamespaces(record)
  let isStopping = false
  const said = listening(child)
  const exited = new Promise<void>((resolve) => {
    child.once('error', () => resolve())
    child.once('exit', (code, signal) => {
      if (!isStopping) runtime.log.info(0, 'A node has ended', { node: name, why: signal ?? `exit ${code}` })
      resolve()
    })
  })
  const tell = (message: ToNode) => {
    // One that ends meanwhile is told of by its exit.
    if (child.connected) child.send(message, () => {})
  }
  const gone = exited.then(() => ({ type: 'gone' as const }))
  /** Not a word of an earlier step: it says one for each. */
  const answer = () => Promise.race([said.next(), gone])

  return {
    record,
    async begin(task) {
      const here = await answer()
      if (here.type === 'here' && child.pid !== undefined) {
        record = { ...record, processes: [...record.processes, ...childrenOf(child.pid).map(processId)] }
        writeNamespaces(record)
        linkNode(first.cluster, number, child.pid)
        tell({ type: 'begin', task })
        const then = await answer()
        if (then.type === 'ready') return
        if (then.type === 'failed') throw new StartError(`node ${name} cannot start: ${then.message}`)
      }
      throw new StartError(`the process of node ${name} ended before it was ready: see ${log}`)
    },
    async stop() {
      isStopping = true
      let left: string | undefined
      if (child.connected) {
        tell({ type: 'stop' })
        const late = new Promise<{ type: 'late' }>((resolve) => {
          const timer = runtime.clock.setTimer(STOP_MS, 'node that is stopped', () => resolve({ type: 'late' }))
          void exited.then(timer.cancel)
        })
        let last = await Promise.race([answer(), late])
        // What it had to say of its start comes before.
        while (last.type === 'ready' || last.type === 'failed' || last.type === 'here')
          last = await Promise.race([answer(), late])
        if (last.type === 'stopped') left = last.left
      }
      await endNode(runtime, record, true)
      if (left !== undefined) runtime.log.info(0, 'A node did not stop in order', { node: name, left })
    },
  }
}

/** Its messages in their order. */
function listening(child: ChildProcess): { next(): Promise<FromNode> } {
  const come: FromNode[] = []
  let waiting: ((message: FromNode) => void) | undefined
  child.on('message', (message: FromNode) => {
    const take = waiting
    waiting = undefined
    if (take === undefined) come.push(message)
    else take(message)
  })
  return {
    next() {
      const first = come.shift()
      if (first !== undefined) return Promise.resolve(first)
      return new Promise((resolve) => {
        waiting = resolve
      })
    },
  }
}

function taskOf(
  options: FurtherNodesOptions,
  { nodeName: name, directories }: NamespacesRecord,
  number: number,
  { dnsServers, dnsPort }: Pick<NodeServices, 'dnsServers' | 'dnsPort'>,
): NodeTask {
  const { runtime, first, pki, server, serverCa, hasProxy, verbosity } = options
  const { network, found } = first
  const families = familiesOf(options, number)
  const nodeIPs = families.map(({ nodeIP }) => nodeIP)
  const signed = (commonName: string, organizations: readonly string[], hosts?: readonly string[]): KeyAndCertificate =>
    issue(
      runtime,
      {
        commonName,
        organizations,
        usage: hosts === undefined ? 'client' : 'server',
        validDays: CERTIFICATE_DAYS,
        ...(hosts === undefined ? {} : { hosts }),
      },
      pki.ca,
    )
  const { name: user } = nodeUser(name)
  const { pluginDirectory, sandboxImage, manner } = found
  return {
    nodeName: name,
    families,
    dnsServers,
    servers: network.flatMap(({ address }) =>
      [Number(new URL(server).port || 443), ...(dnsPort === undefined ? [] : [dnsPort])].map((port) => ({
        address,
        port,
      })),
    ),
    resolvConf: resolvConfFor(readResolvConf(), network[0].address),
    directories,
    like: { pluginDirectory, sandboxImage, manner },
    server,
    serverCa,
    users: {
      node: signed(user, ['system:nodes']),
      ...(hasProxy ? { proxy: signed(PROXY.name, []) } : {}),
      network: signed(NETWORK_READER, []),
    },
    serving: { ...signed(user, ['system:nodes'], [...nodeIPs, name]), clientCa: pki.ca.cert },
    verbosity,
    settings: options.settings,
  }
}

function familiesOf({ first, serviceRanges }: FurtherNodesOptions, number: number): readonly TaskFamily[] {
  return first.network.map(({ nodeRange, clusterRange }, i) => {
    const own = parseIPRange(nodeRange ?? '')
    const serviceRange = serviceRanges[i]
    if (own === undefined || clusterRange === undefined || serviceRange === undefined)
      throw new Error('no range for several nodes')
    return {
      ...{ clusterRange, serviceRange, gateway: nodeAddress(own, 1) },
      nodeIP: nodeAddress(own, number),
      address: addressWithLength(own, number),
    }
  })
}

function readResolvConf(): string {
  try {
    return readFileSync('/etc/resolv.conf', 'utf8')
  } catch {
    return ''
  }
}

/** Name servers on this machine's loopback do not answer in other network namespaces: this cluster's asks them in their place. */
export function resolvConfFor(text: string, ownServer: string): string {
  const isServer = (line: string) => /^\s*nameserver\s/.test(line)
  const isReached = (line: string) => {
    const server = line.trim().split(/\s+/)[1] ?? ''
    return isIPv4(server) ? !server.startsWith('127.') : server !== '::1'
  }
  const lines = text.split('\n').filter((line) => line.trim() !== '' && (!isServer(line) || isReached(line)))
  return `${[...(lines.some(isServer) ? [] : [`nameserver ${ownServer}`]), ...lines].join('\n')}\n`
}

/** The executable of this installation, whatever program this code runs in. */
function skiffProgram(): string {
  for (let at = import.meta.dirname; at !== dirname(at); at = dirname(at)) {
    const program = join(at, 'bin/skiff.js')
    if (existsSync(program)) return program
  }
  return process.argv[1] ?? ''
}

function childrenOf(parent: number): readonly number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((name) => {
      try {
        const stat = readFileSync(`/proc/${name}/stat`, 'utf8')
        return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]) === parent
      } catch {
        return false
      }
    })
    .map(Number)
}
