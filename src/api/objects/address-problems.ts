/** Why a text is no IP address and no network, in the words of Go's net/netip. */
import { goQuote } from '../quote.ts'

/** What is wrong, and where: the rest of the text from there on. */
type Problem = string | undefined

const at = (problem: string, rest: string) => `${problem} (at ${goQuote(rest)})`

/** undefined for an address, which may have a zone (`fe80::1%eth0`). */
export function addressProblem(text: string): string | undefined {
  const problem = problemIn(text)
  return problem === undefined ? undefined : `ParseAddr(${goQuote(text)}): ${problem}`
}

function problemIn(text: string): Problem {
  switch (/[.:%]/.exec(text)?.[0]) {
    case '.':
      return problemOfIPv4(text)
    case ':':
      return problemOfIPv6(text)
    case '%':
      return 'missing IPv6 address'
    default:
      return 'unable to parse IP'
  }
}

function problemOfIPv4(text: string): Problem {
  let [value, digits, dots] = [0, 0, 0]
  for (let i = 0; i < text.length; i++) {
    const character = text[i] as string
    if (/\d/.test(character)) {
      if (digits === 1 && value === 0) return 'IPv4 field has octet with leading zero'
      value = value * 10 + Number(character)
      digits++
      if (value > 255) return 'IPv4 field has value >255'
    } else if (character === '.') {
      if (digits === 0 || i === text.length - 1) return at('IPv4 field must have at least one digit', text.slice(i))
      if (dots === 3) return 'IPv4 address too long'
      dots++
      value = 0
      digits = 0
    } else return at('unexpected character', text.slice(i))
  }
  return dots < 3 ? 'IPv4 address too short' : undefined
}

/** Fields of 16 bits that an address has. */
const FIELDS = 8

function problemOfIPv6(text: string): Problem {
  const percent = text.indexOf('%')
  if (percent >= 0 && percent === text.length - 1) return 'zone must be a non-empty string'
  let rest = percent < 0 ? text : text.slice(0, percent)
  let fields = 0
  let shortened = rest.startsWith('::')
  if (shortened) rest = rest.slice(2)
  while (rest !== '' && fields < FIELDS) {
    const [group = ''] = /^[0-9a-fA-F]*/.exec(rest) ?? []
    if (group.length > 4) return at('each group must have 4 or less digits', rest)
    if (group === '') return at('each colon-separated field must have at least one digit', rest)
    if (rest[group.length] === '.') {
      if (!shortened && fields !== FIELDS - 2)
        return at('embedded IPv4 address must replace the final 2 fields of the address', rest)
      if (fields > FIELDS - 2) return at('too many hex fields to fit an embedded IPv4 at the end of the address', rest)
      const problem = problemOfIPv4(rest)
      if (problem !== undefined) return problem
      fields += 2
      rest = ''
      break
    }
    fields++
    rest = rest.slice(group.length)
    if (rest === '') break
    if (!rest.startsWith(':')) return at('unexpected character, want colon', rest)
    if (rest === ':') return at('colon must be followed by more characters', rest)
    rest = rest.slice(1)
    if (!rest.startsWith(':')) continue
    if (shortened) return at('multiple :: in address', rest)
    shortened = true
    rest = rest.slice(1)
  }
  if (rest !== '') return at('trailing garbage after address', rest)
  if (fields < FIELDS) return shortened ? undefined : 'address string too short'
  return shortened ? 'the :: must expand to at least one field of zeros' : undefined
}

/** undefined for an address with a length (`10.0.0.0/8`). */
export function prefixProblem(text: string): string | undefined {
  const problem = problemOfPrefix(text)
  return problem === undefined ? undefined : `netip.ParsePrefix(${goQuote(text)}): ${problem}`
}

function problemOfPrefix(text: string): Problem {
  const slash = text.lastIndexOf('/')
  if (slash < 0) return "no '/'"
  const address = text.slice(0, slash)
  const problem = addressProblem(address)
  if (problem !== undefined) return problem
  if (address.includes('%')) return 'IPv6 zones cannot be present in a prefix'
  const bits = text.slice(slash + 1)
  // Such a number is more than Go's integers hold.
  if (!/^(?:\d|[1-9]\d{1,18})$/.test(bits)) return `bad bits after slash: ${goQuote(bits)}`
  return Number(bits) > (address.includes(':') ? 128 : 32) ? 'prefix length out of range' : undefined
}
