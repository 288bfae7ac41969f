/** spec.os: fields of the other operating system are refused. */
import { type FieldError, forbiddenField, notSupported, required } from '../errors/field-errors.ts'
import type { Fields } from '../object.ts'

const POD_CONTEXT = [
  'appArmorProfile',
  'seLinuxOptions',
  'seccompProfile',
  'fsGroup',
  'fsGroupChangePolicy',
  'sysctls',
] as const
const POD_IDS = [
  'runAsUser',
  'runAsGroup',
  'supplementalGroups',
  'supplementalGroupsPolicy',
  'seLinuxChangePolicy',
] as const
const CONTAINER_CONTEXT = [
  'appArmorProfile',
  'seLinuxOptions',
  'seccompProfile',
  'capabilities',
  'readOnlyRootFilesystem',
  'privileged',
  'allowPrivilegeEscalation',
  'procMount',
  'runAsUser',
  'runAsGroup',
] as const
const REFUSED_ON_WINDOWS = 'cannot be set for a windows pod'

export function validateOs(spec: Fields, path: string, errors: FieldError[]): void {
  const os: Fields | undefined = spec['os']
  if (!os) return
  const name: string = os['name'] ?? ''
  if (name === '') return void errors.push(required(`${path}.os.name`))
  if (name === 'linux') refuseWindowsOptions(spec, path, errors)
  else if (name === 'windows') refuseLinuxOptions(spec, path, errors)
  else errors.push(notSupported(`${path}.os`, name, ['linux', 'windows']))
}

function eachContainer(spec: Fields, path: string, visit: (context: Fields, path: string) => void): void {
  for (const list of ['containers', 'initContainers', 'ephemeralContainers'] as const)
    spec[list]?.forEach((container: Fields, i: number) => {
      if (container['securityContext']) visit(container['securityContext'], `${path}.${list}[${i}].securityContext`)
    })
}

function refuseWindowsOptions(spec: Fields, path: string, errors: FieldError[]): void {
  const refuse = (context: Fields, at: string) => {
    if (context['windowsOptions'])
      errors.push(forbiddenField(`${at}.windowsOptions`, 'windows options cannot be set for a linux pod'))
  }
  if (spec['securityContext']) refuse(spec['securityContext'], `${path}.securityContext`)
  eachContainer(spec, path, refuse)
}

function refuseLinuxOptions(spec: Fields, path: string, errors: FieldError[]): void {
  const context: Fields = spec['securityContext'] ?? {}
  const present = (value: unknown): boolean => value !== undefined && value !== null && value !== false
  const refuse = (at: string) => errors.push(forbiddenField(at, REFUSED_ON_WINDOWS))
  for (const field of [...POD_CONTEXT, ...POD_IDS])
    if (present(context[field]) && context[field].length !== 0) refuse(`${path}.securityContext.${field}`)
  if (spec['hostUsers'] !== undefined && spec['hostUsers'] !== null) refuse(`${path}.hostUsers`)
  for (const field of ['hostPID', 'hostIPC'] as const) if (present(spec[field])) refuse(`${path}.${field}`)
  if (spec['shareProcessNamespace'] !== undefined && spec['shareProcessNamespace'] !== null)
    refuse(`${path}.shareProcessNamespace`)
  eachContainer(spec, path, (own, at) => {
    for (const field of CONTAINER_CONTEXT) if (own[field] !== undefined && own[field] !== null) refuse(`${at}.${field}`)
  })
}
