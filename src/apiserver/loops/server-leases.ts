/**
 * The API servers that share a store, by the address at which pods reach each: a key that ends unless its server writes it again. They
 * are the keys that kube-apiserver keeps (its lease endpoint reconciler), so that both may share a store.
 */
import { type Storage, StoreError } from '../../storage/storage.ts'

/** In seconds. A server that was killed is no longer named then. */
const LEASE_SECONDS = 15
const PREFIX = '/registry/masterleases/'
const END = '/registry/masterleases0'
/** Others write this server's own key only by mistake: two servers that were given one address. */
const TRIES = 5

export interface ServerLeases {
  /** For LEASE_SECONDS more. @throws StoreError */
  renew(address: string): Promise<void>
  /** In the order of their text. @throws StoreError */
  addresses(): Promise<readonly string[]>
  /** @throws StoreError */
  giveBack(address: string): Promise<void>
}

export function createServerLeases(storage: Storage): ServerLeases {
  const lastRevision = async (key: string) => (await storage.get(key)).item?.modRevision ?? 0

  async function untilWritten(key: string, write: (expectRevision: number) => ReturnType<Storage['write']>) {
    let expected = await lastRevision(key)
    for (let i = 0; i < TRIES; i++) {
      const result = await write(expected)
      if (result.ok) return
      expected = result.current?.modRevision ?? 0
    }
    throw new StoreError(`${key} is written by another API server: each needs an address of its own`)
  }

  return {
    renew(address) {
      const key = `${PREFIX}${address}`
      const value = Buffer.from(JSON.stringify(leaseOf(address)))
      return untilWritten(key, (expectRevision) =>
        storage.write({ type: 'put', key, value, expectRevision, leaseSeconds: LEASE_SECONDS }),
      )
    },
    async addresses() {
      const { items } = await storage.range(PREFIX, END)
      return items.map(({ key }) => key.slice(PREFIX.length))
    },
    async giveBack(address) {
      const key = `${PREFIX}${address}`
      await untilWritten(key, async (expectRevision) =>
        expectRevision === 0 ? { ok: true, revision: 0 } : storage.write({ type: 'delete', key, expectRevision }),
      )
    },
  }
}

/** As kube-apiserver reads it. */
const leaseOf = (ip: string) => ({
  kind: 'Endpoints',
  apiVersion: 'v1',
  metadata: {},
  subsets: [{ addresses: [{ ip }] }],
})
