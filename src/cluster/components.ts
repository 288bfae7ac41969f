/** Starts what runs beside the API server, each component in this process under its own user. */
import type { Handler, UserInfo } from '../api/request.ts'
import type { Runtime } from '../base/runtime.ts'
import type { Client } from '../client/client.ts'
import type { Component } from './options.ts'
import type { Pki } from './pki.ts'

export interface ComponentsOptions {
  readonly components: readonly Component[]
  /** How many simulated nodes. */
  readonly nodes: number
  readonly clientFor: (user: UserInfo, userAgent?: string) => Client
  /** The admin's. */
  readonly client: Client
  readonly handler: Handler
  readonly pki: Pki
  readonly progress: (text: string) => void
}

export interface RunningComponents {
  /** Where the controller manager answers, where it does. */
  readonly debugUrl?: string
  stop(): Promise<void>
}

/** Resolves when everything runs and the nodes are Ready. What had started is stopped when something does not. */
export async function startComponents(_runtime: Runtime, _options: ComponentsOptions): Promise<RunningComponents> {
  return { stop: async () => {} }
}
