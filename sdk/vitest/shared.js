/** What both have in common: one cluster for the tests of a file, started at the first one that asks, and forks of it. */
import { startCluster } from 'skiff'

/** Of each cluster so many of the last requests are kept for the report. */
const KEPT_REQUESTS = 200

/** @param {import('skiff').ClusterOptions} options */
export function forksOf(options) {
  let first
  return {
    async fork() {
      first ??= startCluster({ storage: 'memory', keepRequests: KEPT_REQUESTS, faults: [], ...options })
      const fork = await (await first).fork({ ttl: '1h' })
      await fork.running
      return fork
    },
    async stop() {
      const cluster = await first?.catch(() => undefined)
      await cluster?.stop()
    },
  }
}

/** Of a test that failed. What goes wrong with it must not hide why the test failed. */
export async function reportOf(cluster) {
  try {
    return `skiff, ${cluster.url}:\n${await cluster.report()}`
  } catch (error) {
    return `skiff: there is no report: ${error}`
  }
}
