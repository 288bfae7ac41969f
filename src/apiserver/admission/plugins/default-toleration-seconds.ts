/** DefaultTolerationSeconds: a pod stays five minutes on a node that is not ready or not reachable, unless it says otherwise. */
import type { Pod, PodSpec } from '../../../api/generated/types.ts'
import type { AdmissionPluginFactory } from '../plugin.ts'
import { isPod } from './pods.ts'

const SECONDS = 300
const KEYS = ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable']

export const defaultTolerationSeconds: AdmissionPluginFactory = () => ({
  name: 'DefaultTolerationSeconds',
  handles: (operation) => operation === 'CREATE' || operation === 'UPDATE',
  mutate(attributes) {
    const pod: Pod = attributes.object!
    if (!isPod(attributes)) return pod
    const spec = attributes.parts.from(pod.spec!, tolerating)
    return spec === pod.spec ? pod : { ...pod, spec }
  },
})

function tolerating(spec: PodSpec): PodSpec {
  const present = spec.tolerations ?? []
  const tolerates = (key: string) =>
    present.some(
      (toleration) =>
        (toleration.key === key || !toleration.key) && (toleration.effect === 'NoExecute' || !toleration.effect),
    )
  const missing = KEYS.filter((key) => !tolerates(key))
  if (missing.length === 0) return spec
  const added = missing.map((key) => ({ key, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: SECONDS }))
  return { ...spec, tolerations: [...present, ...added] }
}
