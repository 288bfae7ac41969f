/** What is recorded of devices, claims and taints. */
import type { Scenario } from './scenario.ts'
import { claimScenarios } from './scenarios-of-claims.ts'
import { extendedScenarios } from './scenarios-of-extended.ts'
import { limitScenarios } from './scenarios-of-limits.ts'
import { taintScenarios } from './scenarios-of-taints.ts'

export const scenarios: Readonly<Record<string, Scenario>> = {
  ...claimScenarios,
  ...taintScenarios,
  ...extendedScenarios,
  ...limitScenarios,
}
