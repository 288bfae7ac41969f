/** node:test: a function that gives a test a cluster of its own. */
import { after } from 'node:test'
import { forksOf, reportOf } from './shared.js'

export function useClusters(options = {}) {
  const forks = forksOf(options)
  after(() => forks.stop())
  return async (t) => {
    const cluster = await forks.fork()
    t.after(async () => {
      if (t.passed === false) console.error(await reportOf(cluster))
      await cluster.stop()
    })
    return cluster
  }
}
