/** The control /skiff.dev/faults: reads, sets, adds and clears what goes wrong on purpose while the cluster runs. */
import type { JsonObject } from '../api/object.ts'
import { badRequest, notAllowed } from '../api/status.ts'
import { FaultError } from '../apiserver/faults/grammar.ts'
import type { Faults, FaultsStatus, FaultWords } from '../apiserver/faults/which-requests-are-struck.ts'
import { type Control, jsonBody } from './controls.ts'
import { StartError } from './errors.ts'

const CHANGES = ['set', 'add', 'clear'] as const
const FIELDS: readonly string[] = [...CHANGES, 'seed']

/**
 * GET tells them, POST changes them: `{"set": ["watch drop 5%"], "seed": 7}`, `{"add": [...]}`, `{"clear": [...]}` or `{"clear": true}`
 * for all. Both answer with what there is then.
 */
export function faultsControl(faults: Faults): Control {
  return async (request) => {
    if (request.method === 'POST') changeFaults(faults, jsonBody(request))
    else if (request.method !== 'GET') throw notAllowed()
    return faults.status()
  }
}

/** @throws FaultError, StatusError 400 */
export function changeFaults(faults: Faults, asked: JsonObject): FaultsStatus {
  const unknown = Object.keys(asked).find((field) => !FIELDS.includes(field))
  if (unknown !== undefined)
    throw badRequest(`unknown field ${JSON.stringify(unknown)}: there are ${FIELDS.join(', ')}`)
  const given = CHANGES.filter((change) => asked[change] !== undefined)
  if (given.length !== 1) throw badRequest(`one of ${CHANGES.join(', ')} must be given`)
  const { set, add, clear, seed } = asked
  if (seed !== undefined && set === undefined) throw badRequest('seed belongs to set')
  if (seed !== undefined && typeof seed !== 'number') throw badRequest('seed must be a number')
  if (set !== undefined) faults.set(wordsOf('set', set), seed)
  else if (add !== undefined) faults.add(wordsOf('add', add))
  else if (clear === true) faults.clear()
  else faults.clear(wordsOf('clear', clear))
  return faults.status()
}

function wordsOf(field: string, value: unknown): FaultWords {
  if (!Array.isArray(value) || !value.every((one) => typeof one === 'string'))
    throw new FaultError(`${field} must be a list of faults such as "watch drop 5%"`)
  return value
}

const refuse = (): never => {
  throw new StartError('the cluster makes no faults: start it with faults (an empty list will do)')
}

/** Of a cluster that was started without. */
export const NO_FAULTS: Faults = { set: refuse, add: refuse, clear: refuse, status: refuse }
