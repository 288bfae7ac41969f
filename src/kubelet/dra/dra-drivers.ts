/**
 * Drivers of this node's devices (KEP-4381), which register as plugins of type DRAPlugin. Devices of a driver that is not there cannot be
 * prepared, so the ResourceSlices that offer them go with it, and with the kubelet.
 */
import { sleep, type Timer } from '../../base/clock.ts'
import { messageOf } from '../../base/errors.ts'
import type { Runtime } from '../../base/runtime.ts'
import type { Client } from '../../client/client.ts'
import type { Plugin, PluginHandler } from '../plugins/plugin-registry.ts'
import { type Connection, connect } from '../runtimes/cri/connection.ts'

/** As drivers name it. */
export interface ClaimReference {
  readonly namespace: string
  readonly name: string
  readonly uid: string
}

export interface PreparedDevice {
  /** Requests of the claim that it was allocated for; empty: for any. */
  readonly request_names: readonly string[]
  readonly pool_name: string
  readonly device_name: string
  /** By which the container runtime finds what it does to a container (Container Device Interface). */
  readonly cdi_device_ids: readonly string[]
  /** Of a device that several claims have a part of. */
  readonly share_id?: string
}

export interface DraDriver {
  /** The devices of each claim, by its uid; those of a claim may be prepared already. @throws Error when one could not be prepared */
  prepare(claims: readonly ClaimReference[]): Promise<ReadonlyMap<string, readonly PreparedDevice[]>>
  /** Of claims that are not prepared too. @throws Error when one of them could not be */
  unprepare(claims: readonly ClaimReference[]): Promise<void>
}

export interface DraDrivers extends PluginHandler {
  /** @throws Error when none of that name has registered */
  get(name: string): DraDriver
  /** Takes back what drivers of an earlier kubelet offered, until that is done. */
  begin(signal: AbortSignal): void
}

export interface DraDriversOptions {
  readonly runtime: Runtime
  readonly client: Client
  readonly nodeName: string
}

const CALL_MS = 45_000
/** A driver that is updated comes back. */
const WIPE_MS = 30_000
const RETRY_MS = 5_000
const SLICES = { group: 'resource.k8s.io', version: 'v1', resource: 'resourceslices' }
/** The newest first. */
const SERVICES = [
  ['v1.DRAPlugin', 'dra'],
  ['v1beta1.DRAPlugin', 'dra-v1beta1'],
] as const

interface Instance {
  readonly endpoint: string
  readonly connection: Connection
}
type Answers<Answer> = { readonly claims?: Readonly<Record<string, Answer>> }

export function createDraDrivers({ runtime, client, nodeName }: DraDriversOptions): DraDrivers {
  const { clock, log } = runtime
  /** By name; the last one is asked. */
  const instances = new Map<string, readonly Instance[]>()
  const wipes = new Map<string, Timer>()

  function without(name: string, endpoint: string): readonly Instance[] {
    const all = instances.get(name) ?? []
    for (const one of all) if (one.endpoint === endpoint) one.connection.close()
    return all.filter((one) => one.endpoint !== endpoint)
  }

  const wipe = (selector: string) =>
    client.resource(SLICES).deleteCollection({}, { fieldSelector: `spec.nodeName=${nodeName}${selector}` })

  function wipeLater(name: string, ms: number): void {
    wipes.get(name)?.cancel()
    const timer = clock.setTimer(ms, `devices of ${name} are no longer offered`, () => {
      wipe(`,spec.driver=${name}`)
        .then(() => {
          if (wipes.get(name) === timer) wipes.delete(name)
        })
        .catch((error: unknown) => {
          log.info(0, 'ResourceSlices could not be deleted', { driver: name, err: messageOf(error) })
          if (wipes.get(name) === timer) wipeLater(name, RETRY_MS)
        })
    })
    wipes.set(name, timer)
  }

  async function ask<Answer>(
    name: string,
    method: 'NodePrepareResources' | 'NodeUnprepareResources',
    claims: readonly ClaimReference[],
  ): Promise<readonly Answer[]> {
    const instance = instances.get(name)?.at(-1)
    if (instance === undefined) throw new Error(`DRA driver ${name} is not registered`)
    const asked = claims.map(({ namespace, name: claim, uid }) => ({ namespace, name: claim, uid }))
    const { claims: answers = {} } = await instance.connection
      .call<Answers<Answer & { readonly error?: string }>>(method, { claims: asked }, { timeoutMs: CALL_MS })
      .catch((error: unknown) => {
        throw new Error(`${method}: ${messageOf(error)}`, { cause: error })
      })
    return claims.map(({ namespace, name: claim, uid }) => {
      const answer = Object.hasOwn(answers, uid) ? answers[uid] : undefined
      if (answer === undefined) throw new Error(`${method} of DRA driver ${name} left out claim ${namespace}/${claim}`)
      if (answer.error) throw new Error(`${method} failed for claim ${namespace}/${claim}: ${answer.error}`)
      return answer
    })
  }

  return {
    get(name) {
      if (!instances.has(name)) throw new Error(`DRA driver ${name} is not registered`)
      return {
        async prepare(claims) {
          const answers = await ask<{ readonly devices?: readonly PreparedDevice[] }>(
            name,
            'NodePrepareResources',
            claims,
          )
          return new Map(claims.map(({ uid }, at) => [uid, answers[at]?.devices ?? []]))
        },
        async unprepare(claims) {
          await ask(name, 'NodeUnprepareResources', claims)
        },
      }
    },
    async add({ name, endpoint, versions }) {
      const service = SERVICES.find(([version]) => versions.includes(version))?.[1]
      if (name === '') throw new Error('a DRA driver must have a name')
      if (service === undefined)
        throw new Error(
          `DRA driver ${name} supports none of the services of this node, ${SERVICES.map(([version]) => version).join(' and ')}: ${versions.join(', ')}`,
        )
      wipes.get(name)?.cancel()
      wipes.delete(name)
      const connection = connect(clock, `unix://${endpoint}`, service)
      instances.set(name, [...without(name, endpoint), { endpoint, connection }])
    },
    async remove({ name, endpoint }: Plugin) {
      const left = without(name, endpoint)
      if (left.length > 0) {
        instances.set(name, left)
        return
      }
      instances.delete(name)
      wipeLater(name, WIPE_MS)
    },
    close() {
      for (const timer of wipes.values()) timer.cancel()
      wipes.clear()
      for (const { connection } of [...instances.values()].flat()) connection.close()
      instances.clear()
    },
    begin(signal) {
      const attempt = async (): Promise<void> => {
        while (!signal.aborted)
          try {
            return await wipe('')
          } catch (error) {
            log.info(2, 'ResourceSlices of an earlier kubelet could not be deleted', { err: messageOf(error) })
            await sleep(clock, RETRY_MS, signal)
          }
      }
      void attempt().catch(() => {})
    },
  }
}
