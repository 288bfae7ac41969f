/** Numbers as Go's strconv reads them from text: flags of Kubernetes' components. */

const INTEGER = /^[-+]?(0x(_?[\da-f])+|0o?(_?[0-7])+|0b(_?[01])+|0|[1-9](_?\d)*)$/i

/** With a base by its prefix, and `_` between digits; of any size. Undefined where the text is none. */
export function parseGoInteger(text: string): bigint | undefined {
  if (!INTEGER.test(text)) return undefined
  const digits = text
    .replace(/^[-+]/, '')
    .replaceAll('_', '')
    .replace(/^0(?=\d)/, '0o')
  return text.startsWith('-') ? -BigInt(digits) : BigInt(digits)
}

const DECIMAL = /^[-+]?((\d(_?\d)*)?\.(\d(_?\d)*)?|\d(_?\d)*)(e[-+]?\d(_?\d)*)?$/i
const HEXADECIMAL = /^([-+]?)0x([\da-f_]*)\.?([\da-f_]*)p([-+]?\d+)$/i
const SPECIAL = /^([-+]?)(?:(inf(?:inity)?)|nan)$/i

/** Undefined where the text is none; what is too large is not finite. */
export function parseGoFloat(text: string): number | undefined {
  const [special, sign, infinite] = SPECIAL.exec(text) ?? []
  if (special !== undefined) return infinite === undefined ? Number.NaN : sign === '-' ? -Infinity : Infinity
  const [hexadecimal, minus, whole = '', fraction = '', power] = HEXADECIMAL.exec(text) ?? []
  if (hexadecimal !== undefined) {
    const digits = `${whole}${fraction}`.replaceAll('_', '')
    if (digits === '') return undefined
    const size = Number.parseInt(digits, 16) * 2 ** (Number(power) - 4 * fraction.replaceAll('_', '').length)
    return minus === '-' ? -size : size
  }
  return DECIMAL.test(text) && /^[-+]?\.?\d/.test(text) ? Number(text.replaceAll('_', '')) : undefined
}

/** Whether the text itself says so: a number that is infinite otherwise is out of range. */
export const isGoInfinity = (text: string): boolean => SPECIAL.test(text)
