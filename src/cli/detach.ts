/** skiff up --detach: the same command in a process of its own, watched until it is ready or has failed. */
import { spawn } from 'node:child_process'
import { openSync } from 'node:fs'
import { messageOf } from '../base/errors.ts'
import { makeDirectory } from '../base/make-directory.ts'
import { clusterDirectory } from '../cluster/directory.ts'
import { StartError } from '../cluster/errors.ts'
import { progressOn } from './progress.ts'
import type { Report, UpOptions } from './up.ts'

/** @throws StartError with the cause when it does not become ready */
export async function detach(options: UpOptions): Promise<void> {
  const progress = progressOn(process.stdout)
  const log = openLog(options.dataDir)
  const [, bin] = process.argv
  if (bin === undefined) throw new StartError('only the skiff command can detach a cluster')
  const child = spawn(
    process.execPath,
    [...process.execArgv, bin, ...options.commandLine.filter((word) => word !== '--detach')],
    {
      detached: true,
      stdio: ['ignore', log, log, 'ipc'],
      env: { ...process.env, SKIFF_REEXECUTED: '1' },
    },
  )
  await new Promise<void>((resolve, reject) => {
    child.on('error', reject)
    child.on('message', (report: Report) => {
      if (report.type === 'progress') progress.step(report.text)
      else if (report.type === 'ready') {
        progress.done(report.lines)
        resolve()
      } else {
        progress.end()
        reject(new StartError(report.message))
      }
    })
    child.on('exit', (code, signal) => {
      progress.end()
      reject(
        new StartError(
          `the cluster ended before it was ready (${signal ?? `exit ${code}`}): see ${clusterDirectory(options.dataDir).log}`,
        ),
      )
    })
  })
  child.unref()
  if (child.connected) child.disconnect()
}

function openLog(dataDir: string): number {
  const { path, log } = clusterDirectory(dataDir)
  try {
    makeDirectory(path)
    return openSync(log, 'a', 0o600)
  } catch (error) {
    throw new StartError(`cannot write to ${path}: ${messageOf(error)}`, { cause: error })
  }
}
