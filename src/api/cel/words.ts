/** Words that expressions cannot use as names of variables: CEL's own, and those it keeps for other languages. */

/** Kept: no variable has such a name, a field may. */
export const RESERVED_WORDS: ReadonlySet<string> = new Set([
  'as',
  'break',
  'const',
  'continue',
  'else',
  'for',
  'function',
  'if',
  'import',
  'let',
  'loop',
  'package',
  'namespace',
  'return',
  'var',
  'void',
  'while',
])

/** Part of the language: a field of such a name can only be asked for by its escaped name, or between backquotes. */
export const KEYWORDS: ReadonlySet<string> = new Set(['true', 'false', 'null', 'in'])

export const isReserved = (name: string): boolean => RESERVED_WORDS.has(name) || KEYWORDS.has(name)
