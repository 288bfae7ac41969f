/** Snapshots of a cluster whose objects are in an etcd: read there at one revision, whatever is written meanwhile, and written to an empty one. */
import { builtinScheme } from '../api/scheme/scheme.ts'
import { readingKubernetes } from '../apiserver/stored-by-kubernetes.ts'
import { holdProcess } from '../base/live-clock.ts'
import { liveRuntime } from '../base/live-runtime.ts'
import { copyTo, expiriesOf, type Migrated, readSource } from '../storage/copy-to-another-store.ts'
import { openEtcd } from '../storage/etcd/etcd.ts'
import type { EtcdOptions } from '../storage/etcd/servers.ts'
import type { Storage } from '../storage/storage.ts'
import { type Snapshot, snapshotOf } from './snapshot.ts'

/** What a kube-apiserver has written becomes what skiff writes. @throws StoreError */
export const snapshotOfEtcd = (etcd: EtcdOptions): Promise<Snapshot> =>
  inEtcd(etcd, async (storage, now) => {
    const { items, revision } = await readSource(storage, readingKubernetes(builtinScheme()).decode)
    return snapshotOf({ items, revision, expiries: expiriesOf(items, now) }, now, false)
  })

/** Keys get new revisions, and the etcd one above that of the snapshot. @throws StoreError when it holds a cluster already */
export const restoreToEtcd = ({ image, time }: Snapshot, etcd: EtcdOptions): Promise<Migrated> =>
  inEtcd(etcd, (storage) => copyTo(storage, image, `a snapshot of ${time.toISOString()}`))

async function inEtcd<T>(etcd: EtcdOptions, task: (storage: Storage, now: number) => Promise<T>): Promise<T> {
  const runtime = liveRuntime({ log: { write() {} } })
  const release = holdProcess()
  try {
    const storage = await openEtcd(runtime, { ...etcd, compactEveryMs: 0 })
    try {
      return await task(storage, runtime.clock.now())
    } finally {
      await storage.close()
    }
  } finally {
    release()
  }
}
