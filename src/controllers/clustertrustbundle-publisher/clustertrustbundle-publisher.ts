/**
 * The ClusterTrustBundle publisher of kube-apiserver-serving (KEP-3257): by one ClusterTrustBundle, which is named after what it holds, pods
 * and people know the API server's certificate. Other bundles of this signer are deleted. The controller manager starts it.
 */
import { createHash } from 'node:crypto'
import type { ClusterTrustBundle } from '../../api/generated/types.ts'
import { isAlreadyExists, isNotFound } from '../../api/status.ts'
import { createWorkQueue, runWorkers } from '../../client/work-queue.ts'
import type { Controller, ControllerContext } from '../controller.ts'
import { countedSync } from '../sync-metrics.ts'

const resource = { group: 'certificates.k8s.io', version: 'v1', resource: 'clustertrustbundles' }
const SIGNER = 'kubernetes.io/kube-apiserver-serving'
/** Of the hash, in hexadecimal. */
const HASH_LENGTH = 24

/** `bundle`: PEM. */
export const bundleName = (bundle: string): string =>
  `${SIGNER.replace('/', ':')}:${createHash('sha256').update(bundle).digest('hex').slice(0, HASH_LENGTH)}`

/** `bundle`: PEM of the authorities of the API server's certificate. */
export function createClusterTrustBundlePublisher(context: ControllerContext, bundle: string): Controller {
  const { runtime, client, informers, signal } = context
  const bundles = informers.informer<ClusterTrustBundle>(resource)
  const queue = createWorkQueue<string>(runtime, 'ca_cert_publisher_cluster_trust_bundles')
  const name = bundleName(bundle)
  const wanted: ClusterTrustBundle = {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'ClusterTrustBundle',
    metadata: { name },
    spec: { signerName: SIGNER, trustBundle: bundle },
  }

  async function sync(): Promise<void> {
    const writer = client.resource<ClusterTrustBundle>(resource)
    const present = bundles.store.get(name)
    if (present === undefined) await writer.create(wanted).catch(unless(isAlreadyExists))
    else if (present.spec.trustBundle !== bundle)
      await writer.update({ ...present, spec: { ...present.spec, trustBundle: bundle } })
    for (const { metadata, spec } of bundles.store.list())
      if (spec.signerName === SIGNER && metadata.name !== name)
        await writer.delete(metadata.name ?? '').catch(unless(isNotFound))
  }

  return {
    name: 'kube-apiserver-serving-clustertrustbundle-publisher',
    async start() {
      const noticed = ({ spec }: ClusterTrustBundle) => {
        if (spec.signerName === SIGNER) queue.add(SIGNER)
      }
      bundles.addHandlers({ added: noticed, updated: (_, now) => noticed(now), deleted: noticed })
      await bundles.whenSynced(signal)
      queue.add(SIGNER)
      runWorkers(runtime, queue, 1, countedSync(runtime, 'clustertrustbundle_publisher', sync), signal)
    },
  }
}

function unless(isFine: (error: unknown) => boolean): (error: unknown) => undefined {
  return (error) => {
    if (!isFine(error)) throw error
  }
}
