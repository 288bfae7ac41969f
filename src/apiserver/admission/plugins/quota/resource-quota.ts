/**
 * ResourceQuota: what a namespace's quotas allow, counted as it is asked for. Writes of one namespace are judged one after
 * the other, as many at a time as wait, and the quotas' status is written before any of them is let through: two writes
 * never share what is left. Quotas are looked at as they are in the store, whichever server of the cluster wrote them. What a write used and then failed to store, the quota controller gives back.
 */

import type { ResourceQuota } from '../../../../api/generated/types.ts'
import type { KubeObject } from '../../../../api/object.ts'
import type { QuotaUsage } from '../../../../api/objects/quota-usage.ts'
import { isConflict, isNotFound } from '../../../../api/status.ts'
import { addQuantities } from '../../../../api/values/quantity.ts'
import { type Loopback, loopbackOf } from '../../../loopback.ts'
import type { CacheReads } from '../../../reads.ts'
import type { AdmissionAttributes, AdmissionPluginFactory } from '../../plugin.ts'
import { type Charged, charge, isQuotaCounted } from './exceeded-quota.ts'

/** Stores a quota's status; rejects with a conflict when the quota has changed since. */
type WriteQuotaStatus = (quota: ResourceQuota) => Promise<unknown>

const statusWriter =
  (loopback: Loopback): WriteQuotaStatus =>
  (quota) => {
    const { namespace, name } = quota.metadata
    return loopback('PUT', `/api/v1/namespaces/${namespace}/resourcequotas/${name}/status`, quota)
  }

interface Waiting {
  readonly attributes: AdmissionAttributes
  admit(): void
  refuse(error: unknown): void
}

/** As often a round is tried again when others write the quotas meanwhile. */
const ATTEMPTS = 4

export const resourceQuota: AdmissionPluginFactory = (reads, { loopback, fresh }) => {
  const write = statusWriter(loopbackOf(loopback))
  const queues = new Map<string, Waiting[]>()

  async function drain(namespace: string, queue: Waiting[]): Promise<void> {
    while (queue.length > 0) {
      const round = queue.splice(0)
      try {
        await judge(namespace, round, reads, write)
      } catch (error) {
        for (const waiting of round) waiting.refuse(error)
      }
    }
    queues.delete(namespace)
  }

  return {
    name: 'ResourceQuota',
    handles: (operation) => operation === 'CREATE' || operation === 'UPDATE',
    validate(attributes) {
      const { namespace, endpoint } = attributes
      const { row } = endpoint
      if (namespace === '' || !row.namespaced || !isQuotaCounted(attributes)) return
      if (!row.chargesQuota) return
      const waiting = (attributes.fresh ?? fresh)()
      return waiting === undefined ? inTurn(attributes) : waiting.then(() => inTurn(attributes))
    },
  }

  function inTurn(attributes: AdmissionAttributes): Promise<void> | undefined {
    const { namespace } = attributes
    if (reads.list<ResourceQuota>('', 'resourcequotas', namespace).length === 0) return undefined
    return new Promise((resolve, reject) => {
      const waiting = { attributes, admit: resolve, refuse: reject }
      const queue = queues.get(namespace)
      if (queue !== undefined) {
        queue.push(waiting)
        return
      }
      const started = [waiting]
      queues.set(namespace, started)
      void drain(namespace, started)
    })
  }
}

/** Refuses those that exceed a quota, admits the others once what they use is written down. */
async function judge(
  namespace: string,
  round: readonly Waiting[],
  reads: CacheReads,
  write: WriteQuotaStatus,
): Promise<void> {
  let left = round
  for (let attempt = 1; left.length > 0; attempt++) {
    const before = reads.list<ResourceQuota>('', 'resourcequotas', namespace)
    let quotas = before
    const admitted = new Map<Waiting, readonly Charged[]>()
    for (const waiting of left) {
      try {
        const charged = charge(quotas, waiting.attributes)
        if (charged.length === 0) waiting.admit()
        // A dry run is judged, and uses nothing.
        else if (waiting.attributes.dryRun) waiting.admit()
        else {
          const after = new Map(charged.map(({ before: one, quota }) => [one, quota]))
          quotas = quotas.map((quota) => after.get(quota) ?? quota)
          admitted.set(waiting, charged)
        }
      } catch (error) {
        waiting.refuse(error)
      }
    }
    const { written, stale } = await writeChanged(before, quotas, write)
    for (const [{ attributes }, charged] of admitted)
      for (const { quota, usage } of charged) if (written.has(quota.metadata.uid)) note(attributes, quota, usage)
    if (stale === undefined) {
      for (const waiting of admitted.keys()) waiting.admit()
      return
    }
    if (attempt === ATTEMPTS) throw stale
    left = [...admitted.keys()]
  }
}

function note({ charges }: AdmissionAttributes, { metadata: { uid } }: ResourceQuota, usage: QuotaUsage): void {
  const before = charges?.get(uid) ?? {}
  const all = { ...before }
  for (const [name, amount] of Object.entries(usage)) all[name] = addQuantities(before[name] ?? '0', amount)
  charges?.set(uid, all)
}

/** Which are stored, by uid, and the conflict when one has changed meanwhile. */
async function writeChanged(
  before: readonly KubeObject[],
  quotas: readonly KubeObject[],
  write: WriteQuotaStatus,
): Promise<{ readonly written: ReadonlySet<string | undefined>; readonly stale: unknown }> {
  const written = new Set<string | undefined>()
  let stale: unknown
  for (const [i, quota] of quotas.entries()) {
    if (quota === before[i]) continue
    try {
      await write(quota)
      written.add(quota.metadata.uid)
    } catch (error) {
      // A quota that is gone limits nothing.
      if (isNotFound(error)) continue
      if (!isConflict(error)) throw error
      stale = error
    }
  }
  return { written, stale }
}
