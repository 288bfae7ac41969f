/** ExtendedResourceToleration: nodes with special devices are tainted with their names; a pod that asks for one tolerates it. */
import type { Pod, PodSpec } from '../../../api/generated/types.ts'
import { isExtendedResource } from '../../../api/names/resource-names.ts'
import type { AdmissionPluginFactory } from '../plugin.ts'
import { isPod, withSpec } from './pods.ts'

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
