/** What `/metrics` would say, for tests. */
import type { Metrics } from '../src/base/metrics.ts'

/** Lines that begin so, what follows of them; without times, which buckets and sums are of. */
export const metricLines = (metrics: Metrics, part: string): readonly string[] =>
  metrics
    .text()
    .split('\n')
    .filter((line) => line.startsWith(part) && !/_(bucket|sum)[{ ]/.test(line))
    .map((line) => line.slice(part.length))
