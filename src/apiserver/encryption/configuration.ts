/** What an EncryptionConfiguration (apiserver.config.k8s.io/v1) asks for, judged in the words of kube-apiserver. */

import { strictConfiguration } from '../../api/configuration/decode.ts'
import { struct } from '../../api/configuration/shape.ts'
import type { JsonObject } from '../../api/object.ts'
import { parseUrl, type Url } from '../../api/objects/url.ts'
import { asList, asObject, asText, asTexts } from '../../api/unchecked.ts'
import { messageOf } from '../../base/errors.ts'
import { goDurationText, parseGoDuration } from '../../base/go-duration.ts'
import type { KmsSettings } from './kms/service.ts'
import { maskedResource, wrongResources } from './named-resources.ts'
import type { EncryptionKey } from './providers.ts'

export class EncryptionConfigError extends Error {}

export type ProviderSettings =
  | { readonly kind: 'identity' }
  | { readonly kind: 'aesgcm' | 'aescbc' | 'secretbox'; readonly keys: readonly EncryptionKey[] }
  | { readonly kind: 'kms'; readonly settings: KmsSettings }

export interface EncryptionEntry {
  readonly resources: readonly string[]
  readonly providers: readonly ProviderSettings[]
}

/** `file`: as messages name it. @throws EncryptionConfigError in one line, saying what is wrong */
export function parseEncryptionConfiguration(text: string, file: string): readonly EncryptionEntry[] {
  const document = decode(text, file)
  const problems: string[] = []
  const list = asList(document['resources'])
  if (list.length === 0) problems.push('resources: Required value: at least one resources is required')
  const names: KmsNames = { v1: new Set(), v2: new Set() }
  const entries = list.map((given, i) => {
    const where = `resources[${i}]`
    const entry = asObject(given)
    const resources = asTexts(entry['resources'])
    const providers = asList(entry['providers'])
    problems.push(...wrongResources(resources, `${where}.resources`))
    if (providers.length === 0)
      problems.push(`${where}.providers: Required value: at least one ${where}.providers is required`)
    return {
      resources,
      providers: providers.map((provider, j) =>
        providerOf(asObject(provider), `${where}.providers[${j}]`, names, problems),
      ),
    }
  })
  const [only = ''] = problems
  if (problems.length > 0) throw wrong(problems.length === 1 ? only : `[${problems.join(', ')}]`)
  const masked = maskedResource(entries.flatMap(({ resources }) => resources))
  const unbuilt = masked ?? (names.v1.size > 0 ? KMS_V1 : undefined)
  if (unbuilt !== undefined) throw new EncryptionConfigError(`error while building transformers: ${unbuilt}`)
  return entries.map(({ resources, providers }) => ({
    resources,
    providers: providers.filter((each) => each !== undefined),
  }))
}

const wrong = (why: string) => new EncryptionConfigError(`error while parsing file: ${why}`)

const KEYS = { keys: [struct('Key', { name: 'string', secret: 'string' })] } as const
const SHAPE = struct('EncryptionConfiguration', {
  resources: [
    struct('ResourceConfiguration', {
      resources: ['string'],
      providers: [
        struct('ProviderConfiguration', {
          aesgcm: struct('AESConfiguration', KEYS),
          aescbc: struct('AESConfiguration', KEYS),
          secretbox: struct('SecretboxConfiguration', KEYS),
          identity: struct('IdentityConfiguration', {}),
          kms: struct('KMSConfiguration', {
            apiVersion: 'string',
            name: 'string',
            cachesize: 'int32',
            endpoint: 'string',
            timeout: 'duration or null',
          }),
        }),
      ],
    }),
  ],
})

/** The older kind is taken still. */
const KINDS = [
  { kind: 'EncryptionConfiguration', apiVersion: 'apiserver.config.k8s.io/v1' },
  { kind: 'EncryptionConfig', apiVersion: 'v1' },
]

/** @throws EncryptionConfigError for what is no such document */
function decode(text: string, file: string): JsonObject {
  const name = JSON.stringify(file)
  if (text === '') throw wrong(`error while loading file: encryption provider configuration file ${name} is empty`)
  try {
    return strictConfiguration(text, KINDS, SHAPE) as JsonObject
  } catch (cause) {
    throw wrong(`error decoding encryption provider configuration file ${name}: ${messageOf(cause)}`)
  }
}

/** Of the providers of KMS until then. */
interface KmsNames {
  readonly v1: Set<string>
  readonly v2: Set<string>
}

const WITH_KEYS = ['aesgcm', 'aescbc', 'secretbox'] as const
const ALL = ['aesgcm', 'aescbc', 'secretbox', 'identity', 'kms'] as const

/** undefined for one that is wrong, which `problems` then tells. */
function providerOf(
  provider: JsonObject,
  where: string,
  names: KmsNames,
  problems: string[],
): ProviderSettings | undefined {
  const before = problems.length
  const given = ALL.filter((kind) => (provider[kind] ?? undefined) !== undefined)
  if (given.length > 1)
    problems.push(
      `${where}: Invalid value: "REDACTED": more than one provider specified in a single element, should split into different list elements`,
    )
  if (given.length === 0)
    problems.push(
      `${where}: Invalid value: {"AESGCM":null,"AESCBC":null,"Secretbox":null,"Identity":null,"KMS":null}: provider does not contain any of the expected providers: ${PROVIDERS}`,
    )
  if (given.includes('kms')) {
    const settings = kmsOf(asObject(provider['kms']), `${where}.kms`, names, problems)
    return problems.length === before && settings !== undefined ? { kind: 'kms', settings } : undefined
  }
  const kind = WITH_KEYS.find((one) => given.includes(one))
  if (kind === undefined) return given.length === 0 ? undefined : { kind: 'identity' }
  const lengths = kind === 'secretbox' ? SECRETBOX_BYTES : AES_BYTES
  const keys = keysOf(asObject(provider[kind]), `${where}.${kind}`, lengths, problems)
  return problems.length === before ? { kind, keys } : undefined
}

const PROVIDERS = 'KMS, AESGCM, AESCBC, Secretbox, Identity'
const KMS_V1 =
  'KMSv1 is deprecated and will only receive security updates going forward. Use KMSv2 instead.  Set --feature-gates=KMSv1=true to use the deprecated KMSv1 feature.'
const USUAL_TIMEOUT = '3s'

function kmsOf(kms: JsonObject, where: string, names: KmsNames, problems: string[]): KmsSettings | undefined {
  const { timeout, cachesize } = kms
  const name = asText(kms['name'])
  const version = asText(kms['apiVersion']) || 'v1'
  const invalid = (field: string, value: string, why: string) =>
    problems.push(`${where}.${field}: Invalid value: ${value}: ${why}`)
  if (name === '') problems.push(`${where}.name: Required value: name is a mandatory field for a provider`)
  if (version !== 'v1' && name.includes(':'))
    invalid('name', JSON.stringify(name), `invalid KMS provider name ${name}, must not contain ':'`)
  const others = version === 'v1' ? names.v1 : names.v2
  if (others.has(name))
    invalid('name', JSON.stringify(name), `duplicate KMS provider name ${name}, names must be unique`)
  others.add(name)
  const nanos = parseGoDuration(asText(timeout ?? USUAL_TIMEOUT))
  if (nanos <= 0n) invalid('timeout', JSON.stringify(goDurationText(nanos)), 'timeout should be a positive value')
  const path = socketOf(asText(kms['endpoint']), (why) =>
    invalid('endpoint', JSON.stringify(asText(kms['endpoint'])), why),
  )
  if (typeof cachesize === 'number') {
    if (version !== 'v1') invalid('cachesize', String(cachesize), 'cachesize is not supported in v2')
    else if (cachesize === 0) invalid('cachesize', '0', 'cachesize should be a positive value, or negative to disable')
  }
  if (version !== 'v1' && version !== 'v2')
    invalid(
      'apiVersion',
      JSON.stringify(version),
      'unsupported apiVersion apiVersion for KMS provider, only v1 and v2 are supported',
    )
  return path === undefined ? undefined : { name, path, timeoutMs: Number(nanos) / 1e6 }
}

/** The path of an endpoint `unix:///run/kms.sock`; one of Linux' abstract names is `unix:///@name`. */
function socketOf(endpoint: string, refuse: (why: string) => void): string | undefined {
  if (endpoint === '') {
    refuse('endpoint is a mandatory field for a kms')
    return undefined
  }
  let url: Url
  try {
    url = parseUrl(endpoint, false)
  } catch (error) {
    refuse(`invalid endpoint for kms provider, error: parse ${JSON.stringify(endpoint)}: ${messageOf(error)}`)
    return undefined
  }
  if (url.scheme !== 'unix') {
    refuse(`unsupported scheme ${JSON.stringify(url.scheme)} for KMS provider, only unix is supported`)
    return undefined
  }
  return url.path.startsWith('/@') ? url.path.slice(1) : url.path
}

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
