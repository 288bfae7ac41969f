/**
 * The bootstrap signer: kube-public/cluster-info tells a joining node where the cluster is and which authority to trust, and is signed with
 * each bootstrap token that may sign, so that a node that knows a token knows that the words are the cluster's (KEP-130: a
 * detached JWS over the kubeconfig, HMAC with the token's secret). The controller manager starts it.
 */

import { createHmac } from 'node:crypto'
import type { ConfigMap, Secret } from '../../api/generated/types.ts'
import { sameJson } from '../../api/same.ts'
import { createWorkQueue, runWorkers } from '../../client/work-queue.ts'
import type { Controller, ControllerContext } from '../controller.ts'
import { secretsResource, signingSecret, tokenSelector } from './token-secret.ts'

const configMapsResource = { group: '', version: 'v1', resource: 'configmaps' }
const NAMESPACE = 'kube-public'
const NAME = 'cluster-info'
const SIGNED = 'kubeconfig'
const PREFIX = 'jws-kubeconfig-'

export function createBootstrapSigner({ runtime, client, informers, signal }: ControllerContext): Controller {
  const configMaps = informers.informer<ConfigMap>(configMapsResource)
  const secrets = informers.informer<Secret>(secretsResource, tokenSelector)
  const queue = createWorkQueue<typeof NAME>(runtime, 'bootstrap_signer_queue')

  async function sync(): Promise<void> {
    const info = configMaps.store.get(`${NAMESPACE}/${NAME}`)
    if (info?.data?.[SIGNED] === undefined) return
    const data = signed(info.data, secrets.store.list(), runtime.clock.now())
    if (sameJson(data, info.data)) return
    await client
      .resource<ConfigMap>(configMapsResource)
      .namespace(NAMESPACE)
      .update({ ...info, data })
  }

  return {
    name: 'bootstrap-signer',
    async start() {
      const enqueue = () => queue.add(NAME)
      const ifInfo = ({ metadata }: ConfigMap) => {
        if (metadata.name === NAME && metadata.namespace === NAMESPACE) enqueue()
      }
      configMaps.addHandlers({ added: ifInfo, updated: (_, configMap) => ifInfo(configMap) })
      secrets.addHandlers({ added: enqueue, updated: enqueue, deleted: enqueue })
      await Promise.all([configMaps.whenSynced(signal), secrets.whenSynced(signal)])
      runWorkers(runtime, queue, 1, sync, signal)
    },
  }
}

/** The ConfigMap's data with a signature for each token that may sign now, and none else. */
export function signed(
  data: Readonly<Record<string, string>>,
  tokens: readonly Secret[],
  nowMs: number,
): Readonly<Record<string, string>> {
  const next = Object.fromEntries(Object.entries(data).filter(([key]) => !key.startsWith(PREFIX)))
  for (const token of tokens) {
    const signing = signingSecret(token, nowMs)
    if (signing !== undefined) next[`${PREFIX}${signing.id}`] = signature(data[SIGNED] ?? '', signing.id, signing.key)
  }
  return next
}

/** A compact JWS whose payload is left out (RFC 7515, appendix F). */
function signature(payload: string, id: string, key: string): string {
  const header = Buffer.from(JSON.stringify({ alg: 'HS256', kid: id })).toString('base64url')
  const signing = `${header}.${Buffer.from(payload).toString('base64url')}`
  return `${header}..${createHmac('sha256', key).update(signing).digest('base64url')}`
}
