/** Quotas: what is used is counted, admission adds, and what goes is given back. */
import type { Fields } from '../../src/api/object.ts'
import { brief, create, deployment, patch, pause, pod, remove } from './acts.ts'
import type { Write } from './recording.ts'
import type { Stage } from './stage.ts'

/** The API server writes quotas to itself, past the gate. */
const isOwnWrite = ({ user }: Write): boolean => user === 'apiserver'

const quota = (name: string, spec: Fields) => ({
  apiVersion: 'v1',
  kind: 'ResourceQuota',
  metadata: { name },
  spec,
})
const onNode = (name: string, cpu: string) =>
  pod(name, { nodeName: 'kwok-1', containers: [{ name: 'c', image: 'i', resources: { requests: { cpu } } }] })
const service = (spec: Fields) => ({ apiVersion: 'v1', kind: 'Service', metadata: { name: 'svc' }, spec })

async function use(stage: Stage): Promise<void> {
  await create(stage, 'pods', onNode('a', '500m'))
  await pause(stage, 1000)
  await create(stage, 'services', service({ type: 'NodePort', ports: [{ port: 80 }] }))
  await pause(stage, 1000)
  await patch(stage, 'services', 'svc', { spec: { type: 'ClusterIP', ports: [{ port: 80, nodePort: null }] } })
  await pause(stage, 1000)
  await remove(stage, 'pods', 'a')
}

export const quotaPlays = brief({
  'quota-usage': {
    nodes: 1,
    isChance: isOwnWrite,
    async act(stage) {
      await create(stage, 'resourcequotas', quota('q', { hard: { pods: '2', configmaps: '10' } }))
      await pause(stage, 1000)
      await create(stage, 'deployments', deployment({ replicas: 3 }))
    },
  },
  'quota-replenished': {
    nodes: 2,
    isChance: isOwnWrite,
    async act(stage) {
      const hard = {
        pods: '2',
        'requests.cpu': '1',
        'count/deployments.apps': '5',
        'requests.storage': '10Gi',
        'services.nodeports': '2',
        'count/widgets.example.com': '3',
        secrets: '5',
      }
      await create(stage, 'resourcequotas', quota('q', { hard }))
      await create(stage, 'resourcequotas', quota('be', { hard: { pods: '2' }, scopes: ['BestEffort'] }))
      await pause(stage, 1000)
      await use(stage)
      await pause(stage, 1000)
      await create(stage, 'pods', onNode('b', '1'))
      await pause(stage, 1000)
      await patch(stage, 'pods', 'b', { status: { phase: 'Succeeded' } }, 'status')
      await pause(stage, 1000)
      await patch(stage, 'resourcequotas', 'q', { spec: { hard: { pods: '3', secrets: null } } })
    },
  },
})
