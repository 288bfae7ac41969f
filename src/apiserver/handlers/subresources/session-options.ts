/**
 * The options of exec, attach and port-forward, from their query to what admission sees and what the kubelet is asked (API
 * concept: PodExecOptions, PodAttachOptions, PodPortForwardOptions).
 */
import { asKubeObject } from '../../../api/object.ts'
import type { ApiRequest } from '../../../api/request.ts'
import { badRequest } from '../../../api/status.ts'
import type { AdmissionAttributes } from '../../admission/plugin.ts'
import type { ResourceRequest } from '../context.ts'
import { admissionAttributes } from '../write.ts'

export interface SessionOptions {
  readonly stdin: boolean
  readonly stdout: boolean
  readonly stderr: boolean
  readonly tty: boolean
  /** '' where the pod has but one. */
  readonly container: string
  readonly command: readonly string[]
  readonly ports: readonly number[]
}

/** @throws StatusError 400 for a port that is no number */
export function sessionOptions(query: URLSearchParams): SessionOptions {
  return {
    stdin: isOn(query, 'stdin'),
    stdout: isOn(query, 'stdout'),
    stderr: isOn(query, 'stderr'),
    tty: isOn(query, 'tty'),
    container: query.get('container') ?? '',
    command: query.getAll('command'),
    ports: query.getAll('ports').map(portOf),
  }
}

/** A query's boolean as Kubernetes reads it: there, and neither `false` nor `0`. */
export function isOn(query: URLSearchParams, name: string): boolean {
  const value = query.get(name)
  return value !== null && value !== '0' && value.toLowerCase() !== 'false'
}

function portOf(text: string): number {
  const port = Number(text)
  if (!/^[-+]?\d+$/.test(text) || port < -(2 ** 31) || port >= 2 ** 31)
    throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`)
  return port
}

/** The path and query by which a kubelet is asked for the session. */
export function kubeletTarget(
  kind: 'exec' | 'attach' | 'portforward',
  { namespace, pod, container }: { readonly namespace: string; readonly pod: string; readonly container: string },
  options: SessionOptions,
): string {
  const query = new URLSearchParams()
  if (kind === 'portforward') {
    if (options.ports.length > 0) query.set('port', options.ports.join(','))
  } else {
    for (const word of kind === 'exec' ? options.command : []) query.append('command', word)
    for (const [name, on] of [
      ['error', options.stderr],
      ['input', options.stdin],
      ['output', options.stdout],
      ['tty', options.tty],
    ] as const)
      if (on) query.set(name, '1')
  }
  const path =
    kind === 'portforward'
      ? `/portForward/${namespace}/${pod}`
      : `/${kind}/${namespace}/${pod}/${encodeURIComponent(container)}`
  const text = query.toString()
  return text === '' ? path : `${path}?${text}`
}

/** What is connected to cannot be tried: the parameter alone is too much, whatever it says. @throws StatusError 400 */
export function refuseDryRun({ query }: Pick<ApiRequest, 'query'>): void {
  if (query.has('dryRun')) throw badRequest('dryRun is not supported')
}

/** Asks admission about a CONNECT. @throws StatusError when it refuses */
export async function admitConnect(
  resource: ResourceRequest,
  options: Readonly<Record<string, unknown>>,
): Promise<void> {
  const { admission } = resource.context
  const kind = resource.subresource?.kind ?? ''
  const object = asKubeObject({ kind, apiVersion: 'v1', ...options })
  const attributes = (): AdmissionAttributes =>
    admissionAttributes(resource, 'CONNECT', { dryRun: false, options: {} }, object, undefined)
  await admission.mutate(attributes())
  await admission.validate(attributes())
}

/** As the API writes the options: what is empty or false is left out. */
export function optionsOfSession(
  kind: 'exec' | 'attach' | 'portforward',
  options: SessionOptions,
): Record<string, unknown> {
  const { stdin, stdout, stderr, tty, container, command, ports } = options
  if (kind === 'portforward') return ports.length === 0 ? {} : { ports }
  return {
    ...(stdin ? { stdin } : {}),
    ...(stdout ? { stdout } : {}),
    ...(stderr ? { stderr } : {}),
    ...(tty ? { tty } : {}),
    ...(container === '' ? {} : { container }),
    ...(kind === 'exec' ? { command } : {}),
  }
}
