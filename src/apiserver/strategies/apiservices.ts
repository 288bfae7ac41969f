/** An APIService without a service is this server's own: it is available as soon as it is made. */
import type { APIService } from '../../api/generated/types.ts'
import type { KubeObject } from '../../api/object.ts'
import type { StrategyContext } from '../registry/strategy.ts'

export function withAvailability(object: APIService, { now }: StrategyContext): KubeObject {
  if (object.spec?.service) return { ...object, status: {} }
  const local = {
    type: 'Available',
    status: 'True',
    lastTransitionTime: now,
    reason: 'Local',
    message: 'Local APIServices are always available',
  }
  return { ...object, status: { conditions: [local] } }
}
