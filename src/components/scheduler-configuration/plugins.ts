/** The scheduler's plugins, the extension points at which each has a say, and which of them a profile has at each. */
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

/** In their default order. */
const PLUGINS: ReadonlyMap<string, { readonly points: ReadonlySet<ExtensionPoint>; readonly weight?: number }> =
  new Map([
    ['SchedulingGates', { points: points('preEnqueue') }],
    ['PrioritySort', { points: points('queueSort') }],
    ['NodeUnschedulable', { points: points('filter') }],
    ['NodeName', { points: points('filter') }],
    ['TaintToleration', { points: points('filter preScore score'), weight: 3 }],
    ['NodeAffinity', { points: points('preFilter filter preScore score'), weight: 2 }],
    ['NodePorts', { points: points('preFilter filter') }],
    ['NodeResourcesFit', { points: points('preFilter filter preScore score'), weight: 1 }],
    ['VolumeRestrictions', { points: points('preFilter filter') }],
    ['NodeVolumeLimits', { points: points('preFilter filter') }],
    ['VolumeBinding', { points: points('preFilter filter preScore score reserve preBind') }],
    ['VolumeZone', { points: points('preFilter filter') }],
    ['PodTopologySpread', { points: points('preFilter filter preScore score'), weight: 2 }],
    ['InterPodAffinity', { points: points('preFilter filter preScore score'), weight: 2 }],
    ['DynamicResources', { points: points('preEnqueue preFilter filter postFilter score reserve preBind'), weight: 2 }],
    ['DefaultPreemption', { points: points('preEnqueue postFilter') }],
    ['NodeResourcesBalancedAllocation', { points: points('preScore score'), weight: 1 }],
    ['ImageLocality', { points: points('score'), weight: 1 }],
    ['DefaultBinder', { points: points('bind') }],
  ])

export const pluginsAt = (point: ExtensionPoint): ReadonlySet<string> =>
  new Set([...PLUGINS].filter(([, plugin]) => plugin.points.has(point)).map(([name]) => name))

export const isPlugin = (name: string): boolean => PLUGINS.has(name)

/** Names and weights at each point, in their order. */
export type EnabledPlugins = Readonly<Record<ExtensionPoint, ReadonlyMap<string, number>>>

/** @throws what is wrong, in the words of kube-scheduler */
export function enabledPlugins(
  schedulerName: string,
  sets: Readonly<Partial<Record<Point, PluginSet | null>>>,
): EnabledPlugins {
  const multi = withDefaults(sets.multiPoint ?? {})
  const at = (point: ExtensionPoint): ReadonlyMap<string, number> => {
    const { enabled, disabled } = sets[point] ?? {}
    const own = new Map<string, number>()
    for (const { name, weight = 0 } of enabled ?? []) {
      const plugin = PLUGINS.get(name)
      if (plugin === undefined) throw new Error(`${goName(point)} plugin ${JSON.stringify(name)} does not exist`)
      if (!plugin.points.has(point)) throw new Error(`plugin ${JSON.stringify(name)} does not extend ${point} plugin`)
      if (own.has(name))
        throw new Error(`plugin ${JSON.stringify(name)} already registered as ${JSON.stringify(goName(point))}`)
      own.set(name, weight)
    }
    const off = new Set((disabled ?? []).map(({ name }) => name))
    const inherited = off.has('*')
      ? []
      : [...multi].filter(([name]) => PLUGINS.get(name)?.points.has(point) && !off.has(name))
    // What is named for the point itself goes before, where it stands for one of all points.
    const overriding = [...own].filter(([name]) => inherited.some(([other]) => other === name))
    return new Map([...overriding, ...inherited.filter(([name]) => !own.has(name)), ...own])
  }
  const found: EnabledPlugins = {
    preEnqueue: at('preEnqueue'),
    queueSort: at('queueSort'),
    preFilter: at('preFilter'),
    filter: at('filter'),
    postFilter: at('postFilter'),
    preScore: at('preScore'),
    score: at('score'),
    reserve: at('reserve'),
    permit: at('permit'),
    preBind: at('preBind'),
    bind: at('bind'),
    postBind: at('postBind'),
  }
  const { size } = found.queueSort
  if (size !== 1)
    throw new Error(
      `only one queue sort plugin required for profile with scheduler name ${JSON.stringify(schedulerName)}, but got ${size}`,
    )
  if (found.bind.size === 0)
    throw new Error(
      `at least one bind plugin is needed for profile with scheduler name ${JSON.stringify(schedulerName)}`,
    )
  return found
}

function withDefaults({ enabled, disabled }: PluginSet): ReadonlyMap<string, number> {
  const off = new Set((disabled ?? []).map(({ name }) => name))
  const all = new Map<string, number>()
  if (!off.has('*')) for (const [name, { weight = 0 }] of PLUGINS) if (!off.has(name)) all.set(name, weight)
  for (const { name, weight = 0 } of enabled ?? []) {
    if (!PLUGINS.has(name)) throw new Error(`plugin ${JSON.stringify(name)} does not exist`)
    all.set(name, weight)
  }
  return all
}

const goName = (point: string) => `${point[0]?.toUpperCase()}${point.slice(1)}`
