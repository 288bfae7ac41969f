/** Starts what runs beside the API server, each component in this process under its own user. */
import type { UserInfo } from '../api/request.ts'
import type { Runtime } from '../base/runtime.ts'
import type { Client } from '../client/client.ts'
import type { Component } from './options.ts'
import type { Pki } from './pki.ts'

export interface ComponentsOptions {
  readonly components: readonly Component[]
  readonly clientFor: (user: UserInfo, userAgent?: string) => Client
  readonly pki: Pki
  readonly progress: (text: string) => void
}

export interface RunningComponents {
  stop(): Promise<void>
}

const SCHEDULER: UserInfo = { name: 'system:kube-scheduler', groups: ['system:authenticated'] }

/** Resolves when everything runs. What had started is stopped when something does not start. */
export async function startComponents(runtime: Runtime, options: ComponentsOptions): Promise<RunningComponents> {
  const { components, clientFor, progress } = options
  const stopping = new AbortController()
  const { signal } = stopping
  const starting: Promise<unknown>[] = []
  if (components.includes('controllers')) {
    progress('starting the controllers')
    const { startControllerManager } = await import('../controllers/manager.ts')
    starting.push(
      startControllerManager({
        runtime: { ...runtime, log: runtime.log.named('controllers') },
        clientFor: ({ user, userAgent }) => clientFor(user, userAgent),
        rootCa: options.pki.ca.cert,
        signal,
      }),
    )
  }
  if (components.includes('scheduler')) {
    progress('starting the scheduler')
    const { startScheduler } = await import('../scheduler/scheduler.ts')
    const client = clientFor(SCHEDULER, 'kube-scheduler')
    starting.push(startScheduler({ runtime: { ...runtime, log: runtime.log.named('scheduler') }, client, signal }))
  }
  try {
    await Promise.all(starting)
  } catch (error) {
    stopping.abort()
    throw error
  }
  return { stop: async () => stopping.abort() }
}
