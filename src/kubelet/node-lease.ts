/** A node's Lease in kube-node-lease, by which it is known to be alive: made where it is missing, owned by its Node, renewed. */
import type { Lease } from '../api/generated/types.ts'
import { isConflict, isNotFound } from '../api/status.ts'
import { type Clock, formatMicroTime } from '../base/clock.ts'
import type { Client } from '../client/client.ts'

export interface NodeLease {
  /**
   * One renewal at a time, as a kubelet makes them: what is asked for during one is that one. Two would refuse each other's writes, and the
   * more of them the slower the server.
   *
   * @throws StatusError
   */
  renew(): Promise<void>
  /** The Node is gone, and its Lease with it. */
  forget(): void
}

export const RENEW_MS = 10_000
const LEASES = { group: 'coordination.k8s.io', version: 'v1', resource: 'leases' }
const LEASE_NAMESPACE = 'kube-node-lease'
/** kubelet's default (nodeLeaseDurationSeconds). */
export const LEASE_SECONDS = 40
const CONFLICTS = 5

/** `uid`: the Node's, where it is known. */
export function createNodeLease(
  clock: Pick<Clock, 'now'>,
  client: Client,
  name: string,
  uid: () => string | undefined,
  seconds = LEASE_SECONDS,
): NodeLease {
  const leases = client.resource<Lease>(LEASES).namespace(LEASE_NAMESPACE)
  let lease: Lease | undefined
  let renewal: Promise<void> | undefined

  async function renew(tries = 0): Promise<void> {
    const renewTime = formatMicroTime(clock.now())
    const spec = { holderIdentity: name, leaseDurationSeconds: seconds, renewTime }
    try {
      if (lease === undefined) lease = await leases.get(name)
      lease = await leases.update({ ...lease, spec: { ...lease.spec, ...spec } })
    } catch (error) {
      lease = undefined
      if (isConflict(error) && tries < CONFLICTS) return renew(tries + 1)
      if (!isNotFound(error)) throw error
      const owner = uid()
      const ownerReferences = owner === undefined ? [] : [{ apiVersion: 'v1', kind: 'Node', name, uid: owner }]
      lease = await leases.create({
        kind: 'Lease',
        apiVersion: 'coordination.k8s.io/v1',
        metadata: { name, namespace: LEASE_NAMESPACE, ...(owner === undefined ? {} : { ownerReferences }) },
        spec,
      })
    }
  }

  return {
    renew() {
      renewal ??= renew().finally(() => {
        renewal = undefined
      })
      return renewal
    },
    forget() {
      lease = undefined
    },
  }
}
