/** Where a pod may run: node and pod affinity, tolerations, topology spread. Called by the rules of PodSpec. */
import { type FieldError, forbiddenField, invalid, notSupported, required } from '../errors/field-errors.ts'
import { dns1123Label, labelValue, qualifiedName } from '../names/name-formats.ts'
import type { Fields } from '../object.ts'
import { validateLabelSelector } from './labels.ts'
import { validateNodeSelector, validateNodeSelectorTerm } from './node-selector.ts'
import { sameSpread } from './spread.ts'

const REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution'
const PREFERRED = 'preferredDuringSchedulingIgnoredDuringExecution'
const WEIGHT = 'must be in the range 1-100'

export function validateAffinity(affinity: Fields | undefined, path: string, errors: FieldError[]): void {
  if (!affinity) return
  if (affinity['nodeAffinity']) nodeAffinity(affinity['nodeAffinity'], `${path}.nodeAffinity`, errors)
  for (const side of ['podAffinity', 'podAntiAffinity'] as const)
    if (affinity[side]) podAffinity(affinity[side], `${path}.${side}`, errors)
}

function nodeAffinity(affinity: Fields, path: string, errors: FieldError[]): void {
  if (affinity[REQUIRED]) validateNodeSelector(affinity[REQUIRED], `${path}.${REQUIRED}`, errors)
  affinity[PREFERRED]?.forEach((term: Fields, i: number) => {
    const at = `${path}.${PREFERRED}[${i}]`
    weight(term['weight'], `${at}.weight`, errors)
    // Values of a mere preference have never been looked at.
    validateNodeSelectorTerm(term['preference'] ?? {}, `${at}.preference`, errors, false)
  })
}

function weight(value: number | undefined, path: string, errors: FieldError[]): void {
  const number = value ?? 0
  if (number <= 0 || number > 100) errors.push(invalid(path, number, WEIGHT))
}

function podAffinity(affinity: Fields, path: string, errors: FieldError[]): void {
  affinity[REQUIRED]?.forEach((term: Fields, i: number) => {
    podAffinityTerm(term, `${path}.${REQUIRED}[${i}]`, errors)
  })
  affinity[PREFERRED]?.forEach((weighted: Fields, i: number) => {
    const at = `${path}.${PREFERRED}[${i}]`
    weight(weighted['weight'], `${at}.weight`, errors)
    podAffinityTerm(weighted['podAffinityTerm'] ?? {}, `${at}.podAffinityTerm`, errors)
  })
}

function podAffinityTerm(term: Fields, path: string, errors: FieldError[]): void {
  validateLabelSelector(term['labelSelector'], `${path}.labelSelector`, errors)
  validateLabelSelector(term['namespaceSelector'], `${path}.namespaceSelector`, errors)
  ;(term['namespaces'] ?? []).forEach((name: string) => {
    for (const message of dns1123Label(name)) errors.push(invalid(`${path}.namespace`, name, message))
  })
  const topologyKey: string = term['topologyKey'] ?? ''
  matchLabelKeys(term['matchLabelKeys'], term['labelSelector'], `${path}.matchLabelKeys`, errors)
  matchLabelKeys(term['mismatchLabelKeys'], term['labelSelector'], `${path}.mismatchLabelKeys`, errors)
  selectedTwice(term, path, errors)
  overlap(term, path, errors)
  if (topologyKey === '') errors.push(required(`${path}.topologyKey`, 'can not be empty'))
  for (const message of qualifiedName(topologyKey)) errors.push(invalid(`${path}.topologyKey`, topologyKey, message))
}

function overlap(term: Fields, path: string, errors: FieldError[]): void {
  const mismatched = new Set<string>(term['mismatchLabelKeys'] ?? [])
  ;(term['matchLabelKeys'] ?? []).forEach((key: string, i: number) => {
    if (mismatched.has(key))
      errors.push(invalid(`${path}.matchLabelKeys[${i}]`, key, 'exists in both matchLabelKeys and mismatchLabelKeys'))
  })
}

/** matchLabelKeys stand at the selector's end as requirements (KEP-3633); what the selector said before, they may not say again. */
function selectedTwice(holder: Fields, path: string, errors: FieldError[]): void {
  const keys: readonly string[] = holder['matchLabelKeys'] ?? []
  const { matchLabels = {}, matchExpressions = [] } = (holder['labelSelector'] ?? {}) as Fields
  const wanted = counted(keys)
  const isOwn = ({ key, operator, values }: Fields) =>
    operator === 'In' && values?.length === 1 && wanted.has(key as string)
  // Of keys whose label the pod does not have, nothing was added.
  if (!matchExpressions.some(isOwn)) return
  const expressed = counted(matchExpressions.map(({ key }: Fields) => key as string))
  const before = new Set<string>()
  keys.forEach((key, i) => {
    const times = expressed.get(key) ?? 0
    if (before.has(key) || (times > 0 && (Object.hasOwn(matchLabels, key) || times > (wanted.get(key) ?? 0))))
      errors.push(invalid(`${path}[${i}]`, key, 'exists in both matchLabelKeys and labelSelector'))
    before.add(key)
  })
}

function counted(keys: readonly string[]): ReadonlyMap<string, number> {
  const times = new Map<string, number>()
  for (const key of keys) times.set(key, (times.get(key) ?? 0) + 1)
  return times
}

function matchLabelKeys(
  keys: readonly string[] | undefined,
  selector: Fields | undefined,
  path: string,
  errors: FieldError[],
): void {
  if (!keys?.length) return
  if (!selector) errors.push(forbiddenField(path, 'must not be specified when labelSelector is not set'))
  keys.forEach((key, i) => {
    for (const message of qualifiedName(key)) errors.push(invalid(`${path}[${i}]`, key, message))
  })
}

const EFFECTS = ['NoSchedule', 'PreferNoSchedule', 'NoExecute']

export function validateTolerations(tolerations: readonly Fields[], path: string, errors: FieldError[]): void {
  tolerations.forEach((toleration, i) => {
    const at = `${path}[${i}]`
    const { key = '', operator = '', value = '', effect = '' } = toleration
    if (key !== '') for (const message of qualifiedName(key)) errors.push(invalid(`${at}.key`, key, message))
    if (key === '' && operator !== 'Exists')
      errors.push(
        invalid(
          `${at}.operator`,
          operator,
          'operator must be Exists when `key` is empty, which means "match all values and all keys"',
        ),
      )
    if (
      toleration['tolerationSeconds'] !== undefined &&
      toleration['tolerationSeconds'] !== null &&
      effect !== 'NoExecute'
    )
      errors.push(invalid(`${at}.effect`, effect, "effect must be 'NoExecute' when `tolerationSeconds` is set"))
    if (operator === '' || operator === 'Equal') {
      for (const message of labelValue(value)) errors.push(invalid(`${at}.operator`, value, message))
    } else if (operator === 'Exists') {
      if (value !== '') errors.push(invalid(`${at}.operator`, value, "value must be empty when `operator` is 'Exists'"))
    } else
      errors.push(
        notSupported(
          `${at}.operator`,
          operator,
          COMPARING.includes(operator) ? [...OPERATORS, ...COMPARING] : OPERATORS,
        ),
      )
    if (effect !== '' && !EFFECTS.includes(effect)) errors.push(notSupported(`${at}.effect`, effect, EFFECTS))
  })
}

const OPERATORS = ['Equal', 'Exists']
/** Refused while their feature (TaintTolerationComparisonOperators) is off, and named in that refusal all the same. */
const COMPARING = ['Lt', 'Gt']

const UNSATISFIABLE = ['DoNotSchedule', 'ScheduleAnyway']
const POLICIES = ['Honor', 'Ignore']

export function validateTopologySpread(
  constraints: readonly Fields[] | undefined,
  path: string,
  errors: FieldError[],
): void {
  const tellTwins = sameSpread(constraints ?? [])
  constraints?.forEach((constraint, i) => {
    const at = `${path}[${i}]`
    const maxSkew: number = constraint['maxSkew'] ?? 0
    if (maxSkew <= 0) errors.push(invalid(`${at}.maxSkew`, maxSkew, 'must be greater than zero'))
    const key: string = constraint['topologyKey'] ?? ''
    if (key === '') errors.push(required(`${at}.topologyKey`, 'can not be empty'))
    const when: string = constraint['whenUnsatisfiable'] ?? ''
    if (!UNSATISFIABLE.includes(when)) errors.push(notSupported(`${at}.whenUnsatisfiable`, when, UNSATISFIABLE))
    tellTwins(i, at, errors)
    const domains: number | undefined = constraint['minDomains'] ?? undefined
    if (domains !== undefined) {
      if (domains <= 0) errors.push(invalid(`${at}.minDomains`, domains, 'must be greater than zero'))
      if (when !== 'DoNotSchedule')
        errors.push(
          invalid(
            `${at}.minDomains`,
            domains,
            `can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ${when}`,
          ),
        )
    }
    for (const field of ['nodeAffinityPolicy', 'nodeTaintsPolicy'] as const) {
      const policy: string | undefined = constraint[field] ?? undefined
      if (policy !== undefined && !POLICIES.includes(policy))
        errors.push(notSupported(`${at}.${field}`, policy, POLICIES))
    }
    matchLabelKeys(constraint['matchLabelKeys'], constraint['labelSelector'], `${at}.matchLabelKeys`, errors)
    selectedTwice(constraint, at, errors)
    validateLabelSelector(constraint['labelSelector'], `${at}.labelSelector`, errors)
  })
}
