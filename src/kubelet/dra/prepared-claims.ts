/**
 * Claims whose devices are prepared on this node (KEP-4381), and the pods that they are prepared for: drivers are asked once, however many pods
 * share a claim, and take the devices back after the last one. Kept in a file before a driver is asked, so that a kubelet that starts anew
 * has everything taken back that may be prepared.
 */
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { messageOf } from '../../base/errors.ts'
import type { ClaimReference, DraDrivers, PreparedDevice } from './dra-drivers.ts'

/** With the drivers of its devices. */
export interface AllocatedClaim extends ClaimReference {
  readonly drivers: readonly string[]
}

export interface PreparedClaims {
  /** @throws Error when a driver is not there or refuses */
  prepare(podUid: string, claims: readonly AllocatedClaim[]): Promise<void>
  /** Takes back what no other pod uses. @throws Error when a driver is not there or refuses; it is to be called again */
  unprepare(podUid: string): Promise<void>
  /** The devices of one of a pod's claims for one of its requests; undefined: for all. @throws Error when it is not prepared */
  devices(podUid: string, claimName: string, request: string | undefined): readonly PreparedDevice[]
  /** Pods that something is prepared for. */
  pods(): readonly string[]
}

export interface PreparedClaimsToTell {
  /** What drivers have prepared of one of a pod's claims; undefined: nothing yet. */
  claim(podUid: string, claimName: string): PreparedClaim | undefined
}

interface PreparedClaim extends AllocatedClaim {
  /** By driver, of those that have answered. */
  readonly devices: Readonly<Record<string, readonly PreparedDevice[]>>
}

interface Prepared extends PreparedClaim {
  readonly pods: readonly string[]
}

/** @throws Error when the file is damaged */
export function createPreparedClaims(
  file: string,
  drivers: Pick<DraDrivers, 'get'>,
): PreparedClaims & PreparedClaimsToTell {
  const byUid = new Map(read(file).map((claim) => [claim.uid, claim]))
  /**
   * What drivers of this kubelet have answered, by driver and claim. What they told an earlier one may be gone with a machine that was
   * started anew: for a pod that is begun anew they are asked again.
   */
  const answers = new Set<string>()
  const answerKey = (driver: string, uid: string) => `${driver} ${uid}`
  /** By the uid of a claim: ends with what is being done about it. */
  const turns = new Map<string, Promise<void>>()

  function keep(): void {
    writeFileSync(`${file}.new`, `${JSON.stringify({ version: 1, claims: [...byUid.values()] })}\n`, { mode: 0o600 })
    renameSync(`${file}.new`, file)
  }

  /** One after another for each of the claims. */
  async function inTurn<T>(uids: readonly string[], task: () => Promise<T>): Promise<T> {
    const before = uids.flatMap((uid) => turns.get(uid) ?? [])
    const { promise, resolve } = Promise.withResolvers<void>()
    for (const uid of uids) turns.set(uid, promise)
    await Promise.all(before)
    try {
      return await task()
    } finally {
      for (const uid of uids) if (turns.get(uid) === promise) turns.delete(uid)
      resolve()
    }
  }

  function change(uid: string, next: (before: Prepared) => Prepared): void {
    const before = byUid.get(uid)
    if (before !== undefined) byUid.set(uid, next(before))
  }

  const usedBy = (podUid: string) => [...byUid.values()].filter(({ pods }) => pods.includes(podUid))

  return {
    prepare: (podUid, claims) =>
      inTurn(
        claims.map(({ uid }) => uid),
        async () => {
          for (const claim of claims) {
            const before = byUid.get(claim.uid) ?? { ...claim, pods: [], devices: {} }
            if (!before.pods.includes(podUid)) byUid.set(claim.uid, { ...before, pods: [...before.pods, podUid] })
          }
          keep()
          for (const name of new Set(claims.flatMap((claim) => claim.drivers))) {
            const due = claims.filter(
              ({ uid, drivers: own }) => own.includes(name) && !answers.has(answerKey(name, uid)),
            )
            if (due.length === 0) continue
            const answered = await drivers.get(name).prepare(due)
            for (const { uid } of due) answers.add(answerKey(name, uid))
            for (const { uid } of due)
              change(uid, (claim) => ({ ...claim, devices: { ...claim.devices, [name]: answered.get(uid) ?? [] } }))
            keep()
          }
        },
      ),
    unprepare: (podUid) =>
      inTurn(
        usedBy(podUid).map(({ uid }) => uid),
        async () => {
          const own = usedBy(podUid)
          if (own.length === 0) return
          const last = own.filter(({ pods }) => pods.length === 1)
          for (const name of new Set(last.flatMap((claim) => claim.drivers)))
            await drivers.get(name).unprepare(last.filter((claim) => claim.drivers.includes(name)))
          for (const { uid, pods, drivers: claimDrivers } of own)
            if (pods.length === 1) {
              for (const name of claimDrivers) answers.delete(answerKey(name, uid))
              byUid.delete(uid)
            } else change(uid, (claim) => ({ ...claim, pods: claim.pods.filter((other) => other !== podUid) }))
          keep()
        },
      ),
    devices(podUid, claimName, request) {
      const claim = usedBy(podUid).find(({ name }) => name === claimName)
      if (claim === undefined) throw new Error(`claim ${claimName} is not prepared`)
      return Object.values(claim.devices)
        .flat()
        .filter(({ request_names: names }) => request === undefined || names.length === 0 || names.includes(request))
    },
    claim: (podUid, claimName) => usedBy(podUid).find(({ name }) => name === claimName),
    pods: () => [...new Set([...byUid.values()].flatMap(({ pods }) => pods))],
  }
}

/** A file that is not there tells of none. */
function read(file: string): readonly Prepared[] {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
  try {
    const { version, claims } = JSON.parse(text) as { version: number; claims: readonly Prepared[] }
    if (version !== 1 || !Array.isArray(claims)) throw new Error('it is of another version')
    return claims
  } catch (error) {
    throw new Error(
      `${file}, which tells what devices are prepared for pods, cannot be read: ${messageOf(error)}. Drain the node, end its pods and remove the file`,
      { cause: error },
    )
  }
}
