/**
 * --runtime-config: which API versions are served (kube-apiserver's flag). Those that are served by default always are here; no
 * other is, and none of them can be switched off.
 */
import { asBoolean, FlagError } from './flags.ts'

export interface Versions {
  /** `group/version`, the core group's without a slash before: served here. */
  readonly served: ReadonlySet<string>
  /** Those that kube-apiserver knows besides. */
  readonly known: ReadonlySet<string>
}

const LEVELS = new Set(['api/all', 'api/ga', 'api/beta', 'api/alpha'])

/**
 * The lines to warn with, one for each version that is asked for and not served: suites that ask for one often need the others alone.
 * @throws FlagError for what kube-apiserver refuses, and for what skiff cannot switch off
 */
export function judgeRuntimeConfig(settings: readonly string[], { served, known }: Versions): readonly string[] {
  const warnings: string[] = []
  for (const setting of settings) {
    const [key = '', value] = setting.trim().split('=', 2)
    const on = value === undefined || value === '' ? true : asBoolean(value)
    if (on === undefined) throw new FlagError(`invalid value ${key}=${value}`)
    if (LEVELS.has(key)) {
      // ga is what is served; switching beta and alpha off switches off nothing that is.
      if (!on && (key === 'api/all' || key === 'api/ga'))
        throw new FlagError(`--runtime-config=${key}=false: skiff always serves the versions that are on by default`)
      if (on && key !== 'api/ga')
        warnings.push(`--runtime-config=${key}=true: skiff serves the versions that are on by default, and no others`)
      continue
    }
    const [group = '', version, resource] = key.split('/')
    const name = group === 'api' || version === undefined ? (version ?? group) : `${group}/${version}`
    if (!served.has(name) && !known.has(name)) {
      const isGroup = [...served, ...known].some((one) => one.startsWith(`${group}/`))
      throw new FlagError(isGroup ? `group version ${name} that has not been registered` : `unknown api groups ${key}`)
    }
    if (on && !served.has(name)) warnings.push(`--runtime-config=${key}=true: skiff does not serve ${name}`)
    if (!on && served.has(name))
      throw new FlagError(
        `--runtime-config=${key}=false: skiff cannot leave out ${resource === undefined ? name : `${resource} of ${name}`}`,
      )
  }
  return warnings
}
