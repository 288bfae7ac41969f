/** The checks that the restricted level adds to those of the baseline, in the order in which they are reported. */

import type { PodSecurityContext, SecurityContext } from '../../../../api/generated/types.ts'
import { hasOwnUsers } from '../../../../api/objects/host-users.ts'
import { addedCapabilities, procMount } from './baseline.ts'
import {
  type AnyContainer,
  type Check,
  type CheckedPod,
  type CheckPod,
  isWindows,
  itemName,
  namedContainers,
  namesWhere,
  plural,
  quoted,
  setters,
  sortedSet,
  type Violation,
} from './check.ts'

const notOnWindows =
  (check: CheckPod): CheckPod =>
  (pod) =>
    isWindows(pod.spec) ? undefined : check(pod)
const notWithOwnUsers =
  (check: CheckPod): CheckPod =>
  (pod) =>
    hasOwnUsers(pod.spec) ? undefined : check(pod)

function privilegeEscalation({ spec }: CheckedPod): Violation | undefined {
  const names = namesWhere(spec, (container) => container.securityContext?.allowPrivilegeEscalation !== false)
  if (names.length === 0) return undefined
  return {
    reason: 'allowPrivilegeEscalation != false',
    detail: `${namedContainers(names)} must set securityContext.allowPrivilegeEscalation=false`,
  }
}

const ADDABLE = new Set(['NET_BIND_SERVICE'])

function capabilities({ spec }: CheckedPod): Violation | undefined {
  const keeping = namesWhere(
    spec,
    (container) => !(container.securityContext?.capabilities?.drop ?? []).includes('ALL'),
  )
  const added = addedCapabilities(spec, ADDABLE)
  if (keeping.length === 0 && added === undefined) return undefined
  const details = [
    ...(keeping.length > 0 ? [`${namedContainers(keeping)} must set securityContext.capabilities.drop=["ALL"]`] : []),
    ...(added === undefined ? [] : [added]),
  ]
  return { reason: 'unrestricted capabilities', detail: details.join('; ') }
}

const VOLUME_TYPES = new Set([
  'configMap',
  'csi',
  'downwardAPI',
  'emptyDir',
  'ephemeral',
  'image',
  'persistentVolumeClaim',
  'projected',
  'secret',
])

function volumes({ spec }: CheckedPod): Violation | undefined {
  const types: string[] = []
  const bad = (spec.volumes ?? []).filter((volume) => {
    const type = Object.keys(volume).find((field) => field !== 'name')
    if (type !== undefined && VOLUME_TYPES.has(type)) return false
    types.push(type ?? 'unknown')
    return true
  })
  if (bad.length === 0) return undefined
  const distinct = sortedSet(types)
  return {
    reason: 'restricted volume types',
    detail: `${plural('volume', 'volumes', bad.length)} ${quoted(bad.map(itemName))} ${plural('uses', 'use', bad.length)} ${plural('restricted volume type', 'restricted volume types', distinct.length)} ${quoted(distinct)}`,
  }
}

function runAsNonRoot({ spec }: CheckedPod): Violation | undefined {
  const ofPod = spec.securityContext?.runAsNonRoot
  const own = (container: AnyContainer) => container.securityContext?.runAsNonRoot
  const rooted = namesWhere(spec, (container) => own(container) === false)
  const reason = 'runAsNonRoot != true'
  if (ofPod === false || rooted.length > 0)
    return {
      reason,
      detail: `${setters(ofPod === false, rooted).join(' and ')} must not set securityContext.runAsNonRoot=false`,
    }
  const silent = ofPod === true ? [] : namesWhere(spec, (container) => own(container) === undefined)
  if (silent.length === 0) return undefined
  return { reason, detail: `pod or ${namedContainers(silent)} must set securityContext.runAsNonRoot=true` }
}

function runAsUser({ spec }: CheckedPod): Violation | undefined {
  const isRoot = (context: PodSecurityContext | SecurityContext | undefined) => context?.runAsUser === 0
  const podIsRoot = isRoot(spec.securityContext)
  const names = namesWhere(spec, (container) => isRoot(container.securityContext))
  if (!podIsRoot && names.length === 0) return undefined
  return { reason: 'runAsUser=0', detail: `${setters(podIsRoot, names).join(' and ')} must not set runAsUser=0` }
}

function seccomp({ spec }: CheckedPod): Violation | undefined {
  const type = (context: PodSecurityContext | SecurityContext | undefined): string | undefined =>
    context?.seccompProfile?.type
  const isAllowed = (value: string | undefined) => value === 'RuntimeDefault' || value === 'Localhost'
  const ofPod = type(spec.securityContext)
  const podIsBad = ofPod !== undefined && !isAllowed(ofPod)
  const values = podIsBad ? [ofPod] : []
  const bad = namesWhere(spec, (container) => {
    const own = type(container.securityContext)
    if (own === undefined || isAllowed(own)) return false
    values.push(own)
    return true
  })
  const reason = 'seccompProfile'
  if (podIsBad || bad.length > 0)
    return {
      reason,
      detail: `${setters(podIsBad, bad).join(' and ')} must not set securityContext.seccompProfile.type to ${quoted(sortedSet(values))}`,
    }
  const silent = ofPod === undefined ? namesWhere(spec, (c) => type(c.securityContext) === undefined) : []
  if (silent.length === 0) return undefined
  return {
    reason,
    detail: `pod or ${namedContainers(silent)} must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost"`,
  }
}

export const restrictedChecks: readonly Check[] = [
  {
    id: 'allowPrivilegeEscalation',
    versions: [
      { since: 8, check: privilegeEscalation },
      { since: 25, check: notOnWindows(privilegeEscalation) },
    ],
  },
  {
    id: 'capabilities_restricted',
    versions: [
      { since: 22, check: capabilities },
      { since: 25, check: notOnWindows(capabilities) },
    ],
    overrides: ['capabilities_baseline'],
  },
  { id: 'procMount_restricted', versions: [{ since: 35, check: procMount }], overrides: ['procMount'] },
  { id: 'restrictedVolumes', versions: [{ since: 0, check: volumes }], overrides: ['hostPathVolumes'] },
  {
    id: 'runAsNonRoot',
    versions: [
      { since: 0, check: runAsNonRoot },
      { since: 35, check: notWithOwnUsers(runAsNonRoot) },
    ],
  },
  {
    id: 'runAsUser',
    versions: [
      { since: 23, check: runAsUser },
      { since: 35, check: notWithOwnUsers(runAsUser) },
    ],
  },
  {
    id: 'seccompProfile_restricted',
    versions: [
      { since: 19, check: seccomp },
      { since: 25, check: notOnWindows(seccomp) },
    ],
    overrides: ['seccompProfile_baseline'],
  },
]
