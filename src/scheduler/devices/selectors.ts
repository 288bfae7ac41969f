/** Whether a device is what a request or a class asks for, by their CEL expressions. */

import { DEVICE_COST_LIMIT } from '../../api/cel/cost-limits.ts'
import { DEVICE_VARIABLES, deviceValue } from '../../api/cel/devices.ts'
import { BudgetExceeded } from '../../api/cel/eval-within-cost-limit.ts'
import { compileExpression, type Program } from '../../api/cel/program.ts'
import { CelError, NoSuchKey, type Value } from '../../api/cel/values.ts'
import type { Device, DeviceSelector } from '../../api/generated/types.ts'
import { getOrInsertComputed } from '../../base/get-or-insert.ts'
import { createLruMap } from '../../base/lru.ts'
import type { PoolDevice } from './pools.ts'

/** What a claim asks cannot be answered: its author is to be told. */
export class ClaimError extends Error {}

export interface Selectors {
  /** `of` is told with what fails: `claim ns/c`. @throws ClaimError */
  match(list: readonly DeviceSelector[] | undefined, device: PoolDevice, of: string): boolean
}

const KNOWN_EXPRESSIONS = 100
const HINT =
  '. consider using CEL optional chaining (.? followed by orValue()) or guarding the check with has() for optional fields'

/** What expressions compile to is remembered by its owner. */
export function createSelectors(): Selectors {
  const programs = createLruMap<string, Program | string>(KNOWN_EXPRESSIONS)
  const values = new WeakMap<Device, Value>()

  const programOf = (source: string): Program | string =>
    getOrInsertComputed(programs, source, () => {
      const compiled = compileExpression(source, DEVICE_VARIABLES)
      return 'error' in compiled ? compiled.error : compiled.program
    })

  return {
    match(list, device, of) {
      return (list ?? []).every(({ cel }, at) => {
        const program = programOf(cel?.expression ?? '')
        if (typeof program === 'string') throw new ClaimError(`${of}: selector #${at}: CEL compile error: ${program}`)
        const where = `${of}: selector #${at} on device ${device.id}`
        const value = getOrInsertComputed(values, device.device, () => deviceValue(device.driver, device.device))
        try {
          const answer = program.run(new Map([['device', value]]), { used: 0, limit: DEVICE_COST_LIMIT })
          if (typeof answer !== 'boolean')
            throw new ClaimError(`${where}: CEL runtime error: CEL expression of selector did not evaluate to bool`)
          return answer
        } catch (error) {
          if (!(error instanceof CelError || error instanceof BudgetExceeded)) throw error
          const hint = error instanceof NoSuchKey ? HINT : ''
          throw new ClaimError(`${where}: CEL runtime error: ${error.message}${hint}`)
        }
      })
    },
  }
}
