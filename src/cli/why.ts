/** skiff why: what a deletion waits for, in any cluster. The exit code tells the verdict (docs/why.md). */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { messageOf } from '../base/errors.ts'
import { liveRuntime } from '../base/live-runtime.ts'
import { plainLine } from '../base/plain-text.ts'
import { createClient } from '../client/transport.ts'
import { StartError } from '../cluster/errors.ts'
import { SKIFF_VERSION } from '../cluster/version.ts'
import { askWhy, type WhyOptions } from '../inspect/why/ask.ts'
import { followTarget } from '../inspect/why/follow.ts'
import { type ClusterFlags, chosenCluster, targetOfWords, told } from './any-cluster.ts'

export interface WhyFlags extends ClusterFlags {
  readonly namespace?: string
  readonly output?: 'json' | 'text'
  readonly watch?: boolean
  readonly dryRun: boolean
  readonly auditLog?: string
}

export async function why(words: readonly string[], flags: WhyFlags): Promise<void> {
  const runtime = liveRuntime()
  const { transport, namespace } = chosenCluster(runtime, flags)
  const target = targetOfWords('why', words, flags.namespace ?? namespace)
  const userAgent = `skiff/${SKIFF_VERSION} why`
  const say = (text: string) => void process.stdout.write(text)
  const options: WhyOptions = {
    clock: runtime.clock,
    transport,
    userAgent,
    dryRun: flags.dryRun,
    output: flags.output ?? 'text',
    ...(flags.auditLog === undefined ? {} : { auditLog: endOfFile(flags.auditLog) }),
  }
  try {
    process.exitCode = await told(transport, async () => {
      if (flags.watch === true && target !== undefined)
        return followTarget(options, createClient(runtime, transport, { userAgent }), target, say)
      const { text, exitCode } = await askWhy(options, target)
      say(text)
      return exitCode
    })
  } finally {
    transport.close()
  }
}

/** Of a log, the last so many bytes. */
const MOST_BYTES = 200 << 20

/** @throws StartError */
function endOfFile(path: string): string {
  try {
    const file = openSync(path, 'r')
    try {
      const { size } = fstatSync(file)
      const bytes = Buffer.alloc(Math.min(size, MOST_BYTES))
      return bytes.toString('utf8', 0, readSync(file, bytes, 0, bytes.length, size - bytes.length))
    } finally {
      closeSync(file)
    }
  } catch (error) {
    throw new StartError(`the audit log cannot be read: ${plainLine(messageOf(error))}`, { cause: error })
  }
}
