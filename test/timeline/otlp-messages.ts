/** Asks the protocol's own messages (interop/otlp) what spans a text has. */
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const binary = fileURLToPath(new URL('../../interop/bin/otlp', import.meta.url))
export const withoutOtlp = existsSync(binary) ? false : 'interop/bin/otlp is not built (interop/build)'

export interface ReadSpan {
  readonly traceId: string
  readonly spanId: string
  /** '' for a root. */
  readonly parentSpanId: string
  readonly kind: number
  /** Nanoseconds since the epoch. */
  readonly start: bigint
  readonly end: bigint
  readonly name: string
}

/** @throws Error in the words of the protocol's library, where the text is no ExportTraceServiceRequest */
export function readSpans(text: string): readonly ReadSpan[] {
  const { status, stdout, stderr } = spawnSync(binary, { input: text, encoding: 'utf8' })
  if (status !== 0) throw new Error(stderr.trim())
  return stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const [traceId = '', spanId = '', parentSpanId = '', kind, start = '', end = '', ...name] = line.split(' ')
      return {
        traceId,
        spanId,
        parentSpanId,
        kind: Number(kind),
        start: BigInt(start),
        end: BigInt(end),
        name: name.join(' '),
      }
    })
}
