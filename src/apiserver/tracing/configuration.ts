/** TracingConfiguration (apiserver.config.k8s.io), judged in the words of kube-apiserver. */
import { kindInVersions, strictConfiguration } from '../../api/configuration/decode.ts'
import { struct, type ValueOf } from '../../api/configuration/shape.ts'
import { parseUrl } from '../../api/objects/url.ts'
import { messageOf } from '../../base/errors.ts'

export interface TracingConfiguration {
  /** As gRPC names it: `localhost:4317`, `dns:///host:port`, `unix:///path`. */
  readonly endpoint: string
  /** Of a million requests that belong to no trace yet, so many begin one that is told of. */
  readonly samplingRatePerMillion: number
}

const USUAL_ENDPOINT = 'localhost:4317'
/** What it says stands in a type of the same name within it. */
const SHAPE = struct('TracingConfiguration.TracingConfiguration', {
  endpoint: 'string',
  samplingRatePerMillion: 'int32',
})
const KINDS = kindInVersions('TracingConfiguration', 'apiserver.config.k8s.io', 'v1', 'v1beta1', 'v1alpha1')
const SCHEMES = ['dns', 'unix', 'unix-abstract']
const MILLION = 1_000_000

/** @throws Error in one line, saying what is wrong */
export function parseTracingConfiguration(text: string): TracingConfiguration {
  let document: ValueOf<typeof SHAPE>
  try {
    document = strictConfiguration(text, KINDS, SHAPE, 'maybe')
  } catch (cause) {
    throw new Error(`failed to read tracing config: unable to decode tracing configuration data: ${messageOf(cause)}`, {
      cause,
    })
  }
  const rate = document.samplingRatePerMillion ?? 0
  const endpoint = document.endpoint ?? ''
  const problems = [...rateProblems(rate), ...endpointProblems(endpoint)]
  if (problems.length > 0)
    throw new Error(
      `failed to validate tracing configuration: ${problems.length === 1 ? problems[0] : `[${problems.join(', ')}]`}`,
    )
  return { endpoint: endpoint || USUAL_ENDPOINT, samplingRatePerMillion: rate }
}

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
