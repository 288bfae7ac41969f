/** EncryptionConfiguration (apiserver.config.k8s.io/v1): which resources are encrypted, and how. */

import type { Scheme } from '../../api/scheme/resource.ts'
import type { Random } from '../../base/random.ts'
import type { Transformer } from '../../storage/transform.ts'
import type { EncryptionEntry, ProviderSettings } from './configuration.ts'
import type { KmsProvider } from './kms/provider.ts'
import type { KmsSettings } from './kms/service.ts'
import { notEncrypted } from './not-encrypted.ts'
import { aescbc, aesgcm, type EncryptionProvider, identity, isEncrypted, secretbox, startsWith } from './providers.ts'

/** `kms`: those of plugins, by what the configuration says of each. */
export function encryptionOf(
  configuration: readonly EncryptionEntry[],
  scheme: Scheme,
  random: Random,
  kms: ReadonlyMap<KmsSettings, KmsProvider> = new Map(),
): Transformer {
  const entries = configuration.map(({ resources, providers }) => ({
    resources,
    providers: providers.map((settings) => providerOf(settings, random, kms)),
  }))
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
    ...(kms.size === 0 ? {} : { prepare: (items) => prepared(providersOf, items) }),
    mayBeGarbled: entries.some(({ providers }) => providers.some(({ isAuthenticated }) => !isAuthenticated)),
  }
}

function providerOf(
  settings: ProviderSettings,
  random: Random,
  kms: ReadonlyMap<KmsSettings, KmsProvider>,
): EncryptionProvider {
  switch (settings.kind) {
    case 'identity':
      return identity
    case 'aesgcm':
      return aesgcm(random, settings.keys)
    case 'aescbc':
      return aescbc(random, settings.keys)
    case 'secretbox':
      return secretbox(random, settings.keys)
    case 'kms': {
      const provider = kms.get(settings.settings)
      if (provider === undefined) throw new Error(`nothing was made for the KMS provider ${settings.settings.name}`)
      return provider
    }
  }
}

/** undefined where nothing has to be waited for. */
function prepared(
  providersOf: (key: string) => readonly EncryptionProvider[],
  items: readonly { readonly key: string; readonly value: Uint8Array }[],
): Promise<void> | undefined {
  const wanted = new Map<EncryptionProvider, Uint8Array[]>()
  for (const { key, value } of items)
    for (const provider of providersOf(key)) {
      if (provider.prepare === undefined || !startsWith(value, provider.prefix)) continue
      const values = wanted.get(provider)
      if (values === undefined) wanted.set(provider, [value])
      else values.push(value)
    }
  const waits = [...wanted].map(([provider, values]) => provider.prepare?.(values)).filter((wait) => wait !== undefined)
  return waits.length === 0 ? undefined : Promise.all(waits).then(() => {})
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
