/** A built-in workload seen as autoscaling/v1 Scale: `spec.replicas` of the workload itself. */

import { type FieldError, invalid, invalidError } from '../../api/errors/field-errors.ts'
import { builtinReplicas } from '../../api/fields/scale.ts'
import type { Deployment, ReplicationController, Scale } from '../../api/generated/types.ts'
import type { KubeObject } from '../../api/object.ts'
import { formatLabelSelector, labelSelectorOf, type SelectorFields } from '../../api/objects/label-selector.ts'
import { scaleWith } from '../../api/objects/scale.ts'
import type { ScaledResource } from '../registry/endpoint.ts'

export const builtinScale: ScaledResource = {
  of: scaleOf,
  lenientlyOf: scaleOf,
  withReplicas: (object: Deployment, replicas) => ({ ...object, spec: { ...object.spec, replicas } }),
  replicasOf: builtinReplicas,
  validate(scale: Scale) {
    const errors: FieldError[] = []
    const replicas = scale.spec?.replicas
    if (typeof replicas === 'number' && replicas < 0)
      errors.push(invalid('spec.replicas', replicas, 'must be greater than or equal to 0'))
    if (errors.length) throw invalidError({ group: 'autoscaling', kind: 'Scale' }, scale.metadata.name ?? '', errors)
  },
  refusal: (error) => error,
  isConvertible: true,
}

/** ReplicationControllers select by a plain map. */
function scaleOf(object: Deployment | ReplicationController): KubeObject {
  const selector: SelectorFields | undefined =
    object.kind === 'ReplicationController'
      ? { matchLabels: (object as ReplicationController).spec?.selector ?? {} }
      : (object as Deployment).spec?.selector
  return scaleWith(object, {
    wanted: object.spec?.replicas ?? 0,
    present: object.status?.replicas ?? 0,
    selector: selector ? formatLabelSelector(labelSelectorOf(selector)) : '',
  })
}
