/** Starts what runs beside the API server, each component in this process under its own user. */
import { setMaxListeners } from 'node:events'
import type { UserInfo } from '../api/request.ts'
import { signJwt } from '../apiserver/auth/jwt.ts'
import type { Runtime } from '../base/runtime.ts'
import type { Client } from '../client/client.ts'
import type { RealNode } from '../kubelet/machine/real-node.ts'
import { issueForRequest } from './certificate.ts'
import type { DebugServer } from './debug-server.ts'
import type { Identity } from './identity.ts'
import type { Component } from './options.ts'
import type { Pki } from './pki.ts'
import type { RealNodeChoice } from './real-node.ts'

export interface ComponentsOptions {
  readonly components: readonly Component[]
  /** How many simulated nodes. */
  readonly nodes: number
  readonly clientFor: (user: UserInfo, userAgent?: string) => Client
  readonly pki: Pki
  readonly identity: Identity
  readonly progress: (text: string) => void
  /** The node runs real containers. */
  readonly real?: RealNodeChoice
}

export interface RunningComponents {
  /** The controller manager's own port, where it runs. */
  readonly debugUrl?: string
  readonly node?: RealNode
  stop(): Promise<void>
}

const SCHEDULER: UserInfo = { name: 'system:kube-scheduler', groups: ['system:authenticated'] }

/** Resolves when everything runs. What had started is stopped when something does not start. */
export async function startComponents(runtime: Runtime, options: ComponentsOptions): Promise<RunningComponents> {
  const { components, clientFor, progress } = options
  const stopping = new AbortController()
  const { signal } = stopping
  // Every informer, queue and loop of a component ends with it: many listeners are no leak.
  setMaxListeners(0, signal)
  const starting: Promise<unknown>[] = []
  let debug: DebugServer | undefined
  let node: RealNode | undefined
  const stop = async () => {
    stopping.abort()
    await debug?.stop()
    await node?.takeDown()
  }
  if (components.includes('controllers')) {
    progress('starting the controllers')
    starting.push(
      startControllers(runtime, options, signal).then((server) => {
        debug = server
      }),
    )
  }
  if (components.includes('scheduler')) {
    progress('starting the scheduler')
    const { startScheduler } = await import('../scheduler/scheduler.ts')
    const client = clientFor(SCHEDULER, 'kube-scheduler')
    starting.push(startScheduler({ runtime: { ...runtime, log: runtime.log.named('scheduler') }, client, signal }))
  }
  if (options.nodes > 0 && options.real !== undefined) {
    const { found } = options.real
    progress(`starting a node of real containers (${found.name} ${found.version})`)
    starting.push(
      startReal(runtime, options, options.real, signal).then((started) => {
        node = started
      }),
    )
  } else if (options.nodes > 0) {
    progress(options.nodes === 1 ? 'starting a simulated node' : `starting ${options.nodes} simulated nodes`)
    const { startNodes } = await import('./nodes.ts')
    starting.push(startNodes(runtime, options.nodes, clientFor, signal))
  }
  const failed = (await Promise.allSettled(starting)).find((result) => result.status === 'rejected')
  if (failed !== undefined) {
    await stop()
    throw failed.reason
  }
  return {
    stop,
    ...(debug === undefined ? {} : { debugUrl: debug.url }),
    ...(node === undefined ? {} : { node }),
  }
}

async function startReal(runtime: Runtime, options: ComponentsOptions, choice: RealNodeChoice, signal: AbortSignal) {
  const { nodeName, nodeUser } = await import('./nodes.ts')
  const { startNode } = await import('./real-node.ts')
  const name = nodeName(0)
  const own = { ...runtime, log: runtime.log.named('kubelet') }
  return startNode(own, name, options.clientFor(nodeUser(name), 'kubelet'), choice, options.pki, signal)
}

async function startControllers(runtime: Runtime, options: ComponentsOptions, signal: AbortSignal) {
  const { startControllerManager, controllerManagerUser } = await import('../controllers/manager.ts')
  const { startDebugServer } = await import('./debug-server.ts')
  const { clientFor, pki, identity } = options
  const own = { ...runtime, log: runtime.log.named('controllers') }
  const manager = await startControllerManager({
    runtime: own,
    clientFor: ({ user, userAgent }) => clientFor(user, userAgent),
    rootCa: identity.servingCa,
    signToken: (claims) => signJwt(identity.serviceAccounts.signingKey, claims),
    signCertificate: (request) => issueForRequest(own, request, pki.ca),
    signal,
  })
  return startDebugServer(own, { manager, client: clientFor(controllerManagerUser, 'kube-controller-manager'), pki })
}
