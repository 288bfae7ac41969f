/** AdmissionConfiguration (apiserver.config.k8s.io/v1): what each plugin is to go by, written in it or in a file that it names. */
import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { parse } from 'yaml'
import type { Json, JsonObject } from '../../api/object.ts'
import { asList, asObject, asText } from '../../api/unchecked.ts'
import { messageOf } from '../../base/errors.ts'

/** What a document may say: the fields of an object, a list of such, or a value. */
type Form = 'text' | 'integer' | 'boolean' | 'any' | readonly [Form] | { readonly [field: string]: Form }

interface Configured {
  readonly apiVersions: readonly string[]
  /** None where the configuration is of no kind. */
  readonly kind?: string
  readonly fields: { readonly [field: string]: Form }
}

const TOLERATION: Form = { key: 'text', operator: 'text', value: 'text', effect: 'text', tolerationSeconds: 'integer' }
const LEVELS = ['enforce', 'audit', 'warn'].flatMap((mode) => [mode, `${mode}-version`])

/** Those that go by one. */
const CONFIGURED: Readonly<Record<string, Configured>> = {
  EventRateLimit: {
    apiVersions: ['eventratelimit.admission.k8s.io/v1alpha1'],
    kind: 'Configuration',
    fields: { limits: [{ type: 'text', qps: 'integer', burst: 'integer', cacheSize: 'integer' }] },
  },
  ImagePolicyWebhook: {
    apiVersions: [],
    fields: {
      imagePolicy: {
        kubeConfigFile: 'text',
        allowTTL: 'integer',
        denyTTL: 'integer',
        retryBackoff: 'integer',
        defaultAllow: 'boolean',
      },
    },
  },
  PodSecurity: {
    apiVersions: ['v1', 'v1beta1', 'v1alpha1'].map((version) => `pod-security.admission.config.k8s.io/${version}`),
    kind: 'PodSecurityConfiguration',
    fields: {
      defaults: Object.fromEntries(LEVELS.map((field): [string, Form] => [field, 'text'])),
      exemptions: { usernames: ['text'], namespaces: ['text'], runtimeClasses: ['text'] },
    },
  },
  PodTolerationRestriction: {
    apiVersions: ['podtolerationrestriction.admission.k8s.io/v1alpha1'],
    kind: 'Configuration',
    fields: { default: [TOLERATION], whitelist: [TOLERATION] },
  },
}

const PLUGINS: Form = {
  apiVersion: 'text',
  kind: 'text',
  plugins: [{ name: 'text', path: 'text', configuration: 'any' }],
}

/** By the names of plugins. `file`: where the text is from. @throws Error in one line, saying what is wrong */
export function admissionConfigurations(text: string, file: string): Readonly<Record<string, JsonObject>> {
  const document = read(text)
  if (
    document['kind'] !== 'AdmissionConfiguration' ||
    !/^apiserver\.(config\.)?k8s\.io\/v1/.test(asText(document['apiVersion']))
  )
    throw new Error('must be an AdmissionConfiguration of apiserver.config.k8s.io/v1')
  check(document, PLUGINS, '')
  const found: Record<string, JsonObject> = {}
  for (const [i, plugin] of asList(document['plugins']).map(asObject).entries()) {
    const name = asText(plugin['name'])
    if (name === '') throw new Error(`plugins[${i}].name is missing`)
    const configured = Object.hasOwn(CONFIGURED, name) ? CONFIGURED[name] : undefined
    if (configured === undefined)
      throw new Error(`plugins[${i}]: admission plugin ${name} goes by no configuration here`)
    const path = asText(plugin['path'])
    const configuration =
      path === '' ? plugin['configuration'] : read(readFileSync(resolve(dirname(file), path), 'utf8'))
    if (configuration === undefined || configuration === null) continue
    try {
      checkConfiguration(configuration, configured)
    } catch (error) {
      throw new Error(`couldn't init admission plugin ${JSON.stringify(name)}: ${messageOf(error)}`, { cause: error })
    }
    found[name] = asObject(configuration)
  }
  return found
}

function checkConfiguration(configuration: Json, { apiVersions, kind, fields }: Configured): void {
  const given = asObject(configuration)
  if (kind === undefined) {
    check(configuration, fields, '')
    return
  }
  const [apiVersion, ofKind] = [asText(given['apiVersion']), asText(given['kind'])]
  if (ofKind === '') throw new Error(`Object 'Kind' is missing in '${JSON.stringify(configuration)}'`)
  if (apiVersion === '') throw new Error(`Object 'apiVersion' is missing in '${JSON.stringify(configuration)}'`)
  if (ofKind !== kind || !apiVersions.includes(apiVersion))
    throw new Error(`no kind ${JSON.stringify(ofKind)} is registered for version ${JSON.stringify(apiVersion)}`)
  check(given, { apiVersion: 'text', kind: 'text', ...fields }, '')
}

/** Nothing is passed over: what is misspelt would let by what it was to refuse. @throws Error with the path */
function check(value: Json | undefined, form: Form, path: string): void {
  if (value === undefined || value === null || form === 'any') return
  const fits = (isOne: boolean, what: string) => {
    if (!isOne) throw new Error(`${path}: must be ${what}`)
  }
  if (form === 'text') fits(typeof value === 'string', 'a string')
  else if (form === 'boolean') fits(typeof value === 'boolean', 'true or false')
  else if (form === 'integer') fits(Number.isInteger(value), 'an integer')
  else if (isList(form)) {
    fits(Array.isArray(value), 'a list')
    for (const [i, one] of asList(value).entries()) check(one, form[0], `${path}[${i}]`)
  } else {
    fits(typeof value === 'object' && !Array.isArray(value), 'an object')
    checkFields(asObject(value), form, path)
  }
}

function checkFields(value: JsonObject, form: { readonly [field: string]: Form }, path: string): void {
  for (const [field, inner] of Object.entries(value)) {
    const below = path === '' ? field : `${path}.${field}`
    const known = Object.hasOwn(form, field) ? form[field] : undefined
    if (known === undefined) throw new Error(`strict decoding error: unknown field ${JSON.stringify(below)}`)
    check(inner, known, below)
  }
}

const isList = (form: Form): form is readonly [Form] => Array.isArray(form)

const read = (text: string): JsonObject => asObject(parse(text, { maxAliasCount: 100 }))
