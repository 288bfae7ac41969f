/** What an administrator decides of the chain of filters: the spans that it tells of requests, and how it leaves clients at the end. */
import { hostname } from 'node:os'
import { type ChainSettings, REQUEST_TIMEOUT_MS } from '../apiserver/filters/chain.ts'
import { statusCodeOf } from '../apiserver/filters/errors.ts'
import { createLeaving } from '../apiserver/filters/leaving.ts'
import { identityName } from '../apiserver/loops/identity.ts'
import type { TracingConfiguration } from '../apiserver/tracing/configuration.ts'
import type { Runtime } from '../base/runtime.ts'
import type { ServerSettings } from './server-flags.ts'

export interface Chain {
  readonly settings: ChainSettings
  /** `refuses`: called when each answer is to be the last of its connection. Resolves when clients have been left as it is asked for. */
  leave(refuses: () => void): Promise<void>
  /** What waits to be told is sent. */
  close(): Promise<void>
}

export async function chainOf(runtime: Runtime, settings: ServerSettings): Promise<Chain> {
  const { sendsRetryAfter, watchGraceMs, requestTimeoutMs = REQUEST_TIMEOUT_MS } = settings
  const leaving =
    sendsRetryAfter || watchGraceMs > 0
      ? createLeaving(runtime.machineClock, { sendsRetryAfter, watchGraceMs, requestTimeoutMs })
      : undefined
  const tracing = settings.tracing && (await startTracing(runtime, settings.tracing))
  return {
    settings: {
      ...settings,
      ...(leaving === undefined ? {} : { leaving }),
      ...(tracing === undefined ? {} : { spans: tracing.spans }),
    },
    async leave(refuses) {
      if (sendsRetryAfter) refuses()
      await leaving?.leave()
    },
    close: async () => tracing?.close(),
  }
}

async function startTracing(runtime: Runtime, { endpoint, samplingRatePerMillion }: TracingConfiguration) {
  const [{ exportSpans }, { requestSpans }] = await Promise.all([
    import('../apiserver/tracing/export.ts'),
    import('../apiserver/filters/request-spans.ts'),
  ])
  const exporter = exportSpans(runtime, endpoint, identityName(hostname()))
  return { spans: requestSpans(runtime, samplingRatePerMillion, exporter.tell, statusCodeOf), close: exporter.close }
}
