/** A cluster to plan on, and how a twin's reader reaches it: over HTTPS, with every request noted. */
import type { KubeObject } from '../../src/api/object.ts'
import { liveRuntime } from '../../src/base/live-runtime.ts'
import type { GroupVersionResource } from '../../src/client/client.ts'
import { kubeconfigTransport } from '../../src/client/kubeconfig-transport.ts'
import { startCluster } from '../../src/cluster/cluster.ts'
import type { Cluster } from '../../src/cluster/cluster-options.ts'
import type { TwinSource } from '../../src/inspect/twin/read-cluster.ts'

export interface Stage {
  readonly cluster: Cluster
  readonly source: TwinSource
  /** `VERB path` of all that the source was asked. */
  readonly asked: readonly string[]
  make(gvr: GroupVersionResource, object: object): Promise<KubeObject>
  stop(): Promise<void>
}

export const core = (resource: string): GroupVersionResource => ({ group: '', version: 'v1', resource })
export const PODS = core('pods')
export const CONFIG_MAPS = core('configmaps')
export const NAMESPACES = core('namespaces')
export const DEPLOYMENTS = { group: 'apps', version: 'v1', resource: 'deployments' }
export const DEFINITIONS = { group: 'apiextensions.k8s.io', version: 'v1', resource: 'customresourcedefinitions' }

export async function startStage(nodes = 2): Promise<Stage> {
  const cluster = await startCluster({ storage: 'memory', clock: 'manual', nodes })
  const runtime = liveRuntime()
  const { transport } = kubeconfigTransport(runtime, cluster.kubeconfigFile)
  const asked: string[] = []
  return {
    cluster,
    asked,
    source: {
      runtime,
      userAgent: 'skiff plan',
      transport: {
        inProcess: false,
        send(request) {
          const query = request.method === 'GET' ? '' : `?${request.query}`
          asked.push(`${request.method} ${request.path}${query}`)
          return transport.send(request)
        },
      },
    },
    make: (gvr, object) => cluster.client.resource(gvr).create(object as KubeObject),
    async stop() {
      transport.close()
      await cluster.stop()
    },
  }
}

export const configMap = (name: string, metadata: object = {}, namespace = 'default') => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace, ...metadata },
})

export const deployment = (name: string, replicas: number, spec: object = {}, namespace = 'default') => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name, namespace },
  spec: {
    replicas,
    selector: { matchLabels: { app: name } },
    template: { metadata: { labels: { app: name } }, spec: { containers: [{ name: 'c', image: 'i:1' }], ...spec } },
  },
})

/** Shops, with v1 stored and v2 preferred. */
export const definition = (conversion: object = { strategy: 'None' }, group = 'acme.test') => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `shops.${group}` },
  spec: {
    group,
    scope: 'Namespaced',
    names: { plural: 'shops', singular: 'shop', kind: 'Shop', listKind: 'ShopList' },
    conversion,
    versions: ['v1', 'v2'].map((name) => ({
      name,
      served: true,
      storage: name === 'v1',
      schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
    })),
  },
})
