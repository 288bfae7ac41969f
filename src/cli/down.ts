/** skiff down: asks the running process to stop in order, and waits for it. */
import { sleep } from '../base/clock.ts'
import { liveRuntime } from '../base/live-runtime.ts'
import { clusterDirectory, holder } from '../cluster/directory.ts'
import { StartError } from '../cluster/errors.ts'

const PATIENCE_MS = 60_000

export async function down(dataDir: string): Promise<void> {
  const directory = clusterDirectory(dataDir)
  const pid = holder(directory)
  if (pid === undefined) {
    const { takeDownLeftNodes } = await import('../cluster/real-node.ts')
    const left = await takeDownLeftNodes(directory.path)
    process.stdout.write(`no cluster runs in ${directory.path}${left ? '; its nodes are taken down' : ''}\n`)
    return
  }
  const { clock } = liveRuntime()
  process.kill(pid, 'SIGTERM')
  // A live timer keeps no process alive by itself; this one has nothing else to do but wait.
  const awake = new BroadcastChannel('skiff down')
  try {
    for (const from = clock.monotonic(); holder(directory) === pid; ) {
      if (clock.monotonic() - from > PATIENCE_MS) {
        throw new StartError(`pid ${pid} does not stop; kill -9 ${pid} ends it, and loses nothing that was answered`)
      }
      await sleep(clock, 10)
    }
  } finally {
    awake.close()
  }
  process.stdout.write(`stopped pid ${pid}; its objects stay in ${directory.path}\n`)
}
