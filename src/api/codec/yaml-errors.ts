/**
 * What is wrong with a YAML text, said as libyaml says it, which Kubernetes' parser descends from. Its scanner counts lines
 * from one and its parser from zero, and neither names the first.
 */
import { type Document, isCollection, isSeq, visit, type YAMLError } from 'yaml'

interface Problem {
  readonly from: 'scanner' | 'parser'
  readonly text: string
  /** Offset of the problem in the text; its length for the end. */
  readonly at: number
}

const UNCLOSED_QUOTE = 'found unexpected end of stream'

/** The message for a document that has errors, or undefined when they lie behind the part that counts. */
export function yamlProblem(document: Document, text: string): string | undefined {
  if (document.directives?.yaml.explicit === true && document.directives.yaml.version !== '1.1')
    return 'yaml: found incompatible YAML document'
  const directive = document.warnings.find(({ code }) => code === 'BAD_DIRECTIVE')
  if (directive !== undefined && /version/i.test(directive.message)) return 'yaml: found incompatible YAML document'
  if (directive !== undefined)
    return located({ from: 'scanner', text: 'found unknown directive name', at: directive.pos[0] }, text)
  const half = halfOfPair(document, text)
  if (half !== undefined) return located({ from: 'scanner', text: UNKNOWN_CHARACTER, at: half }, text)
  const [error] = document.errors
  if (error === undefined) return undefined
  const { contents } = document
  // Once a flow collection is closed the document has ended, and what follows is never read.
  if (isCollection(contents) && contents.flow && contents.range && error.pos[0] >= contents.range[1]) {
    if (error.code !== 'MISSING_CHAR' && error.code !== 'BAD_INDENT') return undefined
  }
  return located(problemOf(error, document, text), text)
}

const UNKNOWN_CHARACTER = 'found invalid Unicode character escape code'
const HALF = /\\u[dD][89a-fA-F][0-9a-fA-F]{2}/

/** Where a text in double quotes has half of a pair of UTF-16 for an escape: in YAML none stands for a character, nor do both. */
function halfOfPair(document: Document, text: string): number | undefined {
  if (!HALF.test(text)) return undefined
  let at: number | undefined
  visit(document, {
    Scalar(_key, { type, range }) {
      if (type !== 'QUOTE_DOUBLE' || !range) return undefined
      const found = /^(?:[^\\]|\\(?!u[dD][89a-fA-F])[\s\S])*?(\\u[dD][89a-fA-F])/.exec(text.slice(range[0], range[1]))
      if (found === null) return undefined
      at = range[0] + found[0].length
      return visit.BREAK
    },
  })
  return at
}

function located({ from, text: problem, at }: Problem, text: string): string {
  const before = text.slice(0, at)
  let line = before.split('\n').length - 1
  // The end of the text is a line of its own, except to a quoted string that runs into it.
  if (at >= text.length && problem !== UNCLOSED_QUOTE && !before.endsWith('\n')) line++
  if (line === 0) return `yaml: ${problem}`
  return `yaml: line ${from === 'scanner' ? line + 1 : line}: ${problem}`
}

const scanner = (text: string, at: number): Problem => ({ from: 'scanner', text, at })
const parser = (text: string, at: number): Problem => ({ from: 'parser', text, at })

function problemOf({ code, message, pos }: YAMLError, document: Document, text: string): Problem {
  const [start] = pos
  const other = document.errors.find((error) => error.code === 'MULTILINE_IMPLICIT_KEY')
  switch (code) {
    case 'TAB_AS_INDENT':
      return start === 0
        ? scanner('found character that cannot start any token', start)
        : scanner('found a tab character that violates indentation', start)
    case 'BLOCK_AS_IMPLICIT_KEY':
      return scanner('mapping values are not allowed in this context', other === undefined ? start : other.pos[1])
    case 'MULTILINE_IMPLICIT_KEY':
      return document.errors.some((error) => /block-seq-ind/.test(error.message))
        ? parser('did not find expected key', start)
        : scanner('mapping values are not allowed in this context', pos[1])
    case 'UNEXPECTED_TOKEN':
      if (/block-seq-ind/.test(message)) return scanner('block sequence entries are not allowed in this context', start)
      if (/flow-(?:map|seq)-end/.test(message)) return parser('did not find expected node content', start)
      return isSeq(document.contents)
        ? parser("did not find expected '-' indicator", start)
        : parser('did not find expected key', start)
    case 'MISSING_CHAR':
      if (/quote/.test(message)) return scanner(UNCLOSED_QUOTE, text.length)
      if (/^Flow/.test(message)) return unclosed(message, start, text)
      return { from: 'scanner', text: "could not find expected ':'", at: text.length }
    case 'BAD_INDENT':
      return /^Flow/.test(message)
        ? unclosed(message, start, text)
        : parser('did not find expected key', lineAfter(start, text))
    case 'BAD_SCALAR_START':
      return scanner('found character that cannot start any token', start)
    case 'BAD_DQ_ESCAPE':
      return scanner('found unknown escape character', start)
    case 'BAD_ALIAS':
      return scanner('did not find expected alphabetic or numeric character', start)
    case 'TAG_RESOLVE_FAILED':
      return scanner("did not find the expected '>'", start)
    default:
      return parser('did not find expected key', start)
  }
}

/** The error stands at the line break before the item that it is about. */
function lineAfter(at: number, text: string): number {
  return text[at] === '\n' ? at + 1 : at
}

/** A flow collection that its text never closes. */
function unclosed(message: string, start: number, text: string): Problem {
  const at = text.slice(start).trim() === '' ? text.length : lineAfter(start, text)
  if (/[[{,:]\s*$/.test(text.slice(0, start))) return parser('did not find expected node content', at)
  return parser(`did not find expected ',' or '${/map/.test(message) ? '}' : ']'}'`, at)
}
