/** Rules of ConfigMap and Secret. */
import { type FieldError, forbiddenField, invalid, required, tooLong } from '../errors/field-errors.ts'
import type { ConfigMap, Secret } from '../generated/types.ts'
import { configMapKey } from '../names/name-formats.ts'
import type { Fields, KubeObject } from '../object.ts'
import { sameAsGiven } from '../schema/canonical.ts'
import { JsonSyntaxError, jsonWordFor, ObjectNode, parseJsonBytes } from '../values/json.ts'
import { same } from './common.ts'

const MAX_BYTES = 1024 * 1024
const WHEN_IMMUTABLE = 'field is immutable when `immutable` is set'
const REDACTED = '<secret contents redacted>'

function base64Length(text: string): number {
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0
  return (text.length / 4) * 3 - padding
}

export function validateConfigMap(object: ConfigMap): readonly FieldError[] {
  const errors: FieldError[] = []
  const data: Fields = object.data ?? {}
  const binary: Fields = object.binaryData ?? {}
  let size = 0
  for (const key of Object.keys(data).sort()) {
    for (const message of configMapKey(key)) errors.push(invalid(`data[${key}]`, key, message))
    if (Object.hasOwn(binary, key)) errors.push(invalid(`data[${key}]`, key, 'duplicate of key present in binaryData'))
    size += Buffer.byteLength(data[key])
  }
  for (const key of Object.keys(binary).sort()) {
    for (const message of configMapKey(key)) errors.push(invalid(`binaryData[${key}]`, key, message))
    size += base64Length(binary[key] ?? '')
  }
  if (size > MAX_BYTES) errors.push(tooLong('[]', MAX_BYTES))
  return errors
}

export function validateConfigMapUpdate(object: ConfigMap, old: ConfigMap): readonly FieldError[] {
  return [...frozen(object, old, { data: alike, binaryData: sameAsGiven }), ...validateConfigMap(object)]
}

type Kept = (object: KubeObject, old: KubeObject, field: string) => boolean
/** Empty and absent are one in a ConfigMap's `data`, and are not in its `binaryData` nor in a Secret's `data`. */
const alike: Kept = (object, old, field) => same(object[field], old[field])

function frozen(object: KubeObject, old: KubeObject, fields: { readonly [field: string]: Kept }): FieldError[] {
  const errors: FieldError[] = []
  if (old['immutable'] !== true) return errors
  if (object['immutable'] !== true) errors.push(forbiddenField('immutable', WHEN_IMMUTABLE))
  for (const [field, kept] of Object.entries(fields))
    if (!kept(object, old, field)) errors.push(forbiddenField(field, WHEN_IMMUTABLE))
  return errors
}

export function validateSecret(object: Secret): readonly FieldError[] {
  const errors: FieldError[] = []
  const data: Fields = object.data ?? {}
  const has = (key: string) => Object.hasOwn(data, key)
  let size = 0
  for (const key of Object.keys(data).sort()) {
    for (const message of configMapKey(key)) errors.push(invalid(`data[${key}]`, key, message))
    size += base64Length(data[key] ?? '')
  }
  if (size > MAX_BYTES) errors.push(tooLong('data', MAX_BYTES))
  const needs = (...keys: readonly string[]) => {
    for (const key of keys) if (!has(key)) errors.push(required(`data[${key}]`))
  }
  switch (object.type) {
    case 'kubernetes.io/service-account-token':
      if (!object.metadata.annotations?.['kubernetes.io/service-account.name'])
        errors.push(required('metadata.annotations[kubernetes.io/service-account.name]'))
      break
    case 'kubernetes.io/dockercfg':
      jsonSecret(data, '.dockercfg', errors)
      break
    case 'kubernetes.io/dockerconfigjson':
      jsonSecret(data, '.dockerconfigjson', errors)
      break
    case 'kubernetes.io/basic-auth':
      if (!has('username') && !has('password')) needs('username', 'password')
      break
    case 'kubernetes.io/ssh-auth':
      if (!data['ssh-privatekey']) errors.push(required('data[ssh-privatekey]'))
      break
    case 'kubernetes.io/tls':
      needs('tls.crt', 'tls.key')
      break
  }
  return errors
}

function jsonSecret(data: Fields, key: string, errors: FieldError[]): void {
  if (!Object.hasOwn(data, key)) {
    errors.push(required(`data[${key}]`))
    return
  }
  const message = whyNoObject(Buffer.from(data[key] ?? '', 'base64'))
  if (message !== undefined) errors.push(invalid(`data[${key}]`, REDACTED, message))
}

function whyNoObject(bytes: Buffer): string | undefined {
  try {
    const node = parseJsonBytes(bytes)
    if (node === null || node instanceof ObjectNode) return undefined
    return `json: cannot unmarshal ${jsonWordFor(node)} into Go value of type map[string]interface {}`
  } catch (error) {
    if (error instanceof JsonSyntaxError) return error.message
    throw error
  }
}

export function validateSecretUpdate(object: Secret, old: Secret): readonly FieldError[] {
  const errors: FieldError[] = []
  if (object.type !== old.type) errors.push(invalid('type', object.type ?? '', 'field is immutable'))
  return [...errors, ...frozen(object, old, { data: sameAsGiven }), ...validateSecret(object)]
}
