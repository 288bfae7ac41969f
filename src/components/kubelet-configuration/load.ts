/**
 * --config and --config-dir: a KubeletConfiguration, and drop-ins that are merged into it in the order of their names. As kubelet does it
 * decodes leniently: what is not known, or given twice, is told of, and no more.
 */
import { readdirSync } from 'node:fs'
import { dirname, isAbsolute, join, resolve } from 'node:path'
import { checkShape, configurationIn, STRICT, UnknownFieldsError } from '../../api/configuration/decode.ts'
import { asJson, type Json, type JsonObject } from '../../api/object.ts'
import { applyMergePatch } from '../../api/patch/merge-patch.ts'
import { messageOf } from '../../base/errors.ts'
import { systemReason } from '../../base/unread.ts'
import { readSmallFile } from '../small-file.ts'
import { KUBELET_CONFIGURATION } from './fields.ts'

const VERSION = 'kubelet.config.k8s.io/v1beta1'
const KIND = 'KubeletConfiguration'

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

type Say = (line: string) => void

/** Relative to the file's own directory. */
const PATHS = [
  ['staticPodPath'],
  ['podLogsDir'],
  ['resolvConf'],
  ['tlsCertFile'],
  ['tlsPrivateKeyFile'],
  ['volumePluginDir'],
  ['authentication', 'x509', 'clientCAFile'],
] as const

/** @throws Error in kubelet's words, in one line */
export function loadConfiguration(file: string | undefined, dropIns: string | undefined, say: Say): JsonObject {
  let config: JsonObject = {}
  if (file !== undefined) {
    try {
      config = withPaths(decoded(file, say), dirname(resolve(file)))
    } catch (cause) {
      const about = `failed to load kubelet config file, path: ${file}, error: failed to load Kubelet config file ${file}`
      throw new Error(`${about}, error ${messageOf(cause)}`, { cause })
    }
  }
  if (dropIns === undefined) return config
  try {
    for (const path of dropInsBelow(resolve(dropIns))) config = merged(config, path, say)
    lenient(config, () => {})
  } catch (cause) {
    throw new Error(`failed to merge kubelet configs: ${messageOf(cause)}`, { cause })
  }
  return config
}

function decoded(file: string, say: Say): JsonObject {
  const text = textOf(resolve(file))
  try {
    const config = configurationOf(text, file, say)
    lenient(config, (line) => say(`${file}: ${line}`))
    return config
  } catch (cause) {
    throw new Error(`failed to decode: ${messageOf(cause)}`, { cause })
  }
}

function textOf(path: string): string {
  let text: string
  try {
    text = readSmallFile(path)
  } catch (cause) {
    throw new Error(`failed to read kubelet config file ${JSON.stringify(path)}, error: ${messageOf(cause)}`, { cause })
  }
  if (text.length === 0) throw new Error(`kubelet config file ${JSON.stringify(path)} was empty`)
  return text
}

function configurationOf(text: string, file: string, say: Say): JsonObject {
  const { value, repeated } = configurationIn(text, { apiVersion: VERSION, kind: KIND })
  if (repeated.length > 0) say(`${file}: ${LENIENT}${repeated.join(', ')}`)
  return asJson(value)
}

const LENIENT = `using lenient decoding as strict decoding failed: ${STRICT}`

/** @throws Error for a value of another type */
function lenient(config: JsonObject, say: Say): void {
  try {
    checkShape(KUBELET_CONFIGURATION, config)
  } catch (error) {
    if (!(error instanceof UnknownFieldsError)) throw error
    say(`${LENIENT}${error.fields}`)
  }
}

/** Everything named *.conf, in folders below too, in lexical order. */
function dropInsBelow(directory: string): readonly string[] {
  try {
    return readdirSync(directory, { withFileTypes: true })
      .sort((a, b) => (a.name < b.name ? -1 : 1))
      .flatMap((entry) => {
        const path = join(directory, entry.name)
        if (entry.isDirectory()) return dropInsBelow(path)
        return entry.name.endsWith('.conf') ? [path] : []
      })
  } catch (cause) {
    throw new Error(
      `failed to walk through kubelet dropin directory "${directory}": lstat ${directory}: ${systemReason(cause)}`,
      {
        cause,
      },
    )
  }
}

function merged(config: JsonObject, path: string, say: Say): JsonObject {
  try {
    const value = configurationOf(textOf(path), path, say)
    for (const unknown of unknownOf(value)) say(`${path}: ${unknown}`)
    const patched = applyMergePatch(config, value)
    return isObject(patched) ? patched : {}
  } catch (cause) {
    throw new Error(`failed to load kubelet dropin file, path: ${path}, error: ${messageOf(cause)}`, { cause })
  }
}

/** A value of another type is judged once all are merged: a later file may replace it. */
function unknownOf(value: JsonObject): readonly string[] {
  const lines: string[] = []
  try {
    lenient(value, (line) => lines.push(line))
  } catch {
    return []
  }
  return lines
}

function withPaths(config: JsonObject, directory: string): JsonObject {
  return PATHS.reduce((now, path) => withPath(now, path, directory), config)
}

function withPath(config: JsonObject, [name, ...rest]: readonly string[], directory: string): JsonObject {
  const value = config[name ?? '']
  if (name === undefined) return config
  if (rest.length > 0) return isObject(value) ? { ...config, [name]: withPath(value, rest, directory) } : config
  if (typeof value !== 'string' || value === '' || isAbsolute(value)) return config
  return { ...config, [name]: join(directory, value) }
}
