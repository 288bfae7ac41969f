/**
 * skiff test-server: a cluster for the tests of another program, in whatever language, which starts it as its child and speaks to
 * it by lines of JSON over standard input and output (sdk/README.md). It ends with its standard input, so with its parent, however that ends.
 */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { JsonObject } from '../api/object.ts'
import { messageOf } from '../base/errors.ts'
import { oneLine } from '../base/plain-text.ts'
import { startCluster } from '../cluster/cluster.ts'
import { StartError } from '../cluster/errors.ts'
import { changeFaults } from '../cluster/faults-control.ts'
import type { Cluster, ClusterOptions } from '../cluster/index.ts'
import type { ClockKind, Component } from '../cluster/options.ts'
import type { FaultFlags } from './fault-commands.ts'
import { type SimulationFlags, simulationOptions } from './simulation-flags.ts'

export interface TestServerOptions extends FaultFlags, SimulationFlags {
  readonly clock: ClockKind
  readonly nodes: number
  readonly components?: readonly Component[]
  readonly crds: readonly string[]
  readonly objects: readonly string[]
  readonly from?: string
}

/** A line that comes in. */
interface Call {
  readonly id: number
  readonly method: string
  readonly params?: JsonObject
}

/** The name of the cluster that is not a fork, in requests. */
const FIRST = 'cluster'
const KEPT_REQUESTS = 200
/** Real time: a test that hangs for longer has other trouble. */
const TTL = '1h'
const METHODS = ['fork', 'end', 'advance', 'advanceTo', 'runUntilIdle', 'now', 'faults', 'report'] as const

export async function testServer(options: TestServerOptions): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'skiff-test-'))
  const clusters = new Map<string, Cluster>()
  let forks = 0
  const say = (line: object) => process.stdout.write(`${JSON.stringify(line)}\n`)
  const add = (name: string, cluster: Cluster) => {
    clusters.set(name, cluster)
    const kubeconfig = join(folder, `${name}.kubeconfig`)
    writeFileSync(kubeconfig, cluster.kubeconfig, { mode: 0o600 })
    return { name, url: cluster.url, kubeconfig }
  }
  const wordOf = (params: Call['params'], name: string): string | undefined => {
    const value = params?.[name]
    if (value !== undefined && typeof value !== 'string') throw new StartError(`${name} must be a string`)
    return value
  }
  const named = (params: Call['params']): Cluster => {
    const name = wordOf(params, 'name') ?? FIRST
    const known = clusters.get(name)
    if (known === undefined)
      throw new StartError(`there is no cluster ${name}: it has ended, or its time to live is over`)
    return known
  }
  const needed = (params: Call['params'], name: string): string => {
    const value = wordOf(params, name)
    if (value === undefined) throw new StartError(`${name} is missing`)
    return value
  }

  async function answer({ method, params }: Call): Promise<object> {
    const settle = wordOf(params, 'settle')
    const move = settle === undefined ? {} : { settle }
    switch (method) {
      case 'fork': {
        const ttl = wordOf(params, 'ttl') ?? TTL
        const fork = await named(params).fork({ ttl })
        forks++
        const told = add(`fork-${forks}`, fork)
        if (params?.['wait'] !== false) await fork.running
        return told
      }
      case 'end': {
        const name = needed(params, 'name')
        const cluster = named({ name })
        if (name === FIRST) throw new StartError('the first cluster ends with the server')
        clusters.delete(name)
        rmSync(join(folder, `${name}.kubeconfig`), { force: true })
        await cluster.stop()
        return {}
      }
      case 'advance':
        await named(params).clock.advance(needed(params, 'duration'), move)
        return timeOf(named(params))
      case 'advanceTo':
        await named(params).clock.advanceTo(needed(params, 'time'), move)
        return timeOf(named(params))
      case 'runUntilIdle': {
        const atMost = wordOf(params, 'atMost')
        await named(params).clock.runUntilIdle({ ...move, ...(atMost === undefined ? {} : { atMost }) })
        return timeOf(named(params))
      }
      case 'now':
        return timeOf(named(params))
      case 'faults': {
        const { name: _, ...change } = params ?? {}
        const { faults } = named(params)
        return Object.keys(change).length === 0 ? faults.status() : changeFaults(faults, change)
      }
      case 'report': {
        const namespace = wordOf(params, 'namespace')
        return { text: await named(params).report(namespace) }
      }
      default:
        throw new StartError(`there is no method ${JSON.stringify(method)}: there are ${METHODS.join(', ')}`)
    }
  }

  const timeOf = ({ clock }: Cluster) => ({ time: clock.now.toISOString() })

  const clusterOptions: ClusterOptions = {
    storage: 'memory',
    clock: options.clock,
    nodes: options.nodes,
    crds: options.crds,
    objects: options.objects,
    keepRequests: KEPT_REQUESTS,
    faults: options.fault ?? [],
    ...(options.seed === undefined ? {} : { seed: options.seed }),
    onUnhandled: 'process',
    simulation: simulationOptions(options),
    ...(options.components === undefined ? {} : { components: options.components }),
    ...(options.from === undefined ? {} : { from: options.from }),
  }
  // Ctrl-C reaches all of the terminal's processes: the tests, which it ends, may still ask for reports, and their end is this one's.
  if (!process.stdin.isTTY) process.on('SIGINT', () => undefined)
  try {
    const cluster = await startCluster(clusterOptions)
    try {
      say({ ready: add(FIRST, cluster) })
      const lines = createInterface({ input: process.stdin })
      // Behind a destroyed input the lines would never end.
      const stop = () => lines.close()
      process.once('SIGTERM', stop)
      if (process.stdin.isTTY) process.once('SIGINT', stop)
      const running = new Set<Promise<void>>()
      for await (const line of lines) {
        if (line.trim() === '') continue
        const one = take(line, answer, say).finally(() => running.delete(one))
        running.add(one)
      }
    } finally {
      await cluster.stop()
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Answers one line; what is wrong with it is the answer. */
async function take(line: string, answer: (call: Call) => Promise<object>, say: (line: object) => void): Promise<void> {
  let id: unknown
  try {
    const call: unknown = JSON.parse(line)
    if (typeof call !== 'object' || call === null)
      throw new StartError('a call is an object: {"id": 1, "method": "fork"}')
    id = (call as Partial<Call>).id
    say({ id, result: await answer(call as Call) })
  } catch (error) {
    say({ id: id ?? null, error: oneLine(messageOf(error)) })
  }
}
