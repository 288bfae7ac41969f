/** Objects that their controllers were told to leave alone: by an annotation, or by a field, as operators of many kinds have it. */
import type { KubeObject } from '../../api/object.ts'
import { isKubernetes } from './failures.ts'
import { type Link, lastLink, type ObjectRef } from './finding.ts'

/** `cluster.x-k8s.io/paused`, `crossplane.io/paused`, `argocd.argoproj.io/skip-reconcile`; its being there is often enough. */
const PAUSES = /(^|[./-])(paused|pause|skip-reconcile|reconcile-paused|pause-reconciliation|ignore-reconcile)$/

/** Hooks of Cluster API: a Machine is not taken down before their owners take them away. The value names the owner. */
const HOOKS = /^(pre-drain|pre-terminate)\.delete\.hook\./

/** undefined: nothing tells its controller to leave it. */
export function pausedLink({ group, kind }: ObjectRef, object: KubeObject): Link | undefined {
  if (isKubernetes(group)) return undefined
  const annotation = Object.entries(object.metadata.annotations ?? {}).find(
    ([key, value]) => PAUSES.test(key) && value !== 'false',
  )?.[0]
  const hook = Object.entries(object.metadata.annotations ?? {}).find(([key]) => HOOKS.test(key))
  if (hook !== undefined) {
    const [key, owner] = hook
    const controller = owner === '' ? `the owner of ${key}` : owner
    return lastLink('nobody', { kind: 'paused', controller, by: `annotation ${key}` }, true)
  }
  const { spec } = object as KubeObject & { readonly spec?: { readonly paused?: unknown } }
  const by = annotation !== undefined ? `annotation ${annotation}` : spec?.paused === true ? 'spec.paused' : undefined
  return by === undefined
    ? undefined
    : lastLink('nobody', { kind: 'paused', controller: `the controller of ${kind}`, by }, true)
}
