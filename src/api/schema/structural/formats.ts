/** The formats of strings that Kubernetes checks in custom resources; any other format says nothing. */
import { dns1123Label, dns1123Subdomain } from '../../names/name-formats.ts'
import { isMailAddress } from '../../objects/mail-address.ts'
import { parseUrl, UrlError } from '../../objects/url.ts'
import { bitsIn, familyOf, isIPv6, withoutLeadingZeros } from '../../values/ip.ts'
import { nanosOfDuration } from './times-of-formats.ts'

type Check = (text: string) => boolean

const matches =
  (pattern: RegExp): Check =>
  (text) =>
    text.length <= 4096 && pattern.test(text)

/** Any character may stand before the fraction. */
const DATE_TIME = /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(.\d+)?([Zz]|[+-]\d\d:\d\d)$/
const DATE = /^(\d{4})-(\d\d)-(\d\d)$/

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

const PART = '[a-zA-Z0-9\\p{S}\\p{L}]'
/** One label may have a hyphen as its second character alone; of several the last has letters only. */
const HOSTNAME = new RegExp(
  `^(?:${PART}-?${PART}{0,62}|(?:${PART}(?:(?:${PART}|-){0,61}${PART})?\\.)+[a-zA-Z\\p{L}]{2,63})$`,
  'u',
)

/** Lengths are those of the bytes. */
const hostname: Check = (text) =>
  text.length <= 255 &&
  Buffer.byteLength(text) <= 255 &&
  HOSTNAME.test(text) &&
  text.split('.').every((label) => Buffer.byteLength(label) <= 63)

const uri: Check = (text) => {
  try {
    parseUrl(text, true)
    return true
  } catch (error) {
    if (error instanceof UrlError) return false
    throw error
  }
}

const byte: Check = (text) => text !== '' && text.length % 4 === 0 && /^[A-Za-z0-9+/]+={0,2}$/.test(text)

const ipv4: Check = (text) => text.includes('.') && familyOf(withoutLeadingZeros(text)) !== undefined

const ipv6: Check = (text) => isIPv6(withoutLeadingZeros(text))

const cidr: Check = (text) => {
  const [address = '', bits = '', ...more] = text.split('/')
  const family = familyOf(withoutLeadingZeros(address))
  return family !== undefined && more.length === 0 && /^\d+$/.test(bits) && Number(bits) <= bitsIn(family)
}

/** So many bytes, in hexadecimal digits without anything between them or with the same between each or each two. */
const MAC_BYTES = [6, 8, 20]
const MAC = new RegExp(
  MAC_BYTES.flatMap((bytes) => [
    `^[0-9a-fA-F]{${bytes * 2}}$`,
    `^[0-9a-fA-F]{2}([:-])(?:[0-9a-fA-F]{2}\\${MAC_BYTES.indexOf(bytes) + 1}){${bytes - 2}}[0-9a-fA-F]{2}$`,
    `^(?:[0-9a-fA-F]{4}\\.){${bytes / 2 - 1}}[0-9a-fA-F]{4}$`,
  ]).join('|'),
)

function luhn(digits: string): boolean {
  let sum = 0
  for (let i = 0; i < digits.length; i++) {
    let digit = Number(digits[digits.length - 1 - i])
    if (i % 2 === 1) digit = digit * 2 > 9 ? digit * 2 - 9 : digit * 2
    sum += digit
  }
  return sum % 10 === 0
}

const withoutSpaces = (text: string) => text.replace(/[\t\n\f\r -]/g, '')

const isbn10: Check = (text) => {
  const digits = withoutSpaces(text)
  if (!/^\d{9}[\dX]$/.test(digits)) return false
  let sum = 0
  for (let i = 0; i < 10; i++) sum += (10 - i) * (digits[i] === 'X' ? 10 : Number(digits[i]))
  return sum % 11 === 0
}

const isbn13: Check = (text) => {
  const digits = withoutSpaces(text)
  if (!/^\d{13}$/.test(digits)) return false
  let sum = 0
  for (let i = 0; i < 13; i++) sum += (i % 2 === 0 ? 1 : 3) * Number(digits[i])
  return sum % 10 === 0
}

/** By the numbers that issuers begin with, and their lengths. */
const CARD =
  /^(?:4\d{12}(?:\d{3})?|5[1-5]\d{14}|6(?:011|5\d\d)\d{12}|3[47]\d{13}|3(?:0[0-5]|[68]\d)\d{11}|(?:2131|1800|35\d{3})\d{11})$/

/** What is no digit does not count. */
const creditCard: Check = (text) => {
  const digits = text.replace(/[^0-9]/g, '')
  return CARD.test(digits) && luhn(digits)
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
  duration: (text) => nanosOfDuration(text) !== undefined,
  ipv4,
  ipv6,
  cidr,
  mac: matches(MAC),
  uri,
  email: isMailAddress,
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
  ssn: matches(/^\d{3}[- ]\d{2}[- ]\d{4}$/),
  creditcard: creditCard,
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
