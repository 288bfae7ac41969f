/** skiff timeline: the end of an object, step by step (docs/timeline.md). */
import { messageOf } from '../base/errors.ts'
import { parseGoDuration } from '../base/go-duration.ts'
import { holdProcess } from '../base/live-clock.ts'
import { liveRuntime } from '../base/live-runtime.ts'
import { plainLine } from '../base/plain-text.ts'
import type { Runtime } from '../base/runtime.ts'
import { StartError } from '../cluster/errors.ts'
import { SKIFF_VERSION } from '../cluster/version.ts'
import { askTimeline, type TimelineForm, tell, timelineAs } from '../inspect/timeline/ask.ts'
import { type ClusterFlags, chosenCluster, targetOfWords, told } from './any-cluster.ts'
import { followAuditLogs } from './audit-log-file.ts'

export interface TimelineFlags extends ClusterFlags {
  readonly namespace?: string
  readonly output: TimelineForm
  readonly uid?: string
  readonly cascade?: boolean
  readonly record?: boolean
  readonly auditLog: readonly string[]
  readonly for?: string
}

const USER_AGENT = `skiff/${SKIFF_VERSION} timeline`

export async function timeline(words: readonly string[], flags: TimelineFlags): Promise<void> {
  const runtime = liveRuntime()
  const { uid, cascade = false, output, record = false } = flags
  if (!record && (flags.auditLog.length > 0 || flags.for !== undefined))
    throw new StartError('--audit-log and --for are of --record: a cluster of skiff has a journal')
  const atMostMs = flags.for === undefined ? undefined : durationMs(flags.for)
  const auditLog = flags.auditLog.length === 0 ? undefined : followAuditLogs(flags.auditLog)
  const { transport, namespace } = chosenCluster(runtime, flags)
  const target = targetOfWords('timeline', words, flags.namespace ?? namespace)
  // No timer of ours keeps a process alive, and where nothing may be watched, or the server is away, there is nothing else.
  const release = holdProcess()
  const question = {
    cascade,
    ...(target === undefined ? {} : { target }),
    ...(flags.namespace === undefined ? {} : { namespace: flags.namespace }),
    ...(uid === undefined ? {} : { uid }),
  }
  try {
    const text = await told(transport, async () => {
      if (!record) {
        const answer = await askTimeline({ clock: runtime.clock, transport, userAgent: USER_AGENT }, question)
        return timelineAs(output, answer, SKIFF_VERSION)
      }
      const { recordCluster } = await import('../inspect/timeline/record.ts')
      const { kinds, records, unseen } = await recordCluster({
        runtime,
        transport,
        userAgent: USER_AGENT,
        namespace: flags.namespace ?? '',
        signal: ended(runtime, atMostMs),
        say: (line) => void process.stderr.write(`${plainLine(line)}\n`),
        ...(target === undefined ? {} : { target }),
        ...(auditLog === undefined ? {} : { auditLog }),
      })
      for (const line of unseen) process.stderr.write(`${plainLine(line)}\n`)
      return timelineAs(output, tell(records, kinds, question, 'recording'), SKIFF_VERSION)
    })
    process.stdout.write(text)
  } finally {
    release()
    transport.close()
  }
}

/** Aborted by Ctrl-C, by SIGTERM, or when the time is over. */
function ended({ clock }: Runtime, atMostMs: number | undefined): AbortSignal {
  const end = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => end.abort())
  if (atMostMs !== undefined) clock.setTimer(atMostMs, 'timeline record', () => end.abort())
  return end.signal
}

/** @throws StartError */
function durationMs(text: string): number {
  try {
    const ms = Number(parseGoDuration(text)) / 1e6
    if (ms > 0) return ms
  } catch (error) {
    throw new StartError(plainLine(`--for: ${messageOf(error)}`), { cause: error })
  }
  throw new StartError('--for must be longer than nothing, as 30s')
}
