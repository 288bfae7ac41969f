/** Reads: one pod as fast as this client and then wrk can ask, all pods in one list. */
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type BenchClient, expectOk, json } from '../client.ts'
import { type Bench, cpuMeter, type Measure } from '../figure.ts'
import { load } from '../load.ts'
import { pod, podsPath } from '../pods.ts'
import { PODS } from './writes.ts'

const GETS = 10_000
const WRK_SECONDS = 5
/** A prime: each step of this many goes to a pod far from the last, and all are met before any is met again. */
const STRIDE = 3571
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

/** Pods that were created long before, each other than the last: nothing about the one asked for is at hand. */
export const getRandom: Measure = {
  name: 'get-random',
  needs: ['create', 'get'],
  run: async (bench) => {
    const { client, bare, namespace, report, subject } = bench
    const name = (i: number) => `p${(i * STRIDE) % PODS}`
    const { body } = expectOk(await client.request('GET', `${podsPath(namespace)}/p0`))
    const fill = (i: number) => bare.request('PUT', `/pods/p${i}`, { bytes: body })
    await load(PODS, 32, fill)
    const cpu = cpuMeter(subject)
    const asked = await load(GETS, 32, (i) => client.request('GET', `${podsPath(namespace)}/${name(i)}`))
    const cost = cpu(GETS)
    const ceiling = await load(GETS, 32, (i) => bare.request('GET', `/pods/${name(i)}`))
    report({
      name: `GETs of ${PODS} pods in turn, this client, 32 connections`,
      value: asked.perSecond,
      unit: '/s',
      bare: ceiling.perSecond,
      detail: `p50 ${asked.latency.p50.toFixed(2)} ms, p99 ${asked.latency.p99.toFixed(2)} ms`,
      ...cost,
    })
    const token = await tokenOf(bench)
    const wrkCpu = cpuMeter(subject)
    const driven = await wrk(client, `${podsPath(namespace)}/`, token, PODS)
    if (driven === undefined) return
    const wrkCost = wrkCpu(driven * WRK_SECONDS)
    const wrkCeiling = await wrk(bare, '/pods/', token, PODS)
    report({
      name: `GETs of ${PODS} pods in turn, wrk, 32 connections`,
      value: driven,
      unit: '/s',
      ...wrkCost,
      ...(wrkCeiling === undefined ? {} : { bare: wrkCeiling }),
    })
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
  const bound = await client.request('POST', bindings, json(binding))
  if (bound.code !== 409) expectOk(bound)
  const path = `/api/v1/namespaces/${namespace}/serviceaccounts/default/token`
  const asked = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} }
  const { body } = expectOk(await client.request('POST', path, json(asked)))
  return (JSON.parse(body.toString()) as { status: { token: string } }).status.token
}

/**
 * Requests a second of `path`, or of `path`p0, p1, … in strides where there are so many `pods`; undefined where there is no
 * wrk. @throws Error when answers were not 2xx
 */
function wrk(client: BenchClient, path: string, token: string, pods?: number): Promise<number | undefined> {
  const folder = mkdtempSync(join(tmpdir(), 'skiff-wrk-'))
  const script = join(folder, 'pods.lua')
  const steps = `local at = 0
request = function()
  at = (at + ${STRIDE}) % ${pods}
  return wrk.format(nil, "${path}p" .. at)
end
`
  if (pods !== undefined) writeFileSync(script, steps)
  const header = ['-H', `Authorization: Bearer ${token}`, ...(pods === undefined ? [] : ['-s', script])]
  const url = new URL(path, client.endpoint.server).href
  const child = spawn('wrk', ['-t1', '-c32', `-d${WRK_SECONDS}s`, ...header, url], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  child.on('close', () => rmSync(folder, { recursive: true, force: true }))
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
