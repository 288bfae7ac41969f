/**
 * Stages as KWOK's users write them (kwok.x-k8s.io/v1alpha1): read, checked field by field, and compiled. What is not understood is an
 * error when the file is read, and nothing is passed over.
 */

import { compileExpression, type Program } from '../../api/cel/program.ts'
import { DYN } from '../../api/cel/types.ts'
import type { JsonObject, SpecAndStatus } from '../../api/object.ts'
import { messageOf } from '../../base/errors.ts'
import { compileJq } from './jq.ts'
import { JqError, type JqFilter } from './jq-filters.ts'
import { templateFunctions } from './template/functions.ts'
import { compileTemplate, type Template } from './template/render.ts'
import { TemplateError } from './template/tokens.ts'

export interface Stage {
  readonly name: string
  /** `v1`, `apps/v1`. */
  readonly groupVersion: string
  readonly kind: string
  /** undefined: it is for no object. */
  readonly selector: StageSelector | undefined
  readonly weight: StageNumber
  /** Milliseconds. Without it the stage follows at once. */
  readonly delay: StageNumber | undefined
  readonly jitter: StageNumber | undefined
  readonly immediateNextStage: boolean
  readonly steps: readonly StageStep[]
}

export interface StageSelector {
  readonly labels: Readonly<Record<string, string>>
  readonly annotations: Readonly<Record<string, string>>
  readonly expressions: readonly Requirement[]
}

export type Operator = 'In' | 'NotIn' | 'Exists' | 'DoesNotExist'
export type StageQuery =
  | { readonly type: 'jq'; readonly filter: JqFilter }
  | { readonly type: 'cel'; readonly program: Program }
export type Requirement =
  | { readonly type: 'jq'; readonly filter: JqFilter; readonly operator: Operator; readonly values: readonly string[] }
  | { readonly type: 'cel'; readonly program: Program }

/** A number that is said, or that the object tells. */
export interface StageNumber {
  readonly value: number | undefined
  readonly from: StageQuery | undefined
}

export type PatchKind = 'json' | 'merge' | 'strategic'

export type StageStep =
  | { readonly type: 'event'; readonly event: StageEvent }
  | {
      readonly type: 'finalizers'
      readonly add: readonly string[]
      readonly remove: readonly string[]
      readonly empty: boolean
    }
  | { readonly type: 'delete' }
  | {
      readonly type: 'patch'
      readonly template: Template
      readonly root: string
      readonly subresource: string
      readonly kind: PatchKind | undefined
      readonly as: string | undefined
    }
  | {
      readonly type: 'apply'
      readonly template: Template
      readonly subresource: string
      readonly kind: 'apply' | 'merge' | 'strategic'
    }

export interface StageEvent {
  readonly type: 'Normal' | 'Warning'
  readonly reason: string
  readonly message: string
}

export const STAGE_VERSION = 'kwok.x-k8s.io/v1alpha1'
/** Given by the caller that renders: they are not the same twice. */
export const RENDERED_FUNCTIONS: ReadonlySet<string> = new Set([
  ...['Now', 'StartTime', 'now', 'uuidv4', 'randInt', 'randAlphaNum', 'randNumeric', 'randAlpha'],
  ...['NodeIP', 'NodeName', 'NodePort', 'PodIP', 'NodeIPWith', 'NodeIPsWith', 'PodIPWith', 'PodIPsWith'],
])

export class StageError extends Error {}

/** @throws StageError that names the field */
export function readStage(object: SpecAndStatus): Stage {
  const { apiVersion, kind, metadata } = object
  if (apiVersion !== STAGE_VERSION || kind !== 'Stage')
    throw new StageError(`a Stage of ${STAGE_VERSION} is wanted, not ${apiVersion} ${kind}`)
  const name = metadata.name ?? ''
  if (name === '') throw new StageError('metadata.name is missing')
  known(object, ['apiVersion', 'kind', 'metadata', 'spec', 'status'], '')
  const spec = fields(object.spec, 'spec')
  known(
    spec,
    ['resourceRef', 'selector', 'weight', 'weightFrom', 'delay', 'next', 'immediateNextStage', 'steps'],
    'spec',
  )
  const ref = fields(spec['resourceRef'], 'spec.resourceRef')
  known(ref, ['apiGroup', 'kind'], 'spec.resourceRef')
  const delay = spec['delay'] === undefined ? undefined : fields(spec['delay'], 'spec.delay')
  if (delay !== undefined)
    known(
      delay,
      ['durationMilliseconds', 'durationFrom', 'jitterDurationMilliseconds', 'jitterDurationFrom'],
      'spec.delay',
    )
  const refKind = text(ref['kind'], 'spec.resourceRef.kind')
  if (refKind === '') throw new StageError('spec.resourceRef.kind is missing')
  return {
    name,
    groupVersion: text(ref['apiGroup'], 'spec.resourceRef.apiGroup') || 'v1',
    kind: refKind,
    selector: spec['selector'] === undefined ? undefined : readSelector(spec['selector']),
    weight: {
      value: number(spec['weight'], 'spec.weight') ?? 0,
      from: readFrom(spec['weightFrom'], 'spec.weightFrom'),
    },
    delay:
      delay === undefined
        ? undefined
        : {
            value: number(delay['durationMilliseconds'], 'spec.delay.durationMilliseconds') ?? 0,
            from: readFrom(delay['durationFrom'], 'spec.delay.durationFrom'),
          },
    jitter:
      delay?.['jitterDurationMilliseconds'] === undefined && delay?.['jitterDurationFrom'] === undefined
        ? undefined
        : {
            value: number(delay['jitterDurationMilliseconds'], 'spec.delay.jitterDurationMilliseconds'),
            from: readFrom(delay['jitterDurationFrom'], 'spec.delay.jitterDurationFrom'),
          },
    immediateNextStage: flag(spec['immediateNextStage'], 'spec.immediateNextStage'),
    steps: readSteps(spec),
  }
}

function readSelector(value: unknown): StageSelector {
  const selector = fields(value, 'spec.selector')
  known(selector, ['matchLabels', 'matchAnnotations', 'matchExpressions'], 'spec.selector')
  return {
    labels: texts(selector['matchLabels'], 'spec.selector.matchLabels'),
    annotations: texts(selector['matchAnnotations'], 'spec.selector.matchAnnotations'),
    expressions: list(selector['matchExpressions'], 'spec.selector.matchExpressions').map((one, i) =>
      readRequirement(one, `spec.selector.matchExpressions[${i}]`),
    ),
  }
}

function readRequirement(value: unknown, at: string): Requirement {
  const given = fields(value, at)
  known(given, ['cel', 'jq', 'key', 'operator', 'values'], at)
  if (given['cel'] !== undefined) return { type: 'cel', program: cel(given['cel'], `${at}.cel`) }
  const [jq, place] = given['jq'] === undefined ? [given, at] : [fields(given['jq'], `${at}.jq`), `${at}.jq`]
  if (jq !== given) known(jq, ['key', 'operator', 'values'], place)
  const operator = text(jq['operator'], `${place}.operator`)
  const values = list(jq['values'], `${place}.values`).map((one, i) => text(one, `${place}.values[${i}]`))
  if (operator === 'In' || operator === 'NotIn') {
    if (values.length === 0) throw new StageError(`${place}.values: ${operator} needs some`)
  } else if (operator === 'Exists' || operator === 'DoesNotExist') {
    if (values.length > 0) throw new StageError(`${place}.values: ${operator} takes none`)
  } else throw new StageError(`${place}.operator: "${operator}" is none of In, NotIn, Exists, DoesNotExist`)
  return { type: 'jq', filter: filterOf(jq['key'], `${place}.key`), operator, values }
}

function readFrom(value: unknown, at: string): StageQuery | undefined {
  if (value === undefined) return undefined
  const from = fields(value, at)
  known(from, ['cel', 'jq', 'expressionFrom'], at)
  if (from['cel'] !== undefined) return { type: 'cel', program: cel(from['cel'], `${at}.cel`) }
  if (from['jq'] === undefined) return { type: 'jq', filter: filterOf(from['expressionFrom'], `${at}.expressionFrom`) }
  const jq = fields(from['jq'], `${at}.jq`)
  known(jq, ['expression'], `${at}.jq`)
  return { type: 'jq', filter: filterOf(jq['expression'], `${at}.jq.expression`) }
}

function filterOf(value: unknown, at: string): JqFilter {
  const source = text(value, at)
  if (source === '') throw new StageError(`${at} is missing`)
  try {
    return compileJq(source)
  } catch (cause) {
    if (cause instanceof JqError) throw new StageError(`${at}: ${source}: ${cause.message}`, { cause })
    throw cause
  }
}

const VARIABLES = new Map([['self', DYN]])

function cel(value: unknown, at: string): Program {
  const given = fields(value, at)
  known(given, ['expression'], at)
  const made = compileExpression(text(given['expression'], `${at}.expression`), VARIABLES)
  if ('error' in made) throw new StageError(`${at}.expression: ${made.error.split('\n')[0]}`)
  return made.program
}

/** `next` is the older form of `steps`: its parts follow one another in this order. */
function readSteps(spec: JsonObject): readonly StageStep[] {
  const steps = list(spec['steps'], 'spec.steps').flatMap((one, i) => {
    const at = `spec.steps[${i}]`
    const step = fields(one, at)
    known(step, ['patch', 'event', 'finalizers', 'delete', 'apply'], at)
    return stepsOf(step, at)
  })
  if (spec['next'] === undefined) return steps
  const next = fields(spec['next'], 'spec.next')
  known(
    next,
    ['event', 'finalizers', 'delete', 'patches', 'statusTemplate', 'statusSubresource', 'statusPatchAs'],
    'spec.next',
  )
  if (steps.length > 0) throw new StageError('spec.next and spec.steps exclude one another')
  const patches = list(next['patches'], 'spec.next.patches')
  const status = text(next['statusTemplate'], 'spec.next.statusTemplate')
  const { event, finalizers } = next
  return [
    ...stepsOf({ event }, 'spec.next'),
    ...stepsOf({ finalizers }, 'spec.next'),
    ...(patches.length > 0
      ? patches.map((patch, i) => readPatch(patch, `spec.next.patches[${i}]`))
      : status === ''
        ? []
        : [
            {
              type: 'patch' as const,
              template: templateOf(status, 'spec.next.statusTemplate'),
              root: 'status',
              subresource: text(next['statusSubresource'], 'spec.next.statusSubresource') || 'status',
              kind: undefined,
              as: impersonated(next['statusPatchAs'], 'spec.next.statusPatchAs'),
            },
          ]),
    ...(flag(next['delete'], 'spec.next.delete') ? [{ type: 'delete' as const }] : []),
  ]
}

function stepsOf(step: JsonObject, at: string): readonly StageStep[] {
  const steps: StageStep[] = []
  if (step['event'] !== undefined) steps.push({ type: 'event', event: readEvent(step['event'], `${at}.event`) })
  if (step['finalizers'] !== undefined) steps.push(readFinalizers(step['finalizers'], `${at}.finalizers`))
  // What is gone is not patched.
  if (flag(step['delete'], `${at}.delete`)) return [...steps, { type: 'delete' }]
  if (step['patch'] !== undefined) steps.push(readPatch(step['patch'], `${at}.patch`))
  if (step['apply'] !== undefined) steps.push(readApply(step['apply'], `${at}.apply`))
  return steps
}

function readEvent(value: unknown, at: string): StageEvent {
  const event = fields(value, at)
  known(event, ['type', 'reason', 'message'], at)
  const type = text(event['type'], `${at}.type`) || 'Normal'
  if (type !== 'Normal' && type !== 'Warning')
    throw new StageError(`${at}.type: "${type}" is neither Normal nor Warning`)
  return { type, reason: text(event['reason'], `${at}.reason`), message: text(event['message'], `${at}.message`) }
}

function readFinalizers(value: unknown, at: string): StageStep {
  const given = fields(value, at)
  known(given, ['add', 'remove', 'empty'], at)
  const items = (name: string) =>
    list(given[name], `${at}.${name}`).map((one, i) => {
      const item = fields(one, `${at}.${name}[${i}]`)
      known(item, ['value'], `${at}.${name}[${i}]`)
      return text(item['value'], `${at}.${name}[${i}].value`)
    })
  return { type: 'finalizers', add: items('add'), remove: items('remove'), empty: flag(given['empty'], `${at}.empty`) }
}

function readPatch(value: unknown, at: string): StageStep {
  const patch = fields(value, at)
  known(patch, ['subresource', 'root', 'template', 'type', 'impersonation'], at)
  const kind = text(patch['type'], `${at}.type`)
  if (kind !== '' && kind !== 'json' && kind !== 'merge' && kind !== 'strategic')
    throw new StageError(`${at}.type: "${kind}" is none of json, merge, strategic`)
  return {
    type: 'patch',
    template: templateOf(text(patch['template'], `${at}.template`), `${at}.template`),
    root: text(patch['root'], `${at}.root`),
    subresource: text(patch['subresource'], `${at}.subresource`),
    kind: kind === '' ? undefined : kind,
    as: impersonated(patch['impersonation'], `${at}.impersonation`),
  }
}

function readApply(value: unknown, at: string): StageStep {
  const apply = fields(value, at)
  known(apply, ['subresource', 'template', 'type'], at)
  const kind = text(apply['type'], `${at}.type`) || 'apply'
  if (kind !== 'apply' && kind !== 'merge' && kind !== 'strategic')
    throw new StageError(`${at}.type: "${kind}" is none of apply, merge, strategic`)
  return {
    type: 'apply',
    template: templateOf(text(apply['template'], `${at}.template`), `${at}.template`),
    subresource: text(apply['subresource'], `${at}.subresource`),
    kind,
  }
}

function impersonated(value: unknown, at: string): string | undefined {
  if (value === undefined) return undefined
  const given = fields(value, at)
  known(given, ['username'], at)
  return text(given['username'], `${at}.username`) || undefined
}

function templateOf(source: string, at: string): Template {
  try {
    return compileTemplate(source, templateFunctions, RENDERED_FUNCTIONS)
  } catch (cause) {
    if (cause instanceof TemplateError) throw new StageError(`${at}: ${messageOf(cause)}`, { cause })
    throw cause
  }
}

function known(given: JsonObject, names: readonly string[], at: string): void {
  const other = Object.keys(given).find((name) => !names.includes(name))
  if (other !== undefined) throw new StageError(`${at === '' ? '' : `${at}.`}${other} is not known`)
}

function fields(value: unknown, at: string): JsonObject {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as JsonObject
  throw new StageError(value === undefined ? `${at} is missing` : `${at} must have fields`)
}

function list(value: unknown, at: string): readonly unknown[] {
  if (value === undefined || value === null) return []
  if (Array.isArray(value)) return value
  throw new StageError(`${at} must be a list`)
}

function text(value: unknown, at: string): string {
  if (value === undefined || value === null) return ''
  if (typeof value === 'string') return value
  throw new StageError(`${at} must be a text`)
}

function texts(value: unknown, at: string): Readonly<Record<string, string>> {
  if (value === undefined || value === null) return {}
  return Object.fromEntries(Object.entries(fields(value, at)).map(([key, one]) => [key, text(one, `${at}.${key}`)]))
}

function number(value: unknown, at: string): number | undefined {
  if (value === undefined || value === null) return undefined
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value
  throw new StageError(`${at} must be a whole number, 0 or more`)
}

function flag(value: unknown, at: string): boolean {
  if (value === undefined || value === null) return false
  if (typeof value === 'boolean') return value
  throw new StageError(`${at} must be true or false`)
}
