/** Environment variables: values, and what they are taken from. */
import { type FieldError, invalid, notFoundField, notSupported, required } from '../errors/field-errors.ts'
import type { Volume } from '../generated/types.ts'
import { configMapKey, dns1123Label, dns1123Subdomain, envVarName, qualifiedName } from '../names/name-formats.ts'
import { isStandardContainerResource } from '../names/resource-names.ts'
import type { Fields } from '../object.ts'
import { nanosOf } from '../values/quantity.ts'
import { noDotDot } from './paths.ts'

const SOURCES = ['fieldRef', 'resourceFieldRef', 'configMapKeyRef', 'secretKeyRef', 'fileKeyRef'] as const

const ENV_FIELDS = [
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
  'spec.nodeName',
  'spec.serviceAccountName',
  'status.hostIP',
  'status.hostIPs',
  'status.podIP',
  'status.podIPs',
]
/** Field paths that exist at all, whether or not they may be used here. */
const POD_FIELDS: ReadonlySet<string> = new Set([
  ...ENV_FIELDS,
  'metadata.annotations',
  'metadata.labels',
  'spec.restartPolicy',
  'spec.schedulerName',
  'spec.hostNetwork',
  'status.phase',
  'status.nominatedNodeName',
])

export function validateEnv(env: readonly Fields[], path: string, errors: FieldError[]): void {
  env.forEach((variable, i) => {
    const at = `${path}[${i}]`
    const name: string = variable['name'] ?? ''
    if (name === '') errors.push(required(`${at}.name`))
    else for (const message of envVarName(name)) errors.push(invalid(`${at}.name`, name, message))
    if (variable['valueFrom']) validateValueFrom(variable, `${at}.valueFrom`, errors)
  })
}

function validateValueFrom(variable: Fields, path: string, errors: FieldError[]): void {
  const source: Fields = variable['valueFrom']
  let count = 0
  if (source['fieldRef']) {
    count++
    validateFieldRef(source['fieldRef'], ENV_FIELDS, `${path}.fieldRef`, errors)
  }
  if (source['resourceFieldRef']) {
    count++
    validateResourceFieldRef(source['resourceFieldRef'], false, `${path}.resourceFieldRef`, errors)
  }
  for (const kind of ['configMapKeyRef', 'secretKeyRef'] as const) {
    const reference: Fields | undefined = source[kind]
    if (!reference) continue
    count++
    validateKeyRef(reference, `${path}.${kind}`, errors)
  }
  if (source['fileKeyRef']) {
    count++
    validateFileKeyRef(source['fileKeyRef'], `${path}.fileKeyRef`, errors)
  }
  if (count === 0)
    errors.push(
      invalid(
        path,
        '',
        `must specify one of: ${SOURCES.slice(0, -1)
          .map((s) => `\`${s}\``)
          .join(', ')} or \`fileKeyRef\``,
      ),
    )
  else if (variable['value']) errors.push(invalid(path, '', 'may not be specified when `value` is not empty'))
  else if (count > 1) errors.push(invalid(path, '', 'may not have more than one field specified at a time'))
}

function validateKeyRef(reference: Fields, path: string, errors: FieldError[]): void {
  const { name = '', key = '' } = reference
  for (const message of dns1123Subdomain(name)) errors.push(invalid(`${path}.name`, name, message))
  if (key === '') errors.push(required(`${path}.key`))
  else for (const message of configMapKey(key)) errors.push(invalid(`${path}.key`, key, message))
}

function validateFileKeyRef(reference: Fields, path: string, errors: FieldError[]): void {
  const { volumeName = '', path: file = '', key = '' } = reference
  if (key === '') errors.push(required(`${path}.key`))
  else for (const message of envVarName(key)) errors.push(invalid(`${path}.key`, key, message))
  if (volumeName === '') errors.push(required(`${path}.volumeName`))
  else for (const message of dns1123Label(volumeName)) errors.push(invalid(`${path}.volumeName`, volumeName, message))
  if (file === '') errors.push(required(`${path}.path`))
  else noDotDot(file, `${path}.path`, errors)
}

/** Files of variables are read from directories that the pod's own containers write. */
export function validateEnvFiles(
  env: readonly Fields[],
  path: string,
  volumes: readonly Volume[],
  errors: FieldError[],
): void {
  env.forEach((variable, i) => {
    const reference: Fields | undefined = variable['valueFrom']?.fileKeyRef
    if (!reference) return
    const name: string = reference['volumeName'] ?? ''
    const volume = volumes.find((one) => one.name === name)
    const at = `${path}[${i}].valueFrom.fileKeyRef.volumeName`
    if (volume === undefined) errors.push(notFoundField(at, name))
    else if (!volume.emptyDir) errors.push(invalid(at, name, 'referenced volume must be of type emptyDir'))
  })
}

/** A field of the pod named by its path, possibly with a subscript (`metadata.labels['a']`). */
export function validateFieldRef(
  reference: Fields,
  allowed: readonly string[],
  path: string,
  errors: FieldError[],
): void {
  const { apiVersion = '', fieldPath = '' } = reference
  if (apiVersion === '') return void errors.push(required(`${path}.apiVersion`))
  if (fieldPath === '') return void errors.push(required(`${path}.fieldPath`))
  const subscripted = /^([^[]*)\['([^']*)'\]$/s.exec(fieldPath)
  const base: string = subscripted ? subscripted[1]! : fieldPath
  if (apiVersion !== 'v1')
    return void errors.push(
      invalid(`${path}.fieldPath`, fieldPath, `error converting fieldPath: unsupported pod version: ${apiVersion}`),
    )
  if (subscripted) {
    const key = subscripted[2]!
    if (base === 'metadata.annotations') {
      for (const message of qualifiedName(key.toLowerCase())) errors.push(invalid(path, key, message))
      return
    }
    if (base === 'metadata.labels') {
      for (const message of qualifiedName(key)) errors.push(invalid(path, key, message))
      return
    }
    errors.push(
      invalid(
        `${path}.fieldPath`,
        fieldPath,
        `error converting fieldPath: field label does not support subscript: ${fieldPath}`,
      ),
    )
    return
  }
  if (!POD_FIELDS.has(base))
    return void errors.push(
      invalid(`${path}.fieldPath`, fieldPath, `error converting fieldPath: field label not supported: ${fieldPath}`),
    )
  if (!allowed.includes(base)) errors.push(notSupported(`${path}.fieldPath`, base, [...allowed].sort()))
}

const RESOURCE_FIELDS = [
  'limits.cpu',
  'limits.ephemeral-storage',
  'limits.memory',
  'requests.cpu',
  'requests.ephemeral-storage',
  'requests.memory',
]
const DIVISORS: Readonly<Record<string, readonly string[]>> = {
  cpu: ['1m', '1'],
  memory: ['1', '1k', '1M', '1G', '1T', '1P', '1E', '1Ki', '1Mi', '1Gi', '1Ti', '1Pi', '1Ei'],
}

/** A container's request or limit, in units of a divisor. In a volume the container must be named. */
export function validateResourceFieldRef(
  reference: Fields,
  inVolume: boolean,
  path: string,
  errors: FieldError[],
): void {
  const { containerName = '', resource = '', divisor = '0' } = reference
  if (inVolume && containerName === '') return void errors.push(required(`${path}.containerName`))
  if (resource === '') return void errors.push(required(`${path}.resource`))
  const hugePages =
    /^(?:limits|requests)\.hugepages-/.test(resource) &&
    isStandardContainerResource(resource.slice(resource.indexOf('.') + 1))
  if (!RESOURCE_FIELDS.includes(resource) && !hugePages)
    return void errors.push(notSupported(`${path}.resource`, resource, RESOURCE_FIELDS))
  if (nanosOf(divisor) === 0n) return
  const unit = resource.endsWith('.cpu') ? 'cpu' : 'memory'
  const known = DIVISORS[unit]!.some((allowed) => allowed === divisor)
  if (!known)
    errors.push(
      invalid(
        `${path}.divisor`,
        resource,
        unit === 'cpu'
          ? "only divisor's values 1m and 1 are supported with the cpu resource"
          : "only divisor's values 1, 1k, 1M, 1G, 1T, 1P, 1E, 1Ki, 1Mi, 1Gi, 1Ti, 1Pi, 1Ei are supported with the " +
              (resource.endsWith('ephemeral-storage')
                ? 'local ephemeral storage'
                : hugePages
                  ? 'hugepages'
                  : 'memory') +
              ' resource',
      ),
    )
}

export function validateEnvFrom(sources: readonly Fields[], path: string, errors: FieldError[]): void {
  sources.forEach((source, i) => {
    const at = `${path}[${i}]`
    const prefix: string = source['prefix'] ?? ''
    if (prefix !== '') for (const message of envVarName(prefix)) errors.push(invalid(`${at}.prefix`, prefix, message))
    let count = 0
    for (const kind of ['configMapRef', 'secretRef'] as const) {
      const reference: Fields | undefined = source[kind]
      if (!reference) continue
      count++
      const name: string = reference['name'] ?? ''
      if (name === '') errors.push(required(`${at}.${kind}.name`))
      else for (const message of dns1123Subdomain(name)) errors.push(invalid(`${at}.${kind}.name`, name, message))
    }
    if (count === 0) errors.push(invalid(path, '', 'must specify one of: `configMapRef` or `secretRef`'))
    else if (count > 1) errors.push(invalid(path, '', 'may not have more than one field specified at a time'))
  })
}
