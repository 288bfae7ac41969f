/**
 * npm run bench -- --scale: how cost grows with the cluster. For each size a skiff of its own, on an empty directory:
 * simulated nodes until ready, Deployments until every pod is, memory and processor time when nothing happens, lists, the
 * namespace deleted, a stop and a start with the pods there, and a node's death.
 *
 *   --sizes 1000x2000,1000x10000      nodes x pods
 *   --etcd 3                          over an etcd of so many members on this machine, whose cost is told too
 *   --kubernetes DIR                  after each size the same with Kubernetes' components and kwok of that folder, over an etcd as large
 *   --steps start,create,delete       some of start (of the cluster, with its idle cost), create, lists, node, restart, delete
 *   --against KUBECONFIG              any other cluster with its nodes there already: what is left of the sizes is pods
 *   --pids 1,2                        also reads that cluster's processes
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startEtcd } from '../../test/etcd/member.ts'
import { createBenchClient } from '../client.ts'
import type { Figure } from '../figure.ts'
import { pause } from '../load.ts'
import { type Subject, startSkiff, usageOf } from '../subject.ts'
import { shown } from '../table.ts'
import { prepareKubernetes, startKubernetesCluster } from './kubernetes.ts'
import { createWorkload, deleteWorkload, listWorkload, replaceNode } from './workload.ts'

export interface Size {
  readonly nodes: number
  readonly pods: number
}

export const STEPS = ['start', 'create', 'lists', 'node', 'restart', 'delete'] as const
export type Step = (typeof STEPS)[number]

export interface ScaleOptions {
  readonly sizes: readonly Size[]
  readonly steps: readonly Step[]
  readonly nodeArgs: readonly string[]
  /** Members of an etcd, which is started for each size. Default: the embedded store. */
  readonly etcd?: number
  /** The folder of Kubernetes' components and of KWOK: they are measured too, over an etcd of their own. */
  readonly kubernetes?: string
  /** A cluster that is there already. */
  readonly against?: Subject
  report(figure: Figure): void
}

/** What is idle is looked at for this long, after what the work before left behind has been done. */
const IDLE_SECONDS = 10
const SETTLE_MS = 20_000

/** @throws Error for a text that is no list of NODESxPODS */
export function sizesOf(text: string): Size[] {
  return text.split(',').map((size) => {
    const found = /^(\d+)x(\d+)$/.exec(size)
    if (!found) throw new Error(`--sizes takes NODESxPODS, as 1000x2000: ${size}`)
    return { nodes: Number(found[1]), pods: Number(found[2]) }
  })
}

/** @throws Error for a step that there is not */
export function stepsOf(text: string | undefined): readonly Step[] {
  if (text === undefined) return STEPS
  return text.split(',').map((name) => {
    const step = STEPS.find((known) => known === name)
    if (step === undefined) throw new Error(`--steps takes ${STEPS.join(', ')}: ${name}`)
    return step
  })
}

/** @throws Error for options that go with no others */
export async function runScale(options: ScaleOptions): Promise<void> {
  if (options.kubernetes !== undefined && options.etcd === undefined)
    throw new Error('--kubernetes needs --etcd: how many members both are to have')
  for (const size of options.sizes) {
    await runSize(options, size)
    if (options.kubernetes !== undefined) await runSize(options, size, options.kubernetes)
  }
}

/** With Kubernetes' programs out of a folder, or skiff. */
async function runSize(options: ScaleOptions, { nodes, pods }: Size, bin?: string): Promise<void> {
  const { steps, nodeArgs, against, report } = options
  const directory = mkdtempSync(join(tmpdir(), 'skiff-scale-'))
  const etcd =
    options.etcd === undefined
      ? undefined
      : await startEtcd({ size: options.etcd, args: ['--quota-backend-bytes', String(8 * 2 ** 30)] })
  const over = etcd === undefined ? {} : { etcdServers: etcd.servers }
  const start = async (): Promise<Subject> => {
    if (bin === undefined || etcd === undefined) return startSkiff('all', { nodes, directory, nodeArgs, ...over })
    return startKubernetesCluster({ bin, nodes, directory, etcdServers: etcd.servers })
  }
  if (bin !== undefined) await prepareKubernetes(directory)
  const wants = (step: Step) => steps.includes(step)
  const tell = (name: string, value: number, unit: Figure['unit'], detail = '') => {
    const figure: Figure = { name, subject: `${subject.name}, ${nodes} nodes, ${pods} pods`, value, unit, detail }
    report(figure)
    process.stderr.write(`${nodes}x${pods} ${name}: ${shown(figure)} ${detail}\n`)
  }
  let subject = against ?? (await start())
  let client = createBenchClient(subject.endpoint)
  const cost = async (when: string) => {
    await pause(SETTLE_MS)
    const before = subject.usage?.()
    await pause(IDLE_SECONDS * 1000)
    const after = subject.usage?.()
    if (before === undefined || after === undefined) return
    tell(`memory, ${when}`, after.residentMiB, 'MiB', `${Math.round(after.anonymousMiB)} MiB of it anonymous`)
    tell(`processor, ${when}`, ((after.cpuSeconds - before.cpuSeconds) / IDLE_SECONDS) * 100, '%')
    for (const [program, { residentMiB, cpuSeconds }] of subject.parts?.() ?? [])
      tell(`memory of ${program}, ${when}`, residentMiB, 'MiB', `${cpuSeconds.toFixed(1)} s of the processor so far`)
    for (const [i, { pid }] of (etcd?.members ?? []).entries()) {
      const { residentMiB, cpuSeconds } = usageOf(pid)
      tell(
        `memory of etcd's member ${i + 1}, ${when}`,
        residentMiB,
        'MiB',
        `${cpuSeconds.toFixed(1)} s of the processor so far`,
      )
    }
    if (etcd !== undefined) tell(`etcd's database, ${when}`, await databaseMiB(etcd.members[0]?.url ?? ''), 'MiB')
  }
  /** Tells how long something took, and what processor time with it: that says most on a busy machine. */
  const timed = async (name: string, task: () => Promise<number>) => {
    const before = subject.usage?.().cpuSeconds ?? Number.NaN
    const seconds = await task()
    const processor = (subject.usage?.().cpuSeconds ?? Number.NaN) - before
    tell(name, seconds, 's', Number.isNaN(processor) ? '' : `${processor.toFixed(1)} s of the processor`)
  }
  const namespace = `scale-${process.pid.toString(36)}-${pods}`
  try {
    if (subject.startSeconds !== undefined) tell('start with all nodes ready', subject.startSeconds, 's')
    if (wants('start')) await cost('no pods')
    if (wants('create')) {
      await timed('created to all ready', () => createWorkload(client, namespace, pods))
      await cost('all ready')
    }
    if (wants('lists')) {
      const { all, ofNode } = await listWorkload(client, namespace)
      tell('list of all pods', all.seconds, 's', `${(all.bytes / 1e6).toFixed(1)} MB`)
      tell("list of one node's pods", ofNode.seconds, 's')
    }
    if (wants('node') && wants('create'))
      await timed("a node's pods run on others", async () => await replaceNode(client, namespace, pods))
    if (wants('restart') && against === undefined) {
      client.close()
      const begin = performance.now()
      await subject.stop()
      tell('stop', (performance.now() - begin) / 1000, 's')
      subject = await start()
      client = createBenchClient(subject.endpoint)
      tell('start again', subject.startSeconds ?? Number.NaN, 's')
      await cost('started again')
    }
    if (wants('delete') && wants('create')) {
      await timed('namespace deleted to all gone', () => deleteWorkload(client, namespace))
      await cost('all gone')
    }
  } finally {
    client.close()
    await subject.stop()
    await etcd?.stop()
    rmSync(directory, { recursive: true, force: true })
  }
}

async function databaseMiB(member: string): Promise<number> {
  const answer = await fetch(`${member}/v3/maintenance/status`, { method: 'POST', body: '{}' })
  const { dbSize } = (await answer.json()) as { dbSize: string }
  return Number(dbSize) / 2 ** 20
}
