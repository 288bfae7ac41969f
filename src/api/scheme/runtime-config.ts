/** --runtime-config, as kube-apiserver's: which API versions are served beside those that always are. */
import { optionalVersions } from './scheme.ts'

/** What names fewer goes first. */
const LEVELS: Readonly<Record<string, RegExp>> = {
  'api/beta': /beta\d+$/,
  'api/alpha': /alpha\d+$/,
  'api/all': /./,
}

/** `resource.k8s.io/v1beta2=true` as its name and whether it is on; undefined for what is neither. */
export function readSetting(setting: string): { readonly key: string; readonly on: boolean | undefined } {
  const [key = '', value] = setting.trim().split('=', 2)
  if (value === undefined || value === '' || /^(1|t|T|true|TRUE|True)$/.test(value)) return { key, on: true }
  return { key, on: /^(0|f|F|false|FALSE|False)$/.test(value) ? false : undefined }
}

/** The optional versions that are asked for, or single resources of them (see schemeServing). What names one goes before what names many. */
export function askedFor(settings: readonly string[]): ReadonlySet<string> {
  if (settings.length === 0) return new Set()
  const wanted = new Map(settings.map(readSetting).map(({ key, on }) => [key, on]))
  const found = new Set<string>()
  for (const [apiVersion, resources] of optionalVersions()) {
    const level = Object.keys(LEVELS).find((level) => wanted.has(level) && LEVELS[level]?.test(apiVersion))
    const ofVersion = wanted.get(apiVersion) ?? (level !== undefined && wanted.get(level) === true)
    const ofResources = resources.filter((resource) => wanted.get(`${apiVersion}/${resource}`) ?? ofVersion)
    if (ofResources.length === resources.length) found.add(apiVersion)
    else for (const resource of ofResources) found.add(`${apiVersion}/${resource}`)
  }
  return found
}
