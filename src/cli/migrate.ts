/** skiff migrate: copies a cluster's objects, and says how many. */
import type { EtcdFlags } from './etcd-flags.ts'
import { etcdFilesOf } from './etcd-flags.ts'

export interface MigrateFlags extends Omit<EtcdFlags, 'etcdServers'> {
  readonly from: string
  readonly to: string
}

export async function migrateCommand(flags: MigrateFlags): Promise<void> {
  const { migrate } = await import('../cluster/migrate.ts')
  const { from, to } = flags
  const { objects, revision } = await migrate({ from, to, etcd: etcdFilesOf(flags) })
  process.stdout.write(`${objects} objects from ${from} are in ${to}, which is at revision ${revision}\n`)
  process.stdout.write("keys and certificates (DIR/pki) are not the store's: copy them too where they are to stay\n")
}
