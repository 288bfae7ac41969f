/**
 * resource.Quantity: exact decimal numbers with a suffix. A value is a BigInt of nanos (10⁻⁹), which is as fine as
 * Kubernetes keeps them (finer ones are rounded away from zero), so comparing and adding is exact.
 */

import { setBounded } from '../../base/set-bounded.ts'

export type QuantityFormat = 'DecimalSI' | 'BinarySI' | 'DecimalExponent'

export interface Quantity {
  readonly nanos: bigint
  readonly format: QuantityFormat
}

/** Thrown with the message that a real API server gives. */
export class QuantityError extends Error {}

const FORMAT_ERROR = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
const NUMERIC_ERROR = 'unable to parse numeric part of quantity'
const SUFFIX_ERROR = "unable to parse quantity's suffix"

const ONE = 1_000_000_000n
const LARGEST = (2n ** 63n - 1n) * ONE

/** Of ten, by suffix. */
export const decimalExponents: Readonly<Record<string, number>> = {
  n: -9,
  u: -6,
  m: -3,
  '': 0,
  k: 3,
  M: 6,
  G: 9,
  T: 12,
  P: 15,
  E: 18,
}
/** Of two, by suffix. */
export const binaryExponents: Readonly<Record<string, number>> = { Ki: 10, Mi: 20, Gi: 30, Ti: 40, Pi: 50, Ei: 60 }
const decimalSuffixes = ['n', 'u', 'm', '', 'k', 'M', 'G', 'T', 'P', 'E'] as const
const binarySuffixes = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'] as const

const shape = /^([+-]?)([0-9]*)(?:\.([0-9]*))?([eEinumkKMGTP]*)([-+]?[0-9]*)$/

/** A cluster's pods ask for few different amounts, again and again. */
const parsed = new Map<string, Quantity>()
const MOST_PARSED = 4096

/** Parses `1500m`, `1.5Gi`, `1e3`, …. Throws QuantityError. */
export function parseQuantity(text: string): Quantity {
  let quantity = parsed.get(text)
  if (quantity === undefined) {
    quantity = parseAnew(text)
    if (text.length <= 32) setBounded(parsed, MOST_PARSED, text, quantity)
  }
  return quantity
}

function parseAnew(text: string): Quantity {
  if (text === '') throw new QuantityError(FORMAT_ERROR)
  if (text === '0') return { nanos: 0n, format: 'DecimalSI' }
  const match = shape.exec(text)
  if (!match) throw new QuantityError(FORMAT_ERROR)
  const [, sign, whole, fraction = '', letters, digits] = match
  if (whole === '' && fraction === '')
    throw new QuantityError(whole === '' && text.includes('.') ? NUMERIC_ERROR : FORMAT_ERROR)
  const { base, exponent, format } = parseSuffix(letters!, digits!)
  const number = whole!.replace(/^0+/, '')
  const unscaled = BigInt(`${number}${fraction}` || '0')
  const negative = sign === '-'

  let nanos: bigint
  if (base === 2) {
    nanos = roundUpDivide(unscaled * 2n ** BigInt(exponent) * ONE, 10n ** BigInt(fraction.length))
    // Only binary amounts are held to 64 bits.
    if (nanos > LARGEST) nanos = LARGEST
  } else {
    if (exponent > 1000 || exponent < -1000)
      return { nanos: unscaled === 0n ? 0n : exponent > 0 ? signed(LARGEST, negative) : signed(1n, negative), format }
    const power = exponent - fraction.length + 9
    nanos = power >= 0 ? unscaled * 10n ** BigInt(power) : roundUpDivide(unscaled, 10n ** BigInt(-power))
  }
  return { nanos: signed(nanos, negative), format }
}

const signed = (nanos: bigint, negative: boolean): bigint => (negative ? -nanos : nanos)

function roundUpDivide(dividend: bigint, divisor: bigint): bigint {
  return dividend % divisor === 0n ? dividend / divisor : dividend / divisor + 1n
}

function parseSuffix(letters: string, digits: string): { base: 2 | 10; exponent: number; format: QuantityFormat } {
  if (digits === '') {
    const decimal = Object.hasOwn(decimalExponents, letters) ? decimalExponents[letters] : undefined
    if (decimal !== undefined) return { base: 10, exponent: decimal, format: 'DecimalSI' }
    const binary = Object.hasOwn(binaryExponents, letters) ? binaryExponents[letters] : undefined
    if (binary !== undefined) return { base: 2, exponent: binary, format: 'BinarySI' }
  } else if ((letters === 'e' || letters === 'E') && /[0-9]$/.test(digits) && digits.length <= 11) {
    return { base: 10, exponent: Number(digits), format: 'DecimalExponent' }
  }
  throw new QuantityError(SUFFIX_ERROR)
}

/** The canonical text: no fraction, the largest suffix that keeps it exact. */
export function formatQuantity({ nanos, format }: Quantity): string {
  if (nanos === 0n) return '0'
  const negative = nanos < 0n
  const size = negative ? -nanos : nanos
  const sign = negative ? '-' : ''
  if (format === 'BinarySI' && size >= 1024n * ONE && size % ONE === 0n) {
    let number = size / ONE
    let step = 0
    while (number % 1024n === 0n && step < binarySuffixes.length - 1) {
      number /= 1024n
      step++
    }
    return `${sign}${number}${binarySuffixes[step]}`
  }
  let mantissa = size
  let exponent = -9
  while (mantissa % 10n === 0n) {
    mantissa /= 10n
    exponent++
  }
  while (exponent % 3 !== 0) {
    mantissa *= 10n
    exponent--
  }
  if (format === 'DecimalExponent') return `${sign}${mantissa}${exponent === 0 ? '' : `e${exponent}`}`
  // Past the largest suffix Kubernetes writes none.
  return `${sign}${mantissa}${decimalSuffixes[exponent / 3 + 3] ?? ''}`
}

const plainNumber = /^([+-]?)0*([0-9]{1,18})\.?([A-Za-z]*[0-9]*)$/

/**
 * The canonical form of a text; throws QuantityError. A text that differs from it by no more than a plus sign, leading
 * zeros, a point behind the number or the case of the exponent stays as it is, as in Kubernetes.
 */
export function canonicalQuantity(text: string): string {
  const canonical = formatQuantity(parseQuantity(text))
  if (text === canonical || canonical === '0') return canonical
  const [, sign, digits = '', suffix = ''] = plainNumber.exec(text) ?? []
  const binary = suffix.endsWith('i')
  if (digits === '' || (binary && digits.length + Math.trunc((binaryExponents[suffix]! * 3) / 10) > 14))
    return canonical
  return `${sign === '-' ? '-' : ''}${digits}${suffix.replace(/^E(?=[0-9])/, 'e')}` === canonical ? text : canonical
}

/** The value in nanos of a text already known to be a quantity. */
export const nanosOf = (text: string): bigint => parseQuantity(text).nanos

/** Negative, zero or positive, as `a` is less than, equal to or more than `b`. */
export function compareQuantities(a: string, b: string): number {
  if (a === b) return 0
  const difference = nanosOf(a) - nanosOf(b)
  return difference < 0n ? -1 : difference > 0n ? 1 : 0
}

/** The sum, in the format of the first operand that is not zero. */
export function addQuantities(a: string, b: string): string {
  const left = parseQuantity(a)
  const right = parseQuantity(b)
  return formatQuantity({ nanos: left.nanos + right.nanos, format: left.nanos === 0n ? right.format : left.format })
}

/** The value as a whole number of units (Kubernetes' Value()): rounded away from zero. */
export function quantityValue(text: string): bigint {
  return roundAway(nanosOf(text), ONE)
}

/** The value in thousandths (MilliValue()): rounded away from zero. */
export function quantityMilliValue(text: string): bigint {
  return roundAway(nanosOf(text), 1_000_000n)
}

function roundAway(nanos: bigint, unit: bigint): bigint {
  return nanos < 0n ? -roundUpDivide(-nanos, unit) : roundUpDivide(nanos, unit)
}

const LARGEST_MILLI = 2n ** 63n - 1n

/**
 * Whether its thousandths make a whole number: how Kubernetes finds fractions of bytes. Where 64 bits do not hold them, an
 * amount of few digits counts as none, and of one of many the low bits.
 */
export function isWholeInThousandths(text: string): boolean {
  const milli = quantityMilliValue(text)
  if (milli <= LARGEST_MILLI) return milli % 1000n === 0n
  const [, digits = '', suffix = ''] = /^[+-]?0*([0-9]*\.?[0-9]*)([A-Za-z]*)/.exec(text) ?? []
  const few = suffix.endsWith('i') ? fitsShifted(digits, suffix) : digits.length <= 18
  return few || BigInt.asIntN(64, milli) % 1000n === 0n
}

/** Whether a number before a binary suffix is small enough for Kubernetes to keep it as an integer. */
const fitsShifted = (digits: string, suffix: string): boolean =>
  digits.length + Math.trunc(((binaryExponents[suffix] ?? 0) * 3) / 10) <= 14

/** Whether the value is a whole number. */
export const isWholeQuantity = (text: string): boolean => nanosOf(text) % ONE === 0n
