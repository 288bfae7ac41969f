/** x-kubernetes-validations (KEP-2876) of custom resources: compiled once per schema, and run under a budget for every object. */

import { getOrInsertComputed } from '../../base/get-or-insert.ts'
import { CALL_COST_LIMIT, REQUEST_COST_LIMIT } from '../cel/cost-limits.ts'
import { type Budget, BudgetExceeded } from '../cel/eval-within-cost-limit.ts'
import { compileExpression, type Program } from '../cel/program.ts'
import { typeOfSchema } from '../cel/schema-types.ts'
import { optionalOf, type Type } from '../cel/types.ts'
import { CelError, Optional, type Value, wrap } from '../cel/values.ts'
import { duplicate, type FieldError, forbiddenField, invalid, required } from '../errors/field-errors.ts'
import { asJson, type Json, type KubeObject } from '../object.ts'
import type { DefaultRules } from '../schema/structural/check-defaults.ts'
import { rulePathNames } from '../schema/structural/check-schema.ts'
import {
  additionalSchema,
  isObject,
  ownValue,
  type Structural,
  type ValidationRule,
} from '../schema/structural/structural.ts'
import { isUnchanged, stableText } from '../schema/structural/validate-value.ts'

/** A message is no longer. */
const LONGEST_MESSAGE = 5 * 1024

export interface CompiledRule {
  readonly rule: ValidationRule
  readonly program: Program | undefined
  readonly error: string | undefined
  readonly message: Program | undefined
  readonly messageError: string | undefined
  /** Reads oldSelf: runs only where there is an old value (or always, with optionalOldSelf). */
  readonly transition: boolean
}

const compiled = new WeakMap<Structural, Map<boolean, readonly CompiledRule[]>>()

export function compiledRules(schema: Structural, root: boolean): readonly CompiledRule[] {
  const byRoot = getOrInsertComputed(compiled, schema, () => new Map())
  let rules = byRoot.get(root)
  if (rules === undefined) {
    const self = typeOfSchema(schema, root)
    rules = self === undefined ? [] : schema.rules.map((rule) => compileRule(rule, self))
    byRoot.set(root, rules)
  }
  return rules
}

function compileRule(rule: ValidationRule, self: Type): CompiledRule {
  const old = rule.optionalOldSelf === true ? optionalOf(self) : self
  const variables = new Map<string, Type>([
    ['self', self],
    ['oldSelf', old],
  ])
  const made = compileExpression(rule.rule ?? '', variables)
  const none = { rule, program: undefined, message: undefined, messageError: undefined, transition: false }
  if ('error' in made) return { ...none, error: `compilation failed: ${made.error}` }
  const { program } = made
  if (!isSimple(program.type, 'bool')) return { ...none, error: 'cel expression must evaluate to a bool' }
  const transition = program.reads.has('oldSelf')
  if (rule.messageExpression === undefined || rule.messageExpression === '')
    return { ...none, program, error: undefined, transition }
  const message = compileExpression(rule.messageExpression, variables)
  if ('error' in message)
    return {
      ...none,
      program,
      error: undefined,
      transition,
      messageError: `messageExpression compilation failed: ${message.error}`,
    }
  if (!isSimple(message.program.type, 'string'))
    return {
      ...none,
      program,
      error: undefined,
      transition,
      messageError: 'messageExpression must evaluate to a string',
    }
  return { rule, program, error: undefined, message: message.program, messageError: undefined, transition }
}

const isSimple = (type: Type, name: string) => type.kind === 'simple' && (type.name === name || type.name === 'dyn')

export interface RuleErrors {
  readonly failed: readonly FieldError[]
  /** What is wrong already and stays as it was (KEP-4008, ratcheting): no reason to refuse an update. */
  readonly tolerated: readonly FieldError[]
}

interface Run {
  readonly errors: FieldError[]
  /** Where what is wrong already and stays as it was is put; undefined: it is no better than the rest. */
  readonly tolerated: FieldError[] | undefined
  readonly budget: Budget
  over: boolean
}

/** What an object's rules say against it. An update is not held to what it does not change. */
export function validateRules(object: KubeObject, old: KubeObject | undefined, schema: Structural): RuleErrors {
  const unchanged: FieldError[] = []
  const run: Run = { errors: [], tolerated: unchanged, budget: { used: 0, limit: REQUEST_COST_LIMIT }, over: false }
  walk(asJson(object), old && asJson(old), schema, '', true, run)
  const tolerated = unchanged.sort((a, b) => (a.field < b.field ? -1 : 1))
  return { failed: run.errors, tolerated }
}

/**
 * The rules of defaults, one after the other under one budget: a default must hold where it follows itself, and, where it does,
 * also where nothing was before. Once the budget is used up, no more of them are judged.
 */
export function rulesOfDefaults(): DefaultRules {
  let used = 0
  let over = false
  return (value, schema, path, root) => {
    if (over) return []
    const judged = (old: Json | undefined): Run => {
      const run: Run = { errors: [], tolerated: undefined, budget: { used, limit: REQUEST_COST_LIMIT }, over: false }
      walk(value, old, schema, path, root, run)
      return run
    }
    const followed = judged(value)
    const last = followed.errors.length > 0 ? followed : judged(undefined)
    // Both begin with what was left; what the dearer one took is gone.
    used = Math.max(followed.budget.used, last.budget.used)
    over = last.over
    return last.errors
  }
}

function walk(value: Json, old: Json | undefined, schema: Structural, path: string, root: boolean, run: Run): void {
  if (run.over) return
  if (schema.rules.length > 0 && value !== null) runAll(value, old, schema, path, root, run)
  const at = (name: string) => (path === '' ? name : `${path}.${name}`)
  if (Array.isArray(value)) {
    const { items } = schema
    if (items === undefined || !rulesBelow(items)) return
    const before = oldItems(old, schema)
    for (const [i, item] of value.entries()) walk(item, before?.(item), items, `${path}[${i}]`, false, run)
    return
  }
  if (!isObject(value)) return
  const before = isObject(old) ? old : undefined
  const additional = additionalSchema(schema)
  for (const key of Object.keys(value)) {
    const property = schema.properties.get(key)
    const inner = value[key]
    if (inner === undefined) continue
    const was = before === undefined ? undefined : ownValue(before, key)
    if (property !== undefined) {
      if (rulesBelow(property)) walk(inner, was, property, at(key), false, run)
    } else if (additional !== undefined && rulesBelow(additional))
      walk(inner, was, additional, `${path}[${key}]`, false, run)
  }
}

const ruled = new WeakMap<Structural, boolean>()

export function rulesBelow(schema: Structural): boolean {
  let known = ruled.get(schema)
  if (known === undefined) {
    const additional = additionalSchema(schema)
    known =
      schema.rules.length > 0 ||
      [...schema.properties.values()].some(rulesBelow) ||
      (schema.items !== undefined && rulesBelow(schema.items)) ||
      (additional !== undefined && rulesBelow(additional))
    ruled.set(schema, known)
  }
  return known
}

function oldItems(old: Json | undefined, schema: Structural): ((item: Json) => Json | undefined) | undefined {
  if (schema.listType !== 'map' || !Array.isArray(old)) return undefined
  const keyOf = (item: Json) =>
    isObject(item) ? stableText(schema.mapKeys.map((key) => ownValue(item, key) ?? null)) : ''
  const byKey = new Map((old as readonly Json[]).map((item) => [keyOf(item), item]))
  return (item) => byKey.get(keyOf(item))
}

function runAll(value: Json, old: Json | undefined, schema: Structural, path: string, root: boolean, run: Run): void {
  const self = typeOfSchema(schema, root)
  if (self === undefined) return
  const unchanged = old !== undefined && isUnchanged(value, old, schema.props)
  for (const one of compiledRules(schema, root)) {
    if (run.over) return
    const { rule, program } = one
    if (program === undefined) {
      run.errors.push(invalid(path, typeWord(schema), `rule compile error: ${one.error ?? ''}`))
      continue
    }
    const optionalOld = rule.optionalOldSelf === true
    if (one.transition && old === undefined && !optionalOld) continue
    const before = run.errors.length
    judge(value, old, one, program, self, schema, path, run)
    // What is as it was, and is judged by itself alone, stays.
    if (run.tolerated !== undefined && unchanged && !one.transition && !run.over)
      run.tolerated.push(...run.errors.splice(before))
  }
}

function judge(
  value: Json,
  old: Json | undefined,
  one: CompiledRule,
  program: Program,
  self: Type,
  schema: Structural,
  path: string,
  run: Run,
): void {
  const { rule } = one
  const shown = (rule.message ?? '').trim() || (rule.rule ?? '')
  const fail = (text: string) => run.errors.push(invalid(path, typeWord(schema), text))
  const budget: Budget = { used: 0, limit: Math.min(CALL_COST_LIMIT, run.budget.limit - run.budget.used) }
  try {
    const variables = new Map<string, Value>([['self', wrap(value, self)]])
    if (one.transition) {
      const before = old === undefined ? undefined : wrap(old, self)
      variables.set('oldSelf', rule.optionalOldSelf === true ? new Optional(before) : (before as Value))
    }
    const holds = program.run(variables, budget)
    run.budget.used += budget.used
    if (holds === true) return
    run.errors.push(failure(one, variables, schema, path, value, run))
  } catch (error) {
    if (error instanceof BudgetExceeded) {
      const call = budget.limit === CALL_COST_LIMIT
      fail(
        call
          ? `no further validation rules will be run due to call cost exceeds limit for rule: ${shown}`
          : 'validation failed due to running out of cost budget, no further validation rules will be run',
      )
      run.over = true
    } else if (error instanceof CelError) fail(`${error.message} evaluating rule: ${shown}`)
    else throw error
  }
}

function failure(
  one: CompiledRule,
  variables: ReadonlyMap<string, Value>,
  schema: Structural,
  path: string,
  value: Json,
  run: Run,
): FieldError {
  const { rule } = one
  const text =
    messageOf(one, variables, run) ??
    ((rule.message ?? '') !== '' ? (rule.message as string).trim() : `failed rule: ${(rule.rule ?? '').trim()}`)
  const names =
    rule.fieldPath === undefined || rule.fieldPath === '' ? [] : (rulePathNames(rule.fieldPath, schema.props) ?? [])
  let at = path
  for (const { name, key } of names) at = key ? `${at}[${name}]` : at === '' ? name : `${at}.${name}`
  switch (rule.reason) {
    case 'FieldValueForbidden':
      return forbiddenField(at, text)
    case 'FieldValueRequired':
      return required(at, text)
    case 'FieldValueDuplicate':
      return typeof value === 'object'
        ? { type: 'FieldValueDuplicate', field: at, message: 'Duplicate value' }
        : duplicate(at, value)
    default:
      // Objects and lists are too big to show.
      return typeof value === 'object'
        ? { type: 'FieldValueInvalid', field: at, message: `Invalid value: ${text}` }
        : invalid(at, value, text)
  }
}

/** The message that an expression makes; undefined when it fails or makes none that fits in a line. */
function messageOf({ message }: CompiledRule, variables: ReadonlyMap<string, Value>, run: Run): string | undefined {
  if (message === undefined) return undefined
  const budget: Budget = { used: 0, limit: Math.min(CALL_COST_LIMIT, run.budget.limit - run.budget.used) }
  try {
    const text = message.run(variables, budget)
    run.budget.used += budget.used
    if (typeof text !== 'string') return undefined
    const trimmed = text.trim()
    return trimmed === '' || /[\r\n]/.test(trimmed) || trimmed.length > LONGEST_MESSAGE ? undefined : trimmed
  } catch (error) {
    if (error instanceof CelError || error instanceof BudgetExceeded) return undefined
    throw error
  }
}

const typeWord = (schema: Structural): string => (schema.intOrString ? '' : schema.type)
