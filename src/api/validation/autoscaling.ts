/** Rules of HorizontalPodAutoscaler in its stored version (autoscaling/v2). */
import {
  type FieldError,
  forbiddenField,
  invalid,
  invalidChoice,
  notSupported,
  required,
} from '../errors/field-errors.ts'
import type {
  HorizontalPodAutoscaler,
  HorizontalPodAutoscalerBehavior,
  HorizontalPodAutoscalerSpec,
  MetricSpec,
} from '../generated/types.ts'
import { dns1123Label, pathSegmentName } from '../names/name-formats.ts'
import { containerResourceName } from '../names/resource-names.ts'
import type { Fields } from '../object.ts'
import { compareQuantities } from '../values/quantity.ts'
import { entries } from './common.ts'

const SOURCES = ['ContainerResource', 'External', 'Object', 'Pods', 'Resource']
/** In the order in which Kubernetes looks for them: only the first that is there is judged. */
const FIELDS: { readonly [type: string]: string } = {
  Object: 'object',
  External: 'external',
  Pods: 'pods',
  Resource: 'resource',
  ContainerResource: 'containerResource',
}
const TARGETS = ['Utilization', 'Value', 'AverageValue']
const POLICY_TYPES = ['Percent', 'Pods']
const SELECTS = ['Disabled', 'Max', 'Min']
const LONGEST_WINDOW = 3600
const LONGEST_PERIOD = 1800

export function validateHorizontalPodAutoscaler(object: HorizontalPodAutoscaler): readonly FieldError[] {
  const errors: FieldError[] = []
  const spec: Partial<HorizontalPodAutoscalerSpec> = object.spec ?? {}
  const max: number = spec.maxReplicas ?? 0
  const min: number | undefined = spec.minReplicas
  if (min !== undefined && max < min)
    errors.push(invalid('spec.maxReplicas', max, 'must be greater than or equal to `minReplicas`'))
  reference(spec.scaleTargetRef ?? {}, 'spec.scaleTargetRef', errors, true)
  metrics(spec.metrics ?? [], min, errors)
  behavior(spec.behavior, errors)
  return errors
}

function reference(
  { apiVersion = '', kind = '', name = '' }: Fields,
  path: string,
  errors: FieldError[],
  target = false,
): void {
  if (kind === '') errors.push(required(`${path}.kind`))
  else for (const message of pathSegmentName(kind)) errors.push(invalid(`${path}.kind`, kind, message))
  if (name === '') errors.push(required(`${path}.name`))
  else for (const message of pathSegmentName(name)) errors.push(invalid(`${path}.name`, name, message))
  const slashes = apiVersion.split('/').length - 1
  if (slashes > 1)
    errors.push(invalid(`${path}.apiVersion`, apiVersion, `unexpected GroupVersion string: ${apiVersion}`))
  else if (target && slashes === 0 && apiVersion !== 'v1')
    errors.push(invalid(`${path}.apiVersion`, apiVersion, 'apiVersion must specify API group'))
}

function metrics(list: readonly MetricSpec[], min: number | undefined, errors: FieldError[]): void {
  let outside = false
  list.forEach((metric, i) => {
    metricSpec(metric, `spec.metrics[${i}]`, errors)
    if (metric.type === 'Object' || metric.type === 'External') outside = true
  })
  if (min === 0 && !outside)
    errors.push(
      forbiddenField(
        'spec.metrics',
        'must specify at least one Object or External metric to support scaling to zero replicas',
      ),
    )
}

function metricSpec(metric: MetricSpec, path: string, errors: FieldError[]): void {
  const type: string = metric.type ?? ''
  if (type === '') errors.push(required(`${path}.type`, 'must specify a metric source type'))
  if (!SOURCES.includes(type)) errors.push(notSupported(`${path}.type`, type, SOURCES))
  const given = Object.values(FIELDS).filter((field) => (metric as Fields)[field] !== undefined)
  const [first] = given
  if (first !== undefined) METRICS[first]?.((metric as Fields)[first], `${path}.${first}`, errors)
  const expected = FIELDS[type]
  if (expected !== undefined && (metric as Fields)[expected] === undefined)
    errors.push(required(`${path}.${expected}`, 'must populate information for the given metric source'))
  if (given.length > 1)
    for (const field of given)
      if (field !== FIELDS[type])
        errors.push(forbiddenField(`${path}.${field}`, 'must populate the given metric source only'))
}

type MetricRule = (metric: Fields, path: string, errors: FieldError[]) => void

const METRICS: { readonly [field: string]: MetricRule | undefined } = {
  object(metric, path, errors) {
    reference(metric['describedObject'] ?? {}, `${path}.describedObject`, errors)
    identifier(metric['metric'] ?? {}, `${path}.metric`, errors)
    target(metric['target'] ?? {}, `${path}.target`, errors)
    const { value, averageValue } = (metric['target'] ?? {}) as Fields
    if (value === undefined && averageValue === undefined)
      errors.push(required(`${path}.target.averageValue`, 'must set either a target value or averageValue'))
  },
  pods(metric, path, errors) {
    identifier(metric['metric'] ?? {}, `${path}.metric`, errors)
    target(metric['target'] ?? {}, `${path}.target`, errors)
    const average: string | undefined = metric['target']?.averageValue
    if (average === undefined)
      errors.push(required(`${path}.target.averageValue`, 'must specify a positive target averageValue'))
  },
  resource(metric, path, errors) {
    if (!metric['name']) errors.push(required(`${path}.name`, 'must specify a resource name'))
    resourceTarget(metric['target'] ?? {}, path, errors)
  },
  containerResource(metric, path, errors) {
    if (!metric['name']) errors.push(required(`${path}.name`, 'must specify a resource name'))
    else containerResourceName(metric['name'], `${path}.name`, errors)
    const container: string = metric['container'] ?? ''
    if (container === '') errors.push(required(`${path}.container`, 'must specify a container'))
    else for (const message of dns1123Label(container)) errors.push(invalid(`${path}.container`, container, message))
    resourceTarget(metric['target'] ?? {}, path, errors)
  },
  external(metric, path, errors) {
    identifier(metric['metric'] ?? {}, `${path}.metric`, errors)
    target(metric['target'] ?? {}, `${path}.target`, errors)
    exactlyOne(metric['target'] ?? {}, 'value', `${path}.target`, errors)
  },
}

function resourceTarget(value: Fields, path: string, errors: FieldError[]): void {
  target(value, `${path}.target`, errors)
  const { averageUtilization, averageValue } = value
  const at = `${path}.target.averageUtilization`
  if (averageUtilization === undefined && averageValue === undefined)
    errors.push(required(at, 'must set either a target raw value or a target utilization'))
  if (averageUtilization !== undefined && averageValue !== undefined)
    errors.push(
      forbiddenField(`${path}.target.averageValue`, 'may not set both a target raw value and a target utilization'),
    )
}

function exactlyOne(value: Fields, field: string, path: string, errors: FieldError[]): void {
  if (value[field] !== undefined && value['averageValue'] !== undefined)
    errors.push(forbiddenField(`${path}.${field}`, 'may not set both a target value for metric and a per-pod target'))
  if (value[field] === undefined && value['averageValue'] === undefined)
    errors.push(required(`${path}.averageValue`, 'must set either a target value for metric or a per-pod target'))
}

/** Its selector goes unchecked: it is of the metrics' world. */
function identifier({ name = '' }: Fields, path: string, errors: FieldError[]): void {
  if (name === '') errors.push(required(`${path}.name`, 'must specify a metric name'))
  else for (const message of pathSegmentName(name)) errors.push(invalid(`${path}.name`, name, message))
}

function target(value: Fields, path: string, errors: FieldError[]): void {
  const { type = '', averageUtilization, averageValue } = value
  if (type === '') errors.push(required(`${path}.type`, 'must specify a metric target type'))
  if (!TARGETS.includes(type))
    errors.push(invalidChoice(`${path}.type`, type, 'must be either Utilization, Value, or AverageValue'))
  if (averageUtilization !== undefined && averageUtilization < 1)
    errors.push(invalid(`${path}.averageUtilization`, averageUtilization, 'must be greater than 0'))
  for (const [field, quantity] of [
    ['value', value['value']],
    ['averageValue', averageValue],
  ] as const)
    if (quantity !== undefined && compareQuantities(quantity, '0') <= 0)
      errors.push(invalid(`${path}.${field}`, quantity, 'must be positive'))
}

function behavior(value: HorizontalPodAutoscalerBehavior | undefined, errors: FieldError[]): void {
  if (value === undefined) return
  for (const direction of ['scaleUp', 'scaleDown'])
    if ((value as Fields)[direction] !== undefined)
      scalingRules((value as Fields)[direction], `spec.behavior.${direction}`, errors)
}

function scalingRules(rules: Fields, path: string, errors: FieldError[]): void {
  const window: number | undefined = rules['stabilizationWindowSeconds']
  if (window !== undefined && window < 0)
    errors.push(invalid(`${path}.stabilizationWindowSeconds`, window, 'must be greater than or equal to zero'))
  if (window !== undefined && window > LONGEST_WINDOW)
    errors.push(
      invalid(`${path}.stabilizationWindowSeconds`, window, `must be less than or equal to ${LONGEST_WINDOW}`),
    )
  const select: string | undefined = rules['selectPolicy']
  if (select !== undefined && !SELECTS.includes(select))
    errors.push(notSupported(`${path}.selectPolicy`, select, SELECTS))
  const policies: readonly Fields[] = rules['policies'] ?? []
  if (policies.length === 0) errors.push(required(`${path}.policies`, 'must specify at least one Policy'))
  policies.forEach(({ type = '', value = 0, periodSeconds = 0 }, i) => {
    const at = `${path}.policies[${i}]`
    if (!POLICY_TYPES.includes(type)) errors.push(notSupported(`${at}.type`, type, POLICY_TYPES))
    if (value <= 0) errors.push(invalid(`${at}.value`, value, 'must be greater than zero'))
    if (periodSeconds <= 0) errors.push(invalid(`${at}.periodSeconds`, periodSeconds, 'must be greater than zero'))
    if (periodSeconds > LONGEST_PERIOD)
      errors.push(invalid(`${at}.periodSeconds`, periodSeconds, `must be less than or equal to ${LONGEST_PERIOD}`))
  })
  const tolerance: string | undefined = rules['tolerance']
  if (tolerance !== undefined && compareQuantities(tolerance, '0') < 0)
    errors.push(invalid(`${path}.tolerance`, tolerance, 'must be greater than or equal to 0'))
}

export function validateHorizontalPodAutoscalerStatus(object: HorizontalPodAutoscaler): readonly FieldError[] {
  const errors: FieldError[] = []
  for (const [field, value] of entries(object.status))
    if ((field === 'currentReplicas' || field === 'desiredReplicas') && (value as number) < 0)
      errors.push(invalid(`status.${field}`, value as number, 'must be greater than or equal to 0'))
  return errors
}
