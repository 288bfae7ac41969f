/** Small plugins that Kubernetes leaves off unless they are enabled by name. */
import type { Namespace, Pod, PodSpec, Service } from '../../../api/generated/types.ts'
import { isExtendedResource } from '../../../api/validation/resource-names.ts'
import type { AdmissionPluginFactory } from '../plugin.ts'
import { isPod, refused, withSpec } from './pods.ts'

export const alwaysAdmit: AdmissionPluginFactory = () => ({ name: 'AlwaysAdmit', handles: () => false })

export const alwaysDeny: AdmissionPluginFactory = () => ({
  name: 'AlwaysDeny',
  handles: () => true,
  mutate: (attributes) => {
    throw refused(attributes, 'admission control is denying all modifications')
  },
})

const CONTAINER_LISTS = ['containers', 'initContainers', 'ephemeralContainers'] as const

/** AlwaysPullImages: a user without the right to pull an image may not use one that was pulled for another. */
export const alwaysPullImages: AdmissionPluginFactory = () => ({
  name: 'AlwaysPullImages',
  handles: (operation) => operation === 'CREATE' || operation === 'UPDATE',
  mutate({ row, subresource, object: given }) {
    const pod: Pod = given!
    const writesContainers = subresource === '' || subresource === 'ephemeralcontainers'
    if (row.group !== '' || row.resource !== 'pods' || !writesContainers) return pod
    const changes: Record<string, unknown> = {}
    for (const list of CONTAINER_LISTS) {
      const containers = pod.spec?.[list]
      if (!containers?.some((container) => container.imagePullPolicy !== 'Always')) continue
      changes[list] = containers.map((container) => ({ ...container, imagePullPolicy: 'Always' }))
    }
    return Object.keys(changes).length === 0 ? pod : withSpec(pod, changes)
  },
})

/** DenyServiceExternalIPs: external IPs that a Service has may stay; no new ones (CVE-2020-8554). */
export const denyServiceExternalIPs: AdmissionPluginFactory = () => ({
  name: 'DenyServiceExternalIPs',
  handles: (operation) => operation === 'CREATE' || operation === 'UPDATE',
  validate(attributes) {
    const { row, subresource } = attributes
    const service: Service | undefined = attributes.object
    const old: Service | undefined = attributes.oldObject
    if (row.group !== '' || row.resource !== 'services' || subresource !== '') return
    const before = old?.spec?.externalIPs ?? []
    const now = service?.spec?.externalIPs ?? []
    if (now.every((ip) => before.includes(ip))) return
    throw refused(attributes, 'Use of external IPs is denied by admission control')
  },
})

/** ExtendedResourceToleration: nodes with special devices are tainted with their names; a pod that asks for one tolerates it. */
export const extendedResourceToleration: AdmissionPluginFactory = () => ({
  name: 'ExtendedResourceToleration',
  handles: (operation) => operation === 'CREATE' || operation === 'UPDATE',
  mutate(attributes) {
    const pod: Pod = attributes.object!
    if (!isPod(attributes)) return pod
    const spec: Partial<PodSpec> = pod.spec ?? {}
    const names = [...(spec.containers ?? []), ...(spec.initContainers ?? [])]
      .flatMap((container) => Object.keys(container.resources?.requests ?? {}))
      .filter(isExtendedResource)
    const present = spec.tolerations ?? []
    const missing = [...new Set(names)]
      .sort()
      .filter((name) => !present.some((t) => t.key === name && t.operator === 'Exists' && !t.effect))
    if (missing.length === 0) return pod
    return withSpec(pod, {
      tolerations: [...present, ...missing.map((key) => ({ key, operator: 'Exists' }))],
    })
  },
})

/** NamespaceExists: what NamespaceLifecycle says of creations, said of every write. */
export const namespaceExists: AdmissionPluginFactory = (reads) => ({
  name: 'NamespaceExists',
  handles: (operation) => operation !== 'CONNECT',
  async validate(attributes) {
    const { row, namespace } = attributes
    if (!row.namespaced || namespace === '') return
    const found =
      reads.get<Namespace>('', 'namespaces', '', namespace) ??
      (await reads.getLive<Namespace>('', 'namespaces', '', namespace))
    if (found === undefined) throw refused(attributes, `namespace ${JSON.stringify(namespace)} not found`)
  },
})

const HOSTNAME = 'kubernetes.io/hostname'

/** LimitPodHardAntiAffinityTopology: pods keep others from a node, never from a zone. */
export const limitPodHardAntiAffinityTopology: AdmissionPluginFactory = () => ({
  name: 'LimitPodHardAntiAffinityTopology',
  handles: (operation) => operation === 'CREATE' || operation === 'UPDATE',
  validate(attributes) {
    if (!isPod(attributes)) return
    const pod: Pod | undefined = attributes.object
    const terms = pod?.spec?.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []
    const other = terms.find((term) => term.topologyKey !== HOSTNAME)
    if (other === undefined) return
    throw refused(
      attributes,
      `affinity.PodAntiAffinity.RequiredDuringScheduling has TopologyKey ${other.topologyKey} but only key ${HOSTNAME} is allowed`,
    )
  },
})

const SELECTOR = 'scheduler.alpha.kubernetes.io/node-selector'

/** PodNodeSelector: a namespace says on which nodes its pods run. */
export const podNodeSelector: AdmissionPluginFactory = (reads) => ({
  name: 'PodNodeSelector',
  handles: (operation) => operation === 'CREATE',
  mutate(attributes) {
    const pod: Pod = attributes.object!
    if (!isPod(attributes)) return pod
    const text = reads.get<Namespace>('', 'namespaces', '', attributes.namespace)?.metadata.annotations?.[SELECTOR]
    if (text === undefined || text.trim() === '') return pod
    const wanted = Object.fromEntries(
      text.split(',').map((pair) => {
        const [key = '', value = ''] = pair.split('=')
        return [key.trim(), value.trim()]
      }),
    )
    const present = pod.spec?.nodeSelector ?? {}
    for (const [key, value] of Object.entries(wanted))
      if (Object.hasOwn(present, key) && present[key] !== value)
        throw refused(attributes, 'pod node label selector conflicts with its namespace node label selector')
    return withSpec(pod, { nodeSelector: { ...wanted, ...present } })
  },
})
