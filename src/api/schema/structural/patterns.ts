/** Users' patterns, in RE2's syntax and in linear time; compiled once, and never by RegExp. */

import { RE2JS } from 're2js'
import { messageOf } from '../../../base/errors.ts'
import { setBounded } from '../../../base/set-bounded.ts'

const compiled = new Map<string, RE2JS | undefined>()
const MOST = 2000
/** RE2 itself limits a program's size; a pattern longer than this is refused before it is compiled. */
const LONGEST_PATTERN = 32 * 1024

/** The compiled pattern; undefined when it is none. */
export function compilePattern(pattern: string): RE2JS | undefined {
  if (compiled.has(pattern)) return compiled.get(pattern)
  let made: RE2JS | undefined
  try {
    if (pattern.length <= LONGEST_PATTERN) made = RE2JS.compile(pattern)
  } catch {
    made = undefined
  }
  setBounded(compiled, MOST, pattern, made)
  return made
}

/** Why a pattern is none, in RE2's words; undefined when it is one. */
export function patternError(pattern: string): string | undefined {
  if (compilePattern(pattern) !== undefined) return undefined
  if (pattern.length > LONGEST_PATTERN) return 'expression nests or repeats too much'
  try {
    RE2JS.compile(pattern)
    return undefined
  } catch (error) {
    return messageOf(error)
  }
}

/** Whether the pattern is found anywhere in the text; a pattern that is none matches nothing. */
export function patternFound(pattern: string, text: string): boolean {
  return compilePattern(pattern)?.matcher(text).find() ?? false
}
