/** One mail address (RFC 5322), read as Kubernetes reads it (Go's net/mail): with or without a name, comments and a group of one. */
import { isIPv4, isIPv6 } from '../values/ip.ts'

/** Thrown where the text goes on as no address does. */
class NoAddress extends Error {}

const fail = (): never => {
  throw new NoAddress()
}

/** A character of a quoted text or an atom, beyond ASCII too. */
const isVisible = (character: string) => /^[!-~\u0080-\u{10ffff}]$/u.test(character)
const isBlank = (character: string | undefined) => character === ' ' || character === '\t'
const isOfAtom = (character: string) => isVisible(character) && !/^[()<>[\]:;@\\,"]$/.test(character)

export function isMailAddress(text: string): boolean {
  const reader = createReader([...text])
  try {
    if (reader.address(true) !== 1) return false
    reader.comments()
    return reader.isAtEnd()
  } catch (error) {
    if (error instanceof NoAddress) return false
    throw error
  }
}

function createReader(text: readonly string[]) {
  let at = 0
  const isAtEnd = () => at >= text.length
  const blanks = () => {
    while (isBlank(text[at])) at++
  }
  const took = (character: string): boolean => {
    if (text[at] !== character) return false
    at++
    return true
  }
  const expect = (character: string) => void (took(character) || fail())

  /** What is between parentheses, of which the first has been read. */
  function comment(): string {
    const start = at
    for (let depth = 1; depth > 0; at++) {
      if (isAtEnd()) fail()
      if (text[at] === '\\' && at + 1 < text.length) at++
      else if (text[at] === '(') depth++
      else if (text[at] === ')') depth--
    }
    return text.slice(start, at - 1).join('')
  }

  function comments(): void {
    blanks()
    while (took('(')) {
      comment()
      blanks()
    }
  }

  function quoted(): string {
    expect('"')
    const start = at
    for (; text[at] !== '"'; at++) {
      if (text[at] === '\\') at++
      const character = text[at]
      if (character === undefined || !(isVisible(character) || isBlank(character))) fail()
    }
    at++
    return text.slice(start, at - 1).join('')
  }

  /** Words with points between them; in a name they may stand anywhere. */
  function atom(isOfName: boolean): string {
    const start = at
    while (!isAtEnd() && isOfAtom(text[at] as string)) at++
    const word = text.slice(start, at).join('')
    return word === '' || (!isOfName && word.split('.').includes('')) ? fail() : word
  }

  function domainLiteral(): void {
    expect('[')
    const end = text.indexOf(']', at)
    const address = text.slice(at, end < 0 ? at : end).join('')
    if (!isIPv4(address) && !isIPv6(address)) fail()
    at = end + 1
  }

  function localAndDomain(): void {
    blanks()
    if (text[at] === '"') void (quoted() !== '' || fail())
    else atom(false)
    expect('@')
    blanks()
    if (text[at] === '[') domainLiteral()
    else atom(false)
  }

  function name(): void {
    for (let words = 0; ; words++) {
      if (words > 0) comments()
      blanks()
      const start = at
      try {
        if (text[at] === '"') quoted()
        else checkEncodedWord(atom(true))
      } catch (error) {
        if (words === 0 || !(error instanceof NoAddress)) throw error
        // What is no word of the name stands behind it; an encoded one that cannot be read has been passed.
        if (text[start] === '"') at = start
        return
      }
    }
  }

  /** How many addresses there are: of a group several, or none. */
  function address(mayBeGroup: boolean): number {
    blanks()
    const start = at
    const isPlain = attempt(localAndDomain)
    if (isPlain) {
      blanks()
      if (took('(')) for (const word of comment().split(/[ \t]+/)) checkEncodedWord(word)
      return 1
    }
    at = start
    if (text[at] !== '<') name()
    blanks()
    if (mayBeGroup && took(':')) return group()
    expect('<')
    localAndDomain()
    expect('>')
    return 1
  }

  function group(): number {
    blanks()
    let members = 0
    if (took(';')) {
      comments()
      return 0
    }
    for (;;) {
      blanks()
      members += address(false)
      comments()
      if (took(';')) {
        comments()
        return members
      }
      expect(',')
    }
  }

  return { address, comments, isAtEnd }
}

function attempt(read: () => void): boolean {
  try {
    read()
    return true
  } catch (error) {
    if (error instanceof NoAddress) return false
    throw error
  }
}

const KNOWN_CHARSET = /^(?:utf-8|us-ascii|iso-8859-1)$/i
const PLAIN_OR_ESCAPED = /^(?:[\t\n\r -<>-~]|=[0-9A-Fa-f]{2})*$/
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/

/** A word of RFC 2047 in a charset that is not known; what only looks like one is a word like others. */
function checkEncodedWord(word: string): void {
  const [, charset = '', encoding = '', content = ''] = /^=\?([^?]+)\?([qQbB])\?([^?]*)\?=$/.exec(word) ?? []
  if (charset === '' || KNOWN_CHARSET.test(charset)) return
  if ((encoding.toLowerCase() === 'q' ? PLAIN_OR_ESCAPED : BASE64).test(content)) fail()
}
