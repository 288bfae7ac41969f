/** Booleans as Go reads them from text: flags, options of policies, annotations, conversions of CEL. */

const TRUE = /^(1|t|T|true|TRUE|True)$/
const FALSE = /^(0|f|F|false|FALSE|False)$/

/** Undefined where the text is none. */
export function parseGoBool(text: string): boolean | undefined {
  if (TRUE.test(text)) return true
  return FALSE.test(text) ? false : undefined
}
