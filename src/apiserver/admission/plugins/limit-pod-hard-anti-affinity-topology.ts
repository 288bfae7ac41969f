/** LimitPodHardAntiAffinityTopology: pods keep others from a node, never from a zone. */
import type { Pod } from '../../../api/generated/types.ts'
import type { AdmissionPluginFactory } from '../plugin.ts'
import { isPod, refused } from './pods.ts'

const HOSTNAME = 'kubernetes.io/hostname'

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
