/** Probes and lifecycle hooks, and the handlers they share. */
import { type FieldError, forbiddenField, invalid, notSupported, required } from '../errors/field-errors.ts'
import { httpHeaderName, portName, portNumber } from '../names/name-formats.ts'
import type { Fields } from '../object.ts'
import type { PodFacts } from './containers.ts'

const NON_NEGATIVE = 'must be greater than or equal to 0'
const TIMES = [
  'initialDelaySeconds',
  'timeoutSeconds',
  'periodSeconds',
  'successThreshold',
  'failureThreshold',
] as const

export function validateProbe(
  probe: Fields | undefined,
  kind: 'livenessProbe' | 'readinessProbe' | 'startupProbe',
  gracePeriod: number | undefined,
  path: string,
  errors: FieldError[],
): void {
  if (!probe) return
  validateHandler(probe, path, gracePeriod, undefined, errors)
  for (const field of TIMES)
    if ((probe[field] ?? 0) < 0) errors.push(invalid(`${path}.${field}`, probe[field], NON_NEGATIVE))
  const grace: number | undefined = probe['terminationGracePeriodSeconds'] ?? undefined
  if (grace !== undefined && grace <= 0)
    errors.push(invalid(`${path}.terminationGracePeriodSeconds`, grace, 'must be greater than 0'))
  if (kind === 'readinessProbe') {
    if (grace !== undefined)
      errors.push(invalid(`${path}.terminationGracePeriodSeconds`, grace, 'must not be set for readinessProbes'))
  } else if ((probe['successThreshold'] ?? 0) !== 1)
    errors.push(invalid(`${path}.successThreshold`, probe['successThreshold'] ?? 0, 'must be 1'))
}

export function validateLifecycle(
  lifecycle: Fields | undefined,
  gracePeriod: number | undefined,
  path: string,
  facts: PodFacts,
  errors: FieldError[],
): void {
  if (!lifecycle) return
  for (const hook of ['postStart', 'preStop'] as const)
    if (lifecycle[hook]) validateHandler(lifecycle[hook], `${path}.${hook}`, gracePeriod, facts, errors)
}

const HANDLERS = ['exec', 'httpGet', 'tcpSocket', 'grpc', 'sleep'] as const

/** Exactly one way of asking. `facts` is given for lifecycle hooks, which may sleep but do not speak gRPC. */
function validateHandler(
  handler: Fields,
  path: string,
  gracePeriod: number | undefined,
  facts: PodFacts | undefined,
  errors: FieldError[],
): void {
  let count = 0
  for (const kind of HANDLERS) {
    const action: Fields | undefined = handler[kind]
    if (!action) continue
    const at = `${path}.${kind}`
    if (count > 0) {
      errors.push(forbiddenField(at, 'may not specify more than 1 handler type'))
      continue
    }
    count++
    if (kind === 'exec') {
      if (!action['command']?.length) errors.push(required(`${at}.command`))
    } else if (kind === 'httpGet') validateHttpGet(action, at, errors)
    else if (kind === 'tcpSocket') validatePort(action['port'] ?? 0, `${at}.port`, errors)
    else if (kind === 'grpc') {
      for (const message of portNumber(action['port'] ?? 0))
        errors.push(invalid(`${at}.port`, action['port'] ?? 0, message))
    } else if (facts) validateSleep(action, gracePeriod, at, errors)
  }
  if (count === 0) errors.push(required(path, 'must specify a handler type'))
}

function validateSleep(action: Fields, gracePeriod: number | undefined, path: string, errors: FieldError[]): void {
  const seconds: number = action['seconds'] ?? 0
  const grace = gracePeriod ?? 0
  if (seconds < 0 || seconds > grace)
    errors.push(invalid(path, seconds, `must be non-negative and less than terminationGracePeriodSeconds (${grace})`))
}

function validateHttpGet(action: Fields, path: string, errors: FieldError[]): void {
  if (!action['path']) errors.push(required(`${path}.path`))
  validatePort(action['port'] ?? 0, `${path}.port`, errors)
  const scheme: string = action['scheme'] ?? ''
  if (scheme !== 'HTTP' && scheme !== 'HTTPS') errors.push(notSupported(`${path}.scheme`, scheme, ['HTTP', 'HTTPS']))
  ;(action['httpHeaders'] ?? []).forEach((header: Fields) => {
    for (const message of httpHeaderName(header['name'] ?? ''))
      errors.push(invalid(`${path}.httpHeaders`, header['name'] ?? '', message))
  })
}

function validatePort(port: number | string, path: string, errors: FieldError[]): void {
  const messages = typeof port === 'number' ? portNumber(port) : portName(port)
  for (const message of messages) errors.push(invalid(path, port, message))
}
