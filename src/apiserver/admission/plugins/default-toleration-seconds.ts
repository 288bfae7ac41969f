/** DefaultTolerationSeconds: a pod stays for a time (five minutes by default) on a node that is not ready or not reachable, unless it says otherwise. */
import type { Pod, PodSpec } from '../../../api/generated/types.ts'
import type { AdmissionPluginFactory } from '../plugin.ts'
import { isPod } from './pods.ts'

export interface TolerationSeconds {
  readonly notReady: number
  readonly unreachable: number
}

const FIVE_MINUTES: TolerationSeconds = { notReady: 300, unreachable: 300 }

export const defaultTolerationSeconds =
  ({ notReady, unreachable } = FIVE_MINUTES): AdmissionPluginFactory =>
  () => {
    const tolerating = toleratingFor([
      ['node.kubernetes.io/not-ready', notReady],
      ['node.kubernetes.io/unreachable', unreachable],
    ])
    return {
      name: 'DefaultTolerationSeconds',
      handles: (operation) => operation === 'CREATE' || operation === 'UPDATE',
      mutate(attributes) {
        const pod: Pod = attributes.object!
        if (!isPod(attributes)) return pod
        const spec = attributes.endpoint.parts.from(pod.spec!, tolerating)
        return spec === pod.spec ? pod : { ...pod, spec }
      },
    }
  }

const toleratingFor =
  (wanted: readonly (readonly [key: string, seconds: number])[]) =>
  (spec: PodSpec): PodSpec => {
    const present = spec.tolerations ?? []
    const tolerates = (key: string) =>
      present.some(
        (toleration) =>
          (toleration.key === key || !toleration.key) && (toleration.effect === 'NoExecute' || !toleration.effect),
      )
    const missing = wanted.filter(([key]) => !tolerates(key))
    if (missing.length === 0) return spec
    const added = missing.map(([key, tolerationSeconds]) => ({
      key,
      operator: 'Exists',
      effect: 'NoExecute',
      tolerationSeconds,
    }))
    return { ...spec, tolerations: present.concat(added) }
  }
