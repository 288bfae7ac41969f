/** AdmissionConfiguration (apiserver.config.k8s.io/v1): what each plugin is to go by, written in it or in a file that it names. */
import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { parse } from 'yaml'
import type { JsonObject } from '../../api/object.ts'
import { asList, asObject, asText } from '../../api/unchecked.ts'

/** Those that go by one. */
const CONFIGURED: readonly string[] = ['EventRateLimit', 'PodSecurity', 'PodTolerationRestriction']

/** By the names of plugins. `file`: where the text is from. @throws Error in one line, saying what is wrong */
export function admissionConfigurations(text: string, file: string): Readonly<Record<string, JsonObject>> {
  const document = read(text)
  if (
    document['kind'] !== 'AdmissionConfiguration' ||
    !/^apiserver\.(config\.)?k8s\.io\/v1/.test(asText(document['apiVersion']))
  )
    throw new Error('must be an AdmissionConfiguration of apiserver.config.k8s.io/v1')
  const found: Record<string, JsonObject> = {}
  for (const [i, plugin] of asList(document['plugins']).map(asObject).entries()) {
    const name = asText(plugin['name'])
    if (name === '') throw new Error(`plugins[${i}].name is missing`)
    if (!CONFIGURED.includes(name))
      throw new Error(`plugins[${i}]: admission plugin ${name} goes by no configuration here`)
    const path = asText(plugin['path'])
    const configuration =
      path === '' ? plugin['configuration'] : read(readFileSync(resolve(dirname(file), path), 'utf8'))
    if (configuration !== undefined && configuration !== null) found[name] = asObject(configuration)
  }
  return found
}

const read = (text: string): JsonObject => asObject(parse(text, { maxAliasCount: 100 }))
