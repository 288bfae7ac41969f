/** PodNodeSelector: a namespace says on which nodes its pods run. */
import type { Namespace, Pod } from '../../../api/generated/types.ts'
import type { AdmissionPluginFactory } from '../plugin.ts'
import { isPod, refused, withSpec } from './pods.ts'

const SELECTOR = 'scheduler.alpha.kubernetes.io/node-selector'

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
