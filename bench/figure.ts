/** What a measurement gives, and what it needs. */
import type { BenchClient } from './client.ts'
import type { Subject } from './subject.ts'

export interface Figure {
  readonly name: string
  /** Which of the runs it belongs to: components, or the server that was given. */
  readonly subject: string
  readonly value: number
  readonly unit: '/s' | 's' | 'ms' | 'MiB' | '%'
  /** The bare server's, doing the same for the same client in the same run. */
  readonly bare?: number
  /** Processor time the server's process took for one of what is counted, in microseconds. */
  readonly cpuMicros?: number
  readonly detail?: string
}

export interface Bench {
  readonly subject: Subject
  readonly client: BenchClient
  readonly bare: BenchClient
  /** A namespace of this run, with its default service account. */
  readonly namespace: string
  report(figure: Omit<Figure, 'subject'>): void
}

/** Runs in this order; each leaves the namespace as the next ones expect it (pods p0 … p4999). */
export interface Measure {
  readonly name: string
  /** Measures that must have run before. */
  readonly needs?: readonly string[]
  readonly run: (bench: Bench) => Promise<void>
}

/** Processor time of the server between two moments, for each of `count`. */
export function cpuMeter(subject: Subject): (count: number) => { readonly cpuMicros?: number } {
  const before = subject.usage?.().cpuSeconds
  return (count) => {
    const after = subject.usage?.().cpuSeconds
    if (before === undefined || after === undefined || Number.isNaN(after - before)) return {}
    return { cpuMicros: ((after - before) * 1e6) / count }
  }
}
