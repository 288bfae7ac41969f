/** EncryptionConfiguration (apiserver.config.k8s.io/v1): which resources are encrypted, and how. */

import { parse } from 'yaml'
import type { JsonObject } from '../../api/object.ts'
import type { Scheme } from '../../api/scheme/resource.ts'
import { asObject } from '../../api/unchecked.ts'
import type { Random } from '../../base/random.ts'
import type { Transformer } from '../../storage/transform.ts'
import { notEncrypted } from './not-encrypted.ts'
import {
  aescbc,
  aesgcm,
  type EncryptionKey,
  type EncryptionProvider,
  identity,
  isEncrypted,
  secretbox,
  startsWith,
} from './providers.ts'

export class EncryptionConfigError extends Error {}

interface Entry {
  readonly resources: readonly string[]
  readonly providers: readonly EncryptionProvider[]
}

/** The transformer of a configuration file's text. @throws EncryptionConfigError in one line, saying what is wrong */
export function encryptionOf(text: string, scheme: Scheme, random: Random): Transformer {
  const entries = parseConfiguration(text, random)
  const byPrefix = new Map<string, readonly EncryptionProvider[]>()
  for (const row of scheme.rows()) {
    if (row.storagePrefix === '' || byPrefix.has(row.storagePrefix)) continue
    const entry = entries.find(({ resources }) => resources.some((named) => names(named, row)))
    if (entry) byPrefix.set(row.storagePrefix, entry.providers)
  }
  const providersOf = (key: string): readonly EncryptionProvider[] => {
    for (let slash = key.indexOf('/', ROOT.length); slash > 0; slash = key.indexOf('/', slash + 1)) {
      const found = byPrefix.get(key.slice(ROOT.length, slash))
      if (found) return found
    }
    // Custom resources come and go; their keys name their group, which has a dot, and then themselves.
    const [, , group = '', resource = ''] = key.split('/', 4)
    if (!group.includes('.')) return []
    return (
      entries.find(({ resources }) => resources.some((named) => names(named, { group, resource })))?.providers ?? []
    )
  }
  return {
    encode: (key, plain) => providersOf(key)[0]?.encrypt(key, plain) ?? plain,
    isStale: (key, stored) => {
      const [first] = providersOf(key)
      return first === undefined ? false : !first.isCurrent(stored)
    },
    decode: (key, stored) => {
      const providers = providersOf(key)
      return providers.length === 0 ? notEncrypted.decode(key, stored) : decrypted(providers, key, stored)
    },
    mayBeGarbled: entries.some(({ providers }) => providers.some(({ isAuthenticated }) => !isAuthenticated)),
  }
}

/** By the first provider that can: several of one kind have keys of their own. @throws what the first that should have been able says */
function decrypted(providers: readonly EncryptionProvider[], key: string, stored: Uint8Array): Uint8Array {
  let failure: unknown
  for (const provider of providers) {
    if (provider.prefix === '' ? isEncrypted(stored) : !startsWith(stored, provider.prefix)) continue
    try {
      return provider.decrypt(key, stored)
    } catch (error) {
      failure ??= error
    }
  }
  throw failure ?? new Error('no matching prefix found')
}

const ROOT = '/registry/'

/** `secrets`, `deployments.apps`, `*.apps` (a whole group), `*.` (the core group), `*.*` (everything). */
function names(named: string, row: { readonly group: string; readonly resource: string }): boolean {
  const dot = named.indexOf('.')
  const [resource, group] = dot < 0 ? [named, ''] : [named.slice(0, dot), named.slice(dot + 1)]
  return (resource === '*' || resource === row.resource) && (group === '*' || group === row.group)
}

function parseConfiguration(text: string, random: Random): readonly Entry[] {
  let document: JsonObject
  try {
    document = asObject(parse(text, { maxAliasCount: 100 }))
  } catch (error) {
    throw new EncryptionConfigError(
      `the encryption configuration is not YAML: ${(error as Error).message.split('\n')[0]}`,
    )
  }
  if (document['kind'] !== 'EncryptionConfiguration')
    throw new EncryptionConfigError('the encryption configuration must be of kind EncryptionConfiguration')
  const list = document['resources']
  if (!Array.isArray(list) || list.length === 0)
    throw new EncryptionConfigError('the encryption configuration has no resources')
  return list.map((given, i) => {
    const where = `resources[${i}]`
    const entry = asObject(given)
    const resources = entry['resources']
    if (!Array.isArray(resources) || resources.length === 0 || resources.some((name) => typeof name !== 'string'))
      throw new EncryptionConfigError(`${where}.resources must name at least one resource`)
    const providers = entry['providers']
    if (!Array.isArray(providers) || providers.length === 0)
      throw new EncryptionConfigError(`${where}.providers must have at least one provider`)
    return {
      resources,
      providers: providers.map((provider, j) => providerOf(asObject(provider), `${where}.providers[${j}]`, random)),
    }
  })
}

function providerOf(provider: JsonObject, where: string, random: Random): EncryptionProvider {
  const [name] = Object.keys(provider)
  switch (name) {
    case 'identity':
      return identity
    case 'aesgcm':
      return aesgcm(random, keysOf(asObject(provider['aesgcm']), `${where}.aesgcm`))
    case 'aescbc':
      return aescbc(random, keysOf(asObject(provider['aescbc']), `${where}.aescbc`))
    case 'secretbox':
      return secretbox(random, keysOf(asObject(provider['secretbox']), `${where}.secretbox`, SECRETBOX_BYTES))
    default:
      throw new EncryptionConfigError(
        `${where}: ${name ?? 'an empty provider'} cannot be used here: use aesgcm, aescbc, secretbox or identity`,
      )
  }
}

const AES_BYTES = [16, 24, 32]
const SECRETBOX_BYTES = [32]

function keysOf({ keys }: JsonObject, where: string, lengths = AES_BYTES): readonly EncryptionKey[] {
  if (!Array.isArray(keys) || keys.length === 0)
    throw new EncryptionConfigError(`${where}.keys must have at least one key`)
  const seen = new Set<string>()
  return keys.map((given, i) => {
    const at = `${where}.keys[${i}]`
    const key = asObject(given)
    const name = key['name']
    if (name === undefined || name === null || name === '')
      throw new EncryptionConfigError(`${at}.name: Required value: name is a mandatory field for a key`)
    if (typeof name !== 'string' || name.includes(':'))
      throw new EncryptionConfigError(`${at}.name must be a text without colons`)
    if (seen.has(name)) throw new EncryptionConfigError(`${at}.name: ${name} is there twice`)
    seen.add(name)
    const text = String(key['secret'] ?? '')
    if (text === '')
      throw new EncryptionConfigError(`${at}.secret: Required value: secret is a mandatory field for a key`)
    const secret = Buffer.from(text, 'base64')
    if (secret.toString('base64') !== text)
      throw new EncryptionConfigError(`${at}.secret: Invalid value: "REDACTED": secrets must be base64 encoded`)
    if (!lengths.includes(secret.length))
      throw new EncryptionConfigError(
        `${at}.secret: Invalid value: "REDACTED": secret is not of the expected length, got ${secret.length}, expected one of [${lengths.join(' ')}]`,
      )
    return { name, secret }
  })
}
