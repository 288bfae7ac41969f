/**
 * Field selectors as text (`fieldSelector=metadata.name=a,spec.nodeName!=b`), with Kubernetes' error texts. Which fields a
 * kind knows is its strategy's business; here is grammar and matching.
 */
import { SelectorError } from './label-selector.ts'

export interface FieldTerm {
  readonly field: string
  readonly value: string
  readonly negated: boolean
}

/** A backslash keeps the comma, equals sign or backslash after it. */
function splitTerms(text: string): string[] {
  const terms: string[] = []
  let start = 0
  let escaped = false
  for (let i = 0; i < text.length; i++) {
    if (escaped) escaped = false
    else if (text[i] === '\\') escaped = true
    else if (text[i] === ',') {
      terms.push(text.slice(start, i))
      start = i + 1
    }
  }
  terms.push(text.slice(start))
  return terms
}

function splitTerm(term: string): FieldTerm | undefined {
  for (let i = 0; i < term.length; i++) {
    const rest = term.slice(i)
    for (const operator of ['!=', '==', '=']) {
      if (rest.startsWith(operator))
        return {
          field: term.slice(0, i),
          value: unescapeValue(rest.slice(operator.length)),
          negated: operator === '!=',
        }
    }
  }
  return undefined
}

function unescapeValue(value: string): string {
  if (!/[\\,=]/.test(value)) return value
  let out = ''
  for (let i = 0; i < value.length; i++) {
    const c = value[i] as string
    if (c === '\\') {
      const next = value[i + 1]
      if (next === undefined) throw new SelectorError('invalid field selector: invalid escape sequence: \\')
      if (next !== '\\' && next !== ',' && next !== '=')
        throw new SelectorError(`invalid field selector: invalid escape sequence: \\${next}`)
      out += next
      i++
    } else if (c === ',' || c === '=') {
      throw new SelectorError(`invalid field selector: unescaped character in value: ${c}`)
    } else out += c
  }
  return out
}

/** @throws SelectorError */
export function parseFieldSelector(text: string): readonly FieldTerm[] {
  const terms: FieldTerm[] = []
  // Kubernetes takes them in this order too, so its errors are about the first of them.
  for (const part of splitTerms(text).sort()) {
    if (part === '') continue
    const term = splitTerm(part)
    if (term === undefined) throw new SelectorError(`invalid selector: '${text}'; can't understand '${part}'`)
    // Nothing is nothing: a lone `=` selects everything.
    if (term.field !== '' || term.value !== '') terms.push(term)
  }
  return terms
}

export function fieldsMatch(terms: readonly FieldTerm[], fields: Readonly<Record<string, string>>): boolean {
  return terms.every(({ field, value, negated }) => {
    const actual = Object.hasOwn(fields, field) ? fields[field] : ''
    return negated ? actual !== value : actual === value
  })
}
