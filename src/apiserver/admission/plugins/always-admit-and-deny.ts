/** AlwaysAdmit and AlwaysDeny: all writes, or none. */
import type { AdmissionPluginFactory } from '../plugin.ts'
import { refused } from './pods.ts'

export const alwaysAdmit: AdmissionPluginFactory = () => ({ name: 'AlwaysAdmit', handles: () => false })

export const alwaysDeny: AdmissionPluginFactory = () => ({
  name: 'AlwaysDeny',
  handles: () => true,
  mutate: (attributes) => {
    throw refused(attributes, 'admission control is denying all modifications')
  },
})
