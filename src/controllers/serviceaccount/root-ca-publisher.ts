/** The root CA publisher: every namespace has the ConfigMap by which pods know the API server's certificate. */
import type { ConfigMap, Namespace } from '../../api/generated/types.ts'
import type { KubeObject } from '../../api/object.ts'
import { isAlreadyExists, isNamespaceTerminating, isNotFound } from '../../api/status.ts'
import { createWorkQueue, runWorkers } from '../../client/work-queue.ts'
import type { Controller, ControllerContext } from '../controller.ts'
import { countedSync } from '../sync-metrics.ts'

const namespacesResource = { group: '', version: 'v1', resource: 'namespaces' }
const configMapsResource = { group: '', version: 'v1', resource: 'configmaps' }
const configMapName = 'kube-root-ca.crt'
const annotation = 'kubernetes.io/description'
const description =
  'Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes clusters.'

/** `rootCa`: PEM. */
export function createRootCaPublisher(context: ControllerContext, rootCa: string): Controller {
  const { runtime, client, informers, signal } = context
  const namespaces = informers.informer<Namespace>(namespacesResource)
  const configMaps = informers.informer<ConfigMap>(configMapsResource)
  const queue = createWorkQueue<string>(runtime, 'root_ca_cert_publisher')

  async function sync(name: string): Promise<void> {
    const resource = client.resource<ConfigMap>(configMapsResource).namespace(name)
    const existing = configMaps.store.get(`${name}/${configMapName}`)
    const data = { 'ca.crt': rootCa }
    if (existing === undefined) {
      const metadata = { name: configMapName, annotations: { [annotation]: description } }
      try {
        await resource.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata, data })
      } catch (error) {
        if (!isAlreadyExists(error) && !isNamespaceTerminating(error) && !isNotFound(error)) throw error
      }
      return
    }
    const known = existing.data?.['ca.crt'] === rootCa && Object.keys(existing.data).length === 1
    if (known && existing.metadata.annotations?.[annotation] === description) return
    const annotations = { ...existing.metadata.annotations, [annotation]: description }
    await resource.update({ ...existing, metadata: { ...existing.metadata, annotations }, data })
  }

  return {
    name: 'root-ca-cert-publisher',
    async start() {
      const own = (configMap: ConfigMap) => {
        if (configMap.metadata.name === configMapName) queue.add(configMap.metadata.namespace ?? '')
      }
      // One that is taken from a namespace that ends is made again too: the API server refuses it.
      const isActive = ({ status }: Namespace) => status?.phase === 'Active'
      const enqueue = (namespace: KubeObject) => queue.add(namespace.metadata.name ?? '')
      namespaces.addHandlers({
        added: enqueue,
        updated: (_, namespace) => void (isActive(namespace) && enqueue(namespace)),
      })
      configMaps.addHandlers({ updated: (_, configMap) => own(configMap), deleted: own })
      await Promise.all([namespaces.whenSynced(signal), configMaps.whenSynced(signal)])
      runWorkers(runtime, queue, 1, countedSync(runtime, 'root_ca_cert_publisher', sync), signal)
    },
  }
}
