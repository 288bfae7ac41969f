/** A Deployment of many pods: until all are ready, and deleted Foreground until all are gone. */
import { expectOk, json } from '../client.ts'
import type { Measure } from '../figure.ts'
import { timed, until } from '../load.ts'
import { makeNamespace, podsPath } from '../pods.ts'

const REPLICAS = 1000
const WITHIN_MS = 400_000

export const cascade: Measure = {
  name: 'cascade',
  run: async ({ client, namespace, report }) => {
    const own = `${namespace}-c`
    await makeNamespace(client, own)
    const path = `/apis/apps/v1/namespaces/${own}/deployments`
    const labels = { app: 'd' }
    const template = {
      metadata: { labels },
      spec: { terminationGracePeriodSeconds: 0, containers: [{ name: 'c', image: 'nginx:1' }] },
    }
    const deployment = {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'd' },
      spec: { replicas: REPLICAS, selector: { matchLabels: labels }, template },
    }
    let begin = performance.now()
    expectOk(await client.request('POST', path, json(deployment)))
    await until(`${REPLICAS} ready pods`, WITHIN_MS, 50, async () => {
      const { body } = expectOk(await client.request('GET', `${path}/d`))
      const { status } = JSON.parse(body.toString()) as { status: { readyReplicas?: number } }
      return (status.readyReplicas ?? 0) >= REPLICAS
    })
    report({ name: `Deployment of ${REPLICAS}, created to all ready`, value: timed(1, begin).seconds, unit: 's' })
    begin = performance.now()
    const options = { apiVersion: 'v1', kind: 'DeleteOptions', propagationPolicy: 'Foreground' }
    expectOk(await client.request('DELETE', `${path}/d`, json(options)))
    await until('all gone', WITHIN_MS, 50, async () => {
      const { body } = expectOk(await client.request('GET', `${podsPath(own)}?limit=1`))
      if ((JSON.parse(body.toString()) as { items: unknown[] }).items.length > 0) return false
      return (await client.request('GET', `${path}/d`)).code === 404
    })
    report({
      name: `Deployment of ${REPLICAS}, deleted Foreground to all gone`,
      value: timed(1, begin).seconds,
      unit: 's',
    })
  },
}
