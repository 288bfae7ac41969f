/** Spans of requests, told to the collector that a configuration names. */
import { hostname } from 'node:os'
import { statusCodeOf } from '../apiserver/filters/errors.ts'
import { identityName } from '../apiserver/loops/identity.ts'
import type { TracingConfiguration } from '../apiserver/tracing/configuration.ts'
import type { RequestSpans } from '../apiserver/tracing/request-spans.ts'
import type { Runtime } from '../base/runtime.ts'

export interface Tracing {
  readonly spans: RequestSpans
  /** What waits is sent. */
  close(): Promise<void>
}

/** undefined without a configuration. */
export async function startTracing(
  runtime: Runtime,
  configuration: TracingConfiguration | undefined,
): Promise<Tracing | undefined> {
  if (configuration === undefined) return undefined
  const [{ exportSpans }, { requestSpans }] = await Promise.all([
    import('../apiserver/tracing/export.ts'),
    import('../apiserver/tracing/request-spans.ts'),
  ])
  const exporter = exportSpans(runtime, configuration.endpoint, identityName(hostname()))
  return {
    spans: requestSpans(runtime, configuration.samplingRatePerMillion, exporter.tell, statusCodeOf),
    close: exporter.close,
  }
}
