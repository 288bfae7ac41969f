/** EncryptionConfiguration (apiserver.config.k8s.io/v1): which resources are encrypted, and how. */

import { parse } from 'yaml'
import type { JsonObject } from '../../api/object.ts'
import type { Scheme } from '../../api/scheme/resource.ts'
import { asList, asObject, asText, asTexts } from '../../api/unchecked.ts'
import type { Random } from '../../base/random.ts'
import type { Transformer } from '../../storage/transform.ts'
import { maskedResource, wrongResources } from './named-resources.ts'
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
  const problems: string[] = []
  const list = asList(document['resources'])
  if (list.length === 0) problems.push('resources: Required value: at least one resources is required')
  const entries = list.map((given, i) => {
    const where = `resources[${i}]`
    const entry = asObject(given)
    const resources = asTexts(entry['resources'])
    if (resources.length < asList(entry['resources']).length)
      throw new EncryptionConfigError(`${where}.resources has something that is no name`)
    const providers = asList(entry['providers'])
    problems.push(...wrongResources(resources, `${where}.resources`))
    if (providers.length === 0)
      problems.push(`${where}.providers: Required value: at least one ${where}.providers is required`)
    return {
      resources,
      providers: providers.map((provider, j) =>
        providerOf(asObject(provider), `${where}.providers[${j}]`, random, problems),
      ),
    }
  })
  const [only = ''] = problems
  if (problems.length > 0) throw new EncryptionConfigError(problems.length === 1 ? only : `[${problems.join(', ')}]`)
  const masked = maskedResource(entries.flatMap(({ resources }) => resources))
  if (masked !== undefined) throw new EncryptionConfigError(masked)
  return entries.map(({ resources, providers }) => ({
    resources,
    providers: providers.filter((each) => each !== undefined),
  }))
}

/** undefined for one whose keys are wrong, which `problems` then tells. @throws EncryptionConfigError for one that there is not */
function providerOf(
  provider: JsonObject,
  where: string,
  random: Random,
  problems: string[],
): EncryptionProvider | undefined {
  const [name, ...more] = Object.keys(provider)
  if (more.length > 0) {
    // The value has keys in it, which are not to be told.
    problems.push(
      `${where}: Invalid value: "REDACTED": more than one provider specified in a single element, should split into different list elements`,
    )
    return undefined
  }
  const made = (
    kind: 'aesgcm' | 'aescbc' | 'secretbox',
    make: (random: Random, keys: readonly EncryptionKey[]) => EncryptionProvider,
    lengths = AES_BYTES,
  ) => {
    const before = problems.length
    const keys = keysOf(asObject(provider[kind]), `${where}.${kind}`, lengths, problems)
    return problems.length === before ? make(random, keys) : undefined
  }
  switch (name) {
    case 'identity':
      return identity
    case 'aesgcm':
      return made(name, aesgcm)
    case 'aescbc':
      return made(name, aescbc)
    case 'secretbox':
      return made(name, secretbox, SECRETBOX_BYTES)
    case undefined:
      problems.push(
        `${where}: Invalid value: {}: provider does not contain any of the expected providers: ${PROVIDERS}`,
      )
      return undefined
    default:
      if (name === 'kms' && (asObject(provider['kms'])['apiVersion'] ?? 'v1') === 'v1')
        throw new EncryptionConfigError(KMS_V1)
      throw new EncryptionConfigError(
        `${where}: ${name} cannot be used here: use aesgcm, aescbc, secretbox or identity`,
      )
  }
}

const PROVIDERS = 'KMS, AESGCM, AESCBC, Secretbox, Identity'
const KMS_V1 =
  'KMSv1 is deprecated and will only receive security updates going forward. Use KMSv2 instead.  Set --feature-gates=KMSv1=true to use the deprecated KMSv1 feature.'
const AES_BYTES = [16, 24, 32]
const SECRETBOX_BYTES = [32]

/** As Go's standard decoder takes it: line ends are passed over, and the bits that are left over at the end may be any. */
const isBase64 = (text: string): boolean =>
  /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(text.replace(/[\r\n]/g, ''))

/** All of them; `problems` is told of those that are wrong. */
function keysOf(
  { keys }: JsonObject,
  where: string,
  lengths: readonly number[],
  problems: string[],
): readonly EncryptionKey[] {
  const list = asList(keys)
  if (list.length === 0) problems.push(`${where}.keys: Required value: at least one keys is required`)
  return list.map((given, i) => {
    const at = `${where}.keys[${i}]`
    const key = asObject(given)
    const [name, text] = [asText(key['name']), asText(key['secret'])]
    if (name === '') problems.push(`${at}.name: Required value: name is a mandatory field for a key`)
    const secret = Buffer.from(text, 'base64')
    if (text === '') problems.push(`${at}.secret: Required value: secret is a mandatory field for a key`)
    else if (!isBase64(text)) problems.push(`${at}.secret: Invalid value: "REDACTED": secrets must be base64 encoded`)
    else if (!lengths.includes(secret.length))
      problems.push(
        `${at}.secret: Invalid value: "REDACTED": secret is not of the expected length, got ${secret.length}, expected one of [${lengths.join(' ')}]`,
      )
    return { name, secret }
  })
}
