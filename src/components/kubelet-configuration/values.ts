/** From the fields of a KubeletConfiguration to the values of settings as flags write them, and back. */

import type { Json, JsonObject } from '../../api/object.ts'
import { parseGoBool } from '../../base/go-bool.ts'
import { goDurationText } from '../../base/go-duration.ts'
import { asDuration, type FlagValues, isUsual } from '../flags.ts'
import { KUBELET_SETTINGS, KUBELET_VALUES, type Setting, type SettingType } from './settings.ts'

const at = (config: JsonObject, path: readonly string[]): Json | undefined =>
  path.reduce<Json | undefined>((value, name) => (value as JsonObject | null | undefined)?.[name], config)

/** The values of the file below those of the command line; feature gates alone are joined. */
export function valuesOf(config: JsonObject, given: FlagValues): FlagValues {
  const values = new Map<string, readonly string[]>()
  for (const setting of KUBELET_SETTINGS) {
    if (setting.field === undefined) continue
    const value = at(config, setting.field)
    if (value === undefined || value === null) continue
    const texts = textsOf(setting.type, value)
    if (!setting.zeroCounts && texts.every((text) => isZero(setting.type, text))) continue
    values.set(setting.name, texts)
  }
  const verbosity = at(config, ['logging', 'verbosity'])
  if (typeof verbosity === 'number') values.set('v', [String(verbosity)])
  for (const [name, texts] of given)
    values.set(name, name === 'feature-gates' ? [...(values.get(name) ?? []), ...texts] : texts)
  return values
}

/** A line for each field of the file that asks for what skiff does not do. `given`: what the command line says instead. */
export function lackingLines(config: JsonObject, given: FlagValues): readonly string[] {
  return KUBELET_SETTINGS.flatMap(({ name, field, handling, type, zeroCounts }) => {
    if (field === undefined || handling !== 'lacking' || given.has(name)) return []
    const value = at(config, field)
    if (value === undefined || value === null) return []
    const flag = KUBELET_VALUES.get(name)
    const texts = textsOf(type, value)
    const isDefault = (text: string) =>
      (!zeroCounts && isZero(type, text)) || (flag !== undefined && isUsual(flag, text))
    if (texts.every(isDefault)) return []
    const instead = flag?.usual === undefined ? 'it is as without this field' : `it is as with ${flag.usual}`
    return [`${field.join('.')}: skiff does not do what this asks for; ${instead}`]
  })
}

function isZero(type: SettingType, text: string): boolean {
  if (type === 'duration') return asDuration(text) === 0n
  if (type === 'bool') return text === 'false'
  return text === '' || ((type === 'int32' || type === 'int64') && text === '0')
}

const pairs = (value: Json, sign: string): readonly string[] =>
  Object.entries(value as JsonObject).map(([key, inner]) => `${key}${sign}${inner}`)

/** As the flag's own syntax has them. */
function textsOf(type: SettingType, value: Json): readonly string[] {
  switch (type) {
    case 'map':
    case 'gates':
      return pairs(value, '=')
    case 'map<':
      return pairs(value, '<')
    case 'headers':
      return Object.entries(value as JsonObject).flatMap(([key, list]) =>
        (list as readonly string[]).map((one) => `${key}:${one}`),
      )
    case 'taints':
      return (value as readonly JsonObject[]).map((taint) =>
        [`${taint['key'] ?? ''}`, taint['value'] ? `=${taint['value']}` : '', `:${taint['effect'] ?? ''}`].join(''),
      )
    case 'strings':
    case 'array':
      return value as readonly string[]
    case 'any':
      return Object.keys(value as object).length === 0 ? [] : [JSON.stringify(value)]
    default:
      return [String(value)]
  }
}

/** What is in force, as KubeletConfiguration: of the settings that have a field, those with a value or a default; of what skiff does not do, that. */
export function configurationOfValues(values: FlagValues): JsonObject {
  let config: JsonObject = { kind: 'KubeletConfiguration', apiVersion: 'kubelet.config.k8s.io/v1beta1' }
  for (const setting of KUBELET_SETTINGS) {
    const { field, name, handling } = setting
    if (field === undefined || (setting.type === 'any' && handling !== 'used')) continue
    const usual = KUBELET_VALUES.get(name)?.usual
    const given = handling === 'lacking' ? undefined : values.get(name)
    const texts = given ?? (usual === undefined ? undefined : [usual])
    if (texts !== undefined) config = withValue(config, field, jsonOf(setting, texts))
  }
  return config
}

function withValue(config: JsonObject, [name = '', ...rest]: readonly string[], value: Json): JsonObject {
  if (rest.length === 0) return { ...config, [name]: value }
  return { ...config, [name]: withValue((config[name] ?? {}) as JsonObject, rest, value) }
}

function jsonOf({ type }: Setting, texts: readonly string[]): Json {
  const last = texts.at(-1) ?? ''
  const entries = (sign: string) =>
    texts.map((text): [string, string] => {
      const [key = '', ...value] = text.split(sign)
      return [key, value.join(sign)]
    })
  switch (type) {
    case 'bool':
      return parseGoBool(last) === true
    case 'int32':
    case 'int64':
    case 'float':
      return Number(last)
    case 'duration':
      return goDurationText(asDuration(last) ?? 0n)
    case 'strings':
    case 'array':
      return texts
    case 'map':
      return Object.fromEntries(entries('='))
    case 'map<':
      return Object.fromEntries(entries('<'))
    case 'gates':
      return Object.fromEntries(entries('=').map(([gate, on]) => [gate, parseGoBool(on) === true]))
    case 'headers':
      return Object.fromEntries(entries(':').map(([header, value]) => [header, [value]]))
    case 'any':
      return JSON.parse(last)
    case 'taints':
      return texts.map((text) => ({ ...taintOf(text) }))
    default:
      return last
  }
}

export interface GivenTaint {
  readonly key: string
  readonly value?: string
  readonly effect: string
}

/** `key=value:effect` or `key:effect`. */
export function taintOf(text: string): GivenTaint {
  const [rest = '', effect = ''] = text.split(/:(?=[^:]*$)/)
  const [key = '', value] = rest.split('=', 2)
  return value === undefined || value === '' ? { key, effect } : { key, value, effect }
}
