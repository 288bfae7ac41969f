/**
 * What time it is in the cluster. The machine that asks may be wrong by minutes, and a cluster may have a clock of its own; each API
 * server renews a lease of its own every few seconds, which carries the cluster's time.
 */
import type { Lease } from '../../api/generated/types.ts'
import type { ClusterReader } from '../cluster-reader.ts'
import { itemsOf, LEASES, timeOf } from './look.ts'

/** Clocks that differ by less are taken for the same. */
const TOLERANCE_MS = 120_000

/** @param local milliseconds since the epoch by this machine's clock */
export async function clusterTime(reader: ClusterReader, local: number): Promise<number> {
  const leases = itemsOf(await reader.list<Lease>(LEASES, { namespace: 'kube-system' })).filter(({ metadata }) =>
    metadata?.name?.startsWith('apiserver-'),
  )
  const newest = Math.max(...leases.map(({ spec }) => timeOf(spec?.renewTime)).filter(Number.isFinite))
  if (!Number.isFinite(newest) || Math.abs(local - newest) < TOLERANCE_MS) return local
  return newest
}
