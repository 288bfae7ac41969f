/**
 * twin: a cluster of skiff in memory that holds what was read of another cluster, with its own controllers, scheduler and simulated
 * nodes. Called by `skiff twin` and by plans. It never reaches outward: webhooks, aggregated API servers, kubelets and drivers of the
 * source are not called, and are named instead (outside.ts).
 */
import type { Node, Service, ServiceCIDR } from '../../api/generated/types.ts'
import type { KubeObject, OwnerReference } from '../../api/object.ts'
import type { Delays } from '../../client/uneven-transport.ts'
import type { StartedFork } from '../../cluster/fork.ts'
import type { SimulatedNode } from '../../cluster/nodes.ts'
import type { ClockKind } from '../../cluster/options.ts'
import { startTwin, type TwinImage, twinImage } from '../../cluster/twin.ts'
import { unreadBecause } from './partly-read.ts'
import type { ReadCluster } from './read-cluster.ts'

/** `obeys`: unknown programs end as soon as they are asked to. `ignores`: they use all of their grace periods. */
export type Programs = 'obeys' | 'ignores'

export interface TwinModel {
  readonly read: ReadCluster
  readonly image: TwinImage
}

export interface TwinChoice {
  readonly clock: ClockKind
  readonly programs: Programs
  readonly port?: number
  /** How much of its time requests of its components take. Default: none takes any. */
  readonly uneven?: Delays
}

export const modelOf = (read: ReadCluster): TwinModel => ({ read, image: twinImage(read.resources) })

/** Resolves when everything in it runs; the caller stops it. @throws StartError */
export function startTwinOf(
  { read, image }: TwinModel,
  { clock, programs, port, uneven }: TwinChoice,
): Promise<StartedFork> {
  const serviceRange = serviceRangeOf(read)
  return startTwin(image, {
    time: read.time,
    clock,
    nodes: nodesOf(read, programs),
    isolation: { knowsServices: knowsServices(read) },
    ...(serviceRange === undefined ? {} : { serviceRange }),
    ...(port === undefined ? {} : { port }),
    ...(uneven === undefined ? {} : { uneven }),
  })
}

/** Where Services lead is made of all of these: without one of them each would seem to lead nowhere. */
const LEAD = ['services', 'endpointslices', 'pods', 'nodes']

function knowsServices(read: ReadCluster): (namespace: string) => boolean {
  const { resources, namespaces } = read
  const kinds = LEAD.map((name) => resources.find(({ resource }) => resource.resource === name)?.resource)
  const isRead = (namespace: string) =>
    kinds.every((kind) => kind !== undefined && unreadBecause(read, kind, namespace) === undefined)
  return (namespace) => isRead(namespace) && (namespaces === undefined || namespaces.includes(namespace))
}

export function listedItems<T extends KubeObject>(
  { resources }: ReadCluster,
  group: string,
  resource: string,
): readonly T[] {
  const found = resources.find((one) => one.resource.group === group && one.resource.resource === resource)
  return (found?.items ?? []).map((item) => item.object() as T)
}

/** Owners of what has any, by uid. */
export const ownersIn = ({ resources }: ReadCluster): ReadonlyMap<string, readonly OwnerReference[]> =>
  new Map(
    resources.flatMap(({ items }) =>
      items.flatMap(({ metadata: { uid = '', ownerReferences } }) =>
        ownerReferences === undefined ? [] : [[uid, ownerReferences] as const],
      ),
    ),
  )

/** How the containers of a node end: as annotations of simulations say, at once (KWOK), or within their grace periods. */
export type NodeNature = 'simulated' | 'kwok' | 'real'

export function natureOf({ metadata, status }: Node): NodeNature {
  if (status?.nodeInfo?.containerRuntimeVersion?.startsWith('simulated://') === true) return 'simulated'
  const { annotations = {}, labels = {} } = metadata
  return annotations['kwok.x-k8s.io/node'] !== undefined || labels['type'] === 'kwok' ? 'kwok' : 'real'
}

const isReady = ({ status }: Node): boolean =>
  status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') === true

/** Those that are Ready in the source: a silent one is silent in the twin too. */
function nodesOf(read: ReadCluster, programs: Programs): readonly SimulatedNode[] {
  return listedItems<Node>(read, '', 'nodes')
    .filter(isReady)
    .map((node): SimulatedNode => {
      const name = node.metadata.name ?? ''
      const nature = natureOf(node)
      const manner =
        nature === 'kwok'
          ? ({ onSigterm: 'ends', preStop: 'is skipped' } as const)
          : programs === 'obeys'
            ? ({ onSigterm: 'ends', preStop: 'is done at once' } as const)
            : ({ onSigterm: 'is ignored', preStop: 'takes all its time' } as const)
      return { name, as: node, ...(nature === 'simulated' ? {} : { manner }) }
    })
}

/** As the default ServiceCIDR says; where there is none, around the address of the kubernetes Service. */
function serviceRangeOf(read: ReadCluster): string | undefined {
  const [own] = listedItems<ServiceCIDR>(read, 'networking.k8s.io', 'servicecidrs').filter(
    ({ metadata }) => metadata.name === 'kubernetes',
  )
  const told = own?.spec?.cidrs ?? []
  if (told.length > 0) return told.join()
  const service = listedItems<Service>(read, '', 'services').find(
    ({ metadata }) => metadata.namespace === 'default' && metadata.name === 'kubernetes',
  )
  const address = service?.spec?.clusterIP ?? ''
  return /^\d+\.\d+\.\d+\.\d+$/.test(address) ? `${address.split('.').slice(0, 2).join('.')}.0.0/16` : undefined
}
