/** What of a container's log is asked for (API concept: PodLogOptions), as a kubelet's query has it. */

export interface LogOptions {
  /** Lines before the end; undefined: from the beginning. */
  readonly tailLines?: number
  /** Milliseconds since the epoch. */
  readonly since?: number
  readonly timestamps?: boolean
  readonly follow?: boolean
  readonly limitBytes?: number
  /** Only what was written there. */
  readonly stream?: 'stdout' | 'stderr'
}

/** A query's value is no number, or no time. */
export class UnreadableOption extends Error {}

/** @throws UnreadableOption, RangeError for a number that no log can have */
export function logOptions(query: URLSearchParams, now: number): LogOptions {
  const number = (name: string, least: number): number | undefined => {
    const value = query.get(name)
    if (value === null || value === '') return undefined
    if (!/^[+-]?\d{1,18}$/.test(value)) throw new UnreadableOption(`${name}: invalid value ${JSON.stringify(value)}`)
    if (Number(value) < least) throw new RangeError(`${name}: invalid value ${JSON.stringify(value)}`)
    return Number(value)
  }
  const tailLines = number('tailLines', 0)
  const limitBytes = number('limitBytes', 1)
  const sinceSeconds = number('sinceSeconds', 1)
  const sinceTime = query.get('sinceTime')
  const since = sinceSeconds === undefined ? (sinceTime ? Date.parse(sinceTime) : undefined) : now - sinceSeconds * 1000
  if (Number.isNaN(since)) throw new UnreadableOption(`sinceTime: invalid value ${JSON.stringify(sinceTime)}`)
  const stream = query.get('stream')
  return {
    follow: query.get('follow') === 'true',
    timestamps: query.get('timestamps') === 'true',
    ...(tailLines === undefined ? {} : { tailLines }),
    ...(limitBytes === undefined ? {} : { limitBytes }),
    ...(since === undefined ? {} : { since }),
    ...(stream === 'Stdout' ? { stream: 'stdout' as const } : stream === 'Stderr' ? { stream: 'stderr' as const } : {}),
  }
}

/** A time of RFC 3339 as logs show it: nine digits behind the point, however many were written. */
export function shownTime(time: string): string {
  const [, head = '', digits = '', zone = ''] = /^([^.Z+]*)(?:\.(\d*))?(.*)$/.exec(time) ?? []
  return `${head}.${digits.padEnd(9, '0')}${zone}`
}
