/** The objects the measurements write, as files of that kind look: a pod of about 2 kB when stored. */
import { type BenchClient, expectOk, json, type RequestBody } from './client.ts'
import { until } from './load.ts'

export const podsPath = (namespace: string) => `/api/v1/namespaces/${namespace}/pods`

/** No scheduler takes it, so that nothing but the write itself is measured. All of them have one spec, as a workload's have. */
export const pod = (name: string): RequestBody => podWith(name, 'nginx:1', 80, '10m', 'b')

/** As large as the others, and its spec is like that of no other: as many workloads of one pod each. */
export const distinctPod = (name: string, index: number): RequestBody =>
  podWith(name, `nginx:${index}`, 80 + (index % 60_000), `${10 + index}m`, `b${index}`)

function podWith(name: string, image: string, containerPort: number, cpu: string, value: string): RequestBody {
  return json({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, labels: { app: 'bench' } },
    spec: {
      schedulerName: 'none',
      containers: [
        {
          name: 'c',
          image,
          ports: [{ containerPort }],
          resources: { requests: { cpu, memory: '16Mi' } },
          env: [{ name: 'A', value }],
        },
      ],
    },
  })
}

/** A namespace with its default service account, made here where no controller does. */
export async function makeNamespace(client: BenchClient, name: string): Promise<void> {
  expectOk(
    await client.request(
      'POST',
      '/api/v1/namespaces',
      json({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } }),
    ),
  )
  const accounts = `/api/v1/namespaces/${name}/serviceaccounts`
  const account = json({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default' } })
  await client.request('POST', accounts, account)
  await until(`the default service account of ${name}`, 10_000, 50, async () => {
    return (await client.request('GET', `${accounts}/default`)).code === 200
  })
}
