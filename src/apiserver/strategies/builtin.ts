/** The strategies of the built-in kinds, by `resource.group`. A kind's author adds its row here. */

import type { FieldError } from '../../api/errors/field-errors.ts'
import type { Strategy } from '../registry/strategy.ts'
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

export interface BuiltinOptions {
  /** Privileged containers may run: --allow-privileged. Default true. */
  readonly allowPrivileged?: boolean
  /** How long Events are kept; 0: for ever. Default: an hour. */
  readonly eventTtlSeconds?: number
}

export function builtinStrategies({ allowPrivileged = true, eventTtlSeconds = 3600 }: BuiltinOptions = {}): Strategies {
  const all = strategies()
  const expiring = { ...all, events: { ...all['events'], timeToLiveSeconds: () => eventTtlSeconds || undefined } }
  return allowPrivileged ? lettingPrivileged(expiring) : expiring
}

/** Whatever has a pod template says the same of privileged containers: it is taken out of what they say. */
function lettingPrivileged(all: Strategies): Strategies {
  const lenient = (strategy: Strategy): Strategy => {
    const { validate, validateUpdate, subresources } = strategy
    return {
      ...strategy,
      ...(validate && { validate: (...given) => lifted(validate(...given)) }),
      ...(validateUpdate && { validateUpdate: (...given) => lifted(validateUpdate(...given)) }),
      ...(subresources && {
        subresources: Object.fromEntries(Object.entries(subresources).map(([name, one]) => [name, lenient(one)])),
      }),
    }
  }
  return Object.fromEntries(Object.entries(all).map(([name, strategy]) => [name, lenient(strategy)]))
}

const lifted = (errors: readonly FieldError[]): readonly FieldError[] =>
  errors.length === 0 ? errors : errors.filter(({ liftedBy }) => liftedBy !== 'allow-privileged')

function strategies(): Strategies {
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
