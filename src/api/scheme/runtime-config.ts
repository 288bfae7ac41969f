/** --runtime-config, as kube-apiserver's: which API versions, and which resources of them, are served. */

/** What names fewer goes first. */
const LEVELS: Readonly<Record<string, RegExp>> = {
  'api/beta': /beta\d+$/,
  'api/alpha': /alpha\d+$/,
  'api/ga': /(^|\/)v\d+$/,
  'api/all': /./,
}

/** `resource.k8s.io/v1beta2=true` as its name and whether it is on; undefined for what is neither. */
export function readSetting(setting: string): { readonly key: string; readonly on: boolean | undefined } {
  const [key = '', value] = setting.trim().split('=', 2)
  if (value === undefined || value === '' || /^(1|t|T|true|TRUE|True)$/.test(value)) return { key, on: true }
  return { key, on: /^(0|f|F|false|FALSE|False)$/.test(value) ? false : undefined }
}

/** Whether a resource is served; `usual`: it is unless something else is said. */
export type ResourceChoice = (apiVersion: string, resource: string, usual: boolean) => boolean

/** undefined where nothing is said. What names one resource goes before what names a version, and that before what names many. */
export function chosenResources(settings: readonly string[]): ResourceChoice | undefined {
  if (settings.length === 0) return undefined
  const wanted = new Map(settings.map(readSetting).map(({ key, on }) => [key, on]))
  return (apiVersion, resource, usual) => {
    const level = Object.keys(LEVELS).find((level) => wanted.has(level) && LEVELS[level]?.test(apiVersion))
    const names = [`${apiVersion}/${resource}`, apiVersion, ...(level === undefined ? [] : [level])]
    return names.map((name) => wanted.get(name)).find((on) => on !== undefined) ?? usual
  }
}
