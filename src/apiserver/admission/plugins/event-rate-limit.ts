/** EventRateLimit: so many Events of the core group a second, in all, of a namespace, by a user, or about one object from one source. */
import type { Event } from '../../../api/generated/types.ts'
import type { JsonObject } from '../../../api/object.ts'
import { StatusError } from '../../../api/status.ts'
import { asList, asObject } from '../../../api/unchecked.ts'
import type { Clock } from '../../../base/clock.ts'
import { createLruMap } from '../../../base/lru.ts'
import { tokenBucket } from '../../../base/token-bucket.ts'
import type { AdmissionAttributes, AdmissionPluginFactory } from '../plugin.ts'

const DEFAULT_CACHE_SIZE = 4096

const KEYS: Readonly<Record<string, (attributes: AdmissionAttributes) => string>> = {
  Server: () => '',
  Namespace: ({ namespace }) => namespace,
  User: ({ user }) => user.name,
  SourceAndObject: ({ object }) => {
    const { source, involvedObject: about }: Event = object as Event
    return [
      source?.component,
      source?.host,
      about?.kind,
      about?.namespace,
      about?.name,
      about?.uid,
      about?.apiVersion,
    ].join('')
  },
}

export const eventRateLimit =
  (clock: Clock): AdmissionPluginFactory =>
  (_reads, _host, configuration) => {
    const limits = asList(configuration?.['limits']).map((limit, i) => limitOf(clock, asObject(limit), `limits[${i}]`))
    if (limits.length === 0) throw new Error('limits: Invalid value: []: must not be empty')
    return {
      name: 'EventRateLimit',
      handles: (operation) => operation === 'CREATE' || operation === 'UPDATE',
      validate(attributes) {
        const { row, dryRun } = attributes
        if (row.group !== '' || row.kind !== 'Event' || dryRun) return
        // Each of them counts it, whatever the others say.
        const reached = limits.flatMap((limit) => limit(attributes) ?? [])
        if (reached.length === 0) return
        const said = reached.length === 1 ? reached[0] : `[${reached.join(', ')}]`
        throw new StatusError(429, 'TooManyRequests', `Too many requests: ${said}`)
      },
    }
  }

/** What it says of an Event that is too many. */
function limitOf(
  clock: Clock,
  limit: JsonObject,
  path: string,
): (attributes: AdmissionAttributes) => string | undefined {
  const type = String(limit['type'] ?? '')
  const keyOf = Object.hasOwn(KEYS, type) ? KEYS[type] : undefined
  const qps = Number(limit['qps'] ?? 0)
  const burst = Number(limit['burst'] ?? 0)
  if (keyOf === undefined)
    throw new Error(
      `limits: Unsupported value: ${JSON.stringify(type)}: supported values: ${Object.keys(KEYS).join(', ')}`,
    )
  if (!(qps > 0) || !(burst > 0)) throw new Error('limits: qps and burst must be positive')
  const cacheSize = Number(limit['cacheSize'] ?? 0)
  if (!Number.isInteger(cacheSize)) throw new Error(`${path}.cacheSize must be an integer`)
  // The server has one bucket.
  if (type !== 'Server' && cacheSize < 0)
    throw new Error(`${path}.cacheSize: Invalid value: ${cacheSize}: must not be negative`)
  const buckets = createLruMap<string, () => boolean>(cacheSize > 0 ? cacheSize : DEFAULT_CACHE_SIZE)
  return (attributes) => {
    const key = keyOf(attributes)
    const mayCome = buckets.get(key) ?? tokenBucket(clock, { qps, burst })
    buckets.set(key, mayCome)
    if (!mayCome()) return `limit reached on type ${type} for key ${key}`
    return undefined
  }
}
