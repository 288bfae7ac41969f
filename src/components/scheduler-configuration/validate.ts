/** What kube-scheduler refuses of a configuration, in its words, all of it together. */
import {
  duplicate,
  type FieldError,
  forbiddenField,
  invalid,
  notSupported,
  required,
} from '../../api/errors/field-errors.ts'
import { qualifiedName } from '../../api/names/name-formats.ts'
import type { Fields } from '../../api/object.ts'
import { goDurationText, goDurationTextMs } from '../../base/go-duration.ts'
import { asDuration } from '../flags.ts'

/** `config`: with its defaults. */
export function validateConfiguration(config: Fields): readonly FieldError[] {
  const errors: FieldError[] = []
  const { parallelism, clientConnection, leaderElection, profiles, extenders } = config
  if (clientConnection.burst < 0)
    errors.push(invalid('clientConnection.burst', clientConnection.burst, 'must be non-negative'))
  validateElection(leaderElection, errors)
  if (parallelism <= 0) errors.push(invalid('parallelism', parallelism, 'should be an integer value greater than zero'))
  const names = new Set<string>()
  ;(profiles as readonly Fields[]).forEach((profile, i) => {
    const path = `profiles[${i}]`
    validateProfile(profile, path, errors)
    const name: string = profile['schedulerName'] ?? ''
    if (names.has(name)) errors.push(duplicate(`${path}.schedulerName`, {}))
    names.add(name)
  })
  const queueSort = (profile: Fields | undefined) => {
    const { enabled, disabled } = profile?.['plugins']?.queueSort ?? {}
    const named = (list: readonly Fields[] | undefined) =>
      list?.map(({ name = '', weight = 0 }) => ({ Name: name, Weight: weight })) ?? null
    return { Enabled: named(enabled), Disabled: named(disabled) }
  }
  ;(profiles as readonly Fields[]).forEach((profile, i) => {
    if (JSON.stringify(queueSort(profile)) !== JSON.stringify(queueSort(profiles[0])))
      errors.push(invalid(`profiles[${i}].plugins.queueSort`, queueSort(profile), 'must be the same for all profiles'))
  })
  percentage(config['percentageOfNodesToScore'], 'percentageOfNodesToScore', errors)
  const { podInitialBackoffSeconds: initial, podMaxBackoffSeconds: longest } = config
  if (initial <= 0) errors.push(invalid('podInitialBackoffSeconds', initial, 'must be greater than 0'))
  if (longest < initial)
    errors.push(invalid('podMaxBackoffSeconds', longest, 'must be greater than or equal to PodInitialBackoffSeconds'))
  validateExtenders(extenders, errors)
  return errors
}

function validateElection(election: Fields, errors: FieldError[]): void {
  if (!election['leaderElect']) return
  const { leaseDuration, renewDeadline, retryPeriod, resourceLock } = election
  const positive = (field: string, value: number) => {
    if (value <= 0)
      errors.push(invalid(`leaderElection.${field}`, goDurationTextMs(value), 'must be greater than zero'))
  }
  positive('leaseDuration', leaseDuration)
  positive('renewDeadline', renewDeadline)
  positive('retryPeriod', retryPeriod)
  if (leaseDuration < renewDeadline)
    errors.push(
      invalid('leaderElection.leaseDuration', goDurationTextMs(renewDeadline), 'must be greater than `RenewDeadline`'),
    )
  if (resourceLock !== 'leases')
    errors.push(invalid('leaderElection.resourceLock', resourceLock, 'resourceLock value must be "leases"'))
}

function percentage(value: number | undefined, path: string, errors: FieldError[]): void {
  if (value !== undefined && (value < 0 || value > 100)) errors.push(invalid(path, value, 'not in valid range [0-100]'))
}

function validateProfile(profile: Fields, path: string, errors: FieldError[]): void {
  if (!profile['schedulerName']) errors.push(required(`${path}.schedulerName`))
  percentage(profile['percentageOfNodesToScore'], `${path}.percentageOfNodesToScore`, errors)
  for (const [point, set] of Object.entries((profile['plugins'] ?? {}) as Readonly<Record<string, Fields | null>>)) {
    ;((set?.['enabled'] ?? []) as readonly Fields[]).forEach(({ name }, i) => {
      if (REMOVED.has(name))
        errors.push(
          invalid(
            `${path}.plugins.${point}.enabled[${i}]`,
            name,
            `was invalid in version "v1" (KubeSchedulerConfiguration is version "kubescheduler.config.k8s.io/v1")`,
          ),
        )
    })
  }
  const sorts: number = profile['plugins']?.queueSort?.enabled?.length ?? 0
  if (sorts > 1)
    errors.push(invalid(`${path}.plugins.queueSort.Enabled`, sorts, 'only one queue sort plugin can be enabled'))
  const named = new Set<string>()
  ;((profile['pluginConfig'] ?? []) as readonly Fields[]).forEach((entry, i) => {
    const at = `${path}.pluginConfig[${i}]`
    const name: string = entry['name'] ?? ''
    if (named.has(name)) errors.push(duplicate(at, name))
    named.add(name)
    if (Object.hasOwn(VALIDATORS, name)) VALIDATORS[name]?.(entry['args'], `${at}.args`, errors)
  })
}

/** They are no plugins of this version any more. */
const REMOVED = new Set(['AzureDiskLimits', 'CinderLimits', 'EBSLimits', 'GCEPDLimits'])

type Validator = (args: Fields, path: string, errors: FieldError[]) => void

const between = (value: number, least: number, most: number) => value >= least && value <= most

const VALIDATORS: Readonly<Record<string, Validator>> = {
  DefaultPreemption({ minCandidateNodesPercentage: percent, minCandidateNodesAbsolute: least }, path, errors) {
    if (!between(percent, 0, 100))
      errors.push(invalid(`${path}.minCandidateNodesPercentage`, percent, 'not in valid range [0, 100]'))
    if (least < 0) errors.push(invalid(`${path}.minCandidateNodesAbsolute`, least, 'not in valid range [0, inf)'))
    if (percent === 0 && least === 0)
      for (const field of ['minCandidateNodesPercentage', 'minCandidateNodesAbsolute'])
        errors.push(
          invalid(
            `${path}.${field}`,
            0,
            `cannot be zero at the same time as minCandidateNodesAbsolute`.replace(
              'minCandidateNodesAbsolute',
              field.endsWith('Percentage') ? 'minCandidateNodesAbsolute' : 'minCandidateNodesPercentage',
            ),
          ),
        )
  },
  InterPodAffinity({ hardPodAffinityWeight: weight }, path, errors) {
    if (!between(weight, 0, 100))
      errors.push(invalid(`${path}.hardPodAffinityWeight`, weight, 'not in valid range [0, 100]'))
  },
  NodeAffinity({ addedAffinity }, path, errors) {
    const { requiredDuringSchedulingIgnoredDuringExecution: needed, preferredDuringSchedulingIgnoredDuringExecution } =
      addedAffinity ?? {}
    const at = `${path}.addedAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms`
    ;((needed?.nodeSelectorTerms ?? []) as readonly Fields[]).forEach((term, i) => {
      validateTerm(term, `${at}[${i}]`, errors)
    })
    ;((preferredDuringSchedulingIgnoredDuringExecution ?? []) as readonly Fields[]).forEach((term, i) => {
      const termAt = `${path}.addedAffinity.preferredDuringSchedulingIgnoredDuringExecution[${i}]`
      validateTerm(term['preference'] ?? {}, termAt, errors)
    })
  },
  NodeResourcesBalancedAllocation({ resources }, path, errors) {
    const seen = new Set<string>()
    ;(resources as readonly Fields[]).forEach(({ name, weight }, i) => {
      if (seen.has(name)) errors.push(duplicate(`${path}.resources[${i}].name`, name))
      seen.add(name)
      if (weight !== 1) errors.push(invalid(`${path}.resources[${i}].weight`, weight, 'must be 1'))
    })
  },
  PodTopologySpread({ defaultConstraints = [], defaultingType }, path, errors) {
    if (!DEFAULTING.includes(defaultingType))
      errors.push(notSupported(`${path}.defaultingType`, defaultingType, DEFAULTING))
    if (defaultingType === 'System' && defaultConstraints.length > 0)
      errors.push(invalid(`${path}.defaultingType`, defaultingType, 'when .defaultConstraints are not empty'))
    const seen = new Set<string>()
    defaultConstraints.forEach((constraint: Fields, i: number) => {
      const at = `${path}.defaultConstraints[${i}]`
      const { maxSkew = 0, topologyKey = '', whenUnsatisfiable: when = '', labelSelector } = constraint
      if (maxSkew <= 0) errors.push(invalid(`${at}.maxSkew`, maxSkew, 'not in valid range (0, inf)'))
      if (topologyKey === '') errors.push(required(`${at}.topologyKey`, 'can not be empty'))
      else
        for (const message of qualifiedName(topologyKey))
          errors.push(invalid(`${at}.topologyKey`, topologyKey, message))
      if (when === '') errors.push(required(`${at}.whenUnsatisfiable`, 'can not be empty'))
      else if (!UNSATISFIABLE.includes(when)) errors.push(notSupported(`${at}.whenUnsatisfiable`, when, UNSATISFIABLE))
      if (labelSelector !== undefined && labelSelector !== null)
        errors.push(
          forbiddenField(`${at}.labelSelector`, 'constraint must not define a selector, as they deduced for each pod'),
        )
      const pair = `{${topologyKey}, ${when}}`
      if (seen.has(pair)) errors.push(duplicate(at, pair))
      seen.add(pair)
    })
  },
  VolumeBinding({ bindTimeoutSeconds: seconds, shape }, path, errors) {
    if (seconds < 0)
      errors.push(
        invalid(`${path}.bindTimeoutSeconds`, seconds, 'invalid BindTimeoutSeconds, should not be a negative value'),
      )
    if (shape !== undefined) validateShape(shape, `${path}.shape`, errors)
  },
  DynamicResources({ filterTimeout, bindingTimeout }, path, errors) {
    const ms = (text: string) => Number(asDuration(text)) / 1e6
    const printed = (text: string) => goDurationText(asDuration(text) ?? 0n)
    if (filterTimeout !== undefined && ms(filterTimeout) < 0)
      errors.push(invalid(`${path}.filterTimeout`, printed(filterTimeout), 'must be zero or positive'))
    if (bindingTimeout !== undefined && ms(bindingTimeout) < 1000)
      errors.push(invalid(`${path}.bindingTimeout`, printed(bindingTimeout), 'must be at least 1 second'))
  },
}

/** Of NodeResourcesFit, which the plugin itself looks at when it begins. */
export function validateResourcesFit(args: Fields): readonly FieldError[] {
  const errors: FieldError[] = []
  const { ignoredResources = [], ignoredResourceGroups = [], scoringStrategy } = args
  const label = (value: string, at: string) => {
    for (const message of qualifiedName(value)) errors.push(invalid(at, value, message))
  }
  ignoredResources.forEach((name: string, i: number) => {
    label(name, `ignoredResources[${i}]`)
  })
  ignoredResourceGroups.forEach((group: string, i: number) => {
    const at = `ignoredResourceGroups[${i}]`
    if (group.includes('/')) errors.push(invalid(at, group, "resource group name can't contain '/'"))
    else label(group, at)
  })
  const { type, resources = [], requestedToCapacityRatio: ratio } = scoringStrategy as Fields
  if (!STRATEGIES.includes(type)) errors.push(notSupported('scoringStrategy.type', type, STRATEGIES))
  resources.forEach(({ name = '', weight }: Fields, i: number) => {
    if (!between(weight, 1, 100))
      errors.push(
        invalid(
          `scoringStrategy.resources[${i}].weight`,
          weight,
          `resource weight of ${name} not in valid range (0, 100]`,
        ),
      )
  })
  const at = 'scoringStrategy.requestedToCapacityRatio'
  if (type !== 'RequestedToCapacityRatio') {
    if (ratio !== undefined && ratio !== null)
      errors.push(forbiddenField(at, 'must be nil when type is not RequestedToCapacityRatio'))
    return errors
  }
  if (ratio === undefined || ratio === null)
    errors.push(required(at, 'must be specified when type is RequestedToCapacityRatio'))
  else validateShape(ratio.shape ?? [], `${at}.shape`, errors)
  return errors
}

const OPERATORS = ['In', 'NotIn', 'Exists', 'DoesNotExist', 'Gt', 'Lt']

function validateTerm(term: Fields, path: string, errors: FieldError[]): void {
  for (const list of ['matchExpressions', 'matchFields'])
    ((term[list] ?? []) as readonly Fields[]).forEach(({ key = '', operator = '', values = null }, i) => {
      const at = `${path}.${list}[${i}]`
      if (!OPERATORS.includes(operator)) {
        errors.push(notSupported(`${at}.operator`, operator, OPERATORS))
        return
      }
      for (const message of qualifiedName(key)) errors.push(invalid(`${at}.key`, key, message))
      const isSet = operator === 'In' || operator === 'NotIn'
      if (isSet && !values?.length)
        errors.push(invalid(`${at}.values`, values, "for 'in', 'notin' operators, values set can't be empty"))
      if (isSet && list === 'matchFields' && values?.length > 1)
        errors.push(invalid(`${at}.values`, values, 'must have one element'))
      if ((operator === 'Exists' || operator === 'DoesNotExist') && values?.length)
        errors.push(invalid(`${at}.values`, values, 'values set must be empty for exists and does not exist'))
      if ((operator === 'Gt' || operator === 'Lt') && values?.length !== 1)
        errors.push(invalid(`${at}.values`, values, "for 'Gt', 'Lt' operators, exactly one value is required"))
      else if ((operator === 'Gt' || operator === 'Lt') && !/^[+-]?\d+$/.test(values[0]))
        errors.push(invalid(`${at}.values[0]`, values[0], "for 'Gt', 'Lt' operators, the value must be an integer"))
    })
}

const STRATEGIES = ['LeastAllocated', 'MostAllocated', 'RequestedToCapacityRatio']
const DEFAULTING = ['System', 'List']
const UNSATISFIABLE = ['DoNotSchedule', 'ScheduleAnyway']

function validateShape(shape: readonly Fields[], path: string, errors: FieldError[]): void {
  if (shape.length === 0) {
    errors.push(required(path, 'at least one point must be specified'))
    return
  }
  shape.forEach(({ utilization = 0, score = 0 }, i) => {
    const at = `${path}[${i}]`
    const before: number | undefined = i === 0 ? undefined : (shape[i - 1]?.['utilization'] ?? 0)
    if (before !== undefined && utilization <= before)
      errors.push(invalid(`${at}.utilization`, utilization, 'values must be sorted in increasing order'))
    if (!between(utilization, 0, 100))
      errors.push(invalid(`${at}.utilization`, utilization, 'not in valid range [0, 100]'))
    if (!between(score, 0, 10)) errors.push(invalid(`${at}.score`, score, 'not in valid range [0, 10]'))
  })
}

function validateExtenders(extenders: readonly Fields[], errors: FieldError[]): void {
  let binders = 0
  const managed = new Set<string>()
  extenders.forEach((extender, i) => {
    const path = `extenders[${i}]`
    if (extender['prioritizeVerb'] && !(extender['weight'] > 0))
      errors.push(invalid(`${path}.weight`, extender['weight'] ?? 0, 'must have a positive weight applied to it'))
    if (extender['bindVerb']) binders++
    ;((extender['managedResources'] ?? []) as readonly Fields[]).forEach(({ name = '' }, j) => {
      const at = `${path}.managedResources[${j}].name`
      for (const message of qualifiedName(name)) errors.push(invalid(at, name, message))
      if (managed.has(name)) errors.push(invalid(at, name, 'duplicate extender managed resource name'))
      managed.add(name)
    })
  })
  if (binders > 1)
    errors.push(
      invalid('extenders', `found ${binders} extenders implementing bind`, 'only one extender can implement bind'),
    )
}

/** Undefined for none. */
export function aggregate(errors: readonly FieldError[]): string | undefined {
  const texts = [...new Set(errors.map(({ field, message }) => `${field}: ${message}`))]
  return texts.length > 1 ? `[${texts.join(', ')}]` : texts[0]
}
