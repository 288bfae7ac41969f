import type { ClusterOptions, Fork } from 'skiff'
import type { TestAPI } from 'vitest'

/**
 * A `test` whose fixture `cluster` is a cluster of the test's own: a fork of one that is started for the file. When a test fails,
 * what happened in its cluster is printed. Call it at the top of a file.
 */
export function skiffTest(options?: ClusterOptions): TestAPI<{ cluster: Fork }>
