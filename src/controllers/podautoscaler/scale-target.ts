/** What an autoscaler scales: found by kind, read and written through its scale subresource. */
import type { CrossVersionObjectReference, Scale } from '../../api/generated/types.ts'
import { parseApiVersion } from '../../api/object.ts'
import { type CompiledSelector, parseLabelSelector } from '../../api/objects/label-selector.ts'
import { messageOf } from '../../base/errors.ts'
import type { Runtime } from '../../base/runtime.ts'
import type { Client, DiscoveredResource, Discovery } from '../../client/client.ts'
import { findByKind } from '../../client/discovery.ts'
import { createKnownKinds, scalePath } from '../known-kinds.ts'

export interface ScaleTarget {
  readonly resource: DiscoveredResource
  readonly scale: Scale
  /** Undefined: it has none. */
  readonly selector: CompiledSelector | undefined
}

export interface ScaleTargets {
  /** @throws Error in Kubernetes' words where no resource has that kind */
  resourceOf(apiVersion: string, kind: string): Promise<DiscoveredResource>
  /** @throws Error in Kubernetes' words */
  get(namespace: string, reference: CrossVersionObjectReference): Promise<ScaleTarget>
  /** @throws StatusError */
  scaleTo(namespace: string, target: ScaleTarget, replicas: number): Promise<void>
}

export function createScaleTargets(runtime: Runtime, client: Client): ScaleTargets {
  const kinds = createKnownKinds(runtime, client)

  function known({ everyVersion, resources }: Discovery, apiVersion: string, kind: string) {
    const { group } = parseApiVersion(apiVersion)
    // The version that was named may be served no more: the kind is what counts.
    return (
      findByKind(everyVersion, apiVersion, kind) ??
      resources.find((resource) => resource.kind === kind && resource.group === group)
    )
  }

  async function resourceOf(apiVersion: string, kind: string): Promise<DiscoveredResource> {
    const found = await kinds.find((discovery) => known(discovery, apiVersion, kind))
    if (found !== undefined) return found
    const { group } = parseApiVersion(apiVersion)
    throw new Error(`no matches for kind ${JSON.stringify(kind)} in group ${JSON.stringify(group)}`)
  }

  return {
    resourceOf,
    async get(namespace, { apiVersion = 'v1', kind, name }) {
      const resource = await resourceOf(apiVersion, kind)
      const { status, body } = await client.raw('GET', scalePath(resource, namespace, name))
      const answer: Scale & { readonly message?: string } = JSON.parse(body)
      if (status >= 400) throw new Error(String(answer.message))
      const scale: Scale = answer
      return { scale, resource, selector: selectorOf(scale) }
    },
    async scaleTo(namespace, { scale, resource }, replicas) {
      await client
        .resource<Scale>(resource)
        .namespace(namespace)
        .update({ ...scale, spec: { ...scale.spec, replicas } }, { subresource: 'scale' })
    },
  }
}

function selectorOf({ status }: Scale): CompiledSelector | undefined {
  const text = status?.selector ?? ''
  if (text === '') return undefined
  try {
    return parseLabelSelector(text)
  } catch (cause) {
    throw new Error(
      `received an object from a /scale endpoint which was not convertible to autoscaling Scale: failed to parse target selector: couldn't parse the selector string ${JSON.stringify(text)}: ${messageOf(cause)}`,
      { cause },
    )
  }
}
