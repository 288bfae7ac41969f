/** Autoscalers. */

import { dep, done, hpa } from '../objects.ts'
import type { Story } from '../story.ts'

export const autoscalingStories = {
  'hpa-min-raised': {
    async act(s) {
      await s.create('deployments', dep('a', { replicas: 1 }))
      await s.untilObj('deployments', 'a', done)
      await s.create(
        'horizontalpodautoscalers',
        hpa({
          metrics: [
            { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } } },
          ],
        }),
      )
      await s.pause(20000)
    },
    restMs: 30000,
  },
  'hpa-over-max': {
    async act(s) {
      await s.create('deployments', dep('a', { replicas: 6 }))
      await s.untilObj('deployments', 'a', done)
      await s.create('horizontalpodautoscalers', hpa({}))
      await s.pause(18000)
    },
    restMs: 30000,
  },
  'hpa-zero': {
    async act(s) {
      await s.create('deployments', dep('a', { replicas: 0 }))
      await s.create('horizontalpodautoscalers', hpa({}))
      await s.pause(18000)
    },
    restMs: 30000,
  },
  'hpa-ambiguous': {
    async act(s) {
      await s.create('deployments', dep('a', { replicas: 2 }))
      await s.create('horizontalpodautoscalers', hpa({}))
      await s.create('horizontalpodautoscalers', { ...hpa({}), metadata: { name: 'h2' } })
      await s.pause(18000)
    },
    restMs: 30000,
  },
} satisfies Readonly<Record<string, Story>>
