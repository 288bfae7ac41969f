/** The strategies of the built-in kinds, by `resource.group`. A kind's author adds its row here. */

import { clusterStrategies } from './cluster-kinds.ts'
import {
  configMaps,
  endpointSlices,
  endpoints,
  events,
  limitRanges,
  nodes,
  resourceQuotas,
  secrets,
  serviceAccounts,
} from './core-kinds.ts'
import type { Strategies } from './index.ts'
import { namespaces } from './namespaces.ts'
import { services } from './services.ts'
import { persistentVolumeClaims, persistentVolumes } from './volumes.ts'
import { workloadStrategies } from './workload-kinds.ts'

export function builtinStrategies(): Strategies {
  return {
    ...workloadStrategies,
    ...clusterStrategies,
    configmaps: configMaps,
    endpoints,
    events,
    limitranges: limitRanges,
    namespaces,
    nodes,
    persistentvolumeclaims: persistentVolumeClaims,
    persistentvolumes: persistentVolumes,
    resourcequotas: resourceQuotas,
    secrets,
    services,
    serviceaccounts: serviceAccounts,
    'endpointslices.discovery.k8s.io': endpointSlices,
  }
}
