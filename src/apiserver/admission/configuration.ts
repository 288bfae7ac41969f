/** AdmissionConfiguration (apiserver.config.k8s.io/v1): what each plugin is to go by, written in it or in a file that it names. */
import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { parseYaml } from '../../api/codec/yaml.ts'
import {
  type ConfigurationKind,
  kindInVersions,
  lenientConfiguration,
  strictConfiguration,
  unknownIn,
} from '../../api/configuration/decode.ts'
import { type Struct, struct, type ValueOf } from '../../api/configuration/shape.ts'
import type { JsonObject } from '../../api/object.ts'
import { plainOf } from '../../api/values/json.ts'
import { messageOf } from '../../base/errors.ts'
import { whyUnread } from '../../base/unread.ts'

const FILE = struct('AdmissionConfiguration', {
  plugins: [struct('AdmissionPluginConfiguration', { name: 'string', path: 'string', configuration: 'any' })],
})

/** What a plugin may be told. */
interface Configured {
  readonly kinds: readonly ConfigurationKind[]
  readonly shape: Struct
  /** What another configuration than an empty one asks for is not done here. */
  readonly isIgnored?: true
  /** Fields that are not known are passed over. */
  readonly isLenient?: true
}

const TOLERATION: Struct = {
  ...struct('Toleration', {
    ...{ key: 'string', value: 'string', tolerationSeconds: 'int64' },
    operator: { named: 'TolerationOperator' },
    effect: { named: 'TaintEffect' },
  }),
  goPackage: 'v1',
}
const LEVELS = ['enforce', 'audit', 'warn'].flatMap((mode) => [mode, `${mode}-version`])
const CONFIG = 'apiserver.config.k8s.io'
const WEBHOOKS: Configured = {
  kinds: kindInVersions('WebhookAdmissionConfiguration', CONFIG, 'v1'),
  shape: struct('WebhookAdmission', { kubeConfigFile: 'string' }),
  isIgnored: true,
}

const CONFIGURED: Readonly<Record<string, Configured>> = {
  EventRateLimit: {
    kinds: kindInVersions('Configuration', 'eventratelimit.admission.k8s.io', 'v1alpha1'),
    isLenient: true,
    shape: struct('Configuration', {
      limits: [struct('Limit', { type: { named: 'LimitType' }, qps: 'int32', burst: 'int32', cacheSize: 'int32' })],
    }),
  },
  PodSecurity: {
    kinds: kindInVersions(
      'PodSecurityConfiguration',
      'pod-security.admission.config.k8s.io',
      ...['v1', 'v1beta1', 'v1alpha1'],
    ),
    shape: struct('PodSecurityConfiguration', {
      defaults: struct('PodSecurityDefaults', Object.fromEntries(LEVELS.map((field) => [field, 'string']))),
      exemptions: struct('PodSecurityExemptions', {
        usernames: ['string'],
        namespaces: ['string'],
        runtimeClasses: ['string'],
      }),
    }),
  },
  PodTolerationRestriction: {
    kinds: kindInVersions('Configuration', 'podtolerationrestriction.admission.k8s.io', 'v1alpha1'),
    isLenient: true,
    shape: struct('Configuration', { default: [TOLERATION], whitelist: [TOLERATION] }),
  },
  MutatingAdmissionPolicy: WEBHOOKS,
  MutatingAdmissionWebhook: WEBHOOKS,
  ValidatingAdmissionPolicy: WEBHOOKS,
  ValidatingAdmissionWebhook: WEBHOOKS,
  ResourceQuota: {
    kinds: kindInVersions('ResourceQuotaConfiguration', CONFIG, 'v1'),
    shape: struct('Configuration', {
      limitedResources: [
        struct('LimitedResource', {
          ...{ apiGroup: 'string', resource: 'string', matchContains: ['string'] },
          matchScopes: [
            struct('ScopedResourceSelectorRequirement', {
              scopeName: { named: 'ResourceQuotaScope' },
              operator: { named: 'ScopeSelectorOperator' },
              values: ['string'],
            }),
          ],
        }),
      ],
    }),
    isIgnored: true,
  },
}

/** Of no kind, and read otherwise than the others: what is not known is passed over. */
const IMAGE_POLICY: Struct = {
  ...struct('AdmissionConfig', {
    imagePolicy: {
      ...struct('imagePolicyWebhookConfig', {
        ...{ kubeConfigFile: 'string', allowTTL: 'int64', denyTTL: 'int64', retryBackoff: 'int64' },
        defaultAllow: 'bool',
      }),
      goPackage: 'imagepolicy',
    },
  }),
}

/** By a plugin's name, what it is to go by; undefined: nothing is said. Throws an Error in one line for what is wrong in it. */
export type ConfigurationOf = (plugin: string) => JsonObject | undefined

/** `file`: where the text is from. @throws Error in one line, saying what is wrong with the file itself */
export function admissionConfigurations(text: string, file: string): ConfigurationOf {
  let given: ValueOf<typeof FILE>
  try {
    given = strictConfiguration(text, kindInVersions(FILE.type, CONFIG, 'v1'), FILE)
  } catch (cause) {
    throw new Error(`failed to apply admission: failed to read plugin config: ${messageOf(cause)}`, { cause })
  }
  return (plugin) => {
    const found = given.plugins?.find((one) => one?.name === plugin)
    if (found === undefined || found === null) return undefined
    const own = found.path
      ? read(resolve(dirname(file), found.path))
      : found.configuration === undefined || found.configuration === null
        ? undefined
        : JSON.stringify(found.configuration)
    return own === undefined ? undefined : decoded(plugin, own)
  }
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (cause) {
    throw new Error(`its configuration is not to be read: ${whyUnread(path, cause)}`, { cause })
  }
}

function decoded(plugin: string, text: string): JsonObject | undefined {
  if (plugin === 'ImagePolicyWebhook') return imagePolicy(text)
  const configured = Object.hasOwn(CONFIGURED, plugin) ? CONFIGURED[plugin] : undefined
  // Another plugin looks at none.
  if (configured === undefined) return undefined
  const { kinds, shape, isIgnored, isLenient } = configured
  const value = (isLenient ? lenientConfiguration : strictConfiguration)(text, kinds, shape) as JsonObject
  const { kind: _kind, apiVersion: _version, ...rest } = value
  const says = Object.entries(rest).find(([, value]) => value !== null && value !== '' && !isEmptyList(value))
  if (isIgnored === true && says !== undefined) throw new Error(`skiff does not go by ${says[0]}: leave it out`)
  return value
}

const isEmptyList = (value: unknown): boolean => Array.isArray(value) && value.length === 0

function imagePolicy(text: string): JsonObject {
  const given = plainOf(parseYaml(text).node)
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    const found = Array.isArray(given) ? 'array' : typeof given === 'boolean' ? 'bool' : typeof given
    throw new Error(
      `error unmarshaling JSON: while decoding JSON: json: cannot unmarshal ${found} into Go value of type imagepolicy.AdmissionConfig`,
    )
  }
  unknownIn(IMAGE_POLICY, given)
  return given as JsonObject
}
