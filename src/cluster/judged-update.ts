/**
 * An update of a built-in kind, judged by the rules of this API server without one: what the same rules of another server would say against
 * it, as far as they are those of its version. Nothing is asked of any server, and nothing is written.
 */
import { invalidError } from '../api/errors/field-errors.ts'
import { type KubeObject, parseApiVersion } from '../api/object.ts'
import { builtinScheme } from '../api/scheme/scheme.ts'
import type { StatusError } from '../api/status.ts'
import { validateObjectMetaUpdate } from '../api/validation/meta.ts'
import { createEndpoints } from '../apiserver/endpoints/endpoints.ts'
import type { StrategyContext } from '../apiserver/registry/strategy.ts'
import { builtinStrategies } from '../apiserver/strategies/builtin.ts'
import { formatTime } from '../base/clock.ts'

/** Only custom resources are converted by webhooks. */
const noWebhook = () => Promise.reject(new Error('a built-in kind has no conversion webhook'))

/** Undefined: nothing is known against it, or nothing of the kind. `now`: milliseconds since the epoch. */
export async function refusalOfUpdate(
  object: KubeObject,
  old: KubeObject,
  now: number,
): Promise<StatusError | undefined> {
  const scheme = builtinScheme()
  const { group, version } = parseApiVersion(object.apiVersion)
  const row = scheme.findKind(group, version, object.kind)
  if (row === undefined) return undefined
  const { strategy, worked, parts } = createEndpoints(scheme, builtinStrategies(), noWebhook)(row)
  const [next, before] = await Promise.all([worked.ofRequest(object), worked.ofRequest(old)])
  const context: StrategyContext = {
    user: { name: 'system:admin', groups: ['system:masters'] },
    namespace: object.metadata.namespace ?? '',
    now: formatTime(now),
    nowMs: now,
    dryRun: true,
    subresource: '',
    parts,
    namespaceLabels: () => ({}),
  }
  const prepared = strategy.prepareForUpdate?.(next, before, context) ?? next
  const errors = [
    ...validateObjectMetaUpdate(prepared.metadata, before.metadata),
    ...(strategy.validateUpdate?.(prepared, before, context) ?? []),
    ...worked.declaredErrors(prepared, before),
  ]
  return errors.length === 0 ? undefined : invalidError(worked.kindOf(prepared), prepared.metadata.name ?? '', errors)
}
