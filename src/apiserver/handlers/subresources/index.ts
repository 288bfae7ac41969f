/**
 * Endpoints that are more than a part of their object: each a row of resource, subresource and action. What is not here and
 * writes the object (status, ephemeralcontainers, resize, finalize, approval) goes the usual way, by the strategy's rules for
 * that subresource.
 */
import { qualified } from '../../../api/status.ts'
import { getComponentStatus, listComponentStatuses } from '../component-status.ts'
import type { ResourceHandler } from '../context.ts'
import type { Route } from '../route.ts'
import { createBinding } from './binding.ts'
import { createEviction } from './eviction.ts'
import { connectSession } from './exec-attach-portforward.ts'
import { getLog } from './log.ts'
import { proxy } from './proxy.ts'
import { createReview } from './reviews.ts'
import { getScale, patchScale, updateScale } from './scale.ts'
import { createToken } from './token.ts'

const LOGS = 'get pods/log'

const HANDLERS: Readonly<Record<string, ResourceHandler>> = {
  'get componentstatuses': getComponentStatus,
  'list componentstatuses': listComponentStatuses,
  'create bindings': createBinding,
  'create pods/binding': createBinding,
  'create pods/eviction': createEviction,
  'create serviceaccounts/token': createToken,
  [LOGS]: getLog,
}

const SCALE: Readonly<Record<string, ResourceHandler>> = { get: getScale, update: updateScale, patch: patchScale }

/** undefined: the verb's own handler does it. */
export function subresourceHandler(route: Route): ResourceHandler | undefined {
  const { row, subresource, action } = route
  const name = nameOf(route)
  if (subresource === undefined) {
    const own = HANDLERS[name]
    if (own !== undefined) return own
    return row.storagePrefix === '' && action === 'create' ? createReview : undefined
  }
  if (subresource.name === 'scale') return SCALE[action]
  if (action === 'connect') return subresource.name === 'proxy' ? proxy : connectSession
  return HANDLERS[name]
}

/** Whether it is counted with the connections: sessions, proxies, and logs, which are read for as long as they are followed. */
export const isCountedAsConnect = (route: Route): boolean => route.action === 'connect' || nameOf(route) === LOGS

function nameOf({ row, subresource, action }: Route): string {
  const name = `${action} ${qualified({ group: row.group, resource: row.resource })}`
  return subresource === undefined ? name : `${name}/${subresource.name}`
}
