/**
 * Which strategy a resource has. A kind's author adds a row to the table; a kind without one gets what is common to all:
 * object-meta rules and nothing of its own.
 */
import { withMetadata } from '../../api/metadata.ts'
import type { KubeObject, SpecAndStatus } from '../../api/object.ts'
import { addInt64 } from '../../api/objects/integers.ts'
import { sameJson } from '../../api/same.ts'
import type { ResourceRow } from '../../api/scheme/resource.ts'
import { qualified } from '../../api/status.ts'
import { statusWritten } from '../registry/status-subresource.ts'
import type { Strategy } from '../registry/strategy.ts'

/** By `resource.group` (`pods`, `deployments.apps`). */
export type Strategies = Readonly<Record<string, Strategy>>

const STATUS_PATH = [['f:status']] as const

/** Only the spec counts for generation; status is written through its own endpoint. */
export const withStatus: Strategy = {
  prepareForCreate(object) {
    const { status: _, ...rest } = object
    return withMetadata(rest as KubeObject, { generation: 1 })
  },
  prepareForUpdate(object, old: SpecAndStatus) {
    const { status: _, ...rest } = object
    const next = (old.status === undefined ? rest : { ...rest, status: old.status }) as SpecAndStatus
    if (sameJson(next.spec, old.spec)) return next
    return withMetadata(next, { generation: addInt64(old.metadata.generation ?? 0, 1) as number })
  },
  resetFields: STATUS_PATH,
}

const statusOnly: Omit<Strategy, 'status'> = {
  prepareForUpdate: statusWritten,
  resetFields: [['f:spec']],
}

const plain: Strategy = {}

/** The kind's own strategy, or what is common to those without one. */
export function builtinStrategy(row: ResourceRow, strategies: Strategies): Strategy {
  const name = qualified({ group: row.storageGroup, resource: row.resource })
  const hasStatus = row.subresources.some((sub) => sub.name === 'status')
  const own = Object.hasOwn(strategies, name) ? strategies[name] : undefined
  const base = own ?? (hasStatus ? withStatus : plain)
  return {
    ...base,
    ...(hasStatus && base.status === undefined ? { status: statusOnly } : {}),
  }
}
