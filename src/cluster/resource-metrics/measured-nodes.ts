/**
 * What nodes of real containers use, as their kubelets tell at /stats/summary. A node is asked when its usage is wanted and the last
 * answer is old, and goes on being asked for a while: rates of counters take two answers.
 */
import type { Timer } from '../../base/clock.ts'
import type { Runtime } from '../../base/runtime.ts'
import type { MeasuredNodes } from './resource-metrics.ts'
import type { ContainerUsages, Measured, Usage } from './usage.ts'

const EVERY_MS = 15_000
const FRESH_MS = 10_000
/** Nodes that were not asked about for so long are left alone. */
const WANTED_MS = 300_000

/** Of kubelet's summary API, what is read. */
interface Summary {
  readonly node?: Stats
  readonly pods?: readonly {
    readonly podRef?: { readonly uid?: string }
    readonly containers?: readonly (Stats & { readonly name?: string })[]
  }[]
}

interface Stats {
  readonly cpu?: { readonly time?: string; readonly usageNanoCores?: number; readonly usageCoreNanoSeconds?: number }
  readonly memory?: { readonly workingSetBytes?: number }
}

interface Sample {
  readonly time: number
  /** Nanoseconds of processor time so far, and the rate where the kubelet tells it. */
  readonly cpuNanoSeconds: number
  readonly cpuNanoCores: number | undefined
  readonly memoryBytes: number
}

interface Samples {
  readonly node: Sample | undefined
  /** By pod uid and container name. */
  readonly containers: ReadonlyMap<string, ReadonlyMap<string, Sample>>
}

interface Watched {
  wantedAt: number
  askedAt: number
  asking: Promise<void> | undefined
  previous: Samples | undefined
  last: Samples | undefined
  timer: Timer | undefined
}

/** `ask` gives the summary of the node as JSON. @throws never: a node that does not answer has no metrics */
export function measuredNodes(
  runtime: Runtime,
  ask: (node: string) => Promise<string>,
  signal: AbortSignal,
): MeasuredNodes {
  const { machineClock: clock } = runtime
  const nodes = new Map<string, Watched>()

  async function update(name: string, watched: Watched): Promise<void> {
    watched.asking ??= ask(name)
      .then((text) => {
        const samples = samplesOf(JSON.parse(text) as Summary)
        if (samples.node?.time === watched.last?.node?.time) return
        watched.previous = watched.last
        watched.last = samples
      })
      .catch((error) => runtime.log.info(2, 'Failed to scrape node', { node: name, err: String(error) }))
      .finally(() => {
        watched.askedAt = clock.monotonic()
        watched.asking = undefined
      })
    await watched.asking
  }

  function keep(name: string, watched: Watched): void {
    watched.timer ??= clock.setTimer(EVERY_MS, 'node metrics', () => {
      watched.timer = undefined
      if (signal.aborted || clock.monotonic() - watched.wantedAt > WANTED_MS) {
        nodes.delete(name)
        return
      }
      void update(name, watched).then(() => keep(name, watched))
    })
  }

  async function freshly(name: string): Promise<Watched> {
    const now = clock.monotonic()
    const watched = nodes.get(name) ?? {
      ...{ wantedAt: now, askedAt: Number.NEGATIVE_INFINITY },
      ...{ asking: undefined, previous: undefined, last: undefined, timer: undefined },
    }
    nodes.set(name, watched)
    watched.wantedAt = now
    if (now - watched.askedAt > FRESH_MS) await update(name, watched)
    keep(name, watched)
    return watched
  }

  signal.addEventListener('abort', () => {
    for (const { timer } of nodes.values()) timer?.cancel()
  })
  return {
    async node(name) {
      const { previous, last } = await freshly(name)
      return last?.node && measured(previous?.node, last.node)
    },
    async pod(node, uid) {
      const { previous, last } = await freshly(node)
      const containers = last?.containers.get(uid)
      if (containers === undefined || containers.size === 0) return undefined
      const used = new Map<string, Usage>()
      let whole: Measured<Usage> | undefined
      for (const [name, sample] of containers) {
        whole = measured(previous?.containers.get(uid)?.get(name), sample)
        // As metrics-server has it: a pod is told of when all of its containers have been measured.
        if (whole === undefined) return undefined
        used.set(name, whole.used)
      }
      return whole && { ...whole, used: used satisfies ContainerUsages }
    },
  }
}

/** Undefined where there is no rate yet, or the container has started anew between the two. */
function measured(before: Sample | undefined, after: Sample): Measured<Usage> | undefined {
  const { time, cpuNanoCores, cpuNanoSeconds, memoryBytes } = after
  const windowMs = before === undefined ? 0 : time - before.time
  if (cpuNanoCores !== undefined)
    return { time, windowMs: windowMs > 0 ? windowMs : EVERY_MS, used: { cpuNanoCores, memoryBytes } }
  if (before === undefined || windowMs <= 0 || cpuNanoSeconds < before.cpuNanoSeconds) return undefined
  const rate = ((cpuNanoSeconds - before.cpuNanoSeconds) / windowMs) * 1000
  return { time, windowMs, used: { cpuNanoCores: rate, memoryBytes } }
}

function samplesOf({ node, pods = [] }: Summary): Samples {
  const containers = new Map<string, ReadonlyMap<string, Sample>>()
  for (const { podRef, containers: own = [] } of pods) {
    const samples = own.flatMap(({ name = '', ...stats }): [string, Sample][] => {
      const sample = sampleOf(stats)
      return sample === undefined ? [] : [[name, sample]]
    })
    if (samples.length === own.length) containers.set(podRef?.uid ?? '', new Map(samples))
  }
  return { node: node && sampleOf(node), containers }
}

/** Undefined for what was not measured whole. */
function sampleOf({ cpu, memory }: Stats): Sample | undefined {
  const time = Date.parse(cpu?.time ?? '')
  const { usageCoreNanoSeconds, usageNanoCores } = cpu ?? {}
  if (Number.isNaN(time) || usageCoreNanoSeconds === undefined || memory?.workingSetBytes === undefined)
    return undefined
  return {
    time,
    cpuNanoSeconds: usageCoreNanoSeconds,
    cpuNanoCores: usageNanoCores,
    memoryBytes: memory.workingSetBytes,
  }
}
