/** --runtime-config: which API versions are served (kube-apiserver's flag), and what is refused of it. */
import { apiVersionOf } from '../api/object.ts'
import { chosenResources, readSetting } from '../api/scheme/runtime-config.ts'
import { builtinScheme, knownApiVersions, optionalVersions } from '../api/scheme/scheme.ts'
import { getOrInsertComputed } from '../base/get-or-insert.ts'

export interface Versions {
  /** `group/version`, the core group's without a slash before: served here by default, each with its resources. */
  readonly served: ReadonlyMap<string, readonly string[]>
  /** Served here where that is asked for. */
  readonly optional: ReadonlyMap<string, readonly string[]>
  /** Those that kube-apiserver knows besides. */
  readonly known: ReadonlySet<string>
}

/** Those of this build. */
export function apiVersionsHere(): Versions {
  const served = new Map<string, string[]>()
  for (const { group, version, resource } of builtinScheme().rows())
    getOrInsertComputed(served, apiVersionOf(group, version), () => []).push(resource)
  return {
    served,
    optional: optionalVersions(),
    known: new Set([...knownApiVersions(), 'internal.apiserver.k8s.io/v1alpha1']),
  }
}

/** What kube-apiserver serves in versions that are off by default, and in no others. */
const LACKING = ['leasecandidates', 'resourcepoolstatusrequests', 'storageversions']
const LEVELS = new Set(['api/all', 'api/ga', 'api/beta', 'api/alpha'])
/** Switched off, they leave priority and fairness without its configuration. */
const UNFAIR = new Set(['api/all', 'api/ga', 'flowcontrol.apiserver.k8s.io/v1'])
const AGGREGATION = 'apiregistration.k8s.io/v1'
/** Without these a kube-apiserver breaks off, or never becomes ready: it reads them itself. Of a version where none is named, any. */
const NEEDED: Readonly<Record<string, readonly string[]>> = {
  [AGGREGATION]: ['apiservices'],
  v1: [],
  'admissionregistration.k8s.io/v1': [],
  'apiextensions.k8s.io/v1': ['customresourcedefinitions'],
  'discovery.k8s.io/v1': [],
  'networking.k8s.io/v1': ['ingressclasses', 'ipaddresses', 'servicecidrs'],
  'rbac.authorization.k8s.io/v1': [],
  'scheduling.k8s.io/v1': ['priorityclasses'],
  'storage.k8s.io/v1': ['storageclasses'],
}

/**
 * The lines to warn with, one for each version that is asked for and not served: suites that ask for one often need the others alone.
 * @throws Error for what kube-apiserver refuses, and for what it does not become ready without
 */
export function judgeRuntimeConfig(
  settings: readonly string[],
  { served, optional, known }: Versions,
  isFair = true,
): readonly string[] {
  const warnings: string[] = []
  const why = whyNoRuntimeConfig(settings, { served, optional, known })
  const problems = [...(isFair ? fairnessConflicts(settings) : []), ...(why === undefined ? [] : [why])]
  if (problems.length > 0) throw new Error(problems.length === 1 ? problems[0] : `[${problems.join(', ')}]`)
  for (const setting of settings) {
    const { key, on } = readSetting(setting)
    if (LEVELS.has(key)) {
      if (on && key !== 'api/ga')
        warnings.push(`--runtime-config=${key}=true: skiff serves ${LACKING.join(', ')} in no version`)
      continue
    }
    if (key === 'api/legacy') continue
    const [group = '', version = '', resource] = partsOf(key)
    const name = apiVersionOf(group, version)
    const more = optional.get(name)
    if (more !== undefined && (resource === undefined || more.includes(resource))) continue
    if (on && !served.has(name)) warnings.push(`--runtime-config=${key}=true: skiff does not serve ${name}`)
  }
  const isChosen = chosenResources(settings)
  for (const [apiVersion, needed] of Object.entries(NEEDED)) {
    const resources = needed.length > 0 ? needed : (served.get(apiVersion) ?? [])
    const missing = resources.find((resource) => isChosen?.(apiVersion, resource, true) === false)
    if (missing === undefined) continue
    if (apiVersion === AGGREGATION) throw new Error(`API group/version ${AGGREGATION} must be enabled`)
    throw new Error(`--runtime-config: an API server does not become ready without ${missing} of ${apiVersion}`)
  }
  return warnings
}

/** What leaves priority and fairness, which is on, without its configuration. */
export function fairnessConflicts(settings: readonly string[]): readonly string[] {
  return settings
    .map(readSetting)
    .filter(({ key, on }) => on === false && UNFAIR.has(key))
    .map(({ key }) => `--runtime-config=${key}=false conflicts with --enable-priority-and-fairness=true`)
}

/** What kube-apiserver refuses of it in itself, in its words: first what no API group is, then versions and values. */
export function whyNoRuntimeConfig(
  settings: readonly string[],
  { served, optional, known }: Versions,
): string | undefined {
  const read = settings.map((setting) => ({ ...readSetting(setting), setting: setting.trim() }))
  const [only] = read
  if (read.length === 1 && only?.key === 'api/all' && only.on === false)
    return 'invalid runtime-config with only api/all=false'
  const versions = read.filter(({ key }) => key !== '' && key !== 'api/legacy' && !LEVELS.has(key))
  const unknown = new Set<string>()
  for (const { key } of versions) {
    const [group = '', version, , ...others] = partsOf(key)
    if (version === undefined || others.length > 0) return `runtime-config invalid key ${key}`
    const isGroup = group === '' || [...served.keys(), ...known].some((one) => one.startsWith(`${group}/`))
    if (!isGroup) unknown.add(key)
  }
  if (unknown.size > 0) return `unknown api groups ${[...unknown].sort().join(',')}`
  for (const { key, on, setting } of read) {
    if (LEVELS.has(key) && on === undefined) return `invalid value ${setting}`
    if (!versions.some((one) => one.key === key)) continue
    const [group = '', version = ''] = partsOf(key)
    const name = apiVersionOf(group, version)
    if (!served.has(name) && !known.has(name) && !optional.has(name))
      return `group version ${name} that has not been registered`
    const value = setting.slice(key.length + 1)
    if (on === undefined)
      return `invalid value of ${key}: ${value}, err: strconv.ParseBool: parsing ${JSON.stringify(value)}: invalid syntax`
  }
  return undefined
}

/** A resource that is served by default and switched off, if there is one: `deployments of apps/v1`. */
export function switchedOff(settings: readonly string[], { served }: Versions): string | undefined {
  const isChosen = chosenResources(settings)
  for (const [apiVersion, resources] of served)
    for (const resource of resources)
      if (isChosen?.(apiVersion, resource, true) === false) return `${resource} of ${apiVersion}`
  return undefined
}

/** Group, version and what is behind them: the core group has no name here, and its version alone may be said. */
const partsOf = (key: string): readonly string[] => (/^v1(\/|$)/.test(key) ? ['', ...key.split('/')] : key.split('/'))
