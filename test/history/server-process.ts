/** `skiff apiserver` as a process of its own, which can be killed and started again, and a client that outlives it. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { liveRuntime } from '../../src/base/live-runtime.ts'
import type { Client } from '../../src/client/client.ts'
import { httpsTransport } from '../../src/client/https-transport.ts'
import { endpointFromKubeconfig } from '../../src/client/read-kubeconfig.ts'
import { createClient } from '../../src/client/transport.ts'
import { freePort, type RunningProcess, startProcess } from '../components/processes.ts'

export interface ServerProcess {
  readonly dataDir: string
  readonly process: RunningProcess
  readonly client: Client
  /** Resolves when it serves again. Rejects when it ends before. */
  start(): Promise<void>
  /** With -9, though it were stopped. Resolves when it is gone. */
  kill(): Promise<void>
  /** Kills it and closes the client. */
  end(): Promise<void>
}

/** Resolves when it serves. */
export async function startServerProcess(dataDir: string, ...args: readonly string[]): Promise<ServerProcess> {
  const port = String(await freePort())
  const begin = () => startProcess('apiserver', '--data-dir', dataDir, '--secure-port', port, ...args)
  let process = begin()
  await process.until(/serves on/)
  const transport = httpsTransport(endpointFromKubeconfig(readFileSync(join(dataDir, 'kubeconfig'), 'utf8')))
  const kill = async () => {
    process.child.kill('SIGKILL')
    await process.ended
  }
  return {
    dataDir,
    get process() {
      return process
    },
    client: createClient(liveRuntime(), transport, { userAgent: 'test' }),
    async start() {
      process = begin()
      await process.until(/serves on/)
    },
    kill,
    async end() {
      await kill()
      transport.close()
    },
  }
}
