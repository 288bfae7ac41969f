/** Parts of the questions whether a definition is accepted. */
import type { Case } from '../recording.ts'
import { type Any, definition, definitions, post, version } from './definitions.ts'

/** A schema with rules, each of them its text or all of it. */
export const ruled = (schema: Any, ...rules: readonly (string | object)[]) => ({
  ...schema,
  'x-kubernetes-validations': rules.map((one) => (typeof one === 'string' ? { rule: one } : one)),
})
/** A definition that is asked for in a dry run. */
export const asked = (name: string, given: Any): Case => ({
  name: `asked: ${name}`,
  ns: false,
  anyOrder: true,
  steps: [post(`${definitions}?dryRun=All`, JSON.parse(JSON.stringify(given).replaceAll('$NS', 'asked')))],
})
/** The same of one whose objects have this spec. */
export const spec = (name: string, given: Any): Case => asked(name, definition([version('v1', given)]))
