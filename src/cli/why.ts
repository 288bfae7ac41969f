import { liveRuntime } from '../base/live-runtime.ts'
import { createClient } from '../client/transport.ts'
import { SKIFF_VERSION } from '../cluster/version.ts'
import { askWhy, type WhyOptions } from '../inspect/why/ask.ts'
import { followTarget } from '../inspect/why/follow.ts'
import { type ClusterFlags, chosenCluster, targetOfWords, told } from './any-cluster.ts'
import { readAuditLogFiles } from './audit-log-file.ts'

export interface WhyFlags extends ClusterFlags {
  readonly namespace?: string
  readonly output?: 'json' | 'text'
  readonly watch?: boolean
  readonly dryRun: boolean
  readonly auditLog: readonly string[]
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
    place:
      flags.namespace === undefined ? { namespace, isGiven: false } : { namespace: flags.namespace, isGiven: true },
    ...(flags.auditLog.length === 0 ? {} : { auditLog: readAuditLogFiles(flags.auditLog) }),
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
