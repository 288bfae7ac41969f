/** With SKIFF_OVER_ETCD=1 what tests start keeps its objects in an etcd of its own: the same tests, over the other store. */
import { startEtcd } from './member.ts'

export interface StoreOfTest {
  /** Further arguments of `skiff up`. */
  readonly args: readonly string[]
  stop(): Promise<void>
}

export async function storeOfTest(): Promise<StoreOfTest> {
  if (process.env['SKIFF_OVER_ETCD'] !== '1') return { args: [], stop: async () => {} }
  const etcd = await startEtcd()
  return { args: ['--etcd-servers', etcd.servers], stop: etcd.stop }
}
