/** What kube-scheduler refuses of a configuration, in its words, all of it together. */
import type { Fields } from '../../api/object.ts'
import {
  duplicate,
  type FieldError,
  forbiddenField,
  invalid,
  notSupported,
  required,
} from '../../api/validation/errors.ts'
import { qualifiedName } from '../../api/validation/names.ts'
import { validateNodeSelector, validateNodeSelectorTerm } from '../../api/validation/node-selector.ts'

/** `config`: with its defaults. */
export function validateConfiguration(config: Fields): readonly FieldError[] {
  const errors: FieldError[] = []
  const { parallelism, clientConnection, leaderElection, profiles, extenders } = config
  if (parallelism <= 0) errors.push(invalid('parallelism', parallelism, 'should be an integer value greater than zero'))
  if (clientConnection.burst < 0)
    errors.push(invalid('clientConnection.burst', clientConnection.burst, 'must be non-negative'))
  validateElection(leaderElection, errors)
  if (leaderElection.resourceLock !== 'leases')
    errors.push(
      invalid('leaderElection.resourceLock', leaderElection.resourceLock, 'resourceLock value must be "leases"'),
    )
  const names = new Set<string>()
  ;(profiles as readonly Fields[]).forEach((profile, i) => {
    const path = `profiles[${i}]`
    validateProfile(profile, path, errors)
    const name: string = profile['schedulerName'] ?? ''
    if (names.has(name)) errors.push(duplicate(`${path}.schedulerName`, name))
    names.add(name)
  })
  const queueSort = (profile: Fields) => JSON.stringify(profile['plugins']?.queueSort ?? null)
  ;(profiles as readonly Fields[]).forEach((profile, i) => {
    if (queueSort(profile) !== queueSort(profiles[0]))
      errors.push(
        invalid(`profiles[${i}].plugins.queueSort`, profile['plugins']?.queueSort, 'must be the same for all profiles'),
      )
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
  const { leaseDuration, renewDeadline, retryPeriod } = election
  const positive = (field: string, value: number) => {
    if (value <= 0) errors.push(invalid(`leaderElection.${field}`, election[field], 'must be greater than zero'))
  }
  positive('leaseDuration', leaseDuration)
  positive('renewDeadline', renewDeadline)
  positive('retryPeriod', retryPeriod)
  if (leaseDuration < renewDeadline)
    errors.push(
      invalid('leaderElection.leaseDuration', renewDeadline, 'LeaseDuration must be greater than RenewDeadline'),
    )
}

function percentage(value: number | undefined, path: string, errors: FieldError[]): void {
  if (value !== undefined && (value < 0 || value > 100)) errors.push(invalid(path, value, 'not in valid range [0-100]'))
}

function validateProfile(profile: Fields, path: string, errors: FieldError[]): void {
  if (!profile['schedulerName']) errors.push(required(`${path}.schedulerName`))
  percentage(profile['percentageOfNodesToScore'], `${path}.percentageOfNodesToScore`, errors)
  const named = new Set<string>()
  ;((profile['pluginConfig'] ?? []) as readonly Fields[]).forEach((entry, i) => {
    const at = `${path}.pluginConfig[${i}]`
    const name: string = entry['name'] ?? ''
    if (named.has(name)) errors.push(duplicate(at, name))
    named.add(name)
    if (Object.hasOwn(VALIDATORS, name)) VALIDATORS[name]?.(entry['args'], `${at}.args`, errors)
  })
}

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
    const at = `${path}.addedAffinity`
    const { requiredDuringSchedulingIgnoredDuringExecution: needed, preferredDuringSchedulingIgnoredDuringExecution } =
      addedAffinity ?? {}
    if (needed !== undefined)
      validateNodeSelector(needed, `${at}.requiredDuringSchedulingIgnoredDuringExecution`, errors)
    ;((preferredDuringSchedulingIgnoredDuringExecution ?? []) as readonly Fields[]).forEach((term, i) => {
      const termAt = `${at}.preferredDuringSchedulingIgnoredDuringExecution[${i}]`
      if (!between(term['weight'] ?? 0, 1, 100))
        errors.push(invalid(`${termAt}.weight`, term['weight'] ?? 0, 'must be in the range 1-100'))
      validateNodeSelectorTerm(term['preference'] ?? {}, `${termAt}.preference`, errors)
    })
  },
  NodeResourcesBalancedAllocation({ resources }, path, errors) {
    ;(resources as readonly Fields[]).forEach(({ weight }, i) => {
      if (weight !== 1)
        errors.push(invalid(`${path}.resources[${i}].weight`, weight, 'resource weight not in valid range, must be 1'))
    })
  },
  NodeResourcesFit({ ignoredResources = [], ignoredResourceGroups = [], scoringStrategy }, path, errors) {
    const label = (value: string, at: string) => {
      for (const message of qualifiedName(value)) errors.push(invalid(at, value, message))
    }
    ignoredResources.forEach((name: string, i: number) => {
      label(name, `${path}.ignoredResources[${i}]`)
    })
    ignoredResourceGroups.forEach((group: string, i: number) => {
      const at = `${path}.ignoredResourceGroups[${i}]`
      if (group.includes('/')) errors.push(invalid(at, group, "resource group name can't contain '/'"))
      label(group, at)
    })
    const { type, resources = [], requestedToCapacityRatio: ratio } = scoringStrategy as Fields
    const at = `${path}.scoringStrategy`
    resources.forEach(({ weight }: Fields, i: number) => {
      if (!between(weight, 1, 100))
        errors.push(invalid(`${at}.resources[${i}].weight`, weight, 'resource weight not in valid range [1, 100]'))
    })
    if (type === 'RequestedToCapacityRatio') validateShape(ratio?.shape ?? [], `${at}.shape`, errors)
    else if (!STRATEGIES.includes(type)) errors.push(notSupported(`${at}.type`, type, STRATEGIES))
  },
  PodTopologySpread({ defaultConstraints = [], defaultingType }, path, errors) {
    if (!DEFAULTING.includes(defaultingType))
      errors.push(notSupported(`${path}.defaultingType`, defaultingType, DEFAULTING))
    if (defaultingType === 'System' && defaultConstraints.length > 0)
      errors.push(
        invalid(
          `${path}.defaultingType`,
          defaultingType,
          'when .defaultConstraints are not empty, defaultingType must be List',
        ),
      )
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
    if (shape !== undefined && shape !== null)
      errors.push(
        invalid(
          `${path}.shape`,
          shape,
          'unexpected field `shape`, remove it or turn on the feature gate StorageCapacityScoring',
        ),
      )
  },
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
      errors.push(invalid(`${at}.utilization`, utilization, 'utilization values must be sorted in increasing order'))
    if (!between(utilization, 0, 100))
      errors.push(invalid(`${at}.utilization`, utilization, 'not in valid range [0, 100]'))
    if (!between(score, 0, 10)) errors.push(invalid(`${at}.score`, score, 'not in valid range [0, 10]'))
  })
}

function validateExtenders(extenders: readonly Fields[], errors: FieldError[]): void {
  let binders = 0
  extenders.forEach((extender, i) => {
    const path = `extenders[${i}]`
    if (extender['prioritizeVerb'] && !(extender['weight'] > 0))
      errors.push(invalid(`${path}.weight`, extender['weight'] ?? 0, 'must have a positive weight applied to it'))
    if (extender['bindVerb']) binders++
  })
  if (binders > 1)
    errors.push(
      invalid('extenders', `found ${binders} extenders implementing bind`, 'only one extender can implement bind'),
    )
}
