/** skiff ui: a page that shows any cluster's owner graph, and what deletions do and wait for, to a browser of this machine (docs/ui.md). */
import { createInterface } from 'node:readline'
import { messageOf } from '../base/errors.ts'
import { liveRuntime } from '../base/live-runtime.ts'
import { plainLine } from '../base/plain-text.ts'
import { StartError } from '../cluster/errors.ts'
import { SKIFF_VERSION } from '../cluster/version.ts'
import { startUi, type Ui } from '../ui/server.ts'
import { type ClusterFlags, chosenCluster } from './any-cluster.ts'

export interface UiFlags extends ClusterFlags {
  readonly namespace?: string
  readonly port: number
}

export async function ui(flags: UiFlags): Promise<void> {
  const runtime = liveRuntime()
  const { transport, namespace } = chosenCluster(runtime, flags)
  const say = (text: string) => void process.stdout.write(`${text}\n`)
  try {
    const server = await started(() =>
      startUi({
        runtime,
        transport,
        namespace: flags.namespace ?? namespace,
        version: SKIFF_VERSION,
        port: flags.port,
      }),
    )
    try {
      say(`the page of ${plainLine(transport.host ?? '')}, for one browser of this machine; Ctrl-C ends it`)
      say(server.newLink())
      await ended(() => say(server.newLink()))
    } finally {
      await server.stop()
    }
  } finally {
    transport.close()
  }
}

async function started(start: () => Promise<Ui>): Promise<Ui> {
  try {
    return await start()
  } catch (error) {
    throw new StartError(`the page cannot be served: ${plainLine(messageOf(error))}`, { cause: error })
  }
}

/** A line on standard input asks for another link, where that is a person's. */
function ended(again: () => void): Promise<void> {
  return new Promise((resolve) => {
    const input = process.stdin.isTTY ? createInterface({ input: process.stdin }) : undefined
    const end = () => {
      input?.close()
      resolve()
    }
    input?.on('line', again)
    input?.on('SIGINT', end)
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, end)
  })
}
