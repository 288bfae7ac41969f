/**
 * LimitRanger (API concept: limit ranges): containers get the requests and limits that their namespace's LimitRanges say
 * they have by default, and what is too small, too large or too far apart is refused.
 */

import type {
  Container,
  LimitRange,
  LimitRangeItem,
  PersistentVolumeClaim,
  PersistentVolumeClaimSpec,
  Pod,
  PodSpec,
  ResourceRequirements,
} from '../../../api/generated/types.ts'
import type { KubeObject } from '../../../api/object.ts'
import { podLimits, podRequests } from '../../../api/objects/pod-requests.ts'
import { forbidden } from '../../../api/status.ts'
import { compareQuantities, quantityMilliValue, quantityValue } from '../../../api/values/quantity.ts'
import type { CacheReads } from '../../reads.ts'
import type { AdmissionAttributes, AdmissionPluginFactory } from '../plugin.ts'
import { withSpec } from './pods.ts'

type Amounts = Readonly<Record<string, string>>

const ANNOTATION = 'kubernetes.io/limit-ranger'

export const limitRanger: AdmissionPluginFactory = (reads, { fresh }) => ({
  name: 'LimitRanger',
  handles: (operation) => operation === 'CREATE' || operation === 'UPDATE',
  mutate(attributes) {
    const object = attributes.object!
    if (!concerns(attributes)) return object
    // Ranges that another server was given a moment ago hold here too, in `validate` as well.
    const waiting = (attributes.fresh ?? fresh)()
    return waiting === undefined ? limited() : waiting.then(limited)

    function limited(): KubeObject {
      if (attributes.endpoint.row.resource !== 'pods') return object
      let pod = object
      for (const range of rangesOf(reads, attributes.namespace)) pod = withDefaults(pod, range)
      return pod
    }
  },
  validate(attributes) {
    if (!concerns(attributes)) return
    const errors: string[] = []
    for (const range of rangesOf(reads, attributes.namespace)) {
      for (const limit of limitsOf(range)) {
        if (attributes.endpoint.row.resource === 'pods') checkPod(limit, (attributes.object as Pod).spec ?? {}, errors)
        else checkClaim(limit, (attributes.object as PersistentVolumeClaim).spec ?? {}, errors)
      }
      // A LimitRange is asked after the other: the first that refuses answers.
      if (errors.length > 0) break
    }
    if (errors.length === 0) return
    const { endpoint, name } = attributes
    const { row } = endpoint
    const texts = [...new Set(errors)]
    const text = texts.length === 1 ? (texts[0] as string) : `[${texts.join(', ')}]`
    throw forbidden({ group: row.group, resource: row.resource }, name, text)
  },
})

/** Containers of a pod that exists only change their resources by resizing. */
function concerns({ endpoint, subresource, operation, oldObject }: AdmissionAttributes): boolean {
  const { row } = endpoint
  if (row.group !== '' || oldObject?.metadata.deletionTimestamp !== undefined) return false
  if (row.resource === 'pods') return operation === 'CREATE' ? subresource === '' : subresource === 'resize'
  return row.resource === 'persistentvolumeclaims' && subresource === ''
}

const rangesOf = (reads: CacheReads, namespace: string) => reads.list<LimitRange>('', 'limitranges', namespace)
const limitsOf = (range: LimitRange): readonly LimitRangeItem[] => range.spec?.limits ?? []

function withDefaults(pod: Pod, range: LimitRange): KubeObject {
  const requests: Record<string, string> = {}
  const limits: Record<string, string> = {}
  for (const limit of limitsOf(range)) {
    if (limit.type !== 'Container') continue
    Object.assign(requests, limit.defaultRequest)
    Object.assign(limits, limit.default)
  }
  const notes: string[] = []
  const complete = (containers: readonly Container[] | undefined, kind: string) =>
    containers?.map((container) => {
      const resources: ResourceRequirements = container.resources ?? {}
      const addedRequests = missing(resources.requests, requests)
      const addedLimits = missing(resources.limits, limits)
      const note = (names: readonly string[], side: string) => {
        if (names.length > 0) notes.push(`${names.join(', ')} ${side} for ${kind} ${container.name}`)
      }
      note(addedRequests, 'request')
      note(addedLimits, 'limit')
      if (addedRequests.length === 0 && addedLimits.length === 0) return container
      return {
        ...container,
        resources: {
          ...resources,
          ...(addedLimits.length > 0 ? { limits: withAmounts(resources.limits, limits, addedLimits) } : {}),
          ...(addedRequests.length > 0 ? { requests: withAmounts(resources.requests, requests, addedRequests) } : {}),
        },
      }
    })
  const containers = complete(pod.spec?.containers, 'container')
  const initContainers = complete(pod.spec?.initContainers, 'init container')
  if (notes.length === 0) return pod
  const completed = withSpec(pod, {
    ...(containers ? { containers } : {}),
    ...(initContainers ? { initContainers } : {}),
  })
  const annotations = { ...pod.metadata.annotations, [ANNOTATION]: `LimitRanger plugin set: ${notes.join('; ')}` }
  return { ...completed, metadata: { ...pod.metadata, annotations } }
}

const missing = (present: Amounts | undefined, wanted: Amounts): readonly string[] =>
  Object.keys(wanted)
    .filter((name) => !present || !Object.hasOwn(present, name))
    .sort()

const withAmounts = (present: Amounts | undefined, wanted: Amounts, names: readonly string[]): Amounts => ({
  ...present,
  ...Object.fromEntries(names.map((name) => [name, wanted[name] as string])),
})

const sorted = (amounts: Amounts | undefined): readonly (readonly [string, string])[] =>
  Object.entries(amounts ?? {}).sort(([a], [b]) => (a < b ? -1 : 1))

function checkPod(limit: LimitRangeItem, spec: Partial<PodSpec>, errors: string[]): void {
  const { type } = limit
  if (type === 'Pod') checkAmounts(limit, type, podRequests(spec), podLimits(spec), errors)
  if (type !== 'Container') return
  for (const container of [...(spec.containers ?? []), ...(spec.initContainers ?? [])])
    checkAmounts(limit, type, container.resources?.requests ?? {}, container.resources?.limits ?? {}, errors)
}

function checkAmounts(limit: LimitRangeItem, type: string, requests: Amounts, limits: Amounts, errors: string[]): void {
  for (const [name, bound] of sorted(limit.min)) checkMinimum(name, type, bound, requests, limits, errors)
  for (const [name, bound] of sorted(limit.max)) checkMaximum(name, type, bound, requests, limits, errors)
  for (const [name, bound] of sorted(limit.maxLimitRequestRatio))
    checkRatio(name, type, bound, requests, limits, errors)
}

const own = (amounts: Amounts, name: string): string | undefined =>
  Object.hasOwn(amounts, name) ? amounts[name] : undefined

function checkMinimum(name: string, type: string, bound: string, requests: Amounts, limits: Amounts, errors: string[]) {
  const request = own(requests, name)
  const limit = own(limits, name)
  const text = `minimum ${name} usage per ${type} is ${bound}`
  if (request === undefined) errors.push(`${text}.  No request is specified`)
  else if (compareQuantities(request, bound) < 0) errors.push(`${text}, but request is ${request}`)
  else if (limit !== undefined && compareQuantities(limit, bound) < 0) errors.push(`${text}, but limit is ${limit}`)
}

function checkMaximum(name: string, type: string, bound: string, requests: Amounts, limits: Amounts, errors: string[]) {
  const request = own(requests, name)
  const limit = own(limits, name)
  const text = `maximum ${name} usage per ${type} is ${bound}`
  if (limit === undefined) errors.push(`${text}.  No limit is specified`)
  else if (compareQuantities(limit, bound) > 0) errors.push(`${text}, but limit is ${limit}`)
  else if (request !== undefined && compareQuantities(request, bound) > 0)
    errors.push(`${text}, but request is ${request}`)
}

/** Up to here milli-units fit 64 bits. */
const MAX_MILLI = 9223372036854775n

function checkRatio(name: string, type: string, bound: string, requests: Amounts, limits: Amounts, errors: string[]) {
  const request = own(requests, name)
  const limit = own(limits, name)
  const text = `${name} max limit to request ratio per ${type} is ${bound}`
  if (request === undefined || quantityMilliValue(request) === 0n)
    return void errors.push(`${text}, but no request is specified or request is 0`)
  if (limit === undefined || quantityMilliValue(limit) === 0n)
    return void errors.push(`${text}, but no limit is specified or limit is 0`)
  const small = quantityValue(limit) <= MAX_MILLI && quantityValue(request) <= MAX_MILLI
  const of = (text: string) => Number(small ? quantityMilliValue(text) : quantityValue(text))
  const ratio = of(limit) / of(request)
  const most = small ? Number(quantityMilliValue(bound)) / 1000 : Number(quantityValue(bound))
  if (ratio > most) errors.push(`${text}, but provided ratio is ${ratio.toFixed(6)}`)
}

function checkClaim(limit: LimitRangeItem, spec: PersistentVolumeClaimSpec, errors: string[]): void {
  const { type } = limit
  if (type !== 'PersistentVolumeClaim') return
  const requests: Amounts = spec.resources?.requests ?? {}
  for (const [name, bound] of sorted(limit.min)) checkMinimum(name, type, bound, requests, {}, errors)
  for (const [name, bound] of sorted(limit.max)) {
    const request = own(requests, name)
    const text = `maximum ${name} usage per ${type} is ${bound}`
    if (request === undefined) errors.push(`${text}.  No request is specified`)
    else if (compareQuantities(request, bound) > 0) errors.push(`${text}, but request is ${request}`)
  }
}
