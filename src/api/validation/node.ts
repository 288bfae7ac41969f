/** Rules of Node. */
import {
  duplicate,
  type FieldError,
  forbiddenField,
  internal,
  invalid,
  notSupported,
  required,
} from '../errors/field-errors.ts'
import type { Node, Taint } from '../generated/types.ts'
import { labelValue, qualifiedName } from '../names/name-formats.ts'
import { resourceQuantity } from '../names/resource-names.ts'
import { goQuote } from '../quote.ts'
import { maskedNetwork, parseNetwork } from './address.ts'
import { entries } from './common.ts'
import { internalForm } from './internal.ts'

const EFFECTS = ['NoSchedule', 'PreferNoSchedule', 'NoExecute']
const ONLY_ONCE = (field: string) => `node updates may not change ${field} except from "" to valid`

export function validateNode(node: Node): readonly FieldError[] {
  const errors: FieldError[] = []
  taints(node.spec?.taints ?? [], errors)
  quantities(node, errors)
  const cidrs: readonly string[] = node.spec?.podCIDRs ?? []
  cidrs.forEach((text, i) => {
    for (const message of maskedNetwork(text)) errors.push(invalid(`spec.podCIDRs[${i}]`, text, message))
  })
  if (cidrs.length > 1) {
    const families = cidrs.map((text) => parseNetwork(text)?.family)
    const bad = families.indexOf(undefined)
    if (bad >= 0)
      errors.push(
        internal(
          'spec.podCIDRs',
          `invalid PodCIDRs. failed to check with dual stack with error:invalid CIDR[${bad}]: <nil> (invalid CIDR address: ${cidrs[bad]})`,
        ),
      )
    if (bad >= 0 || cidrs.length > 2 || families[0] === families[1])
      errors.push(invalid('spec.podCIDRs', cidrs, 'may specify no more than one CIDR for each IP family'))
  }
  declaredFeatures(node.status?.declaredFeatures ?? [], errors)
  return errors
}

/** spec.taints, which Kubernetes reports as `metadata.taints`. */
function taints(list: readonly Taint[], errors: FieldError[]): void {
  const seen = new Set<string>()
  list.forEach((taint, i) => {
    const path = `metadata.taints[${i}]`
    const { key = '', value = '', effect = '' } = taint
    for (const message of qualifiedName(key)) errors.push(invalid(`${path}.key`, key, message))
    for (const message of labelValue(value)) errors.push(invalid(`${path}.value`, value, message))
    if (effect === '') errors.push(required(`${path}.effect`))
    else if (!EFFECTS.includes(effect)) errors.push(notSupported(`${path}.effect`, effect, EFFECTS))
    const pair = `${effect}/${key}`
    if (seen.has(pair)) {
      const found = duplicate(path, internalForm('io.k8s.api.core.v1.Taint', taint))
      errors.push({ ...found, message: `${found.message}: taints must be unique by key and effect pair` })
    }
    seen.add(pair)
  })
}

function quantities(node: Node, errors: FieldError[]): void {
  for (const list of ['capacity', 'allocatable'] as const)
    for (const [name, value] of entries(node.status?.[list]))
      resourceQuantity(name, value as string, `status.${list}.${name}`, errors)
}

/** Names of features, each once and in order (KEP-5328). */
function declaredFeatures(list: readonly string[], errors: FieldError[]): void {
  const seen = new Set<string>()
  list.forEach((name, i) => {
    const path = `status.declaredFeatures[${i}]`
    if (seen.has(name)) errors.push(duplicate(path, name))
    else if (i > 0 && name < list[i - 1]!) errors.push(invalid(path, name, 'list must be sorted alphabetically'))
    seen.add(name)
    const problem = FEATURE.test(name) ? undefined : BAD_FEATURE
    const long = name.length > MAX_FEATURE ? `must be no more than ${MAX_FEATURE} characters` : problem
    if (long !== undefined) errors.push(invalid(path, name, `invalid feature name ${goQuote(name)}: ${long}`))
  })
}

const MAX_FEATURE = 253
const FEATURE = /^[A-Z][a-zA-Z0-9]*(?:\/[a-zA-Z0-9]+)*$/
const BAD_FEATURE =
  "must start with an UpperCamelCase segment, with subsequent segments separated by '/' (e.g., MyFeature or MyFeature/mySubFeature), and contain only alphanumeric characters and slashes"

export function validateNodeUpdate(node: Node, old: Node): readonly FieldError[] {
  const errors: FieldError[] = []
  quantities(node, errors)
  const addresses = node.status?.addresses ?? []
  const seen = new Set<string>()
  addresses.forEach((address, i) => {
    const key = JSON.stringify([address.type, address.address])
    if (seen.has(key))
      errors.push(duplicate(`status.addresses[${i}]`, internalForm('io.k8s.api.core.v1.NodeAddress', address)))
    seen.add(key)
  })
  taints(node.spec?.taints ?? [], errors)
  const now: readonly string[] = node.spec?.podCIDRs ?? []
  const before: readonly string[] = old.spec?.podCIDRs ?? []
  errors.push(...validateNode({ ...node, spec: { podCIDRs: now }, status: {} }))
  if (before.length > 0 && (now.length !== before.length || now.some((text, i) => text !== before[i])))
    errors.push(forbiddenField('spec.podCIDRs', ONLY_ONCE('podCIDR')))
  if ((node.spec?.externalID ?? '') !== (old.spec?.externalID ?? ''))
    errors.push(forbiddenField('spec.externalID', 'may not be updated'))
  const provider: string = old.spec?.providerID ?? ''
  const given: string = node.spec?.providerID ?? ''
  if (provider !== '' && given !== provider)
    errors.push(invalid('spec.providerID', null, `field cannot be ${given === '' ? 'cleared' : 'modified'} once set`))
  declaredFeatures(node.status?.declaredFeatures ?? [], errors)
  return errors
}
