/** Security contexts of containers and pods. */
import {
  duplicate,
  type FieldError,
  forbiddenField,
  invalid,
  notSupported,
  required,
  tooLong,
} from '../errors/field-errors.ts'
import type { PodSpec } from '../generated/types.ts'
import { dns1123Subdomain, userId } from '../names/name-formats.ts'
import type { Fields } from '../object.ts'
import { internalForm } from './internal.ts'
import { relativePath } from './paths.ts'

const unprivileged = (path: string, detail: string): FieldError => ({
  ...forbiddenField(path, detail),
  liftedBy: 'allow-privileged',
})

/** A container that is a process of a Windows host is as privileged as can be. */
export function validateHostProcess(spec: Fields, path: string, errors: FieldError[]): void {
  const asked = (holder: Fields): boolean | undefined =>
    holder['securityContext']?.windowsOptions?.hostProcess ?? undefined
  const wanted = asked(spec)
  let some = false
  let all = true
  for (const list of ['containers', 'initContainers', 'ephemeralContainers'])
    spec[list]?.forEach((container: Fields, i: number) => {
      const own = asked(container)
      if (wanted !== undefined && own !== undefined && own !== wanted)
        errors.push(
          invalid(
            `${path}.${list}[${i}].securityContext.windowsOptions.hostProcess`,
            own,
            `pod hostProcess value must be identical if both are specified, was ${wanted}`,
          ),
        )
      if (own ?? wanted) some = true
      else all = false
    })
  if (!some) return
  if (!all)
    errors.push(
      invalid(
        path,
        '',
        'If pod contains any hostProcess containers then all containers must be HostProcess containers',
      ),
    )
  if (!spec['hostNetwork'])
    errors.push(
      invalid(`${path}.hostNetwork`, false, 'hostNetwork must be true if pod contains any hostProcess containers'),
    )
  errors.push(unprivileged(path, 'hostProcess containers are disallowed by cluster policy'))
}

export function validateContainerSecurityContext(
  context: Fields | undefined,
  path: string,
  hostUsers: boolean | undefined,
  errors: FieldError[],
): void {
  if (!context) return
  if (context['privileged']) errors.push(unprivileged(`${path}.privileged`, 'disallowed by cluster policy'))
  ids(context, ['runAsUser', 'runAsGroup'], path, errors)
  const procMount: string | undefined = context['procMount'] ?? undefined
  if (procMount !== undefined) {
    if (procMount !== 'Default' && procMount !== 'Unmasked')
      errors.push(notSupported(`${path}.procMount`, procMount, ['Default', 'Unmasked']))
    if (hostUsers !== false && procMount === 'Unmasked')
      errors.push(invalid(`${path}.procMount`, procMount, '`hostUsers` must be false to use `Unmasked`'))
  }
  validateSeccompProfile(context['seccompProfile'], `${path}.seccompProfile`, errors)
  if (context['allowPrivilegeEscalation'] === false) {
    if (context['privileged'])
      errors.push(
        invalid(path, printable(context), 'cannot set `allowPrivilegeEscalation` to false and `privileged` to true'),
      )
    for (const capability of context['capabilities']?.add ?? [])
      if (capability === 'CAP_SYS_ADMIN')
        errors.push(
          invalid(
            path,
            printable(context),
            'cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN',
          ),
        )
  }
  validateWindowsOptions(context['windowsOptions'], `${path}.windowsOptions`, errors)
  validateAppArmorProfile(context['appArmorProfile'], `${path}.appArmorProfile`, errors)
}

const CONTEXT = 'io.k8s.api.core.v1.SecurityContext'
const printable = (context: Fields) => internalForm(CONTEXT, context)

function ids(context: Fields, fields: readonly string[], path: string, errors: FieldError[]): void {
  for (const field of fields) {
    const id: number | undefined = context[field] ?? undefined
    if (id === undefined) continue
    for (const message of userId(id)) errors.push(invalid(`${path}.${field}`, id, message))
  }
}

const SYSCTL = /^(?:[a-z0-9](?:[-_a-z0-9]*[a-z0-9])?[./])*[a-z0-9](?:[-_a-z0-9]*[a-z0-9])?$/
const SYSCTL_TEXT = '([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?'

export function validatePodSecurityContext(spec: Fields, path: string, errors: FieldError[]): void {
  const context: Fields = spec['securityContext'] ?? {}
  ids(context, ['fsGroup', 'runAsUser', 'runAsGroup'], path, errors)
  ;(context['supplementalGroups'] ?? []).forEach((group: number, i: number) => {
    for (const message of userId(group)) errors.push(invalid(`${path}.supplementalGroups[${i}]`, group, message))
  })
  validateSysctls(context['sysctls'] ?? [], spec, `${path}.sysctls`, errors)
  validateNamespaces(spec, path, errors)
  if (isGiven(context['fsGroupChangePolicy']))
    enumeration(context['fsGroupChangePolicy'], ['Always', 'OnRootMismatch'], `${path}.fsGroupChangePolicy`, errors)
  if (isGiven(context['seLinuxChangePolicy']))
    enumeration(context['seLinuxChangePolicy'], ['MountOption', 'Recursive'], `${path}.seLinuxChangePolicy`, errors)
  validateSeccompProfile(context['seccompProfile'], `${path}.seccompProfile`, errors)
  validateWindowsOptions(context['windowsOptions'], `${path}.windowsOptions`, errors)
  validateAppArmorProfile(context['appArmorProfile'], `${path}.appArmorProfile`, errors)
  if (isGiven(context['supplementalGroupsPolicy']))
    enumeration(context['supplementalGroupsPolicy'], ['Merge', 'Strict'], `${path}.supplementalGroupsPolicy`, errors)
}

function validateNamespaces(spec: Partial<PodSpec>, path: string, errors: FieldError[]): void {
  if (spec.hostPID && spec.shareProcessNamespace)
    errors.push(
      invalid(
        path.replace(/securityContext$/, 'shareProcessNamespace'),
        true,
        'ShareProcessNamespace and HostPID cannot both be enabled',
      ),
    )
}

const isGiven = (value: unknown): boolean => value !== undefined && value !== null

function enumeration(value: string, allowed: readonly string[], path: string, errors: FieldError[]): void {
  if (!allowed.includes(value)) errors.push(notSupported(path, value, allowed))
}

function validateSysctls(sysctls: readonly Fields[], spec: Fields, path: string, errors: FieldError[]): void {
  const seen = new Set<string>()
  sysctls.forEach((sysctl, i) => {
    const name: string = sysctl['name'] ?? ''
    const at = `${path}[${i}].name`
    if (name === '') errors.push(required(at))
    else if (name.length > 253 || !SYSCTL.test(name))
      errors.push(invalid(at, name, `must have at most 253 characters and match regex ^${SYSCTL_TEXT}$`))
    else if (seen.has(name)) errors.push(duplicate(at, name))
    const dotted = name.replaceAll('/', '.')
    if (spec['hostNetwork'] && dotted.startsWith('net.'))
      errors.push(invalid(at, name, "may not be specified when 'hostNetwork' is true"))
    if (spec['hostIPC'] && /^(?:kernel\.(?:shm|msg|sem)|fs\.mqueue\.)/.test(dotted))
      errors.push(invalid(at, name, "may not be specified when 'hostIPC' is true"))
    seen.add(name)
  })
}

const LOCALHOST_SECCOMP = 'must be set when seccomp type is Localhost'

function validateSeccompProfile(profile: Fields | undefined, path: string, errors: FieldError[]): void {
  if (!profile) return
  const type: string = profile['type'] ?? ''
  const local: string | undefined = profile['localhostProfile'] ?? undefined
  if (type === '') errors.push(required(`${path}.type`, 'type is required when seccompProfile is set'))
  if (type === 'Localhost') {
    if (local === undefined) errors.push(required(`${path}.localhostProfile`, LOCALHOST_SECCOMP))
    else relativePath(local, `${path}.localhostProfile`, errors)
  } else {
    if (type !== '' && type !== 'RuntimeDefault' && type !== 'Unconfined')
      errors.push(notSupported(`${path}.type`, type, ['Localhost', 'RuntimeDefault', 'Unconfined']))
    if (local !== undefined)
      errors.push(
        invalid(
          `${path}.localhostProfile`,
          internalForm('io.k8s.api.core.v1.SeccompProfile', profile),
          'can only be set when seccomp type is Localhost',
        ),
      )
  }
}

function validateAppArmorProfile(profile: Fields | undefined, path: string, errors: FieldError[]): void {
  if (!profile) return
  const type: string = profile['type'] ?? ''
  const local: string | undefined = profile['localhostProfile'] ?? undefined
  if (type === 'Localhost') {
    if (local === undefined)
      errors.push(required(`${path}.localhostProfile`, 'must be set when AppArmor type is Localhost'))
    else {
      const trimmed = local.trim()
      if (trimmed === '')
        errors.push(required(`${path}.localhostProfile`, 'must be set when AppArmor type is Localhost'))
      else if (trimmed !== local)
        errors.push(invalid(`${path}.localhostProfile`, local, 'must not be padded with whitespace'))
      else if (local.length > 4095) errors.push(tooLong(`${path}.localhostProfile`, 4095))
    }
  } else if (type === 'RuntimeDefault' || type === 'Unconfined') {
    if (local !== undefined)
      errors.push(invalid(`${path}.localhostProfile`, local, 'can only be set when AppArmor type is Localhost'))
  } else if (type === '') errors.push(required(`${path}.type`, 'type is required when appArmorProfile is set'))
  else errors.push(notSupported(`${path}.type`, type, ['Localhost', 'RuntimeDefault', 'Unconfined']))
}

const GMSA_SPEC = 64 * 1024

function validateWindowsOptions(options: Fields | undefined, path: string, errors: FieldError[]): void {
  if (!options) return
  const name: string | undefined = options['gmsaCredentialSpecName'] ?? undefined
  if (name !== undefined)
    for (const message of dns1123Subdomain(name)) errors.push(invalid(`${path}.gmsaCredentialSpecName`, name, message))
  const spec: string | undefined = options['gmsaCredentialSpec'] ?? undefined
  if (spec !== undefined) {
    if (spec === '')
      errors.push(invalid(`${path}.gmsaCredentialSpec`, spec, 'gmsaCredentialSpec cannot be an empty string'))
    else if (Buffer.byteLength(spec) > GMSA_SPEC)
      errors.push(invalid(`${path}.gmsaCredentialSpec`, spec, `gmsaCredentialSpec size must be under 64 KiB`))
  }
  const user: string | undefined = options['runAsUserName'] ?? undefined
  if (user !== undefined) validateWindowsUser(user, `${path}.runAsUserName`, errors)
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: the rule is about control characters
const CONTROL = /[\x00-\x1f\x7f]/

function validateWindowsUser(user: string, path: string, errors: FieldError[]): void {
  if (user === '') return void errors.push(invalid(path, user, 'runAsUserName cannot be an empty string'))
  if (CONTROL.test(user))
    return void errors.push(invalid(path, user, 'runAsUserName cannot contain control characters'))
  const parts = user.split('\\')
  if (parts.length > 2)
    return void errors.push(invalid(path, user, 'runAsUserName cannot contain more than one backslash'))
  const domain = parts.length === 2 ? parts[0]! : undefined
  const name = parts[parts.length - 1]!
  if (domain !== undefined && domain.length >= 256)
    errors.push(invalid(path, user, "runAsUserName's Domain length must be under 256 characters"))
  if (name.length === 0) errors.push(invalid(path, user, "runAsUserName's User cannot be empty"))
  else if (name.length > 104)
    errors.push(invalid(path, user, "runAsUserName's User length must not be longer than 104 characters"))
  if (/^[. ]+$/.test(name))
    errors.push(invalid(path, user, "runAsUserName's User cannot contain only periods or spaces"))
  if (/["/\\:;|=,+*?<>@[\]]/.test(name))
    errors.push(invalid(path, user, `runAsUserName's User cannot contain the following characters: "/\\:;|=,+*?<>@[]`))
}
