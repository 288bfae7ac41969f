/** TracingConfiguration (apiserver.config.k8s.io), judged in the words of kube-apiserver. */
import { parse } from 'yaml'
import type { Json, JsonObject } from '../../api/object.ts'
import { parseUrl } from '../../api/objects/url.ts'
import { asObject, asText } from '../../api/unchecked.ts'
import { messageOf } from '../../base/errors.ts'

export interface TracingConfiguration {
  /** As gRPC names it: `localhost:4317`, `dns:///host:port`, `unix:///path`. */
  readonly endpoint: string
  /** Of a million requests that belong to no trace yet, so many begin one that is told of. */
  readonly samplingRatePerMillion: number
}

const USUAL_ENDPOINT = 'localhost:4317'
const VERSIONS = ['v1', 'v1beta1', 'v1alpha1'].map((version) => `apiserver.config.k8s.io/${version}`)
const SCHEMES = ['dns', 'unix', 'unix-abstract']
const MILLION = 1_000_000

/** @throws Error in one line, saying what is wrong */
export function parseTracingConfiguration(text: string): TracingConfiguration {
  const fail = (why: string) =>
    new Error(`failed to read tracing config: unable to decode tracing configuration data: ${why}`)
  let document: JsonObject
  try {
    document = asObject(parse(text, { maxAliasCount: 100 }) ?? {})
  } catch (error) {
    throw fail(`couldn't get version/kind; yaml: ${messageOf(error).split('\n')[0]}`)
  }
  const { kind, apiVersion, endpoint, samplingRatePerMillion: rate, ...unknown } = document
  const [ofKind, version] = [asText(kind) || KIND, asText(apiVersion) || VERSIONS[0]]
  if (ofKind !== KIND || !VERSIONS.includes(version as string))
    throw fail(
      `no kind ${JSON.stringify(ofKind)} is registered for version ${JSON.stringify(version)} in scheme "pkg/runtime/scheme.go:111"`,
    )
  const field = (name: string, type: string, value: Json) =>
    fail(`json: cannot unmarshal ${wordOf(value)} into Go struct field ${KIND}.${KIND}.${name} of type ${type}`)
  if (endpoint !== undefined && endpoint !== null && typeof endpoint !== 'string')
    throw field('endpoint', 'string', endpoint)
  if (rate !== undefined && rate !== null && !Number.isInteger(rate))
    throw field('samplingRatePerMillion', 'int32', rate)
  const [first] = Object.keys(unknown)
  if (first !== undefined)
    throw fail(
      `strict decoding error: ${Object.keys(unknown)
        .map((name) => `unknown field ${JSON.stringify(name)}`)
        .join(', ')}`,
    )
  const perMillion = typeof rate === 'number' ? rate : 0
  const problems = [...rateProblems(perMillion), ...endpointProblems(typeof endpoint === 'string' ? endpoint : '')]
  if (problems.length > 0)
    throw new Error(
      `failed to validate tracing configuration: ${problems.length === 1 ? problems[0] : `[${problems.join(', ')}]`}`,
    )
  return { endpoint: asText(endpoint) || USUAL_ENDPOINT, samplingRatePerMillion: perMillion }
}

const KIND = 'TracingConfiguration'

const wordOf = (value: Json): string =>
  typeof value === 'number'
    ? Number.isInteger(value)
      ? 'number'
      : `number ${value}`
    : typeof value === 'boolean'
      ? 'bool'
      : Array.isArray(value)
        ? 'array'
        : typeof value

function rateProblems(rate: number): readonly string[] {
  const wrong = (why: string) => [`samplingRatePerMillion: Invalid value: ${rate}: ${why}`]
  if (rate < 0) return wrong('sampling rate must be positive')
  if (rate > MILLION) return wrong('sampling rate per million must be less than or equal to one million')
  return []
}

function endpointProblems(endpoint: string): readonly string[] {
  if (endpoint === '') return []
  const url = endpoint.includes('://') ? endpoint : `dns://${endpoint}`
  const wrong = (why: string) => [`endpoint: Invalid value: ${JSON.stringify(url)}: ${why}`]
  try {
    const { scheme } = parseUrl(url, false)
    return SCHEMES.includes(scheme)
      ? []
      : wrong(
          `unsupported scheme: ${scheme}.  Options are none, dns, unix, or unix-abstract.  See https://github.com/grpc/grpc/blob/master/doc/naming.md`,
        )
  } catch (error) {
    return wrong(`parse ${JSON.stringify(url)}: ${messageOf(error)}`)
  }
}
