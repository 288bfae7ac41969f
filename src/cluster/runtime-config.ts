/**
 * --runtime-config: which API versions are served (kube-apiserver's flag). Those that are served by default always are here, and none of them
 * can be switched off; of the others those are to be had whose kinds are served by default in another version.
 */
import { readSetting } from '../api/scheme/runtime-config.ts'
import { builtinGroups, knownApiVersions, optionalVersions } from '../api/scheme/scheme.ts'

export interface Versions {
  /** `group/version`, the core group's without a slash before: served here. */
  readonly served: ReadonlySet<string>
  /** Served here where that is asked for. */
  readonly optional: ReadonlyMap<string, readonly string[]>
  /** Those that kube-apiserver knows besides. */
  readonly known: ReadonlySet<string>
}

/** Those of this build. */
export const apiVersionsHere = (): Versions => ({
  served: new Set(['v1', ...builtinGroups().flatMap((group) => group.versions.map((one) => one.groupVersion))]),
  optional: optionalVersions(),
  known: new Set([...knownApiVersions(), 'internal.apiserver.k8s.io/v1alpha1']),
})

/** What kube-apiserver serves in versions that are off by default, and in no others. */
const LACKING = ['leasecandidates', 'resourcepoolstatusrequests', 'storageversions']
const LEVELS = new Set(['api/all', 'api/ga', 'api/beta', 'api/alpha'])

/**
 * The lines to warn with, one for each version that is asked for and not served: suites that ask for one often need the others alone.
 * @throws Error for what kube-apiserver refuses, and for what skiff cannot switch off
 */
export function judgeRuntimeConfig(
  settings: readonly string[],
  { served, optional, known }: Versions,
): readonly string[] {
  const warnings: string[] = []
  for (const setting of settings) {
    const { key, on } = readSetting(setting)
    if (on === undefined) throw new Error(`invalid value ${setting.trim()}`)
    if (LEVELS.has(key)) {
      // ga is what is served; switching beta and alpha off switches off nothing that is.
      if (!on && (key === 'api/all' || key === 'api/ga'))
        throw new Error(`--runtime-config=${key}=false: skiff always serves the versions that are on by default`)
      if (on && key !== 'api/ga')
        warnings.push(`--runtime-config=${key}=true: skiff serves ${LACKING.join(', ')} in no version`)
      continue
    }
    const [group = '', version, resource] = key.split('/')
    const name = group === 'api' || version === undefined ? (version ?? group) : `${group}/${version}`
    if (!served.has(name) && !known.has(name) && !optional.has(name)) {
      const isGroup = [...served, ...known].some((one) => one.startsWith(`${group}/`))
      throw new Error(isGroup ? `group version ${name} that has not been registered` : `unknown api groups ${key}`)
    }
    const more = optional.get(name)
    if (more !== undefined && (resource === undefined || more.includes(resource))) continue
    if (on && !served.has(name)) warnings.push(`--runtime-config=${key}=true: skiff does not serve ${name}`)
    if (!on && served.has(name))
      throw new Error(
        `--runtime-config=${key}=false: skiff cannot leave out ${resource === undefined ? name : `${resource} of ${name}`}`,
      )
  }
  return warnings
}
