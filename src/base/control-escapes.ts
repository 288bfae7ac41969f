/** The letters that stand for control characters behind a backslash, as C and what follows it have them. */
export const CONTROL_ESCAPES: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  '\\': '\\',
}
