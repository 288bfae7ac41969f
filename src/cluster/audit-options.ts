/** What an administrator may say of audit: which requests, and where their events go; refused in kube-apiserver's words. */

import type { AuditBackend, AuditMode, LongestEvent } from '../apiserver/audit/backend.ts'
import type { BatchOptions } from '../apiserver/audit/webhook.ts'
import type { Filter } from '../apiserver/request/server-request.ts'
import { messageOf } from '../base/errors.ts'
import type { Runtime } from '../base/runtime.ts'
import { durationFlagMs } from './duration-flag.ts'
import { StartError } from './errors.ts'
import { fromFile } from './read-file.ts'
import { endpointOfKubeconfig } from './webhook-endpoint.ts'

/** Named after kube-apiserver's flags. */
export interface AuditOptions {
  /** audit.k8s.io/v1 Policy. Without it nothing is audited. */
  readonly auditPolicyFile?: string
  /** `-` is standard output. Default: audit.log beside the cluster's own log, where there is no webhook. */
  readonly auditLogPath?: string
  /** Megabytes. */
  readonly auditLogMaxsize?: number
  readonly auditLogMaxbackup?: number
  /** Days. */
  readonly auditLogMaxage?: number
  /** Rotated files are compressed with gzip. Default: false. */
  readonly auditLogCompress?: boolean
  /** `blocking`, the default, `blocking-strict` or `batch`. */
  readonly auditLogMode?: string
  /** Events of more than `auditLogTruncateMaxEventSize` bytes (default 102400) are told without objects. Default: false. */
  readonly auditLogTruncateEnabled?: boolean
  readonly auditLogTruncateMaxEventSize?: number
  readonly auditLogTruncateMaxBatchSize?: number
  /** A kubeconfig that says which server events are sent to. */
  readonly auditWebhookConfigFile?: string
  /** `batch`, the default, `blocking` or `blocking-strict`. */
  readonly auditWebhookMode?: string
  /** Between the first try and the second: `10s`, the default. */
  readonly auditWebhookInitialBackoff?: string
  /** Events that may wait, and that are sent together. Default: 10000 and 400. */
  readonly auditWebhookBatchBufferSize?: number
  readonly auditWebhookBatchMaxSize?: number
  /** How long events wait for others: `30s`, the default. */
  readonly auditWebhookBatchMaxWait?: string
  /** Whether batches are sent no more often than the next two say. Default: true, 10 in a second, 15 at once. */
  readonly auditWebhookBatchThrottleEnable?: boolean
  readonly auditWebhookBatchThrottleQps?: number
  readonly auditWebhookBatchThrottleBurst?: number
  readonly auditWebhookTruncateEnabled?: boolean
  readonly auditWebhookTruncateMaxEventSize?: number
  readonly auditWebhookTruncateMaxBatchSize?: number
}

export const AUDIT_OPTIONS: Readonly<Record<keyof AuditOptions, true>> = {
  auditPolicyFile: true,
  auditLogPath: true,
  auditLogMaxsize: true,
  auditLogMaxbackup: true,
  auditLogMaxage: true,
  auditLogCompress: true,
  auditLogMode: true,
  auditLogTruncateEnabled: true,
  auditLogTruncateMaxEventSize: true,
  auditLogTruncateMaxBatchSize: true,
  auditWebhookConfigFile: true,
  auditWebhookMode: true,
  auditWebhookInitialBackoff: true,
  auditWebhookBatchBufferSize: true,
  auditWebhookBatchMaxSize: true,
  auditWebhookBatchMaxWait: true,
  auditWebhookBatchThrottleEnable: true,
  auditWebhookBatchThrottleQps: true,
  auditWebhookBatchThrottleBurst: true,
  auditWebhookTruncateEnabled: true,
  auditWebhookTruncateMaxEventSize: true,
  auditWebhookTruncateMaxBatchSize: true,
}

const TIMEOUT_MS = 30_000

/**
 * undefined: nothing is audited. `undo` is told how what it opens is closed. @throws StartError
 */
export async function loadAudit(
  runtime: Runtime,
  options: AuditOptions,
  defaultLog: string,
  undo: (() => Promise<void>)[],
): Promise<Filter | undefined> {
  const webhook = webhookOf(options)
  const log = logOf(options)
  if (options.auditPolicyFile === undefined) return undefined
  const policy = await fromFile(
    options.auditPolicyFile,
    async (text) => {
      const { parsePolicy, unknownFields } = await import('../apiserver/audit/policy.ts')
      const parsed = parsePolicy(text)
      const unknown = unknownFields(text)
      // As kube-apiserver does: told, and passed over.
      if (unknown.length > 0) runtime.log.named('audit').info(0, 'the audit policy has unknown fields', { unknown })
      return parsed
    },
    {
      unread: (why) =>
        `loading audit policy file: failed to read file path ${JSON.stringify(options.auditPolicyFile)}: ${why}`,
      wrong: (why) => `loading audit policy file: ${why}: from file ${options.auditPolicyFile}`,
    },
  )
  const { audit } = await import('../apiserver/filters/audit.ts')
  const backends: AuditBackend[] = []
  const path = options.auditLogPath ?? (webhook === undefined ? defaultLog : undefined)
  if (webhook !== undefined) backends.push(await openWebhook(runtime, webhook))
  if (path !== undefined) backends.push(await openLog(runtime, options, path, log))
  for (const backend of backends) undo.push(() => backend.close())
  return audit(runtime, policy, backends)
}

interface LogSettings {
  readonly mode: AuditMode
  readonly longest: LongestEvent
}

interface WebhookSettings extends LogSettings {
  readonly file: string
  readonly initialBackoffMs: number
  readonly batch: BatchOptions
}

async function openLog(
  runtime: Runtime,
  options: AuditOptions,
  path: string,
  { mode, longest }: LogSettings,
): Promise<AuditBackend> {
  const [{ openAuditLog }, { logBackend }] = await Promise.all([
    import('../apiserver/audit/log.ts'),
    import('../apiserver/audit/backend.ts'),
  ])
  try {
    const log = await openAuditLog(runtime, {
      path,
      ...(options.auditLogMaxsize === undefined ? {} : { maxSizeMb: options.auditLogMaxsize }),
      ...(options.auditLogMaxbackup === undefined ? {} : { maxBackups: options.auditLogMaxbackup }),
      ...(options.auditLogMaxage === undefined ? {} : { maxAgeDays: options.auditLogMaxage }),
      compress: options.auditLogCompress === true,
    })
    return logBackend(log, mode, longest)
  } catch (cause) {
    throw new StartError(`cannot write the audit log ${path}: ${messageOf(cause)}`, { cause })
  }
}

async function openWebhook(runtime: Runtime, { file, ...settings }: WebhookSettings): Promise<AuditBackend> {
  const [{ auditWebhook }, { createPost }] = await Promise.all([
    import('../apiserver/audit/webhook.ts'),
    import('../apiserver/auth/webhook/client.ts'),
  ])
  try {
    return auditWebhook(runtime, { ...settings, send: createPost(runtime, endpointOfKubeconfig(file), TIMEOUT_MS) })
  } catch (cause) {
    throw new StartError(`initializing audit webhook: ${messageOf(cause)}`, { cause })
  }
}

const MODES: readonly AuditMode[] = ['batch', 'blocking', 'blocking-strict']

function modeOf(of: string, mode: string): AuditMode {
  const found = MODES.find((one) => one === mode)
  if (found === undefined)
    throw new StartError(`invalid audit ${of} mode ${mode}, allowed modes are "${MODES.join(',')}"`)
  return found
}

function positive(what: string, value: number): number {
  if (!(value > 0)) throw new StartError(`invalid audit ${what} ${value}, must be a positive number`)
  return value
}

function longestOf(
  of: string,
  isEnabled: boolean | undefined,
  eventSize = 102_400,
  batchSize = 10_485_760,
): LongestEvent {
  if (isEnabled !== true) return undefined
  positive(`truncate ${of} max event size`, eventSize)
  if (batchSize < eventSize)
    throw new StartError(
      `invalid audit truncate ${of} max batch size ${batchSize}, must be greater than max event size (${eventSize})`,
    )
  return eventSize
}

function logOf(options: AuditOptions): LogSettings {
  for (const [flag, value = 0] of [
    ['maxage', options.auditLogMaxage],
    ['maxbackup', options.auditLogMaxbackup],
    ['maxsize', options.auditLogMaxsize],
  ] as const)
    if (value < 0) throw new StartError(`--audit-log-${flag} ${value} can't be a negative number`)
  return {
    mode: modeOf('log', options.auditLogMode ?? 'blocking'),
    longest: longestOf(
      'log',
      options.auditLogTruncateEnabled,
      options.auditLogTruncateMaxEventSize,
      options.auditLogTruncateMaxBatchSize,
    ),
  }
}

function webhookOf(options: AuditOptions): WebhookSettings | undefined {
  const { auditWebhookConfigFile: file } = options
  if (file === undefined) return undefined
  const mode = modeOf('webhook', options.auditWebhookMode ?? 'batch')
  return {
    file,
    mode,
    initialBackoffMs: durationFlagMs('audit-webhook-initial-backoff', options.auditWebhookInitialBackoff ?? '10s'),
    // What is said of batches is judged where there are any.
    batch: batchOf(mode === 'batch' ? options : {}),
    longest: longestOf(
      'webhook',
      options.auditWebhookTruncateEnabled,
      options.auditWebhookTruncateMaxEventSize,
      options.auditWebhookTruncateMaxBatchSize,
    ),
  }
}

function batchOf(options: AuditOptions): BatchOptions {
  const of = 'batch webhook'
  return {
    bufferSize: positive(`${of} buffer size`, options.auditWebhookBatchBufferSize ?? 10_000),
    maxSize: positive(`${of} max batch size`, options.auditWebhookBatchMaxSize ?? 400),
    maxWaitMs: durationFlagMs('audit-webhook-batch-max-wait', options.auditWebhookBatchMaxWait ?? '30s'),
    ...(options.auditWebhookBatchThrottleEnable === false
      ? {}
      : {
          throttle: {
            qps: positive(`${of} throttle QPS`, options.auditWebhookBatchThrottleQps ?? 10),
            burst: positive(`${of} throttle burst`, options.auditWebhookBatchThrottleBurst ?? 15),
          },
        }),
  }
}
