/** /statusz and /flagz (KEP-4827, KEP-4828): how this server runs, for people, or as objects of config.k8s.io where asked for. */
import { encodeYaml } from '../api/codec/encode-yaml.ts'
import { asJson } from '../api/object.ts'
import type { ApiRequest, ApiResponse } from '../api/request.ts'
import { StatusError } from '../api/status.ts'
import { type Clock, formatTime } from '../base/clock.ts'
import { parseAccept } from './media-range.ts'

const WARNING =
  'Warning: This endpoint is not meant to be machine parseable, has no formatting compatibility guarantees and is for debugging purposes only.'
const VERSIONS = ['v1beta1', 'v1alpha1']
const DEPRECATED = 'v1alpha1'
const GO_VERSION = 'go1.26.8'

type Page = 'Statusz' | 'Flagz'

export interface ZPagesOptions {
  /** `apiserver` */
  readonly component: string
  /** `1.37.1`: whose behaviour it has. */
  readonly version: string
  /** What else it serves. */
  readonly paths: readonly string[]
  /** Those that were set, by name. */
  readonly flags: Readonly<Record<string, string>>
  /** Between a name and what it is, in text. */
  readonly separators: Readonly<Record<Page, string>>
}

/** Answers nothing but its two paths. @throws StatusError 406 */
export function createZPages(
  clock: Clock,
  { component, version, paths, flags, separators }: ZPagesOptions,
): (request: Pick<ApiRequest, 'path' | 'headers'>) => ApiResponse | undefined {
  const started = clock.now()
  const emulationVersion = version.split('.').slice(0, 2).join('.')
  const status = () => ({
    startTime: formatTime(started),
    uptimeSeconds: Math.floor((clock.now() - started) / 1000),
    goVersion: GO_VERSION,
    binaryVersion: version,
    emulationVersion,
    paths,
  })
  const statusText = () => {
    const seconds = Math.floor((clock.now() - started) / 1000)
    const two = (value: number) => String(value).padStart(2, '0')
    const lines = [
      ['Started', unixDate(started)],
      ['Up', `${Math.floor(seconds / 3600)} hr ${two(Math.floor(seconds / 60) % 60)} min ${two(seconds % 60)} sec`],
      ['Go version', GO_VERSION],
      ['Binary version', version],
      ['Emulation version', emulationVersion],
      ['Paths', paths.join(' ')],
    ].map((line) => `${line.join(separators.Statusz)}\n`)
    return `\n${component} statusz\n${WARNING}\n\n${lines.join('')}`
  }
  const flagText = () => {
    const lines = Object.keys(flags)
      .sort()
      .map((name) => `${name}${separators.Flagz}${flags[name]}\n`)
    return `\n${component} flagz\n${WARNING}\n${lines.join('')}`
  }
  return (request) => {
    if (request.path === '/statusz') return answered(request, component, 'Statusz', statusText, status)
    if (request.path === '/flagz') return answered(request, component, 'Flagz', flagText, () => ({ flags }))
    return undefined
  }
}

function answered(
  request: Pick<ApiRequest, 'headers'>,
  component: string,
  page: Page,
  text: () => string,
  fields: () => object,
): ApiResponse {
  const of = (contentType: string, body: string, headers: Readonly<Record<string, string>> = {}): ApiResponse => ({
    kind: 'bytes',
    status: 200,
    headers,
    contentType,
    bytes: [Buffer.from(body)],
  })
  for (const range of parseAccept(request.headers['accept'] ?? '*/*')) {
    if (range.matches('text/plain')) return of('text/plain; charset=utf-8', text())
    const { g, v, as } = range.parameters
    if (g !== 'config.k8s.io' || as !== page || v === undefined || !VERSIONS.includes(v)) continue
    const object = { kind: page, apiVersion: `config.k8s.io/${v}`, metadata: { name: component }, ...fields() }
    const form = `g=config.k8s.io;v=${v};as=${page}`
    const old = `299 - "This version of the ${page.toLowerCase()} endpoint is deprecated. Please use a newer version."`
    const headers = v === DEPRECATED ? { warning: old } : {}
    if (range.matches('application/json')) return of(`application/json;${form}`, `${JSON.stringify(object)}\n`, headers)
    if (range.matches('application/yaml')) return of(`application/yaml;${form}`, encodeYaml(asJson(object)), headers)
  }
  throw new StatusError(
    406,
    'NotAcceptable',
    'only the following media types are accepted: application/json, application/yaml, text/plain',
  )
}

/** `Sat Nov 21 13:40:03 UTC 2026` */
function unixDate(ms: number): string {
  const [weekday = '', day, month, year, time] = new Date(ms).toUTCString().split(' ')
  return `${weekday.slice(0, -1)} ${month} ${String(Number(day)).padStart(2, ' ')} ${time} UTC ${year}`
}
