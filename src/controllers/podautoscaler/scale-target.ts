/** What an autoscaler scales: found by kind, read and written through its scale subresource. */
import type { CrossVersionObjectReference, Scale } from '../../api/generated/types.ts'
import { apiVersionOf, parseApiVersion } from '../../api/object.ts'
import { type LabelSelector, parseLabelSelector } from '../../api/objects/label-selector.ts'
import { messageOf } from '../../base/errors.ts'
import type { Runtime } from '../../base/runtime.ts'
import type { Client, DiscoveredResource, Discovery } from '../../client/client.ts'
import { findByKind } from '../../client/discovery.ts'

export interface ScaleTarget {
  readonly resource: DiscoveredResource
  readonly scale: Scale
  /** Undefined: it has none. */
  readonly selector: LabelSelector | undefined
}

export interface ScaleTargets {
  /** @throws Error in Kubernetes' words where no resource has that kind */
  resourceOf(apiVersion: string, kind: string): Promise<DiscoveredResource>
  /** @throws Error in Kubernetes' words */
  get(namespace: string, reference: CrossVersionObjectReference): Promise<ScaleTarget>
  /** @throws StatusError */
  scaleTo(namespace: string, target: ScaleTarget, replicas: number): Promise<void>
}

/** A kind that was not found may come: discovery is asked again, but not for each. */
const DISCOVERY_MS = 30_000

export function createScaleTargets({ clock }: Runtime, client: Client): ScaleTargets {
  let discovery: { readonly found: Discovery; readonly at: number } | undefined

  function known(apiVersion: string, kind: string): DiscoveredResource | undefined {
    if (discovery === undefined) return undefined
    const { everyVersion, resources } = discovery.found
    const { group } = parseApiVersion(apiVersion)
    // The version that was named may be served no more: the kind is what counts.
    return (
      findByKind(everyVersion, apiVersion, kind) ??
      resources.find((resource) => resource.kind === kind && resource.group === group)
    )
  }

  async function resourceOf(apiVersion: string, kind: string): Promise<DiscoveredResource> {
    const now = clock.monotonic()
    let found = known(apiVersion, kind)
    if (found === undefined && (discovery === undefined || now - discovery.at >= DISCOVERY_MS)) {
      discovery = { found: await client.discover(), at: now }
      found = known(apiVersion, kind)
    }
    if (found !== undefined) return found
    const { group } = parseApiVersion(apiVersion)
    throw new Error(`no matches for kind ${JSON.stringify(kind)} in group ${JSON.stringify(group)}`)
  }

  return {
    resourceOf,
    async get(namespace, { apiVersion = 'v1', kind, name }) {
      const resource = await resourceOf(apiVersion, kind)
      const root = resource.group === '' ? 'api' : 'apis'
      const base = `/${root}/${apiVersionOf(resource.group, resource.version)}`
      const path = `${base}/namespaces/${namespace}/${resource.resource}/${name}/scale`
      const { status, body } = await client.raw('GET', path)
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

function selectorOf({ status }: Scale): LabelSelector | undefined {
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
