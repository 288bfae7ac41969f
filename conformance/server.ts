/** A skiff of this checkout, as the command starts it, in a directory of its own. */
import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { storeOfTest } from '../test/etcd/over-etcd.ts'

const run = promisify(execFile)
const executable = fileURLToPath(new URL('../bin/skiff.js', import.meta.url))

export interface StartedCluster {
  readonly dataDir: string
  readonly kubeconfig: string
  stop(): Promise<void>
}

/** `skiff up --detach` with these arguments on an empty directory. @throws with the command's stderr when it fails. */
export async function startSkiff(args: readonly string[] = []): Promise<StartedCluster> {
  const dataDir = await mkdtemp(join(tmpdir(), 'skiff-'))
  const store = await storeOfTest()
  await run(process.execPath, [
    ...[executable, 'up', '--detach', '--data-dir', dataDir, '--port', '0'],
    ...store.args,
    ...args,
  ])
  return {
    dataDir,
    kubeconfig: join(dataDir, 'kubeconfig'),
    stop: async () => {
      await run(process.execPath, [executable, 'down', '--data-dir', dataDir])
      await store.stop()
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}

/** As the server was started whose answers are recorded: privileged containers are refused. */
export const startApiServer = (more: readonly string[] = []) =>
  startSkiff(['--components', 'apiserver', '--allow-privileged=false', ...more])
