/** Durations in the text of Go's time package (`1h30m0s`), which Kubernetes' API, options and configuration files use. */

const NANOS: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1000n,
  µs: 1000n,
  μs: 1000n,
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
}
const LIMIT = 2n ** 63n
/** So many digits make no more than LIMIT; what stands behind them in a fraction is less than a nanosecond. */
const MOST_DIGITS = 19

export class GoDurationError extends Error {}

/** In nanoseconds. Takes time in proportion to the text's length. @throws GoDurationError in the words of Go */
export function parseGoDuration(text: string): bigint {
  const wrong = (what: string): never => {
    throw new GoDurationError(`time: ${what}duration ${goTimeQuote(text)}`)
  }
  const negative = text.startsWith('-')
  const start = negative || text.startsWith('+') ? 1 : 0
  if (text.slice(start) === '0') return 0n
  if (text.length === start) wrong('invalid ')
  // Sticky: each part is looked at once, however long the text is.
  const part = /(\d*)(?:\.(\d*))?([^\d.]*)/y
  part.lastIndex = start
  let total = 0n
  while (part.lastIndex < text.length) {
    const [all, whole = '', fraction = '', unit = ''] = part.exec(text) as RegExpExecArray
    if (all === '' || (whole === '' && fraction === '')) wrong('invalid ')
    const digits = whole.replace(/^0+/, '')
    if (digits.length > MOST_DIGITS) wrong('invalid ')
    if (unit === '') wrong('missing unit in ')
    const nanos = Object.hasOwn(NANOS, unit) ? NANOS[unit] : undefined
    if (nanos === undefined) return wrong(`unknown unit ${goTimeQuote(unit)} in `)
    total += BigInt(digits || '0') * nanos
    const counted = fraction.slice(0, MOST_DIGITS)
    if (counted !== '') total += (BigInt(counted) * nanos) / 10n ** BigInt(counted.length)
    if (total > LIMIT) wrong('invalid ')
  }
  if (!negative && total >= LIMIT) wrong('invalid ')
  return negative ? -total : total
}

/** In milliseconds, with their fraction. @throws GoDurationError */
export const parseGoDurationMs = (text: string): number => Number(parseGoDuration(text)) / 1e6

/** As Go prints so many nanoseconds: `1h30m0s`, `1.5ms`, `0s`. */
export function goDurationText(nanos: bigint): string {
  if (nanos === 0n) return '0s'
  const sign = nanos < 0n ? '-' : ''
  const size = nanos < 0n ? -nanos : nanos
  if (size < 1000n) return `${sign}${size}ns`
  if (size < 1_000_000n) return `${sign}${decimal(size, 3)}µs`
  if (size < 1_000_000_000n) return `${sign}${decimal(size, 6)}ms`
  const minutes = size / 60_000_000_000n
  const text = `${decimal(size % 60_000_000_000n, 9)}s`
  if (minutes === 0n) return `${sign}${text}`
  return minutes < 60n ? `${sign}${minutes}m${text}` : `${sign}${minutes / 60n}h${minutes % 60n}m${text}`
}

/** The same of milliseconds; what is less than a nanosecond is cut. */
export const goDurationTextMs = (ms: number): string => goDurationText(BigInt(Math.trunc(ms * 1e6)))

function decimal(size: bigint, digits: number): string {
  const unit = 10n ** BigInt(digits)
  const fraction = String(size % unit)
    .padStart(digits, '0')
    .replace(/0+$/, '')
  return `${size / unit}${fraction === '' ? '' : `.${fraction}`}`
}

/** As Go's time package quotes a value in its errors: bytes beyond ASCII as \x escapes. */
export function goTimeQuote(text: string): string {
  let out = '"'
  for (const byte of Buffer.from(text)) {
    if (byte === 0x22 || byte === 0x5c) out += `\\${String.fromCharCode(byte)}`
    else if (byte < 0x20 || byte >= 0x80) out += `\\x${byte.toString(16).padStart(2, '0')}`
    else out += String.fromCharCode(byte)
  }
  return `${out}"`
}
