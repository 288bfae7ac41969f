/** The formats of strings that Kubernetes checks in custom resources; any other format says nothing. */
import { isIPv4, isIPv6 } from '../../objects/ip.ts'
import { dns1123Label, dns1123Subdomain } from '../../validation/names.ts'

type Check = (text: string) => boolean

const matches =
  (pattern: RegExp): Check =>
  (text) =>
    text.length <= 4096 && pattern.test(text)

const DATE_TIME = /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/
const DATE = /^(\d{4})-(\d\d)-(\d\d)$/
const MAC = /^(?:[0-9a-fA-F]{2}([:-])(?:[0-9a-fA-F]{2}\1){4,18}[0-9a-fA-F]{2}|(?:[0-9a-fA-F]{4}\.){2,9}[0-9a-fA-F]{4})$/
const HOSTNAME =
  /^([a-zA-Z0-9\u00a1-\uffff]([a-zA-Z0-9\u00a1-\uffff-]{0,62}))(\.([a-zA-Z0-9\u00a1-\uffff]([a-zA-Z0-9\u00a1-\uffff-]{0,62})))*$/
const UNITS =
  '(?:nanoseconds?|nanos?|ns|microseconds?|micros?|us|µs|milliseconds?|millis?|ms|seconds?|secs?|s|minutes?|mins?|m|hours?|hrs?|h|days?|d|weeks?|wks?|w)'
const DURATION = new RegExp(`^(?:\\s*\\d+(?:\\.\\d+)?\\s*${UNITS}\\s*)+$`)

function daysIn(year: number, month: number): number {
  return new Date(Date.UTC(year, month, 0)).getUTCDate()
}

function isDate(year: string, month: string, day: string): boolean {
  const m = Number(month)
  const d = Number(day)
  return m >= 1 && m <= 12 && d >= 1 && d <= daysIn(Number(year), m)
}

const dateTime: Check = (text) => {
  const match = DATE_TIME.exec(text)
  if (match === null) return false
  const [, year = '', month = '', day = '', hour, minute, second] = match
  return isDate(year, month, day) && Number(hour) < 24 && Number(minute) < 60 && Number(second) < 60
}

const date: Check = (text) => {
  const match = DATE.exec(text)
  return match !== null && isDate(match[1]!, match[2]!, match[3]!)
}

const hostname: Check = (text) => text.length <= 253 && HOSTNAME.test(text) && !text.endsWith('-')

const uri: Check = (text) => {
  if (text === '' || text.length > 8192) return false
  if (text.startsWith('/')) return !/[\s<>"{}|\\^`]/.test(text)
  return URL.canParse(text)
}

const byte: Check = (text) => Buffer.from(text, 'base64').toString('base64') === text.replace(/[\r\n]/g, '')

const cidr: Check = (text) => {
  const slash = text.lastIndexOf('/')
  if (slash < 0) return false
  const address = text.slice(0, slash)
  const family = isIPv4(address) ? 4 : isIPv6(address) ? 6 : 0
  const bits = text.slice(slash + 1)
  return family !== 0 && /^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128) && !/^0\d/.test(bits)
}

const email: Check = (text) => text.length <= 320 && /^[^\s@<>()[\]\\,;:"]+@[^\s@<>()[\]\\,;:"]+$/.test(text)

function luhn(text: string): boolean {
  let sum = 0
  const digits = text.replace(/[ -]/g, '')
  for (let i = 0; i < digits.length; i++) {
    let digit = Number(digits[digits.length - 1 - i])
    if (i % 2 === 1) digit = digit * 2 > 9 ? digit * 2 - 9 : digit * 2
    sum += digit
  }
  return sum % 10 === 0
}

const isbn10: Check = (text) => {
  const digits = text.replace(/[ -]/g, '')
  if (!/^\d{9}[\dX]$/.test(digits)) return false
  let sum = 0
  for (let i = 0; i < 10; i++) sum += (10 - i) * (digits[i] === 'X' ? 10 : Number(digits[i]))
  return sum % 11 === 0
}

const isbn13: Check = (text) => {
  const digits = text.replace(/[ -]/g, '')
  if (!/^\d{13}$/.test(digits)) return false
  let sum = 0
  for (let i = 0; i < 13; i++) sum += (i % 2 === 0 ? 1 : 3) * Number(digits[i])
  return sum % 10 === 0
}

const uuid = (version: string) =>
  matches(
    new RegExp(
      `^[0-9a-f]{8}-?[0-9a-f]{4}-?${version}[0-9a-f]{3}-?${version === '3' ? '[0-9a-f]' : '[89ab]'}[0-9a-f]{3}-?[0-9a-f]{12}$`,
      'i',
    ),
  )

const formats: Readonly<Record<string, Check>> = {
  'date-time': dateTime,
  datetime: dateTime,
  date,
  duration: matches(DURATION),
  ipv4: isIPv4,
  ipv6: isIPv6,
  cidr,
  mac: matches(MAC),
  uri,
  email,
  hostname,
  byte,
  password: () => true,
  uuid: matches(/^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i),
  uuid3: uuid('3'),
  uuid4: uuid('4'),
  uuid5: uuid('5'),
  bsonobjectid: matches(/^[0-9a-fA-F]{24}$/),
  hexcolor: matches(/^#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})$/),
  rgbcolor: matches(
    /^rgb\(\s*(0|[1-9]\d?|1\d\d?|2[0-4]\d|25[0-5])\s*,\s*(0|[1-9]\d?|1\d\d?|2[0-4]\d|25[0-5])\s*,\s*(0|[1-9]\d?|1\d\d?|2[0-4]\d|25[0-5])\s*\)$/,
  ),
  ssn: matches(/^\d{3}[- ]?\d{2}[- ]?\d{4}$/),
  creditcard: (text) => /^[\d -]{12,30}$/.test(text) && luhn(text),
  isbn10,
  isbn13,
  isbn: (text) => isbn10(text) || isbn13(text),
  'k8s-short-name': (text) => dns1123Label(text).length === 0,
  'k8s-long-name': (text) => dns1123Subdomain(text).length === 0,
}

/** Names as users write them: dashes do not count. */
export function formatCheck(format: string): Check | undefined {
  if (Object.hasOwn(formats, format)) return formats[format]
  const plain = format.replaceAll('-', '')
  return Object.hasOwn(formats, plain) ? formats[plain] : undefined
}
