/** vitest: a test function whose tests have a cluster each. */
import { afterAll, test as base } from 'vitest'
import { forksOf, reportOf } from './shared.js'

export function skiffTest(options = {}) {
  const forks = forksOf(options)
  afterAll(() => forks.stop())
  return base.extend({
    cluster: async ({ task }, use) => {
      const cluster = await forks.fork()
      try {
        await use(cluster)
        if (task.result?.state === 'fail') console.error(await reportOf(cluster))
      } finally {
        await cluster.stop()
      }
    },
  })
}
