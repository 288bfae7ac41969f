/** What is counted of a provider of KMS, under the names that kube-apiserver has for it. */
import { createHash } from 'node:crypto'
import type { Runtime } from '../../../base/runtime.ts'

/** `sha256:…`, as key ids are told; '' of none. */
export const keyIdHash = (text: string): string =>
  text === '' ? '' : `sha256:${createHash('sha256').update(text).digest('hex')}`

export interface KmsMetrics {
  used(direction: 'to_storage' | 'from_storage', keyId: string): void
  status(keyId: string): void
  invalidKeyId(kind: string): void
}

const PREFIX = 'apiserver_envelope_encryption'

/** `server`: what this server is called in metrics. `keys`: how many are unwrapped. */
export function kmsMetrics(
  { metrics, clock }: Runtime,
  { name: provider, server }: { readonly name: string; readonly server: string },
  keys: () => number,
): KmsMetrics {
  if (metrics === undefined) return { used() {}, status() {}, invalidKeyId() {} }
  const byUse = ['transformation_type', 'provider_name', 'key_id_hash', 'apiserver_id_hash']
  const total = metrics.counter(`${PREFIX}_key_id_hash_total`, 'Values by the key that they are encrypted with.', byUse)
  const last = metrics.gauge(
    `${PREFIX}_key_id_hash_last_timestamp_seconds`,
    'When a key was last used, in seconds.',
    byUse,
  )
  const named = metrics.gauge(
    `${PREFIX}_key_id_hash_status_last_timestamp_seconds`,
    'When the status of a plugin last named a key, in seconds.',
    ['provider_name', 'key_id_hash', 'apiserver_id_hash'],
  )
  const invalid = metrics.counter(
    `${PREFIX}_invalid_key_id_from_status_total`,
    'Statuses of a plugin that named no key.',
    ['provider_name', 'error'],
  )
  metrics.sampled(`${PREFIX}_dek_source_cache_size`, 'Keys that are unwrapped.', ['provider_name'], () => [
    [keys(), provider],
  ])
  const series = new Map<string, { add(): void }>()
  const hashes = new Map<string, string>()
  const known = (keyId: string): string => {
    const found = hashes.get(keyId) ?? keyIdHash(keyId)
    hashes.set(keyId, found)
    return found
  }
  return {
    used(direction, keyId) {
      const id = `${direction} ${keyId}`
      let found = series.get(id)
      if (found === undefined) {
        const labels = [direction, provider, known(keyId), server]
        const [count, time] = [total.child(...labels), last.child(...labels)]
        found = {
          add() {
            count.add()
            time.set(clock.now() / 1000)
          },
        }
        series.set(id, found)
      }
      found.add()
    },
    status: (keyId) => named.child(provider, known(keyId), server).set(clock.now() / 1000),
    invalidKeyId: (kind) => invalid.child(provider, kind).add(),
  }
}
