/** Objects that their controllers were told to leave alone: by an annotation, or by a field, as operators of many kinds have it. */
import type { OwnerReference } from '../../api/generated/types.ts'
import { type Json, type KubeObject, parseApiVersion } from '../../api/object.ts'
import { asObject } from '../../api/unchecked.ts'
import { isKubernetes } from './failures.ts'
import { type Cause, type Link, lastLink, type ObjectRef } from './finding.ts'
import { foundOf, kubectlName, type Look, refOf } from './look.ts'

/** `cluster.x-k8s.io/paused`, `crossplane.io/paused`, `argocd.argoproj.io/skip-reconcile`; its being there is often enough. */
const PAUSES = /(^|[./-])(paused|pause|skip-reconcile|reconcile-paused|pause-reconciliation|ignore-reconcile)$/

/** `kustomize.toolkit.fluxcd.io/reconcile: disabled`, `eck.k8s.elastic.co/managed: false`, `serviceoperator.azure.com/reconcile-policy: skip`. */
const WORKS = /[./-](reconcile|reconciliation|reconcile-policy|managed|management-state)$/
const OFF = /^(false|disabled?|off|skip|none|paused|unmanaged)$/i

/** Hooks of Cluster API: a Machine is not taken down before their owners take them away. The value names the owner. */
const HOOKS = /^(pre-drain|pre-terminate)\.delete\.hook\./

/** undefined: nothing tells its controller to leave it. */
export function pausedLink({ group, kind }: ObjectRef, object: KubeObject): Link | undefined {
  if (isKubernetes(group)) return undefined
  const annotation = Object.entries(object.metadata.annotations ?? {}).find(
    ([key, value]) => (PAUSES.test(key) && value !== 'false') || (WORKS.test(key) && OFF.test(value)),
  )?.[0]
  const hook = Object.entries(object.metadata.annotations ?? {}).find(([key]) => HOOKS.test(key))
  if (hook !== undefined) {
    const [key, owner] = hook
    const controller = owner === '' ? `the owner of ${key}` : owner
    return lastLink('nobody', { kind: 'paused', controller, by: `annotation ${key}` }, true)
  }
  const { spec } = object as KubeObject & { readonly spec?: Json }
  const { paused, managementState } = asObject(spec)
  const by =
    annotation !== undefined
      ? `annotation ${annotation}`
      : paused === true
        ? 'spec.paused'
        : managementState === 'Unmanaged'
          ? 'spec.managementState'
          : undefined
  return by === undefined
    ? undefined
    : lastLink('nobody', { kind: 'paused', controller: `the controller of ${kind}`, by }, true)
}

/** So far up. */
const MOST_OWNERS = 4

/** A Cluster that is paused has all that belongs to it left alone (Cluster API), by whatever it is owned. */
export async function pausedByOwner(look: Look, { metadata }: KubeObject): Promise<Link | undefined> {
  let above = metadata.ownerReferences ?? []
  for (let times = 0; times < MOST_OWNERS && above.length > 0; times++) {
    const owners = await Promise.all(
      above.slice(0, MOST_OWNERS).map((owner) => ownerOf(look, owner, metadata.namespace)),
    )
    for (const owner of owners) {
      const link = owner === undefined ? undefined : pausedLink(owner.ref, owner.object)
      if (owner === undefined || link === undefined || !('by' in link.cause)) continue
      const by = `${link.cause.by} of its owner ${kubectlName(owner.ref)}` as const
      return lastLink('nobody', { ...link.cause, by } as Cause, true)
    }
    above = owners.flatMap((owner) => owner?.object.metadata.ownerReferences ?? [])
  }
  return undefined
}

/** Of a group that is not Kubernetes' own; undefined: there is none of that uid. */
async function ownerOf(look: Look, { apiVersion, kind, name, uid }: OwnerReference, namespace = '') {
  const { group } = parseApiVersion(apiVersion)
  const resource = isKubernetes(group) ? undefined : look.kinds.ofKind(group, kind)
  if (resource === undefined) return undefined
  const object = foundOf(await look.reader.get(resource, resource.namespaced ? namespace : '', name))
  return object === undefined || object.metadata.uid !== uid ? undefined : { ref: refOf(resource, object), object }
}
