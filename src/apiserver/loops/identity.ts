/**
 * The API server's identity lease (KEP-1965): kube-system/apiserver-<id>, renewed every ten seconds, by which clients see
 * which servers live. The id is made from the host's name, so that a restart keeps its lease.
 */

import { createHash } from 'node:crypto'
import type { Lease } from '../../api/generated/types.ts'
import type { Handler } from '../../api/request.ts'
import { isNotFound } from '../../api/status.ts'
import { formatMicroTime, type Timer } from '../../base/clock.ts'
import type { Runtime } from '../../base/runtime.ts'
import { loopbackOf } from '../loopback.ts'

const RENEW_MS = 10_000
const DURATION_SECONDS = 3600
const PATH = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases'

/** The name of the API server on this host, and of its lease. */
export function identityName(hostname: string): string {
  const digest = createHash('sha256').update(hostname).digest()
  return `apiserver-${base32(digest.subarray(0, 16))}`
}

/** Starts renewing; a failed renewal is logged and tried again at the next turn. */
export function startIdentityLease(options: {
  readonly runtime: Runtime
  readonly handler: Handler
  readonly hostname: string
  readonly address: string
  readonly signal: AbortSignal
}): void {
  const { runtime, handler, hostname, address, signal } = options
  const name = identityName(hostname)
  const holderIdentity = `${name}_${runtime.random.uuid()}`
  const send = loopbackOf(handler, signal)
  const renew = async () => {
    const spec = {
      holderIdentity,
      leaseDurationSeconds: DURATION_SECONDS,
      renewTime: formatMicroTime(runtime.clock.now()),
    }
    try {
      const lease: Lease | undefined = await send('GET', `${PATH}/${name}`)
      if (lease === undefined) throw new Error('a lease was expected')
      await send('PUT', `${PATH}/${name}`, { ...lease, spec: { ...lease.spec, ...spec } })
    } catch (error) {
      if (!isNotFound(error)) throw error
      await send('POST', PATH, {
        apiVersion: 'coordination.k8s.io/v1',
        kind: 'Lease',
        metadata: {
          name,
          namespace: 'kube-system',
          labels: { 'apiserver.kubernetes.io/identity': 'kube-apiserver', 'kubernetes.io/hostname': hostname },
          annotations: { 'kubernetes.io/peer-advertise-address': address },
        },
        spec,
      })
    }
  }
  let timer: Timer | undefined
  const loop = () => {
    if (signal.aborted) return
    renew()
      .catch((error) => {
        if (!signal.aborted) runtime.log.error('the identity lease was not renewed', error)
      })
      .finally(() => {
        if (!signal.aborted)
          timer = runtime.clock.setTimer(RENEW_MS, 'identity lease', loop, { everyMs: RENEW_MS, keeps: name })
      })
  }
  signal.addEventListener('abort', () => timer?.cancel(), { once: true })
  loop()
}

const ALPHABET = 'abcdefghijklmnopqrstuvwxyz234567'

/** RFC 4648 base32, lower case, without padding. */
function base32(bytes: Uint8Array): string {
  let bits = 0
  let value = 0
  let text = ''
  for (const byte of bytes) {
    value = (value << 8) | byte
    bits += 8
    while (bits >= 5) {
      text += ALPHABET[(value >>> (bits - 5)) & 31]
      bits -= 5
    }
    value &= (1 << bits) - 1
  }
  return bits > 0 ? text + ALPHABET[(value << (5 - bits)) & 31] : text
}
