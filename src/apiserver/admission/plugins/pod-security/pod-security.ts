/**
 * PodSecurity (KEP-2579): a namespace's labels say which pod security standard its pods must meet (enforce), and for which
 * one breaking it is only told to the client (warn) or to the audit log (audit). Templates are never refused.
 */

import { duplicate, invalid, invalidError } from '../../../../api/errors/field-errors.ts'
import type {
  CronJob,
  DaemonSet,
  Deployment,
  Job,
  Namespace,
  Pod,
  PodSpec,
  PodTemplate,
  PodTemplateSpec,
  ReplicaSet,
  ReplicationController,
  StatefulSet,
} from '../../../../api/generated/types.ts'
import { dns1123Label, dns1123Subdomain } from '../../../../api/names/name-formats.ts'
import type { Fields, Json, JsonObject, KubeObject } from '../../../../api/object.ts'
import { forbidden } from '../../../../api/status.ts'
import { asList, asObject, asText, asTexts } from '../../../../api/unchecked.ts'
import { same } from '../../../../api/validation/common.ts'
import type { CacheReads } from '../../../reads.ts'
import {
  type AdmissionAttributes,
  type AdmissionPluginFactory,
  PluginInitializationError,
  refuseConfiguration,
} from '../../plugin.ts'
import {
  checkedPod,
  defaultLevels,
  detailsOf,
  evaluatePod,
  isPrivileged,
  type LevelVersion,
  type PodSecurityLevels,
  policyOf,
  printLevel,
} from './policy.ts'

/** Where the pod template of a kind is. */
const TEMPLATES: Readonly<Record<string, (object: KubeObject) => PodTemplateSpec | undefined>> = {
  '/podtemplates': (object: PodTemplate) => object.template,
  '/replicationcontrollers': (object: ReplicationController) => object.spec?.template,
  'apps/replicasets': (object: ReplicaSet) => object.spec?.template,
  'apps/deployments': (object: Deployment) => object.spec?.template,
  'apps/statefulsets': (object: StatefulSet) => object.spec?.template,
  'apps/daemonsets': (object: DaemonSet) => object.spec?.template,
  'batch/jobs': (object: Job) => object.spec?.template,
  'batch/cronjobs': (object: CronJob) => object.spec?.jobTemplate?.spec?.template,
}

/** Pods of a namespace that are looked at when its policy becomes stricter. */
const MAX_PODS = 3000

export const podSecurity: AdmissionPluginFactory = (reads, _host, configuration = {}) => {
  const rules = rulesOf(reads, configuration)
  return {
    name: 'PodSecurity',
    handles: (operation) => operation === 'CREATE' || operation === 'UPDATE',
    validate(attributes) {
      const { endpoint, subresource } = attributes
      const { row } = endpoint
      if (row.group === '' && row.resource === 'pods') return validatePod(attributes, rules)
      if (subresource !== '') return
      if (row.isOwnNamespace) return validateNamespace(attributes, rules)
      const template = TEMPLATES[`${row.group}/${row.resource}`]
      if (template !== undefined) validateTemplate(attributes, template, rules)
    },
  }
}

/** A PodSecurityConfiguration, over what there is. */
interface Rules {
  readonly reads: CacheReads
  readonly defaults: PodSecurityLevels
  /** Of what is not looked at: why, as it is noted. */
  exemption(attributes: AdmissionAttributes, spec?: Partial<PodSpec>): 'user' | 'namespace' | 'runtimeClass' | undefined
}

function rulesOf(reads: CacheReads, { defaults, exemptions }: JsonObject): Rules {
  const { usernames, namespaces, runtimeClasses } = asObject(exemptions)
  const [users, spaces, classes] = [usernames, namespaces, runtimeClasses].map((list) => new Set(asTexts(list)))
  const levels = defaultLevels(asObject(defaults))
  const judged = (field: string, list: Json | undefined, problems: (text: string) => readonly string[]) => {
    const texts = asList(list).map(asText)
    return texts.flatMap((text, i) => {
      const at = `exemptions.${field}[${i}]`
      const wrong = problems(text).map((why) => invalid(at, text, why))
      return wrong.length === 0 && texts.indexOf(text) < i ? [duplicate(at, text)] : wrong
    })
  }
  refuseConfiguration(
    [
      ...judged('namespaces', namespaces, dns1123Label),
      ...judged('runtimeClasses', runtimeClasses, dns1123Subdomain),
      ...judged('usernames', usernames, (text) => (text === '' ? ['username must not be empty'] : [])),
    ],
    (why) => new PluginInitializationError(`PodSecurity invalid: ${why}`),
  )
  return {
    reads,
    defaults: levels,
    exemption({ user, namespace }, spec) {
      if (spaces?.has(namespace)) return 'namespace'
      if (users?.has(user.name)) return 'user'
      return classes?.has(spec?.runtimeClassName ?? '') ? 'runtimeClass' : undefined
    },
  }
}

const EXEMPT = 'pod-security.kubernetes.io/exempt'
const ENFORCED = 'pod-security.kubernetes.io/enforce-policy'

/** The namespace's Pod Security levels; undefined where they are all privileged. */
function policyIn(namespace: string, { reads, defaults }: Rules): ReturnType<typeof policyOf> | undefined {
  const found = policyOf(reads.get<Namespace>('', 'namespaces', '', namespace)?.metadata.labels, defaults)
  return isPrivileged(found.policy) && found.errors.length === 0 ? undefined : found
}

function validatePod(attributes: AdmissionAttributes, rules: Rules): void {
  const { subresource, namespace, object, oldObject, operation, endpoint, name } = attributes
  const { row } = endpoint
  if (subresource !== '' && subresource !== 'ephemeralcontainers' && subresource !== 'resize') return
  const exempt = rules.exemption(attributes, (object as Pod | undefined)?.spec)
  if (exempt !== undefined) {
    attributes.annotate?.(EXEMPT, exempt)
    return
  }
  const found = policyIn(namespace, rules)
  if (found === undefined) {
    attributes.annotate?.(ENFORCED, 'privileged:latest')
    return
  }
  if (object === undefined) return
  if (operation === 'UPDATE' && oldObject !== undefined && !isSignificant(object, oldObject)) return
  const { enforce, audit, warn } = found.policy
  attributes.annotate?.(ENFORCED, printLevel(enforce))
  const pod = checkedPod(object as Pod)
  const refused = evaluatePod(enforce, pod)
  if (refused.length > 0)
    throw forbidden(
      { group: row.group, resource: row.resource },
      name,
      `violates PodSecurity ${JSON.stringify(printLevel(enforce))}: ${detailsOf(refused)}`,
    )
  audited(attributes, audit, pod)
  warned(attributes, warn, pod, enforce)
}

const audited = (attributes: AdmissionAttributes, audit: LevelVersion, pod: ReturnType<typeof checkedPod>): void => {
  const broken = evaluatePod(audit, pod)
  if (broken.length > 0)
    attributes.annotate?.(
      'pod-security.kubernetes.io/audit-violations',
      `would violate PodSecurity ${JSON.stringify(printLevel(audit))}: ${detailsOf(broken)}`,
    )
}

function warned(
  attributes: AdmissionAttributes,
  warn: LevelVersion,
  pod: ReturnType<typeof checkedPod>,
  enforced?: LevelVersion,
): void {
  if (enforced !== undefined && enforced.level === warn.level && enforced.minor === warn.minor) return
  const broken = evaluatePod(warn, pod)
  if (broken.length > 0)
    attributes.warn(`would violate PodSecurity ${JSON.stringify(printLevel(warn))}: ${detailsOf(broken)}`)
}

function validateTemplate(
  attributes: AdmissionAttributes,
  template: (object: KubeObject) => PodTemplateSpec | undefined,
  rules: Rules,
): void {
  const found = policyIn(attributes.namespace, rules)
  const made = attributes.object && template(attributes.object)
  if (found === undefined || made === undefined) return
  const exempt = rules.exemption(attributes, made.spec)
  if (exempt !== undefined) {
    attributes.annotate?.(EXEMPT, exempt)
    return
  }
  const pod = checkedPod(made)
  audited(attributes, found.policy.audit, pod)
  warned(attributes, found.policy.warn, pod)
}

/** Only a change of what the checks look at is checked again: labels of a running pod may be written freely. */
function isSignificant(pod: Pod, old: Pod): boolean {
  if (!same(securityAnnotations(pod), securityAnnotations(old))) return true
  return !same(withoutImages(pod.spec!), withoutImages(old.spec!))
}

const securityAnnotations = (pod: Pod) =>
  Object.entries(pod.metadata.annotations ?? {})
    .filter(([key]) => key.includes('seccomp.security.alpha.kubernetes.io') || key.includes('apparmor.security.beta'))
    .sort()

function withoutImages(spec: PodSpec): Fields {
  const strip = (containers: readonly Fields[] | undefined) =>
    containers?.map(({ image: _, resources: _r, ...rest }) => rest)
  const { activeDeadlineSeconds: _, tolerations: _t, ...rest } = spec
  return {
    ...rest,
    containers: strip(spec.containers),
    initContainers: strip(spec.initContainers),
    ephemeralContainers: strip(spec.ephemeralContainers),
  }
}

function validateNamespace(attributes: AdmissionAttributes, { reads, defaults, exemption }: Rules): void {
  const { object, oldObject, operation } = attributes
  if (object === undefined) return
  const { policy, errors } = policyOf(object.metadata.labels, defaults)
  const name = object.metadata.name ?? ''
  const old = operation === 'UPDATE' ? policyOf(oldObject?.metadata.labels, defaults) : undefined
  // Labels that were wrong before may stay so.
  if (errors.length > 0 && (old === undefined || old.errors.length === 0))
    throw invalidError({ group: '', kind: 'Namespace' }, name, errors)
  if (old === undefined || errors.length > 0) return
  const { enforce } = policy
  const before = old.policy.enforce
  if (enforce.level === before.level && enforce.minor === before.minor) return
  if (enforce.level === 'privileged' || !isStricter(before, enforce)) return
  if (exemption({ ...attributes, namespace: name }) !== undefined) return
  for (const warning of existingPods(name, enforce, reads)) attributes.warn(warning)
}

const isStricter = (before: LevelVersion, now: LevelVersion): boolean =>
  before.level === 'privileged' || before.level !== 'restricted' || now.level === 'restricted'

/** What the pods that are there already do against the new level, those with the same faults together. */
function existingPods(namespace: string, enforce: PodSecurityLevels['enforce'], reads: CacheReads): readonly string[] {
  const pods = reads.list<Pod>('', 'pods', namespace).slice(0, MAX_PODS)
  const byFault = new Map<string, { first: string; count: number }>()
  const controllers = new Set<string>()
  for (const pod of pods) {
    const controller = pod.metadata.ownerReferences?.find((owner) => owner.controller)?.uid
    if (controller !== undefined) {
      if (controllers.has(controller)) continue
      controllers.add(controller)
    }
    const faults = evaluatePod(enforce, checkedPod(pod))
    if (faults.length === 0) continue
    const text = faults.map(({ reason }) => reason).join(', ')
    const name = pod.metadata.name ?? ''
    const group = byFault.get(text)
    if (group === undefined) byFault.set(text, { first: name, count: 1 })
    else {
      group.count++
      if (name < group.first) group.first = name
    }
  }
  if (byFault.size === 0) return []
  const lines = [...byFault].map(([faults, { first, count }]) => {
    const others = count === 1 ? '' : count === 2 ? ' (and 1 other pod)' : ` (and ${count - 1} other pods)`
    return `${first}${others}: ${faults}`
  })
  return [
    `existing pods in namespace ${JSON.stringify(namespace)} violate the new PodSecurity enforce level ${JSON.stringify(printLevel(enforce))}`,
    ...lines.sort(),
  ]
}
