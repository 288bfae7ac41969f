/**
 * Annotations of pods and templates that Kubernetes itself reads: the mark of a mirror pod, the cost of deletion, and what
 * stood there before it had a field (tolerations, seccomp, AppArmor).
 */
import { type FieldError, forbiddenField, invalid } from '../errors/field-errors.ts'
import type {
  AppArmorProfile,
  Container,
  EphemeralContainer,
  PodSpec,
  SeccompProfile,
  Toleration,
} from '../generated/types.ts'
import type { Json, ObjectMeta } from '../object.ts'
import { APPARMOR_ANNOTATION, appArmorProfileOf } from '../objects/apparmor-annotation.ts'
import { CONFIG_MIRROR } from '../objects/mirror-pods.ts'
import { type JsonNode, JsonSyntaxError, jsonWordFor, ObjectNode, parseJson, plainOf } from '../values/json.ts'
import { validateTolerations } from './affinity.ts'
import { relativePath } from './paths.ts'

type Annotations = NonNullable<ObjectMeta['annotations']>

const DELETION_COST = 'controller.kubernetes.io/pod-deletion-cost'
const TOLERATIONS = 'scheduler.alpha.kubernetes.io/tolerations'
const SECCOMP_OF_POD = 'seccomp.security.alpha.kubernetes.io/pod'
const SECCOMP_OF_CONTAINER = 'container.seccomp.security.alpha.kubernetes.io/'
const LOCALHOST = 'localhost/'

/** Of a pod, or of a template: what each annotation says, whatever the fields say. */
type Spec = Partial<PodSpec>
type Profile = AppArmorProfile | SeccompProfile

export function validatePodAnnotations(
  annotations: Annotations | undefined,
  spec: Spec,
  path: string,
  errors: FieldError[],
): void {
  if (!annotations) return
  const mirror = annotations[CONFIG_MIRROR]
  if (mirror !== undefined && !spec.nodeName)
    errors.push(invalid(`${path}[${CONFIG_MIRROR}]`, mirror, 'must set spec.nodeName if mirror pod annotation is set'))
  const tolerations = annotations[TOLERATIONS]
  if (tolerations) validateTolerationsText(tolerations, path, errors)
  const cost = annotations[DELETION_COST]
  if (cost !== undefined && !isInt32(cost))
    errors.push(invalid(`${path}[${DELETION_COST}]`, cost, 'must be a 32bit integer'))
  validateSeccompTexts(annotations, path, errors)
  validateAppArmorTexts(annotations, spec, path, errors)
}

/** What marks a mirror pod, and its containers' AppArmor profiles, are of a pod from its creation to its end. */
export function validatePodAnnotationsUpdate(
  now: Annotations = {},
  before: Annotations = {},
  path: string,
  errors: FieldError[],
): void {
  const refuse = (key: string, verb: string) => {
    if (key.startsWith(APPARMOR_ANNOTATION))
      errors.push(forbiddenField(`${path}[${key}]`, `may not ${verb} AppArmor annotations`))
    if (key === CONFIG_MIRROR) errors.push(forbiddenField(`${path}[${key}]`, `may not ${verb} mirror pod annotation`))
  }
  for (const [key, value] of Object.entries(before)) if (now[key] !== value) refuse(key, 'remove or update')
  for (const key of Object.keys(now)) if (!Object.hasOwn(before, key)) refuse(key, 'add')
}

/** A new pod's, or a template's: where an annotation and a field say something of the same, they say the same. */
export function validateAnnotationsMatchFields(
  annotations: Annotations | undefined,
  spec: Spec,
  path: string,
  errors: FieldError[],
): void {
  if (!annotations) return
  matchSeccomp(annotations[SECCOMP_OF_POD], spec.securityContext?.seccompProfile, path, errors)
  eachContainer(spec, path, (container, at) => {
    matchSeccomp(
      annotations[SECCOMP_OF_CONTAINER + container.name],
      container.securityContext?.seccompProfile,
      at,
      errors,
    )
  })
  if (spec.os?.name === 'windows') return
  eachContainer(spec, path, (container, at) => {
    const text = annotations[APPARMOR_ANNOTATION + container.name]
    const field = container.securityContext?.appArmorProfile ?? spec.securityContext?.appArmorProfile
    if (text === undefined || !field) return
    match('apparmor', appArmorProfileOf(text), field, `${at}.securityContext.appArmorProfile`, errors)
  })
}

function eachContainer(
  spec: Spec,
  path: string,
  visit: (container: Container | EphemeralContainer, path: string) => void,
): void {
  for (const list of ['initContainers', 'containers', 'ephemeralContainers'] as const)
    spec[list]?.forEach((container, i) => {
      visit(container, `${path}.${list}[${i}]`)
    })
}

function matchSeccomp(
  text: string | undefined,
  field: SeccompProfile | undefined,
  path: string,
  errors: FieldError[],
): void {
  if (text === undefined || !field) return
  match('seccomp', seccompProfileOf(text), field, `${path}.securityContext.seccompProfile`, errors)
}

function match(kind: string, told: Profile | undefined, field: Profile, path: string, errors: FieldError[]): void {
  if (told?.type !== field.type)
    errors.push(forbiddenField(`${path}.type`, `${kind} type in annotation and field must match`))
  else if (told?.type === 'Localhost' && told.localhostProfile !== field.localhostProfile)
    errors.push(forbiddenField(`${path}.localhostProfile`, `${kind} profile in annotation and field must match`))
}

function seccompProfileOf(text: string): SeccompProfile | undefined {
  if (text === 'unconfined') return { type: 'Unconfined' }
  if (text === 'runtime/default' || text === 'docker/default') return { type: 'RuntimeDefault' }
  if (text.startsWith(LOCALHOST)) return { type: 'Localhost', localhostProfile: text.slice(LOCALHOST.length) }
  return undefined
}

function validateSeccompTexts(annotations: Annotations, path: string, errors: FieldError[]): void {
  const keys = Object.keys(annotations).filter((key) => key.startsWith(SECCOMP_OF_CONTAINER))
  if (Object.hasOwn(annotations, SECCOMP_OF_POD)) keys.unshift(SECCOMP_OF_POD)
  for (const key of keys) {
    const text = annotations[key]!
    const profile = seccompProfileOf(text)
    if (profile === undefined) errors.push(invalid(`${path}.${key}`, text, 'must be a valid seccomp profile'))
    else if (profile.type === 'Localhost') relativePath(profile.localhostProfile ?? '', `${path}.${key}`, errors)
  }
}

function validateAppArmorTexts(annotations: Annotations, spec: Spec, path: string, errors: FieldError[]): void {
  const names = new Set<string>()
  eachContainer(spec, path, (container) => {
    names.add(container.name)
  })
  for (const [key, text] of Object.entries(annotations)) {
    if (!key.startsWith(APPARMOR_ANNOTATION)) continue
    const name = key.slice(APPARMOR_ANNOTATION.length)
    if (!names.has(name)) errors.push(invalid(`${path}[${key}]`, name, 'container not found'))
    if (text !== '' && appArmorProfileOf(text) === undefined)
      errors.push(invalid(`${path}[${key}]`, text, `invalid AppArmor profile name: ${JSON.stringify(text)}`))
  }
}

/** A whole number of 32 bits, without leading zeros or plus sign. */
function isInt32(text: string): boolean {
  if (!/^(?:0|-?[1-9][0-9]{0,9})$/.test(text)) return false
  return Number(text) >= -2147483648 && Number(text) <= 2147483647
}

const TOLERATION_TYPES: Readonly<Record<string, string>> = {
  Key: 'string',
  Operator: 'core.TolerationOperator',
  Value: 'string',
  Effect: 'core.TaintEffect',
  TolerationSeconds: 'int64',
}

function validateTolerationsText(text: string, path: string, errors: FieldError[]): void {
  const read = readTolerations(text)
  if (typeof read === 'string') errors.push(invalid(path, TOLERATIONS, read))
  else validateTolerations(read, `${path}.${TOLERATIONS}`, errors)
}

/** The tolerations, or Go's words for what is wrong with the text. */
function readTolerations(text: string): readonly Partial<Toleration>[] | string {
  let node: JsonNode
  try {
    node = parseJson(text)
  } catch (error) {
    if (error instanceof JsonSyntaxError) return error.message
    throw error
  }
  if (node === null) return []
  if (!Array.isArray(node)) return `json: cannot unmarshal ${jsonWordFor(node)} into Go value of type []core.Toleration`
  const tolerations: Partial<Toleration>[] = []
  for (const entry of node) {
    if (entry !== null && !(entry instanceof ObjectNode))
      return `json: cannot unmarshal ${jsonWordFor(entry)} into Go value of type core.Toleration`
    const toleration: Record<string, unknown> = {}
    for (const [key, value] of Object.entries(
      (entry === null ? {} : plainOf(entry)) as { readonly [name: string]: Json },
    )) {
      const field = Object.keys(TOLERATION_TYPES).find((name) => name.toLowerCase() === key.toLowerCase())
      if (field === undefined || value === null) continue
      const isRight = field === 'TolerationSeconds' ? Number.isInteger(value) : typeof value === 'string'
      if (!isRight) {
        const given = Array.isArray(value) ? 'array' : typeof value
        return `json: cannot unmarshal ${given === 'boolean' ? 'bool' : given} into Go struct field Toleration.${field} of type ${TOLERATION_TYPES[field]}`
      }
      toleration[field[0]!.toLowerCase() + field.slice(1)] = value
    }
    tolerations.push(toleration)
  }
  return tolerations
}
