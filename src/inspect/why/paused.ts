/** Objects that their controllers were told to leave alone: by an annotation, or by a field, as operators of many kinds have it. */
import type { KubeObject } from '../../api/object.ts'
import { isKubernetes } from './failures.ts'
import { type Link, lastLink, type ObjectRef } from './finding.ts'

/** `cluster.x-k8s.io/paused`, `crossplane.io/paused`, `argocd.argoproj.io/skip-reconcile`; its being there is often enough. */
const PAUSES = /(^|[./-])(paused|pause|skip-reconcile|reconcile-paused|pause-reconciliation|ignore-reconcile)$/

/** undefined: nothing tells its controller to leave it. */
export function pausedLink({ group, kind }: ObjectRef, object: KubeObject): Link | undefined {
  if (isKubernetes(group)) return undefined
  const annotation = Object.entries(object.metadata.annotations ?? {}).find(
    ([key, value]) => PAUSES.test(key) && value !== 'false',
  )?.[0]
  const { spec } = object as KubeObject & { readonly spec?: { readonly paused?: unknown } }
  const by = annotation !== undefined ? `annotation ${annotation}` : spec?.paused === true ? 'spec.paused' : undefined
  return by === undefined
    ? undefined
    : lastLink('nobody', { kind: 'paused', controller: `the controller of ${kind}`, by }, true)
}
