/** Requests, limits and claims of containers and pods. */
import {
  duplicate,
  type FieldError,
  forbiddenField,
  invalid,
  notFoundField,
  notSupported,
  required,
} from '../errors/field-errors.ts'
import { dns1123Label } from '../names/name-formats.ts'
import {
  containerResourceName,
  isExtendedResource,
  isOvercommitAllowed,
  resourceName,
  resourceQuantity,
} from '../names/resource-names.ts'
import type { Fields } from '../object.ts'
import { compareQuantities, quantityValue } from '../values/quantity.ts'

type List = Readonly<Record<string, string>>

const isHugePage = (name: string): boolean => name.startsWith('hugepages-')

export function validateContainerResources(
  resources: Fields,
  path: string,
  claims: ReadonlySet<string>,
  errors: FieldError[],
): void {
  validateRequirements(resources, path, claims, containerResourceName, errors)
}

export type ResourceNameRule = (name: string, path: string, errors: FieldError[]) => void

export function validateRequirements(
  resources: Fields,
  path: string,
  claims: ReadonlySet<string>,
  nameRule: ResourceNameRule,
  errors: FieldError[],
): void {
  const limits: List = resources['limits'] ?? {}
  const requests: List = resources['requests'] ?? {}
  const has = (list: List, name: string) => Object.hasOwn(list, name)
  let cpuOrMemory = false
  let hugePages = false
  for (const name of Object.keys(limits).sort()) {
    const at = `${path}.limits[${name}]`
    nameRule(name, at, errors)
    resourceQuantity(name, limits[name]!, at, errors)
    if (isHugePage(name)) {
      hugePages = true
      validateHugePage(name, limits[name]!, at, errors)
    }
    if (name === 'cpu' || name === 'memory') cpuOrMemory = true
  }
  for (const name of Object.keys(requests).sort()) {
    const at = `${path}.requests[${name}]`
    nameRule(name, at, errors)
    resourceQuantity(name, requests[name]!, at, errors)
    if (has(limits, name)) {
      const difference = compareQuantities(requests[name]!, limits[name]!)
      if (difference !== 0 && !isOvercommitAllowed(name))
        errors.push(invalid(`${path}.requests`, requests[name], `must be equal to ${name} limit of ${limits[name]}`))
      else if (difference > 0)
        errors.push(
          invalid(`${path}.requests`, requests[name], `must be less than or equal to ${name} limit of ${limits[name]}`),
        )
    } else if (!isOvercommitAllowed(name))
      errors.push(required(`${path}.limits`, 'Limit must be set for non overcommitable resources'))
    if (isHugePage(name)) {
      hugePages = true
      validateHugePage(name, requests[name]!, at, errors)
    }
    if (name === 'cpu' || name === 'memory') cpuOrMemory = true
  }
  if (hugePages && !cpuOrMemory) errors.push(forbiddenField(path, 'HugePages require cpu or memory'))
  validateClaims(resources['claims'] ?? [], path, claims, errors)
}

/** A huge page is of a power of two, and only whole ones are given. */
function validateHugePage(name: string, amount: string, path: string, errors: FieldError[]): void {
  const size = name.slice('hugepages-'.length)
  let whole = false
  try {
    whole = quantityValue(amount) % quantityValue(size) === 0n
  } catch {
    errors.push(invalid(path, name, `Invalid hugepage size: ${size}`))
    return
  }
  if (!whole) errors.push(invalid(path, amount, `${amount} is not positive integer multiple of ${name}`))
}

function validateClaims(list: readonly Fields[], path: string, known: ReadonlySet<string>, errors: FieldError[]): void {
  const seen = new Set<string>()
  for (const [i, claim] of list.entries()) {
    const name: string = claim['name'] ?? ''
    const at = `${path}.claims[${i}]`
    if (name === '') {
      errors.push(required(at))
      continue
    }
    const request: string = claim['request'] ?? ''
    if (request !== '')
      for (const message of dns1123Label(request)) errors.push(invalid(`${at}.request`, request, message))
    const key = request === '' ? name : `${name}/${request}`
    if (seen.has(key) || (request !== '' && seen.has(name))) errors.push(duplicate(at, key))
    else seen.add(key)
    if (!known.has(name)) errors.push(unknownClaim(at, name, known))
  }
}

function unknownClaim(path: string, name: string, known: ReadonlySet<string>): FieldError {
  const { type, field, message } = notFoundField(path, name)
  const names = known.size === 0 ? ' which is empty' : `: ${[...known].sort().join(', ')}`
  return { type, field, message: `${message}: must be one of the names in pod.spec.resourceClaims${names}` }
}

/** Resources of the pod as a whole (KEP-2837): cpu, memory and huge pages, and never less than its containers'. */
export function validatePodResources(
  spec: Fields,
  totals: { readonly requests: List; readonly limits: List },
  claims: ReadonlySet<string>,
  path: string,
  errors: FieldError[],
): void {
  const resources: Fields | undefined = spec['resources']
  if (!resources) return
  if (resources['claims']?.length)
    errors.push(forbiddenField(`${path}.claims`, 'claims may not be set for Resources at pod-level'))
  validateRequirements(
    resources,
    path,
    claims,
    (name, at, found) => {
      const before = found.length
      resourceName(name, at, found)
      if (found.length === before && name !== 'cpu' && name !== 'memory' && !isHugePage(name))
        found.push(notSupported(at, name, ['cpu', 'hugepages-', 'memory']))
    },
    errors,
  )
  const requests: List = resources['requests'] ?? {}
  const limits: List = resources['limits'] ?? {}
  for (const name of Object.keys(totals.requests).sort()) {
    if (isExtendedResource(name) || !Object.hasOwn(requests, name)) continue
    if (compareQuantities(requests[name]!, totals.requests[name]!) < 0)
      errors.push(
        invalid(
          `${path}.requests[${name}]`,
          requests[name],
          `must be greater than or equal to aggregate container requests of ${totals.requests[name]}`,
        ),
      )
  }
  for (const name of Object.keys(totals.limits).sort()) {
    if (!isHugePage(name) || !Object.hasOwn(limits, name)) continue
    if (compareQuantities(limits[name]!, totals.limits[name]!) < 0)
      errors.push(
        invalid(
          `${path}.limits[${name}]`,
          limits[name],
          `must be greater than or equal to aggregate container limits of ${totals.limits[name]}`,
        ),
      )
  }
  ;(spec['containers'] ?? []).forEach((container: Fields, i: number) => {
    const own: List = container['resources']?.limits ?? {}
    for (const name of Object.keys(own).sort()) {
      if (!Object.hasOwn(limits, name) || compareQuantities(own[name]!, limits[name]!) <= 0) continue
      const at = `${path}.containers[${i}][${name}].limits`
      errors.push(invalid(at, own[name], `must be less than or equal to pod limits of ${limits[name]}`))
    }
  })
}
