/**
 * Reads the metrics APIs: metrics.k8s.io, custom.metrics.k8s.io and external.metrics.k8s.io, whichever server answers for them.
 * Values are in thousandths. Errors are in the words of Kubernetes.
 */
import type { APIGroup, CrossVersionObjectReference, LabelSelector } from '../../api/generated/types.ts'
import { parseApiVersion } from '../../api/object.ts'
import { checkedLabelSelectorOf, formatLabelSelector } from '../../api/objects/label-selector.ts'
import { rejected } from '../../api/objects/rejected.ts'
import { qualified } from '../../api/status.ts'
import { quantityMilliValue } from '../../api/values/quantity.ts'
import { messageOf } from '../../base/errors.ts'
import { parseGoDurationMs } from '../../base/go-duration.ts'
import type { Runtime } from '../../base/runtime.ts'
import type { Client, DiscoveredResource } from '../../client/client.ts'

export interface PodMetric {
  readonly milli: bigint
  readonly atMs: number
  /** Over so long before that it was measured. */
  readonly windowMs: number
}

/** What the metrics APIs answer: lists, and a Status for what they refuse. Others serve them, so anything may be missing. */
interface Answer<Item> {
  readonly kind?: string
  readonly message?: string
  readonly items: readonly Item[]
}

/** API concept: metrics.k8s.io/v1beta1, PodMetrics. */
interface PodMetricsItem {
  readonly metadata: { readonly name: string }
  readonly timestamp: string
  readonly window?: string
  readonly containers?: readonly {
    readonly name?: string
    readonly usage?: Readonly<Record<string, string>>
  }[]
}

/** API concept: custom.metrics.k8s.io, MetricValue; and external.metrics.k8s.io/v1beta1, ExternalMetricValue, of which only the value is read. */
interface MetricValue {
  readonly describedObject?: { readonly name?: string }
  readonly value?: string | number
  readonly timestamp: string
  readonly windowSeconds?: number | null
}

/** By the pod's name. */
export type PodMetrics = ReadonlyMap<string, PodMetric>

export interface MetricsClient {
  /** `container`: of that one alone; otherwise of the sum of all. A pod of which a container tells nothing is left out. */
  resource(namespace: string, resource: string, selector: string, container?: string): Promise<PodMetrics>
  ofPods(namespace: string, metric: string, selector: string, metricSelector: string): Promise<PodMetrics>
  ofObject(
    namespace: string,
    metric: string,
    object: CrossVersionObjectReference,
    metricSelector: string,
  ): Promise<bigint>
  external(namespace: string, metric: string, metricSelector: string): Promise<readonly bigint[]>
}

const RESOURCE_API = '/apis/metrics.k8s.io/v1beta1'
const EXTERNAL_API = '/apis/external.metrics.k8s.io/v1beta1'
const CUSTOM_GROUP = 'custom.metrics.k8s.io'
const KNOWN_CUSTOM_VERSIONS = ['v1beta2', 'v1beta1']
/** The window of samples that do not tell their own. */
const USUAL_WINDOW_MS = 60_000

/** `resourceOf`: of an apiVersion and kind; throws in Kubernetes' words where there is none. `freshMs`: as long an API's versions are known. */
export function createMetricsClient(
  runtime: Runtime,
  client: Client,
  resourceOf: (apiVersion: string, kind: string) => Promise<DiscoveredResource>,
  freshMs: number,
): MetricsClient {
  const { clock } = runtime
  let customVersion: { readonly version: string; readonly at: number } | undefined

  /** `asked`: the resource's name, as errors tell it. */
  async function get<Item>(
    path: string,
    query: Readonly<Record<string, string>>,
    asked: string,
  ): Promise<readonly Item[]> {
    const chosen = Object.entries(query).filter(([, value]) => value !== '')
    const { status, body } = await client.raw(
      'GET',
      chosen.length === 0 ? path : `${path}?${new URLSearchParams(chosen)}`,
    )
    const answer = parsed<Answer<Item>>(body)
    if (status >= 400)
      throw new Error(
        answer?.kind === 'Status' ? String(answer.message ?? '') : `${rejected(status, body)} (get ${asked})`,
      )
    if (answer === undefined) throw new Error(`the answer of ${path} is no object`)
    return answer.items
  }

  async function customApi(): Promise<string> {
    const now = clock.monotonic()
    if (customVersion === undefined || now - customVersion.at >= freshMs) {
      const { status, body } = await client.raw('GET', `/apis/${CUSTOM_GROUP}`)
      if (status === 404) throw new Error(`no custom metrics API (${CUSTOM_GROUP}) registered`)
      const group = parsed<Partial<APIGroup>>(body)
      if (status >= 400 || group === undefined) throw new Error(rejected(status, body))
      const served = (group.versions ?? []).map(({ version }) => String(version))
      const preferred = String(group.preferredVersion?.version)
      const version = [preferred, ...served].find((one) => KNOWN_CUSTOM_VERSIONS.includes(one))
      if (version === undefined) throw new Error(`no known available metric versions found`)
      customVersion = { version, at: now }
    }
    return `/apis/${CUSTOM_GROUP}/${customVersion.version}`
  }

  const custom = async (
    path: string,
    query: Readonly<Record<string, string>>,
    asked: string,
  ): Promise<readonly MetricValue[]> => get(`${await customApi()}/${path}`, query, asked)

  return {
    async resource(namespace, resource, selector, container) {
      const path = `${RESOURCE_API}/namespaces/${namespace}/pods`
      const items = await fetched('resource', () =>
        get<PodMetricsItem>(path, { labelSelector: selector }, 'pods.metrics.k8s.io'),
      )
      if (items.length === 0) throw new Error('no metrics returned from resource metrics API')
      return usageOfPods(items, resource, container)
    },
    async ofPods(namespace, metric, selector, metricSelector) {
      const query = { labelSelector: selector, metricLabelSelector: metricSelector }
      const items = await fetched('custom', () =>
        custom(`namespaces/${namespace}/pods/*/${metric}`, query, `pods.${CUSTOM_GROUP} *`),
      )
      if (items.length === 0) throw new Error('no metrics returned from custom metrics API')
      return new Map(items.map((item) => [String(item.describedObject?.name), sampleOf(item, USUAL_WINDOW_MS)]))
    },
    ofObject(namespace, metric, object, metricSelector) {
      const query = { metricLabelSelector: metricSelector }
      return fetched('custom', async () => {
        const { group } = parseApiVersion(object.apiVersion ?? 'v1')
        // What is told of a namespace is asked of the autoscaler's own.
        if (object.kind === 'Namespace' && group === '') {
          const path = `namespaces/${namespace}/metrics/${metric}`
          return only(await custom(path, query, `metrics.${CUSTOM_GROUP} ${metric}`))
        }
        const described = await resourceOf(object.apiVersion ?? 'v1', object.kind).catch((cause: unknown) => {
          const kind = group === '' ? object.kind : `${object.kind}.${group}`
          throw new Error(`unable to map kind ${kind} to resource: ${messageOf(cause)}`, { cause })
        })
        const name = qualified(described)
        const path = `namespaces/${namespace}/${name}/${object.name}/${metric}`
        return only(await custom(path, query, `${name}.${CUSTOM_GROUP} ${object.name}`))
      })
    },
    async external(namespace, metric, metricSelector) {
      const path = `${EXTERNAL_API}/namespaces/${namespace}/${metric}`
      const items = await fetched('external', () =>
        get<MetricValue>(path, { labelSelector: metricSelector }, `${metric}.external.metrics.k8s.io`),
      )
      if (items.length === 0) throw new Error('no metrics returned from external metrics API')
      return items.map(({ value }) => boundedMilli(String(value)))
    },
  }
}

/** The selector as a query has it; nothing has checked it before. @throws SelectorError */
export const selectorText = (selector: LabelSelector | undefined): string =>
  selector === undefined ? '' : formatLabelSelector(checkedLabelSelectorOf(selector))

const MOST_MILLI = 2n ** 63n - 1n

/**
 * The amount in thousandths. Kubernetes counts them in 64 bits and takes what overflows for another amount, often for none: to be
 * told so is better than to be scaled by it. @throws Error where 64 bits do not hold them
 */
export function boundedMilli(quantity: string): bigint {
  const milli = quantityMilliValue(quantity)
  if (milli > MOST_MILLI || milli < -MOST_MILLI)
    throw new Error(`the amount ${quantity.slice(0, 40)} is more than can be counted (2^63 thousandths)`)
  return milli
}

/** @throws Error where the API does not answer with just one value */
function only(items: readonly MetricValue[]): bigint {
  const [item] = items
  if (item === undefined || items.length !== 1)
    throw new Error(`the custom metrics API server returned ${items.length} results when we asked for exactly one`)
  return sampleOf(item, 0).milli
}

async function fetched<T>(api: 'resource' | 'custom' | 'external', ask: () => Promise<T>): Promise<T> {
  try {
    return await ask()
  } catch (error) {
    throw new Error(`unable to fetch metrics from ${api} metrics API: ${messageOf(error)}`, { cause: error })
  }
}

function parsed<T extends object>(body: string): T | undefined {
  try {
    const value: unknown = JSON.parse(body)
    return typeof value === 'object' && value !== null ? (value as T) : undefined
  } catch {
    return undefined
  }
}

function usageOfPods(items: readonly PodMetricsItem[], resource: string, container: string | undefined): PodMetrics {
  const metrics = new Map<string, PodMetric>()
  for (const item of items) {
    const { metadata, containers: all = [], window, timestamp } = item
    const counted = container === undefined ? all : all.filter(({ name }) => name === container)
    if (counted.length === 0) continue
    const amounts = counted.map(({ usage }): string | undefined => usage?.[resource])
    if (amounts.includes(undefined)) continue
    const milli = amounts.reduce((sum, amount) => sum + boundedMilli(amount ?? '0'), 0n)
    const windowMs = parseGoDurationMs(String(window ?? '0s'))
    metrics.set(String(metadata.name), { milli, atMs: Date.parse(timestamp), windowMs })
  }
  return metrics
}

function sampleOf({ value, timestamp, windowSeconds }: MetricValue, usualWindowMs: number): PodMetric {
  return {
    milli: boundedMilli(String(value)),
    atMs: Date.parse(timestamp),
    windowMs: windowSeconds === undefined || windowSeconds === null ? usualWindowMs : windowSeconds * 1000,
  }
}
