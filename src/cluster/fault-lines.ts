/** Faults that have struck, as a line each for people. */
import type { Strike } from '../apiserver/faults/which-requests-are-struck.ts'
import { plainLine } from '../base/plain-text.ts'

export type { FaultsStatus } from '../apiserver/faults/which-requests-are-struck.ts'

/** `2026-01-01T00:00:00.000000Z watch drop 5%: my-operator watch pods default, number 7` */
export function strikeLine({ time, fault, client, verb, resource, namespace, name, count }: Strike): string {
  const at = [namespace, name].filter((part) => part !== '').join('/')
  return plainLine(`${time} ${fault}: ${client} ${verb} ${resource}${at === '' ? '' : ` ${at}`}, number ${count}`)
}
