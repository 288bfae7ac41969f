/** What `echo` and `printf` print, as far as it is plain. */
import { CONTROL_ESCAPES } from '../../../base/control-escapes.ts'

/** An escape that means nothing stands for itself, as shells have it. */
const unescaped = (text: string): string =>
  text.replace(/\\(?:([abfnrtv\\])|0?([0-7]{1,3})|x([\da-fA-F]{1,2}))/g, (_, sign, octal, hex) =>
    sign === undefined
      ? String.fromCharCode((octal === undefined ? Number.parseInt(hex, 16) : Number.parseInt(octal, 8)) & 0xff)
      : (CONTROL_ESCAPES[sign] as string),
  )

/** With the flags of busybox's and bash's: `-n`, `-e`, `-E`. */
export function echoed(operands: readonly string[]): string {
  const first = operands.findIndex((word) => !/^-[neE]+$/.test(word))
  const words = first < 0 ? [] : operands.slice(first)
  const flags = operands.slice(0, operands.length - words.length).join('')
  const text = words.join(' ')
  return (flags.includes('e') ? unescaped(text) : text) + (flags.includes('n') ? '' : '\n')
}

/** Characters. What prints more is not foreseen. */
const MOST_PRINTED = 64 * 1024

/** Formats of `%s`, `%d` and `%%`, used again until every argument has been; undefined: any other, or too much. */
export function printfed([format, ...rest]: readonly string[]): string | undefined {
  if (format === undefined || format.startsWith('-')) return undefined
  const pattern = unescaped(format)
  const parts: readonly string[] = pattern.match(/%[sd%]|[^%]+|%/g) ?? []
  if (parts.includes('%')) return undefined
  const takes = parts.some((part) => part === '%s' || part === '%d')
  let text = ''
  let next = 0
  do {
    for (const part of parts) {
      if (part === '%%') text += '%'
      else if (part === '%s') text += rest[next++] ?? ''
      else if (part === '%d') {
        const word = rest[next++] ?? '0'
        if (!/^[-+]?\d{1,15}$/.test(word)) return undefined
        text += String(Number(word))
      } else text += part
    }
    if (text.length > MOST_PRINTED) return undefined
  } while (takes && next < rest.length)
  return text
}
