/**
 * What priority and fairness goes by, kept as an API server brings it along (API concept: API Priority and Fairness, "Maintenance of the mandatory and
 * suggested configuration objects"): mandatory objects always are as they should be; suggested ones that are missing are made, and
 * follow the server as long as their annotation says so.
 */

import type { Fields, KubeObject } from '../../api/object.ts'
import { sameJson } from '../../api/same.ts'
import { parseGoBool } from '../../base/go-bool.ts'

/** "true": the spec is the server's; "false": a user's. */
export const AUTO_UPDATE = 'apf.kubernetes.io/autoupdate-spec'
const MANDATORY: ReadonlySet<string> = new Set(['exempt', 'catch-all'])

/** A FlowSchema, or a PriorityLevelConfiguration. */
interface Configuration extends KubeObject {
  readonly spec?: Fields & { readonly type?: string; readonly exempt?: Fields }
}

export interface FlowControlStep {
  readonly action: 'create' | 'update' | 'delete'
  readonly object: KubeObject
}

/** What is to be written so that the objects of one kind are as they should be. */
export function flowControlSteps(
  wanted: readonly Configuration[],
  present: readonly Configuration[],
): readonly FlowControlStep[] {
  const there = new Map(present.map((object) => [object.metadata.name, object]))
  const steps: FlowControlStep[] = []
  for (const own of wanted) {
    const existing = there.get(own.metadata.name)
    if (existing === undefined) steps.push({ action: 'create', object: own })
    else {
      const next = kept(existing, own)
      if (!sameJson(next, existing)) steps.push({ action: 'update', object: next })
    }
  }
  // One of an earlier version, which this one has no more.
  const names = new Set(wanted.map(({ metadata }) => metadata.name))
  for (const object of present)
    if (!names.has(object.metadata.name) && annotated(object) === true) steps.push({ action: 'delete', object })
  return steps
}

function kept(existing: Configuration, own: Configuration): Configuration {
  const { metadata } = existing
  const said = annotated(existing)
  const isAutomatic = MANDATORY.has(metadata.name ?? '') || (said ?? (metadata.generation ?? 1) === 1)
  const annotations =
    said === isAutomatic ? metadata.annotations : { ...metadata.annotations, [AUTO_UPDATE]: String(isAutomatic) }
  const spec = isAutomatic ? withSharesOfUser(own, existing) : existing.spec
  return {
    ...existing,
    metadata: { ...metadata, ...(annotations === undefined ? {} : { annotations }) },
    ...(spec === undefined ? {} : { spec }),
  }
}

/** Of the level that is never held up users may say how many seats it has, and lends. */
const withSharesOfUser = (own: Configuration, existing: Configuration): Configuration['spec'] =>
  own.spec !== undefined && own.spec.type === 'Exempt' && existing.spec?.exempt !== undefined
    ? { ...own.spec, exempt: existing.spec.exempt }
    : own.spec

/** Undefined where it says neither. */
const annotated = ({ metadata }: KubeObject): boolean | undefined =>
  parseGoBool(metadata.annotations?.[AUTO_UPDATE] ?? '')
