import { after } from 'node:test'
import { liveRuntime } from '../../src/base/live-runtime.ts'
import { storageContract } from '../../src/storage/contract.ts'
import { openEtcd } from '../../src/storage/etcd/etcd.ts'
import { lacks } from '../machine.ts'
import { type EtcdCluster, startEtcd } from './member.ts'

const clusters: EtcdCluster[] = []
after(() => Promise.all(clusters.map((cluster) => cluster.stop())))

storageContract({
  name: 'etcd',
  skip: lacks.etcd(),
  async open() {
    const runtime = liveRuntime({ level: 0 })
    const cluster = await startEtcd()
    clusters.push(cluster)
    const open = () => openEtcd(runtime, { servers: cluster.servers, compactEveryMs: 0 })
    let storage = await open()
    return {
      storage,
      reopen: async () => {
        await storage.close()
        storage = await open()
        return storage
      },
    }
  },
  complete: (_runtime, promise) => promise,
  until: async (condition) => {
    while (!condition()) await new Promise((resolve) => setTimeout(resolve, 20))
  },
  shortestLease: 2,
  takesLongKeys: true,
  forgetsCompaction: true,
})
