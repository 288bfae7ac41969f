/** AlwaysPullImages: a user without the right to pull an image may not use one that was pulled for another. */
import type { Pod } from '../../../api/generated/types.ts'
import type { AdmissionPluginFactory } from '../plugin.ts'
import { withSpec } from './pods.ts'

const CONTAINER_LISTS = ['containers', 'initContainers', 'ephemeralContainers'] as const

export const alwaysPullImages: AdmissionPluginFactory = () => ({
  name: 'AlwaysPullImages',
  handles: (operation) => operation === 'CREATE' || operation === 'UPDATE',
  mutate({ endpoint, subresource, object: given }) {
    const { row } = endpoint
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
