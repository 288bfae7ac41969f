/** Reads: one pod as fast as this client and then wrk can ask, all pods in one list. */
import { spawn } from 'node:child_process'
import { type BenchClient, expectOk, json } from '../client.ts'
import { type Bench, cpuMeter, type Measure } from '../figure.ts'
import { load } from '../load.ts'
import { pod, podsPath } from '../pods.ts'

const GETS = 10_000
const WRK_SECONDS = 5
const PROTOBUF = 'application/vnd.kubernetes.protobuf'

export const get: Measure = {
  name: 'get',
  run: async (bench) => {
    const { client, bare, namespace, report, subject } = bench
    const path = `${podsPath(namespace)}/g0`
    expectOk(await client.request('POST', podsPath(namespace), pod('g0')))
    const { body } = expectOk(await client.request('GET', path))
    await bare.request('PUT', '/pod', { bytes: body })
    const detail = `${body.length} bytes`
    const cpu = cpuMeter(subject)
    const asked = await load(GETS, 32, () => client.request('GET', path))
    const cost = cpu(GETS)
    const ceiling = await load(GETS, 32, () => bare.request('GET', '/pod'))
    report({
      name: 'pod GETs, this client, 32 connections',
      value: asked.perSecond,
      unit: '/s',
      bare: ceiling.perSecond,
      detail,
      ...cost,
    })
    const token = await tokenOf(bench)
    const wrkCpu = cpuMeter(subject)
    const driven = await wrk(client, path, token)
    if (driven !== undefined) {
      const cost = wrkCpu(driven * WRK_SECONDS)
      // With the same header: reading it is part of what is compared.
      const ceiling = await wrk(bare, '/pod', token)
      report({
        name: 'pod GETs, wrk, 32 connections',
        value: driven,
        unit: '/s',
        detail,
        ...cost,
        ...(ceiling === undefined ? {} : { bare: ceiling }),
      })
    }
  },
}

/** wrk has no client certificates: it comes with a service account's token, which for that time may do anything. */
async function tokenOf({ client, namespace }: Bench): Promise<string> {
  const bindings = '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings'
  const binding = {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name: namespace },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
    subjects: [{ kind: 'ServiceAccount', namespace, name: 'default' }],
  }
  expectOk(await client.request('POST', bindings, json(binding)))
  const path = `/api/v1/namespaces/${namespace}/serviceaccounts/default/token`
  const asked = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} }
  const { body } = expectOk(await client.request('POST', path, json(asked)))
  return (JSON.parse(body.toString()) as { status: { token: string } }).status.token
}

/** Requests a second; undefined where there is no wrk. @throws Error when answers were not 2xx */
function wrk(client: BenchClient, path: string, token: string): Promise<number | undefined> {
  const header = ['-H', `Authorization: Bearer ${token}`]
  const url = new URL(path, client.endpoint.server).href
  const child = spawn('wrk', ['-t1', '-c32', `-d${WRK_SECONDS}s`, ...header, url], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  return new Promise((resolve, reject) => {
    let text = ''
    child.on('error', () => resolve(undefined))
    child.stdout.on('data', (chunk: Buffer) => {
      text += chunk.toString()
    })
    child.on('close', () => {
      const refused = /Non-2xx.*/.exec(text)?.[0]
      if (refused !== undefined) reject(new Error(`wrk: ${refused}`))
      else resolve(Number(/Requests\/sec:\s+([\d.]+)/.exec(text)?.[1] ?? Number.NaN))
    })
  })
}

export const list: Measure = {
  name: 'list',
  needs: ['create', 'create-single'],
  run: async ({ client, bare, namespace, report, subject }) => {
    const path = podsPath(namespace)
    const { body } = expectOk(await client.request('GET', path))
    const items = (JSON.parse(body.toString()) as { items: unknown[] }).items.length
    const measures = [
      [1, 'list of all pods, alone', undefined],
      [4, 'list of all pods, four at once', undefined],
      [1, 'list of all pods in protobuf, alone', PROTOBUF],
      [4, 'list of all pods in protobuf, four at once', PROTOBUF],
    ] as const
    for (const [width, name, accept] of measures) {
      const { body: bytes } = expectOk(await client.request('GET', path, undefined, accept))
      await bare.request('PUT', '/list', { bytes })
      const cpu = cpuMeter(subject)
      const listed = await load(20, width, () => client.request('GET', path, undefined, accept))
      const cost = cpu(20)
      const ceiling = await load(20, width, () => bare.request('GET', '/list'))
      // Of four at once, the time of each is that of four.
      report({
        name,
        value: (listed.seconds * width) / 20,
        unit: 's',
        bare: (ceiling.seconds * width) / 20,
        detail: `${items} pods, ${(bytes.length / 1e6).toFixed(1)} MB, ${listed.perSecond.toFixed(1)}/s`,
        ...cost,
      })
    }
  },
}
