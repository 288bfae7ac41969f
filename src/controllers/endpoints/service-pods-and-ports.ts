/** What the endpoints and the EndpointSlice controllers share: which pods a service has, at which ports, and when that changed. */
import type { Pod, Service } from '../../api/generated/types.ts'
import type { KubeObject } from '../../api/object.ts'
import { labelSelectorOf } from '../../api/objects/label-selector.ts'
import { sameJson } from '../../api/same.ts'
import type { Informer } from '../../client/informer.ts'
import { indexNamespace, namespaceIndex, objectKey } from '../../client/store.ts'
import { isReady, isTerminated, podCondition } from '../pods/pod.ts'

export const servicesResource = { group: '', version: 'v1', resource: 'services' }
export const triggerTimeAnnotation = 'endpoints.kubernetes.io/last-change-trigger-time'
export const headlessLabel = 'service.kubernetes.io/headless'

export const isHeadless = (service: Service): boolean => service.spec?.clusterIP === 'None'

/** Without a selector, the user or another controller looks after the endpoints. */
export const selectsPods = (service: Service): boolean =>
  service.spec?.selector !== undefined && service.spec?.type !== 'ExternalName'

export const selectorOf = (service: Service) => labelSelectorOf({ matchLabels: service.spec?.selector })

/** Pods of the service that may be reached: running somewhere, with an address. */
export function podsOf(service: Service, pods: Informer<Pod>): readonly Pod[] {
  const selector = selectorOf(service)
  return pods.store
    .byIndex(namespaceIndex, service.metadata.namespace ?? '')
    .filter((pod) => selector.matches(pod.metadata.labels) && !isTerminated(pod) && addressesOf(pod).length > 0)
}

export function addressesOf(pod: Pod): readonly string[] {
  const { podIPs = [], podIP = '' } = pod.status ?? {}
  const all = podIPs.map(({ ip }) => ip as string)
  return all.length > 0 ? all : podIP === '' ? [] : [podIP]
}

/** Named in DNS as itself. */
export const hostnameOf = (service: Service, pod: Pod): string | undefined =>
  pod.spec?.hostname && pod.spec?.subdomain === service.metadata.name ? pod.spec?.hostname : undefined

export interface EndpointPort {
  readonly name: string
  readonly port: number
  readonly protocol: string
  readonly appProtocol?: string
}

export const byName = (a: EndpointPort, b: EndpointPort): number =>
  a.name < b.name ? -1 : a.name > b.name ? 1 : a.port - b.port

/** The service's ports as this pod has them, by name; a named target port that it has not is left out. */
export function portsOf(service: Service, pod: Pod): readonly EndpointPort[] {
  const ports: EndpointPort[] = []
  for (const { name = '', protocol = 'TCP', port, targetPort, appProtocol } of service.spec?.ports ?? []) {
    const target = targetPort === undefined || targetPort === 0 ? port : targetPort
    const number = typeof target === 'string' ? containerPort(pod, target, protocol) : (target as number)
    if (number !== undefined) ports.push({ name, port: number, protocol, ...(appProtocol ? { appProtocol } : {}) })
  }
  return ports.sort(byName)
}

function containerPort(pod: Pod, name: string, protocol: string): number | undefined {
  const sidecars = (pod.spec?.initContainers ?? []).filter((container) => container.restartPolicy === 'Always')
  for (const container of [...(pod.spec?.containers ?? []), ...sidecars]) {
    for (const port of container.ports ?? []) {
      if (port.name === name && port.protocol === protocol) return port.containerPort
    }
  }
  return undefined
}

/** Puts the key of every service that a change of pods concerns into `enqueue`. */
export function watchPodsOfServices(
  pods: Informer<Pod>,
  services: Informer<Service>,
  enqueue: (key: string) => void,
): void {
  const enqueueFor = (namespace: string, labels: readonly KubeObject['metadata']['labels'][]) => {
    for (const service of services.store.byIndex(namespaceIndex, namespace)) {
      if (!selectsPods(service)) continue
      const selector = selectorOf(service)
      if (labels.some((some) => selector.matches(some))) enqueue(objectKey(service))
    }
  }
  const one = (pod: Pod) => enqueueFor(pod.metadata.namespace ?? '', [pod.metadata.labels])
  services.addIndex(namespaceIndex, indexNamespace)
  pods.addIndex(namespaceIndex, indexNamespace)
  pods.addHandlers({
    added: one,
    updated: (old, pod) => {
      const { namespace = '' } = pod.metadata
      if (services.store.byIndex(namespaceIndex, namespace).length === 0 || isSameEndpoint(old, pod)) return
      enqueueFor(namespace, [old.metadata.labels, pod.metadata.labels])
    },
    deleted: one,
  })
}

/**
 * That a pod has ended is not looked at: one that is ready still keeps its address until something else changes. Of one that is being
 * deleted every change counts.
 */
function isSameEndpoint(a: Pod, b: Pod): boolean {
  return (
    a.metadata.uid === b.metadata.uid &&
    a.metadata.deletionTimestamp === undefined &&
    b.metadata.deletionTimestamp === undefined &&
    sameJson(a.metadata.labels, b.metadata.labels) &&
    isReady(a) === isReady(b) &&
    a.spec?.nodeName === b.spec?.nodeName &&
    a.spec?.hostname === b.spec?.hostname &&
    a.spec?.subdomain === b.spec?.subdomain &&
    sameJson(addressesOf(a), addressesOf(b))
  )
}

/**
 * When what is about to be written began to be true: the earliest change not yet told of, of the service's making and of its
 * pods' readiness. undefined when nothing of that kind changed (a pod went).
 */
export interface TriggerTimes {
  earliestChange(service: Service, pods: readonly Pod[]): string | undefined
  forget(key: string): void
}

export function createTriggerTimes(): TriggerTimes {
  const told = new Map<string, { readonly service: string; readonly pods: ReadonlyMap<string, string> }>()
  return {
    earliestChange(service, pods) {
      const key = objectKey(service)
      const before = told.get(key)
      const now = new Map<string, string>()
      const changes: string[] = []
      for (const pod of pods) {
        const name = pod.metadata.name ?? ''
        const time: string | undefined = podCondition(pod, 'Ready')?.lastTransitionTime
        if (time === undefined) continue
        now.set(name, time)
        if (time > (before?.pods.get(name) ?? '')) changes.push(time)
      }
      const made = service.metadata.creationTimestamp ?? ''
      if (made > (before?.service ?? '')) changes.push(made)
      told.set(key, { service: made, pods: now })
      return changes.sort()[0]
    },
    forget: (key) => void told.delete(key),
  }
}
