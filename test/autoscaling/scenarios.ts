/** What is recorded of autoscalers. */
import type { Scenario } from './scenario.ts'
import { metricScenarios } from './scenarios-of-metrics.ts'
import { paceScenarios } from './scenarios-of-pace.ts'

export const scenarios: Readonly<Record<string, Scenario>> = { ...paceScenarios, ...metricScenarios }
