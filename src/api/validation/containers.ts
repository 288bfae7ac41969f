/** Containers of every sort: regular, init (sidecars too) and ephemeral. Called by the rules of PodSpec. */
import {
  duplicate,
  type FieldError,
  forbiddenField,
  invalid,
  notFoundField,
  notSupported,
  required,
  tooLong,
} from '../errors/field-errors.ts'
import type { Container, ContainerResizePolicy } from '../generated/types.ts'
import { dns1123Label, portName, portNumber } from '../names/name-formats.ts'
import type { Fields } from '../object.ts'
import { isEmpty } from './common.ts'
import { validateContainerSecurityContext } from './container-security.ts'
import { validateEnv, validateEnvFrom } from './environment.ts'
import { validateLifecycle, validateProbe } from './probes.ts'
import { validateContainerResources } from './resources.ts'
import { type VolumeTable, validateVolumeDevices, validateVolumeMounts } from './volume-mounts.ts'

/** What the rules of one container need to know of its pod. */
export interface PodFacts {
  readonly spec: Fields
  readonly volumes: VolumeTable
  /** Names of spec.resourceClaims. */
  readonly claims: ReadonlySet<string>
  /** An update keeps what was accepted before, however long. */
  readonly old?: Fields | undefined
}

const PULL_POLICIES = ['Always', 'IfNotPresent', 'Never']
const TERMINATION_MESSAGE_POLICIES = ['File', 'FallbackToLogsOnError']
const PROTOCOLS = ['SCTP', 'TCP', 'UDP']
const INIT_ONLY = 'may not be set for init containers without restartPolicy=Always'

export function validateContainers(
  containers: readonly Fields[],
  path: string,
  facts: PodFacts,
  errors: FieldError[],
): void {
  if (containers.length === 0) {
    errors.push(required(path))
    return
  }
  const names = new Set<string>()
  containers.forEach((container, i) => {
    const at = `${path}[${i}]`
    validateCommon(container, at, facts, errors)
    const name: string = container['name'] ?? ''
    if (names.has(name)) errors.push(duplicate(`${at}.name`, name))
    else names.add(name)
    validateRunning(container, at, facts, errors)
    validateRestartPolicy(container, at, errors)
    validateRestartRules(container, at, errors)
  })
  checkHostPorts(containers, path, errors)
}

export function validateInitContainers(
  containers: readonly Fields[],
  path: string,
  facts: PodFacts,
  errors: FieldError[],
): void {
  const names = new Set<string>((facts.spec['containers'] ?? []).map((c: Fields) => c['name'] ?? ''))
  containers.forEach((container, i) => {
    const at = `${path}[${i}]`
    validateCommon(container, at, facts, errors)
    validateRestartPolicy(container, at, errors)
    validateRestartRules(container, at, errors)
    const sidecar = container['restartPolicy'] === 'Always'
    const name: string = container['name'] ?? ''
    if (names.has(name)) errors.push(duplicate(`${at}.name`, name))
    else if (name !== '') names.add(name)
    checkHostPorts([container], path, errors)
    if (sidecar) validateRunning(container, at, facts, errors)
    else
      for (const field of ['lifecycle', 'livenessProbe', 'readinessProbe', 'startupProbe'])
        if (container[field]) errors.push(forbiddenField(`${at}.${field}`, INIT_ONLY))
    const { resizePolicy = [] } = container as Partial<Container>
    if (!sidecar) validateNoRestartOnResize(resizePolicy, `${at}.resizePolicy`, errors)
  })
}

/** Fields an ephemeral container may have; everything else is refused. */
const EPHEMERAL_FIELDS: ReadonlySet<string> = new Set([
  'name',
  'image',
  'command',
  'args',
  'workingDir',
  'env',
  'envFrom',
  'volumeMounts',
  'volumeDevices',
  'terminationMessagePath',
  'terminationMessagePolicy',
  'imagePullPolicy',
  'securityContext',
  'stdin',
  'stdinOnce',
  'tty',
  'targetContainerName',
])

const asksForResources = ({ limits, requests, claims }: Fields): boolean =>
  !isEmpty(limits) || !isEmpty(requests) || !isEmpty(claims)

export function validateEphemeralContainers(
  containers: readonly Fields[],
  path: string,
  facts: PodFacts,
  errors: FieldError[],
): void {
  if (containers.length === 0) return
  const targets = new Set<string>(
    [...(facts.spec['containers'] ?? []), ...(facts.spec['initContainers'] ?? [])].map((c: Fields) => c['name']),
  )
  const names = new Set(targets)
  containers.forEach((container, i) => {
    const at = `${path}[${i}]`
    validateCommon(container, at, facts, errors)
    const name: string = container['name'] ?? ''
    if (names.has(name)) errors.push(duplicate(`${at}.name`, name))
    else names.add(name)
    const target: string | undefined = container['targetContainerName']
    if (target && !targets.has(target)) errors.push(notFoundField(`${at}.targetContainerName`, target))
    for (const field of Object.keys(container))
      if (
        field === 'resources'
          ? asksForResources(container[field])
          : !EPHEMERAL_FIELDS.has(field) && !isZero(container[field])
      )
        errors.push(forbiddenField(`${at}.${field}`, 'cannot be set for an Ephemeral Container'))
    ;(container['volumeMounts'] ?? []).forEach((mount: Fields, j: number) => {
      for (const field of ['subPath', 'subPathExpr'])
        if (mount[field])
          errors.push(forbiddenField(`${at}.volumeMounts[${j}].${field}`, 'cannot be set for an Ephemeral Container'))
    })
  })
}

const isZero = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  value === '' ||
  value === false ||
  (Array.isArray(value) && value.length === 0)

function validateCommon(container: Fields, path: string, facts: PodFacts, errors: FieldError[]): void {
  const name: string = container['name'] ?? ''
  if (name === '') errors.push(required(`${path}.name`))
  else for (const message of dns1123Label(name)) errors.push(invalid(`${path}.name`, name, message))
  if (!container['image']) errors.push(required(`${path}.image`))
  const policy: string = container['terminationMessagePolicy'] ?? ''
  if (policy === '') errors.push(required(`${path}.terminationMessagePolicy`))
  else if (!TERMINATION_MESSAGE_POLICIES.includes(policy))
    errors.push(notSupported(`${path}.terminationMessagePolicy`, policy, TERMINATION_MESSAGE_POLICIES))
  validatePorts(container['ports'] ?? [], `${path}.ports`, errors)
  validateEnv(container['env'] ?? [], `${path}.env`, errors)
  validateEnvFrom(container['envFrom'] ?? [], `${path}.envFrom`, errors)
  validateVolumeMounts(container, `${path}.volumeMounts`, facts.volumes, errors)
  validateVolumeDevices(container, `${path}.volumeDevices`, facts.volumes, errors)
  const pull: string = container['imagePullPolicy'] ?? ''
  if (pull === '') errors.push(required(`${path}.imagePullPolicy`))
  else if (!PULL_POLICIES.includes(pull)) errors.push(notSupported(`${path}.imagePullPolicy`, pull, PULL_POLICIES))
  validateContainerResources(container['resources'] ?? {}, `${path}.resources`, facts.claims, errors)
  validateResizePolicy(container['resizePolicy'], `${path}.resizePolicy`, facts.spec['restartPolicy'], errors)
  validateContainerSecurityContext(
    container['securityContext'],
    `${path}.securityContext`,
    facts.spec['hostUsers'],
    errors,
  )
}

function validateRunning(container: Fields, path: string, facts: PodFacts, errors: FieldError[]): void {
  const grace: number | undefined = facts.spec['terminationGracePeriodSeconds']
  validateLifecycle(container['lifecycle'], grace, `${path}.lifecycle`, facts, errors)
  for (const kind of ['livenessProbe', 'readinessProbe', 'startupProbe'] as const)
    validateProbe(container[kind], kind, grace, `${path}.${kind}`, errors)
}

function validatePorts(ports: readonly Fields[], path: string, errors: FieldError[]): void {
  const names = new Set<string>()
  ports.forEach((port, i) => {
    const at = `${path}[${i}]`
    const name: string | undefined = port['name']
    if (name) {
      const messages = portName(name)
      for (const message of messages) errors.push(invalid(`${at}.name`, name, message))
      if (messages.length === 0) {
        if (names.has(name)) errors.push(duplicate(`${at}.name`, name))
        else names.add(name)
      }
    }
    const number: number = port['containerPort'] ?? 0
    if (number === 0) errors.push(required(`${at}.containerPort`))
    else for (const message of portNumber(number)) errors.push(invalid(`${at}.containerPort`, number, message))
    const host: number = port['hostPort'] ?? 0
    if (host !== 0) for (const message of portNumber(host)) errors.push(invalid(`${at}.hostPort`, host, message))
    const protocol: string = port['protocol'] ?? ''
    if (protocol === '') errors.push(required(`${at}.protocol`))
    else if (!PROTOCOLS.includes(protocol)) errors.push(notSupported(`${at}.protocol`, protocol, PROTOCOLS))
  })
}

/** Two containers cannot listen on the same port of the node. */
function checkHostPorts(containers: readonly Fields[], path: string, errors: FieldError[]): void {
  const taken = new Set<string>()
  containers.forEach((container, i) => {
    ;(container['ports'] ?? []).forEach((port: Fields, j: number) => {
      const host: number = port['hostPort'] ?? 0
      if (host === 0) return
      const key = `${port['protocol']}/${port['hostIP'] ?? ''}/${host}`
      if (taken.has(key)) errors.push(duplicate(`${path}[${i}].ports[${j}].hostPort`, key))
      else taken.add(key)
    })
  })
}

const RESIZE_RESOURCES = ['cpu', 'memory']
const RESIZE_POLICIES = ['NotRequired', 'RestartContainer']

function validateResizePolicy(
  policies: readonly Fields[] | undefined,
  path: string,
  podRestartPolicy: string | undefined,
  errors: FieldError[],
): void {
  const seen = new Set<string>()
  policies?.forEach((policy, i) => {
    const name: string = policy['resourceName'] ?? ''
    const restart: string = policy['restartPolicy'] ?? ''
    if (seen.has(name)) errors.push(duplicate(`${path}[${i}]`, name))
    seen.add(name)
    if (name === '') errors.push(required(path))
    else if (!RESIZE_RESOURCES.includes(name)) errors.push(notSupported(path, name, RESIZE_RESOURCES))
    if (restart === '') errors.push(required(path))
    else if (!RESIZE_POLICIES.includes(restart)) errors.push(notSupported(path, restart, RESIZE_POLICIES))
    if (podRestartPolicy === 'Never' && restart !== 'NotRequired')
      errors.push(invalid(path, restart, "must be 'NotRequired' when pod `restartPolicy` is 'Never'"))
  })
}

/** What runs to its end is not begun anew. */
function validateNoRestartOnResize(
  policies: readonly ContainerResizePolicy[],
  path: string,
  errors: FieldError[],
): void {
  for (const [i, { restartPolicy }] of policies.entries())
    if (restartPolicy === 'RestartContainer')
      errors.push(
        invalid(
          `${path}[${i}].restartPolicy`,
          restartPolicy,
          "must not be set to 'RestartContainer' for non-sidecar initContainers",
        ),
      )
}

const RESTART_POLICIES = ['Always', 'Never', 'OnFailure']

/** A container's own restart policy, without which there are no rules (KEP-5307). */
function validateRestartPolicy(container: Fields, path: string, errors: FieldError[]): void {
  const policy: string | undefined = container['restartPolicy'] ?? undefined
  if (policy === undefined) {
    if (container['restartPolicyRules']?.length)
      errors.push(required(`${path}.restartPolicy`, 'must specify restartPolicy when restart rules are used'))
  } else if (!RESTART_POLICIES.includes(policy))
    errors.push(notSupported(`${path}.restartPolicy`, policy, RESTART_POLICIES))
}

function validateRestartRules(container: Fields, path: string, errors: FieldError[]): void {
  const rules: readonly Fields[] = container['restartPolicyRules'] ?? []
  if (rules.length > 20) errors.push(tooLong(`${path}.restartPolicyRules`, 20))
  rules.forEach((rule, i) => {
    const at = `${path}.restartPolicyRules[${i}]`
    if (rule['action'] !== 'Restart' && rule['action'] !== 'RestartAllContainers')
      errors.push(notSupported(`${at}.action`, rule['action'] ?? '', ['Restart', 'RestartAllContainers']))
    const codes: Fields | undefined = rule['exitCodes']
    if (!codes) errors.push(required(`${at}.exitCodes`, 'must be specified'))
    else {
      if (codes['operator'] !== 'In' && codes['operator'] !== 'NotIn')
        errors.push(notSupported(`${at}.exitCodes.operator`, codes['operator'] ?? '', ['In', 'NotIn']))
      if ((codes['values'] ?? []).length > 255) errors.push(tooLong(`${at}.exitCodes.values`, 255))
    }
  })
}
