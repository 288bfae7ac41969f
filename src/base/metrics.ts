/**
 * Counters, gauges and histograms, and their text (Prometheus exposition format 0.0.4). Counting is an addition on an object
 * that was looked up once: a hot path keeps the child.
 */
import { goFloat } from './go-float.ts'

export interface Counted {
  add(amount?: number): void
}

export interface Observed {
  observe(value: number): void
}

export interface Gauged extends Counted {
  set(value: number): void
}

export interface Family<T> {
  /** The time series with these label values, in the order of the family's label names; the same object every time. */
  child(...values: readonly string[]): T
}

export interface Metrics {
  counter(name: string, help: string, labels?: readonly string[]): Family<Counted>
  gauge(name: string, help: string, labels?: readonly string[]): Family<Gauged>
  /** `buckets` are upper bounds, rising; +Inf is added. */
  histogram(name: string, help: string, labels: readonly string[], buckets: readonly number[]): Family<Observed>
  /** A gauge, or counter, whose series are asked for when the text is made; of one name several give their own. */
  sampled(
    name: string,
    help: string,
    labels: readonly string[],
    sample: () => Iterable<readonly [number, ...string[]]>,
    type?: 'gauge' | 'counter',
  ): void
  /** A gauge whose series are known and never change; asked for twice, it is the same. */
  constant(
    name: string,
    help: string,
    labels: readonly string[],
    series: () => Iterable<readonly [number, ...string[]]>,
  ): void
  /** Counters and histograms begin anew; their series are not printed before they are touched again. */
  reset(): void
  text(): string
}

/** `count` upper bounds, each `factor` times the one before it. */
export function exponentialBuckets(start: number, factor: number, count: number): readonly number[] {
  const bounds: number[] = []
  for (let bound = start; bounds.length < count; bound *= factor) bounds.push(bound)
  return bounds
}

interface Printable {
  readonly type: 'counter' | 'gauge' | 'histogram'
  readonly help: string
  lines(name: string): Iterable<string>
  reset?(): void
}

export function createMetrics(): Metrics {
  const families = new Map<string, Printable>()
  const made = new Map<string, Family<unknown>>()
  const samplers = new Map<string, (() => Iterable<readonly [number, ...string[]]>)[]>()
  /** Asked for twice, a family is the same: components of one kind share it. */
  const once = <T>(name: string, make: () => { family: Family<T>; printable: Printable }): Family<T> => {
    const known = made.get(name)
    if (known !== undefined) return known as Family<T>
    const { family, printable } = make()
    made.set(name, family)
    families.set(name, printable)
    return family
  }
  return {
    counter: (name, help, labels = []) => once(name, () => numbers('counter', help, labels)),
    gauge: (name, help, labels = []) => once(name, () => numbers('gauge', help, labels)),
    histogram: (name, help, labels, buckets) => once(name, () => histograms(help, labels, buckets)),
    sampled(name, help, labels, sample, type = 'gauge') {
      const known = samplers.get(name)
      if (known !== undefined) {
        known.push(sample)
        return
      }
      const all = [sample]
      samplers.set(name, all)
      families.set(name, {
        type,
        help,
        *lines() {
          for (const each of all) yield* sampledLines(name, labels, each())
        },
      })
    },
    constant(name, help, labels, series) {
      if (!families.has(name))
        families.set(name, { type: 'gauge', help, lines: () => sampledLines(name, labels, series()) })
    },
    reset() {
      for (const family of families.values()) family.reset?.()
    },
    text() {
      const out: string[] = []
      for (const [name, family] of [...families].sort(([a], [b]) => (a < b ? -1 : 1))) {
        const lines = [...family.lines(name)]
        if (lines.length > 0) out.push(`# HELP ${name} ${family.help}`, `# TYPE ${name} ${family.type}`, ...lines)
      }
      return `${out.join('\n')}\n`
    },
  }
}

function* sampledLines(name: string, labels: readonly string[], series: Iterable<readonly [number, ...string[]]>) {
  for (const [value, ...values] of series) yield `${name}${braces(labels, values)} ${goFloat(value)}`
}

interface Series<T> {
  readonly values: readonly string[]
  readonly child: T
}

/** Clusters that share a process have thousands of series each, so a series is its numbers alone: what is done with them is its class's. */
function children<T>(make: () => T): { family: Family<T>; all: Map<string, Series<T>> } {
  const all = new Map<string, Series<T>>()
  return {
    all,
    family: {
      child(...values) {
        const key = values.length === 1 ? (values[0] as string) : values.join('\u0000')
        let found = all.get(key)
        if (found === undefined) {
          found = { values, child: make() }
          all.set(key, found)
        }
        return found.child
      },
    },
  }
}

class NumberSeries implements Gauged {
  value = 0
  /** Callers keep the series, so it stays when it is reset. */
  wasReset = false

  add(amount = 1): void {
    this.value += amount
  }

  set(value: number): void {
    this.value = value
  }
}

class HistogramSeries implements Observed {
  readonly buckets: readonly number[]
  readonly counts: number[]
  sum = 0
  wasReset = false

  constructor(buckets: readonly number[]) {
    this.buckets = buckets
    this.counts = new Array<number>(buckets.length + 1).fill(0)
  }

  observe(value: number): void {
    const { buckets, counts } = this
    let at = 0
    while (at < buckets.length && value > buckets[at]!) at++
    counts[at]!++
    this.sum += value
  }

  reset(): void {
    this.counts.fill(0)
    this.sum = 0
    this.wasReset = true
  }
}

function numbers(type: 'counter' | 'gauge', help: string, labels: readonly string[]) {
  const { family, all } = children(() => new NumberSeries())
  const printable: Printable = {
    type,
    help,
    *lines(name) {
      for (const { values, child } of all.values())
        if (child.value !== 0 || !child.wasReset) yield `${name}${braces(labels, values)} ${goFloat(child.value)}`
    },
    // A gauge is what it is.
    reset() {
      if (type === 'counter') for (const { child } of all.values()) Object.assign(child, { value: 0, wasReset: true })
    },
  }
  return { family, printable }
}

function histograms(help: string, labels: readonly string[], buckets: readonly number[]) {
  const { family, all } = children(() => new HistogramSeries(buckets))
  const printable: Printable = {
    type: 'histogram',
    help,
    *lines(name) {
      const bounds = buckets.map(goFloat)
      for (const { values, child } of all.values()) {
        let total = 0
        if (child.wasReset && child.counts.every((count) => count === 0)) continue
        for (const [i, count] of child.counts.entries()) {
          total += count
          yield `${name}_bucket${braces([...labels, 'le'], [...values, bounds[i] ?? '+Inf'])} ${goFloat(total)}`
        }
        yield `${name}_sum${braces(labels, values)} ${goFloat(child.sum)}`
        yield `${name}_count${braces(labels, values)} ${goFloat(total)}`
      }
    },
    reset() {
      for (const { child } of all.values()) child.reset()
    },
  }
  return { family, printable }
}

function braces(labels: readonly string[], values: readonly string[]): string {
  if (labels.length === 0) return ''
  return `{${labels.map((label, i) => `${label}="${escaped(values[i] ?? '')}"`).join(',')}}`
}

const escaped = (value: string): string => value.replace(/[\\"\n]/g, (c) => (c === '\n' ? '\\n' : `\\${c}`))
