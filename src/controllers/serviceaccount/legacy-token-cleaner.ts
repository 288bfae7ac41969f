/**
 * The legacy service account token cleaner (KEP-2799): tokens that were once made for each account and are in a Secret that the
 * account lists. One that was not used for a year, and that no pod mounts, is marked as invalid, and deleted when it has been so for
 * another year. The controller manager starts it.
 */
import type { ConfigMap, Pod, Secret, ServiceAccount } from '../../api/generated/types.ts'
import { isConflict, isNotFound } from '../../api/status.ts'
import { messageOf } from '../../base/errors.ts'
import type { Controller, ControllerContext } from '../controller.ts'

const secretsResource = { group: '', version: 'v1', resource: 'secrets' }
const accountsResource = { group: '', version: 'v1', resource: 'serviceaccounts' }
const configMapsResource = { group: '', version: 'v1', resource: 'configmaps' }
const podsResource = { group: '', version: 'v1', resource: 'pods' }
const fieldSelector = 'type=kubernetes.io/service-account-token'
const accountAnnotation = 'kubernetes.io/service-account.name'
const LAST_USED = 'kubernetes.io/legacy-token-last-used'
const INVALID_SINCE = 'kubernetes.io/legacy-token-invalid-since'
/** Since when the API server notes their use. */
const TRACKING = 'kube-system/kube-apiserver-legacy-service-account-token-tracking'
const EVERY_MS = 24 * 3_600_000
/** --legacy-service-account-token-clean-up-period */
export const PERIOD_MS = 365 * 24 * 3_600_000

export type TokenVerdict = 'keep' | 'mark' | 'delete'

/** `periodMs`: how long a token may be unused before it is marked, and marked before it is deleted. */
export function createLegacyTokenCleaner(
  { runtime, client, informers, signal }: ControllerContext,
  periodMs = PERIOD_MS,
): Controller {
  const secrets = informers.informer<Secret>(secretsResource, { fieldSelector })
  const accounts = informers.informer<ServiceAccount>(accountsResource)
  const configMaps = informers.informer<ConfigMap>(configMapsResource)
  const pods = informers.informer<Pod>(podsResource)

  async function clean(): Promise<void> {
    const since = dayOf(configMaps.store.get(TRACKING)?.data?.['since'])
    if (since === undefined) return
    const now = runtime.clock.now()
    for (const secret of secrets.store.list()) {
      if (signal.aborted) return
      const isListed = isListedBy(accounts.store, secret)
      const verdict = isListed
        ? verdictOn(secret, { since, now, periodMs, isMounted: () => isMounted(pods.store.list(), secret) })
        : 'keep'
      if (verdict === 'keep') continue
      await carryOut(secret, verdict, now).catch((error) => {
        if (isNotFound(error) || isConflict(error)) return
        const { namespace = '', name = '' } = secret.metadata
        runtime.log.info(2, 'A legacy token was not cleaned', { secret: `${namespace}/${name}`, err: messageOf(error) })
      })
    }
  }

  async function carryOut({ metadata }: Secret, verdict: TokenVerdict, now: number): Promise<void> {
    const { namespace = '', name = '', uid = '', resourceVersion = '' } = metadata
    const own = client.resource<Secret>(secretsResource).namespace(namespace)
    if (verdict === 'delete') return void (await own.delete(name, { preconditions: { resourceVersion } }))
    const labels = { [INVALID_SINCE]: new Date(now).toISOString().slice(0, 10) }
    const body = { kind: 'Secret', apiVersion: 'v1', metadata: { name, namespace, uid, labels } }
    await own.patch(name, 'merge', body)
  }

  const again = () => {
    if (signal.aborted) return
    // Each turn is taken: what is unused grows older by itself.
    const recurrence = { everyMs: EVERY_MS, nothingBefore: () => 0, goesOn: true }
    runtime.clock.setTimer(EVERY_MS, 'legacy token cleaner', () => void clean().then(again), recurrence)
  }

  return {
    name: 'legacy-service-account-token-cleaner',
    async start() {
      await Promise.all([secrets, accounts, configMaps, pods].map((informer) => informer.whenSynced(signal)))
      void clean().then(again)
    },
  }
}

export interface Circumstances {
  /** Since when use is noted, milliseconds since the epoch. */
  readonly since: number
  readonly now: number
  readonly periodMs: number
  readonly isMounted: () => boolean
}

/** What is to become of a Secret that its account lists. */
export function verdictOn({ metadata }: Secret, { since, now, periodMs, isMounted }: Circumstances): TokenVerdict {
  const isOld = (time: number) => now >= time + periodMs
  if (!isOld(Date.parse(metadata.creationTimestamp ?? ''))) return 'keep'
  const { [LAST_USED]: used, [INVALID_SINCE]: invalid } = metadata.labels ?? {}
  const lastUsed = used === undefined ? since : dayOf(used)
  if (lastUsed === undefined || !isOld(lastUsed) || isMounted()) return 'keep'
  const invalidSince = dayOf(invalid)
  if (invalidSince === undefined) return 'mark'
  return isOld(invalidSince) ? 'delete' : 'keep'
}

/** Of `2026-11-23`, milliseconds since the epoch. */
function dayOf(text: string | undefined): number | undefined {
  if (text === undefined || !/^\d{4}-\d{2}-\d{2}$/.test(text)) return undefined
  const time = Date.parse(text)
  return Number.isNaN(time) ? undefined : time
}

function isListedBy(accounts: { get(key: string): ServiceAccount | undefined }, { metadata }: Secret): boolean {
  const account = accounts.get(`${metadata.namespace}/${metadata.annotations?.[accountAnnotation] ?? ''}`)
  return account?.secrets?.some(({ name }) => name === metadata.name) ?? false
}

function isMounted(pods: readonly Pod[], { metadata }: Secret): boolean {
  return pods.some(
    (pod) =>
      pod.metadata.namespace === metadata.namespace &&
      pod.spec?.volumes?.some(({ secret }) => secret?.secretName === metadata.name),
  )
}
