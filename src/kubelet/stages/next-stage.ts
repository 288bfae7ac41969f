/** Which stage an object comes to next, and when: selectors, weights, delays (KWOK's Stage API). Pure, but for chance. */

import { CALL_COST_LIMIT } from '../../api/cel/cost-limits.ts'
import { BudgetExceeded } from '../../api/cel/eval-within-cost-limit.ts'
import type { Program } from '../../api/cel/program.ts'
import { DYN } from '../../api/cel/types.ts'
import { CelDuration, CelError, Timestamp, type Value, wrap } from '../../api/cel/values.ts'
import type { Json, KubeObject } from '../../api/object.ts'
import { GoDurationError, parseGoDurationMs } from '../../base/go-duration.ts'
import type { Random } from '../../base/random.ts'
import { JqError, type JqFilter } from './jq-filters.ts'
import type { Requirement, Stage, StageNumber, StageQuery } from './stage-file.ts'

export interface NextStage {
  readonly stage: Stage
  /** Milliseconds from now. */
  readonly afterMs: number
}

/** undefined: none is for it as it is. @throws CelError for an expression that fails on it */
export function nextStage(
  stages: readonly Stage[],
  object: KubeObject,
  random: Pick<Random, 'float'>,
  now: number,
): NextStage | undefined {
  const stage = chosen(
    stages.filter((one) => isFor(one, object)),
    object,
    random,
  )
  return stage === undefined ? undefined : { stage, afterMs: delayOf(stage, object, random, now) }
}

function isFor({ selector }: Stage, object: KubeObject): boolean {
  if (selector === undefined) return false
  const { labels = {}, annotations = {} } = object.metadata
  return (
    holds(selector.labels, labels) &&
    holds(selector.annotations, annotations) &&
    selector.expressions.every((one) => fulfils(one, object))
  )
}

const holds = (wanted: Readonly<Record<string, string>>, given: Readonly<Record<string, string>>): boolean =>
  Object.entries(wanted).every(([key, value]) => Object.hasOwn(given, key) && given[key] === value)

function fulfils(requirement: Requirement, object: KubeObject): boolean {
  if (requirement.type === 'cel') return run(requirement.program, object) === true
  const { operator, values } = requirement
  const found = valuesOf(requirement.filter, object)
  switch (operator) {
    case 'Exists':
      return found.length > 0
    case 'DoesNotExist':
      return found.length === 0
    case 'In':
      return found.some((one) => isAmong(one, values))
    case 'NotIn':
      return !found.some((one) => isAmong(one, values))
  }
}

const isAmong = (value: Json, values: readonly string[]): boolean =>
  (typeof value === 'string' || typeof value === 'boolean' || typeof value === 'number') &&
  values.includes(String(value))

/** Nulls are not there, and what fails gives nothing: `.status.conditions[]` of a new object. */
function valuesOf(filter: JqFilter, object: KubeObject): readonly Json[] {
  try {
    return filter(object as Json).filter((value) => value !== null)
  } catch (error) {
    if (error instanceof JqError) return []
    throw error
  }
}

function run(program: Program, object: KubeObject): Value {
  try {
    return program.run(new Map([['self', wrap(object as Json, DYN)]]), { used: 0, limit: CALL_COST_LIMIT })
  } catch (cause) {
    if (cause instanceof BudgetExceeded) throw new CelError('the expression costs too much', { cause })
    throw cause
  }
}

/** By their weights; those that tell none are out where others do. Where all are 0 each is as likely. */
function chosen(stages: readonly Stage[], object: KubeObject, random: Pick<Random, 'float'>): Stage | undefined {
  if (stages.length < 2) return stages[0]
  const weighed = stages.map((stage) => ({ stage, weight: weightOf(stage.weight, object) }))
  const told = weighed.filter(({ weight }) => weight !== undefined)
  const among = told.length === 0 ? weighed : told
  const total = among.reduce((sum, { weight = 0 }) => sum + Math.max(0, weight), 0)
  if (total === 0) return among[Math.floor(random.float() * among.length)]?.stage
  let left = random.float() * total
  const heavy = among.filter(({ weight = 0 }) => weight > 0)
  return (
    heavy.find(({ weight = 0 }) => {
      left -= weight
      return left < 0
    }) ?? heavy.at(-1)
  )?.stage
}

function weightOf({ value, from }: StageNumber, object: KubeObject): number | undefined {
  const found = from === undefined ? undefined : foundBy(from, object)
  if (found === undefined || found === null) return value
  if (typeof found === 'number') return Math.trunc(found)
  if (typeof found === 'bigint') return Number(found)
  if (typeof found !== 'string') return value
  return /^[+-]?\d{1,15}$/.test(found) ? Number(found) : undefined
}

function delayOf({ delay, jitter }: Stage, object: KubeObject, random: Pick<Random, 'float'>, now: number): number {
  const ms = delay === undefined ? undefined : durationOf(delay, object, now)
  if (ms === undefined) return 0
  const most = jitter === undefined ? undefined : durationOf(jitter, object, now)
  if (most === undefined) return Math.max(0, ms)
  return Math.max(0, most <= ms ? most : ms + Math.floor(random.float() * (most - ms)))
}

/** Of a time so long until it, of a text Go's duration. undefined: it is said to be none. */
function durationOf({ value, from }: StageNumber, object: KubeObject, now: number): number | undefined {
  const found = from === undefined ? undefined : foundBy(from, object)
  if (found instanceof CelDuration) return Number(found.nanos) / 1e6
  if (found instanceof Timestamp) return Number(found.nanos) / 1e6 - now
  if (typeof found !== 'string') return value
  if (found === '') return undefined
  if (/^\d{4}-\d\d-\d\dT/.test(found)) {
    const at = Date.parse(found)
    if (!Number.isNaN(at)) return at - now
  }
  try {
    return parseGoDurationMs(found)
  } catch (error) {
    if (error instanceof GoDurationError) return value
    throw error
  }
}

const foundBy = (query: StageQuery, object: KubeObject): Value | Json | undefined =>
  query.type === 'cel' ? run(query.program, object) : valuesOf(query.filter, object)[0]
