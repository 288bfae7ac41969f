/**
 * The process of a further node of this machine, in mount, network, UTS and process namespaces of its own: it makes them its node's, runs
 * containerd and the kubelet there with what carries the pods' traffic, and ends with skiff up. Started by start-nodes.ts, which it is told
 * all it needs by; whatever becomes of it, the kernel ends the rest of the node with its first process.
 */
import { createHash } from 'node:crypto'
import { setMaxListeners } from 'node:events'
import { existsSync, lstatSync, mkdirSync, realpathSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { messageOf } from '../../base/errors.ts'
import { liveRuntime } from '../../base/live-runtime.ts'
import type { Runtime } from '../../base/runtime.ts'
import { httpsTransport } from '../../client/https-transport.ts'
import { createClient } from '../../client/transport.ts'
import { type MachineIds, machineIds } from '../../kubelet/machine/machine.ts'
import { checkMachine } from '../../kubelet/machine/machine-requirements.ts'
import { takeLink } from '../../kubelet/machine/node-links.ts'
import { SOCKET, startContainerd } from '../../kubelet/machine/own-containerd.ts'
import { prepareNode } from '../../kubelet/machine/prepare-node.ts'
import { awaitPodRanges } from '../../kubelet/machine/real-machine.ts'
import { type RealNode, startRealNode } from '../../kubelet/machine/real-node.ts'
import { system } from '../../kubelet/machine/system.ts'
import { guestOverride } from '../../kubelet/shutdown/logind.ts'
import { buildMetrics } from '../build-metrics.ts'
import type { KeyAndCertificate } from '../certificate.ts'
import { StartError } from '../errors.ts'
import { startTraffic } from '../node-traffic.ts'
import type { FromNode, NodeTask, ToNode } from './messages.ts'

/** Runs until it is told to stop, or the process that started it ends. @throws StartError where a person starts it */
export function runNodeProcess(): void {
  if (process.send === undefined)
    throw new StartError('nodes in namespaces are started by skiff up --runtime cri --nodes N')
  const say = (message: FromNode) => {
    // Where the other side has gone, this one is about to end.
    if (process.connected) process.send?.(message, () => {})
  }
  // Without it there is no cluster: a node that is left goes as by a loss of power.
  process.on('disconnect', () => process.exit(1))
  // Ctrl-C is for skiff up, which tells its nodes.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})
  let stop: (() => Promise<void>) | undefined
  process.on('message', (message: ToNode) => {
    if (message.type === 'begin') {
      const running = createNode(message.task)
      stop = running.stop
      running.started.then(
        () => say({ type: 'ready' }),
        (error: unknown) => say({ type: 'failed', message: messageOf(error) }),
      )
      return
    }
    Promise.resolve(stop?.()).then(
      () => say({ type: 'stopped' }),
      (error: unknown) => say({ type: 'stopped', left: messageOf(error) }),
    )
  })
  say({ type: 'here' })
}

function createNode(task: NodeTask): { readonly started: Promise<void>; stop(): Promise<void> } {
  const { nodeName, directories, users, server, serverCa } = task
  const runtime = liveRuntime({
    level: task.verbosity,
    log: join(directories.kept, 'log'),
    onUncaught: (error) => runtime.log.error('unhandled failure', error),
  })
  buildMetrics(runtime.metrics)
  process.on('unhandledRejection', (error) => runtime.log.error('unhandled rejection', error))
  const stopping = new AbortController()
  const { signal } = stopping
  setMaxListeners(0, signal)
  /** Containers are still to be stopped by it when all else has stopped. */
  const runtimeStopping = new AbortController()
  const closing: (() => void)[] = []
  let node: RealNode | undefined
  let traffic: { stopped(): Promise<void> } | undefined

  const clientOf = (user: KeyAndCertificate, userAgent: string) => {
    const transport = httpsTransport({ server, ca: serverCa, ...user })
    closing.push(() => transport.close())
    return createClient(runtime, transport, { userAgent })
  }

  async function start(): Promise<void> {
    enterMachine(task)
    const configurationDirectory = join(directories.node, 'cni')
    await startContainerd({
      runtime,
      like: task.like,
      directory: directories.kept,
      configurationDirectory,
      signal: runtimeStopping.signal,
    })
    const { runtime: found, problems } = await checkMachine(runtime.clock, `unix://${SOCKET}`)
    if (found === undefined || problems.length > 0) throw new Error(problems.join('; '))
    const own: Runtime = { ...runtime, log: runtime.log.named('kubelet') }
    const client = clientOf(users.node, 'kubelet')
    const ids = idsOf(nodeName, runtime)
    const { families } = task
    const directory = directories.node
    const nodeIPs = families.map(({ nodeIP }) => nodeIP)
    const podCIDRs = await awaitPodRanges({ runtime: own, client, nodeName, nodeIPs, found, ids, directory, signal })
    const ranges = families.map(({ clusterRange, nodeIP }, i) => ({
      ...{ clusterRange, nodeIP },
      podCIDR: podCIDRs[i] ?? '',
    }))
    const serviceRanges = families.map(({ serviceRange }) => serviceRange)
    // Its containerd may still know of what ran in an earlier life.
    const cluster = createHash('sha256').update(directories.kept).digest('hex').slice(0, 8)
    const prepared = prepareNode({
      ...{ runtime: own, nodeName, found, directory, serviceRanges, ranges, cluster },
      imagesDirectory: directories.kept,
    })
    traffic = await startTraffic({
      runtime,
      node: prepared,
      proxy: users.proxy === undefined ? undefined : clientOf(users.proxy, 'kube-proxy'),
      network: clientOf(users.network, 'skiff-network-policies'),
      servers: task.servers,
      signal,
    })
    const { dnsServers, serving } = task
    const certificate = () => serving
    node = await startRealNode({
      ...task.settings,
      runtime: own,
      client,
      signal,
      prepared,
      dnsServers,
      ids,
      certificate,
      logindOverride: guestOverride(prepared.cluster),
    })
  }

  const started = start()
  return {
    started,
    async stop() {
      stopping.abort()
      await started.catch(() => {})
      await traffic?.stopped()
      try {
        await node?.takeDown()
      } finally {
        runtimeStopping.abort()
        for (const close of closing) close()
      }
    },
  }
}

/** What is mounted and set here is seen by this node alone. @throws Error */
function enterMachine({ nodeName, families, resolvConf, directories, settings }: NodeTask): void {
  system('mount', ['--make-rshared', '/'])
  writeFileSync('/proc/sys/kernel/hostname', nodeName)
  for (const [name, at] of [
    ['logs', '/var/log'],
    ['cni-cache', '/var/lib/cni'],
  ] as const) {
    const own = join(directories.node, name)
    mkdirSync(own, { recursive: true, mode: 0o755 })
    if (existsSync(at)) system('mount', ['--bind', own, at])
  }
  bindResolvConf(resolvConf, directories.node, directories.run)
  if (settings.shutdown !== undefined) showMessageBus(directories.run)
  system('mount', ['--rbind', directories.run, '/run'])
  takeLink(
    families.map(({ address }) => address),
    families.map(({ gateway }) => gateway),
  )
}

/** The machine's, by which it tells that it goes down, below the node's own /run too. Nothing of it can be removed from there. */
function showMessageBus(run: string): void {
  const [bus, within] = ['/run/dbus', join(run, 'dbus')]
  if (!existsSync(bus)) return
  mkdirSync(within, { recursive: true })
  system('mount', ['--bind', bus, within])
  system('mount', ['-o', 'remount,bind,ro', within])
}

/** Where it is a link into /run, as systemd makes it, it leads to a file of the node's own /run. */
function bindResolvConf(text: string, directory: string, run: string): void {
  const [file, own] = ['/etc/resolv.conf', join(directory, 'resolv.conf')]
  writeFileSync(own, text)
  if (!existsSync(file)) return
  const target = realpathSync(file)
  if (!lstatSync(file).isSymbolicLink() || !target.startsWith('/run/')) {
    system('mount', ['--bind', own, target])
    return
  }
  const within = join(run, target.slice('/run/'.length))
  mkdirSync(dirname(within), { recursive: true })
  writeFileSync(within, text)
}

/** Nodes of one machine are several to the API; a boot of theirs is a start. */
function idsOf(nodeName: string, { random }: Runtime): MachineIds {
  const machineId = createHash('sha256').update(`${machineIds().machineId} ${nodeName}`).digest('hex').slice(0, 32)
  return { machineId, bootId: random.uuid() }
}
