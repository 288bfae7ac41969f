import type { TestContext } from 'node:test'
import type { ClusterOptions, Fork } from 'skiff'

/**
 * Gives tests a cluster each: a fork of one that is started for the file. It ends with the test; when the test fails, what happened in
 * it is printed. Call it at the top of a file.
 */
export function useClusters(options?: ClusterOptions): (t: TestContext) => Promise<Fork>
