/**
 * An autoscaler's scenario: a target of a custom kind with pods that only the scenario changes, autoscalers on it, and metrics
 * from a table. The same steps are played to a real cluster and to ours, half a period after each look at the metrics.
 */
import type { Fields, KubeObject } from '../../src/api/object.ts'
import { isNotFound } from '../../src/api/status.ts'
import { formatTime } from '../../src/base/clock.ts'
import type { Client, ResourceClient } from '../../src/client/client.ts'
import type { Metrics, StubbedNamespace } from './metrics-stub.ts'

/** As often an autoscaler is looked at. */
export const PERIOD_MS = 15_000
export const HALF_PERIOD_MS = 7_500
const SETTLE_MS = 500

/** How a pod is; without anything it has run and been ready for an hour and asks for 100m and 100Mi. */
export interface PodForm {
  readonly phase?: 'Pending' | 'Running' | 'Failed'
  readonly ready?: boolean
  /** Absent: the pod tells of no readiness. */
  readonly readiness?: false
  readonly startedSecondsAgo?: number
  readonly changedSecondsAgo?: number
  /** Marked as deleted, and kept by a finalizer. */
  readonly deleted?: true
  /** In place of the one container `c`. */
  readonly spec?: Fields
}

export interface Change {
  readonly metrics?: Metrics
  /** A merge patch on the spec of the autoscaler `h`: it looks at once. */
  readonly spec?: Fields
  /** What a user scales the target to. */
  readonly replicas?: number
  readonly pods?: readonly PodForm[]
  /** The target's status.selector. */
  readonly selector?: string
}

export interface Scenario extends Change {
  readonly replicas: number
  /** How many times the autoscaler looks until it is over; the first time at once. */
  readonly looks: number
  /** The autoscaler `h`; its target is added. */
  readonly spec: Fields
  /** More autoscalers of the target, `i` and `j`, each made some seconds later. */
  readonly others?: readonly Fields[]
  /** Half a period after the look of that number. */
  readonly after?: Readonly<Record<number, Change>>
  /** Pods are as many as the target asks for, half a period after each look; otherwise as many as `pods` says. Default true. */
  readonly follows?: false
  /** The target is made after the first look only. */
  readonly late?: true
}

/** More than five replicas are refused of a target of the kind Capped. */
export const TARGET_KINDS = { Widget: undefined, Capped: 5 } as const
const GROUP = 'autoscaling.example.com'
const plural = (kind: string): string => `${kind.toLowerCase()}s`

export const definitions: readonly KubeObject[] = Object.entries(TARGET_KINDS).map(
  ([kind, maximum]) =>
    ({
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: `${plural(kind)}.${GROUP}` },
      spec: {
        group: GROUP,
        scope: 'Namespaced',
        names: { plural: plural(kind), singular: kind.toLowerCase(), kind },
        versions: [
          {
            name: 'v1',
            served: true,
            storage: true,
            schema: {
              openAPIV3Schema: {
                type: 'object',
                properties: {
                  spec: {
                    type: 'object',
                    properties: { replicas: { type: 'integer', ...(maximum === undefined ? {} : { maximum }) } },
                  },
                  status: {
                    type: 'object',
                    properties: { replicas: { type: 'integer' }, selector: { type: 'string' } },
                  },
                },
              },
            },
            subresources: {
              status: {},
              scale: {
                specReplicasPath: '.spec.replicas',
                statusReplicasPath: '.status.replicas',
                labelSelectorPath: '.status.selector',
              },
            },
          },
        ],
      },
    }) as unknown as KubeObject,
)

export interface PlayedOn {
  readonly client: Client
  readonly namespace: string
  readonly stubbed: StubbedNamespace
  now(): number
  /** Resolves at that time. */
  until(ms: number): Promise<void>
}

const autoscalersResource = { group: 'autoscaling', version: 'v2', resource: 'horizontalpodautoscalers' }
const podsResource = { group: '', version: 'v1', resource: 'pods' }
const SELECTOR = 'app=a'

/** Resolves when it is over, with the times at which the autoscalers were made. */
export async function play(scenario: Scenario, on: PlayedOn): Promise<Readonly<Record<string, number>>> {
  const { client, namespace, stubbed } = on
  const kind: string = scenario.spec['scaleTargetRef']?.kind ?? 'Widget'
  const targets = client.resource({ group: GROUP, version: 'v1', resource: plural(kind) }).namespace(namespace)
  const pods = client.resource(podsResource).namespace(namespace)
  const autoscalers = client.resource(autoscalersResource).namespace(namespace)
  let forms = scenario.pods
  let selector = scenario.selector ?? SELECTOR
  const metadata = { name: 'a' }

  async function makeTarget(): Promise<void> {
    const spec = { replicas: scenario.replicas }
    await targets.create({ apiVersion: `${GROUP}/v1`, kind, metadata, spec } as KubeObject)
    await follow()
  }
  /** There are as many pods as the target asks for, and its status says so. */
  async function follow(): Promise<void> {
    const target = await targets.get('a').catch((error) => (isNotFound(error) ? undefined : Promise.reject(error)))
    if (target === undefined) return
    const wanted: number = scenario.follows === false ? (forms ?? []).length : (target['spec'].replicas ?? 0)
    await makePods(pods, wanted, forms ?? [], stubbed, on.now())
    const status = { replicas: wanted, selector: selector === '' ? null : selector }
    await targets.patch('a', 'merge', { status }, { subresource: 'status' })
  }
  async function change(what: Change): Promise<void> {
    if (what.metrics !== undefined) stubbed.metrics = what.metrics
    if (what.selector !== undefined) selector = what.selector
    if (what.replicas !== undefined) await targets.patch('a', 'merge', { spec: { replicas: what.replicas } })
    if (what.pods === undefined) return
    forms = what.pods
    await makePods(pods, 0, [], stubbed, on.now())
  }
  const make = async (name: string, spec: Fields): Promise<number> => {
    const scaleTargetRef = { apiVersion: `${GROUP}/v1`, ...spec['scaleTargetRef'], kind, name: 'a' }
    const object = { apiVersion: 'autoscaling/v2', kind: 'HorizontalPodAutoscaler', metadata: { name } }
    const madeMs = on.now()
    await autoscalers.create({ ...object, spec: { ...spec, scaleTargetRef } } as unknown as KubeObject)
    return madeMs
  }
  /** What looks at pods and targets has seen them by then. */
  const settled = () => on.until(on.now() + SETTLE_MS)

  stubbed.metrics = scenario.metrics ?? {}
  if (scenario.late === undefined) await makeTarget()
  await settled()
  const began = await make('h', scenario.spec)
  const made: Record<string, number> = { h: began }
  for (const [at, spec] of (scenario.others ?? []).entries()) {
    await on.until(began + ((at + 1) * HALF_PERIOD_MS) / 2)
    made['ij'.charAt(at)] = await make('ij'.charAt(at), spec)
  }
  for (let look = 1; look <= scenario.looks; look++) {
    await on.until(began + (look - 1) * PERIOD_MS + HALF_PERIOD_MS)
    if (look === 1 && scenario.late !== undefined) await makeTarget()
    const changed = scenario.after?.[look]
    if (changed !== undefined) await change(changed)
    await follow()
    if (changed?.spec === undefined) continue
    await settled()
    await autoscalers.patch('h', 'merge', { spec: changed.spec })
  }
  await settled()
  return made
}

async function makePods(
  pods: ResourceClient,
  wanted: number,
  forms: readonly PodForm[],
  stubbed: StubbedNamespace,
  nowMs: number,
): Promise<void> {
  const names = Array.from({ length: wanted }, (_, at) => `p${at}`)
  for (const name of stubbed.pods.slice(wanted)) {
    await pods.patch(name, 'merge', { metadata: { finalizers: null } })
    await pods.delete(name, { gracePeriodSeconds: 0 }).catch((error) => {
      if (!isNotFound(error)) throw error
    })
  }
  for (const [at, name] of names.entries())
    if (!stubbed.pods.includes(name)) await makePod(pods, name, forms[at] ?? forms.at(-1) ?? {}, nowMs)
  stubbed.pods = names
}

const requests = { cpu: '100m', memory: '100Mi' }

async function makePod(pods: ResourceClient, name: string, form: PodForm, nowMs: number): Promise<void> {
  const spec = form.spec ?? { containers: [{ name: 'c', image: 'i', resources: { requests } }] }
  const metadata = { name, labels: { app: 'a' }, ...(form.deleted ? { finalizers: ['example.com/kept'] } : {}) }
  // It stays where it is: no scheduler and no kubelet takes it up.
  const own = { ...spec, schedulerName: 'none', terminationGracePeriodSeconds: 0 }
  await pods.create({ apiVersion: 'v1', kind: 'Pod', metadata, spec: own } as unknown as KubeObject)
  const ago = (seconds = 3600) => formatTime(nowMs - seconds * 1000)
  const ready = { type: 'Ready', status: form.ready === false ? 'False' : 'True' }
  const status = {
    phase: form.phase ?? 'Running',
    startTime: ago(form.startedSecondsAgo),
    ...(form.readiness === false
      ? {}
      : { conditions: [{ ...ready, lastTransitionTime: ago(form.changedSecondsAgo ?? form.startedSecondsAgo) }] }),
  }
  await pods.patch(name, 'strategic', { status }, { subresource: 'status' })
  if (form.deleted) await pods.delete(name, { gracePeriodSeconds: 0 })
}
