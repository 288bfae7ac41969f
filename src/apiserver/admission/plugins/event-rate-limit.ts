/** EventRateLimit: so many Events of the core group a second, in all, of a namespace, by a user, or about one object from one source. */

import { type FieldError, invalid, notSupported } from '../../../api/errors/field-errors.ts'
import type { Event } from '../../../api/generated/types.ts'
import type { Json, JsonObject } from '../../../api/object.ts'
import { StatusError } from '../../../api/status.ts'
import { asList, asObject, asText } from '../../../api/unchecked.ts'
import type { Clock } from '../../../base/clock.ts'
import { createLruMap } from '../../../base/lru.ts'
import { tokenBucket } from '../../../base/token-bucket.ts'
import { type AdmissionAttributes, type AdmissionPluginFactory, refuseConfiguration } from '../plugin.ts'

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
    const given = configuration?.['limits'] ?? null
    refuseConfiguration(problemsOf(given))
    const limits = asList(given).map((limit) => limitOf(clock, asObject(limit)))
    return {
      name: 'EventRateLimit',
      handles: (operation) => operation === 'CREATE' || operation === 'UPDATE',
      validate(attributes) {
        const { endpoint, dryRun } = attributes
        const { row } = endpoint
        if (row.group !== '' || row.kind !== 'Event' || dryRun) return
        // Each of them counts it, whatever the others say.
        const reached = limits.flatMap((limit) => limit(attributes) ?? [])
        if (reached.length === 0) return
        const said = reached.length === 1 ? reached[0] : `[${reached.join(', ')}]`
        throw new StatusError(429, 'TooManyRequests', `Too many requests: ${said}`)
      },
    }
  }

function problemsOf(given: Json): readonly FieldError[] {
  const limits = asList(given)
  if (limits.length === 0) return [invalid('limits', given, 'must not be empty')]
  return limits.flatMap((item, i) => {
    const limit = asObject(item)
    const at = `limits[${i}]`
    const [type, burst, qps, cacheSize] = [
      asText(limit['type']),
      ...['burst', 'qps', 'cacheSize'].map((field) => Number(limit[field] ?? 0)),
    ] as [string, number, number, number]
    return [
      ...(Object.hasOwn(KEYS, type) ? [] : [notSupported(`${at}.type`, type, Object.keys(KEYS))]),
      ...(burst > 0 ? [] : [invalid(`${at}.burst`, burst, 'must be positive')]),
      ...(qps > 0 ? [] : [invalid(`${at}.qps`, qps, 'must be positive')]),
      // The server has one bucket.
      ...(type !== 'Server' && cacheSize < 0 ? [invalid(`${at}.cacheSize`, cacheSize, 'must not be negative')] : []),
    ]
  })
}

/** What it says of an Event that is too many. */
function limitOf(clock: Clock, limit: JsonObject): (attributes: AdmissionAttributes) => string | undefined {
  const type = String(limit['type'] ?? '')
  const keyOf = KEYS[type] as (attributes: AdmissionAttributes) => string
  const qps = Number(limit['qps'] ?? 0)
  const burst = Number(limit['burst'] ?? 0)
  const cacheSize = Number(limit['cacheSize'] ?? 0)
  const buckets = createLruMap<string, () => boolean>(cacheSize > 0 ? cacheSize : DEFAULT_CACHE_SIZE)
  return (attributes) => {
    const key = keyOf(attributes)
    const mayCome = buckets.get(key) ?? tokenBucket(clock, { qps, burst })
    buckets.set(key, mayCome)
    if (!mayCome()) return `limit reached on type ${type} for key ${key}`
    return undefined
  }
}
