/** The scheduler's plugins, the extension points at which each has a say, and which of them a profile has at each. */
import { goQuote } from '../../api/quote.ts'
import type { Point } from './fields.ts'

export interface PluginEntry {
  readonly name: string
  readonly weight?: number
}

export interface PluginSet {
  readonly enabled?: readonly PluginEntry[] | null
  readonly disabled?: readonly PluginEntry[] | null
}

export type ExtensionPoint = Exclude<Point, 'multiPoint'>

const points = (text: string): ReadonlySet<ExtensionPoint> => new Set(text.split(' ') as ExtensionPoint[])

interface Plugin {
  readonly points: ReadonlySet<ExtensionPoint>
  readonly weight?: number
  /** A feature that is off by default: a profile has it where it is named, and it decides nothing. */
  readonly isOff?: true
}

/** In their default order. */
const PLUGINS: ReadonlyMap<string, Plugin> = new Map<string, Plugin>([
  ['SchedulingGates', { points: points('preEnqueue') }],
  ['PrioritySort', { points: points('queueSort') }],
  ['NodeName', { points: points('preFilter filter') }],
  ['NodeUnschedulable', { points: points('preFilter filter') }],
  ['TaintToleration', { points: points('preFilter filter preScore score'), weight: 3 }],
  ['NodeAffinity', { points: points('preFilter filter preScore score'), weight: 2 }],
  ['NodePorts', { points: points('preFilter filter') }],
  ['NodeResourcesFit', { points: points('preFilter filter preScore score placementScore'), weight: 1 }],
  ['VolumeRestrictions', { points: points('preFilter filter') }],
  ['NodeVolumeLimits', { points: points('preFilter filter') }],
  ['VolumeBinding', { points: points('preFilter filter preScore score reserve preBind') }],
  ['VolumeZone', { points: points('preFilter filter') }],
  ['PodTopologySpread', { points: points('preFilter filter preScore score'), weight: 2 }],
  ['InterPodAffinity', { points: points('preFilter filter preScore score'), weight: 2 }],
  [
    'DynamicResources',
    { points: points('preEnqueue preFilter filter postFilter score reserve preBind podGroupPostFilter'), weight: 2 },
  ],
  ['DefaultPreemption', { points: points('preEnqueue postFilter podGroupPostFilter') }],
  ['NodeResourcesBalancedAllocation', { points: points('preScore score'), weight: 1 }],
  ['ImageLocality', { points: points('score'), weight: 1 }],
  ['DefaultBinder', { points: points('bind') }],
  ['NodeDeclaredFeatures', { points: points('preFilter filter') }],
  ['GangScheduling', { points: points('preEnqueue permit'), isOff: true }],
  ['DeferredPodScheduling', { points: points('preFilter filter permit'), isOff: true }],
  ['TopologyPlacementGenerator', { points: points('placementGenerate'), isOff: true }],
  ['PodGroupPodsCount', { points: points('placementScore'), isOff: true }],
])

/** Those that decide something. */
export const pluginsAt = (point: ExtensionPoint): ReadonlySet<string> =>
  new Set([...PLUGINS].filter(([, { points, isOff }]) => isOff !== true && points.has(point)).map(([name]) => name))

/** Names and weights at each point, in their order. */
export type EnabledPlugins = Readonly<Record<ExtensionPoint, ReadonlyMap<string, number>>>

/** @throws what is wrong, in the words of kube-scheduler */
export function enabledPlugins(
  schedulerName: string,
  sets: Readonly<Partial<Record<Point, PluginSet | null>>>,
): EnabledPlugins {
  const multi = multiPointPlugins(sets.multiPoint ?? {})
  const own = (point: ExtensionPoint): ReadonlyMap<string, number> => {
    const named = new Map<string, number>()
    for (const { name = '', weight = 0 } of sets[point]?.enabled ?? []) {
      const plugin = PLUGINS.get(name)
      if (plugin === undefined) throw new Error(`${goName(point)} ${goQuote(name)} does not exist`)
      if (!plugin.points.has(point)) throw new Error(`plugin ${goQuote(name)} does not extend ${goName(point)} plugin`)
      if (named.has(name)) throw registeredTwice(name, point)
      named.set(name, weight)
    }
    return named
  }
  const at = (point: ExtensionPoint): ReadonlyMap<string, number> => {
    const named = own(point)
    const off = new Set((sets[point]?.disabled ?? []).map(({ name }) => name))
    const inherited = new Map<string, number>()
    for (const [name, weight] of off.has('*') ? [] : multi) {
      const plugin = PLUGINS.get(name)
      if (plugin === undefined) throw new Error(`${goName(point)} ${goQuote(name)} does not exist`)
      if (!plugin.points.has(point) || off.has(name) || named.has(name)) continue
      if (inherited.has(name)) throw registeredTwice(name, point)
      inherited.set(name, weight)
    }
    // What is named for the point itself goes before, where it stands for one of all points.
    const overriding = [...named].filter(([name]) => multi.some(([other]) => other === name) && !off.has(name))
    return new Map([...overriding, ...inherited, ...named])
  }
  const found: EnabledPlugins = {
    preFilter: at('preFilter'),
    filter: at('filter'),
    postFilter: at('postFilter'),
    reserve: at('reserve'),
    preScore: at('preScore'),
    score: at('score'),
    preBind: at('preBind'),
    bind: at('bind'),
    postBind: at('postBind'),
    permit: at('permit'),
    preEnqueue: at('preEnqueue'),
    queueSort: at('queueSort'),
    placementGenerate: at('placementGenerate'),
    placementScore: at('placementScore'),
    podGroupPostFilter: at('podGroupPostFilter'),
  }
  const { size } = found.queueSort
  const about = `profile with scheduler name ${goQuote(schedulerName)}`
  if (size !== 1) throw new Error(`only one queue sort plugin required for ${about}, but got ${size}`)
  if (found.bind.size === 0) throw new Error(`at least one bind plugin is needed for ${about}`)
  if ([...found.score.values()].some((weight) => weight < 0))
    throw new Error('score plugins: total score of Score plugins could overflow')
  return found
}

const registeredTwice = (name: string, point: ExtensionPoint) =>
  new Error(`plugin ${goQuote(name)} already registered as ${goQuote(goName(point))}`)

type Entries = readonly (readonly [name: string, weight: number])[]

/** All that a profile has without what it says of single points. */
export function multiPointPlugins({ enabled, disabled }: PluginSet): Entries {
  const off = new Set((disabled ?? []).map(({ name }) => name))
  const given = (enabled ?? []).map(({ name = '', weight = 0 }) => [name, weight] as const)
  const usual = off.has('*') ? [] : [...PLUGINS].filter(([name, { isOff }]) => isOff !== true && !off.has(name))
  // One that is named again stands where it stood; a second one of the name comes after all.
  const taken = new Set<unknown>()
  const first = usual.map(([name, { weight = 0 }]) => {
    const again = given.find(([other]) => other === name)
    if (again !== undefined) taken.add(again)
    return again ?? ([name, weight] as const)
  })
  return [...first, ...given.filter((entry) => !taken.has(entry))]
}

const goName = (point: string) => `${point[0]?.toUpperCase()}${point.slice(1)}Plugin`
