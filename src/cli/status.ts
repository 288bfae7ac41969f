/** skiff status: what runs in a directory, and whether it is well. Exit code 1 when nothing runs or it is not ready. */

import { existsSync } from 'node:fs'
import type { Lease, Node } from '../api/generated/types.ts'
import { messageOf } from '../base/errors.ts'
import { liveClock } from '../base/live-clock.ts'
import { plainLine } from '../base/plain-text.ts'
import { adminClient } from '../cluster/admin-client.ts'
import type { StoreStatus } from '../cluster/apiserver.ts'
import { clusterDirectory, holder, readState } from '../cluster/directory.ts'
import type { HttpsClient } from '../http/client.ts'
import { readyLine, unwellLines } from './status-of-nodes.ts'

export async function status(dataDir: string): Promise<void> {
  const directory = clusterDirectory(dataDir)
  const pid = holder(directory)
  const state = readState(directory)
  const say = (name: string, value: string) => process.stdout.write(`${`${name}:`.padEnd(12)}${plainLine(value)}\n`)
  if (pid === undefined) {
    const next = existsSync(directory.kubeconfig) ? 'continues the one that was there' : 'starts one'
    process.stdout.write(`no cluster runs in ${directory.path}: skiff up ${next}\n`)
    process.exitCode = 1
    return
  }
  say('pid', String(pid))
  say('data', directory.path)
  if (state === undefined) {
    say('ready', 'no, it is starting')
    process.exitCode = 1
    return
  }
  const client = adminClient(directory, state.url)
  try {
    // At once: of a process that is stopped, or whose store is out of reach, each waits in vain.
    const [ready, nodes, leases, store] = await Promise.all([
      get(client, '/readyz'),
      state.components.includes('kubelet') ? get(client, '/api/v1/nodes') : undefined,
      get(client, '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases'),
      get(client, '/skiff.dev/store'),
    ])
    if (ready.status !== 200) process.exitCode = 1
    say('ready', ready.status === 200 ? 'yes' : `no: ${await whyNot(client, ready.body)}`)
    say('server', state.url)
    say('version', state.version)
    say('since', state.since)
    if (state.clock === 'manual') say('clock', 'manual: skiff clock status tells where it stands')
    say('components', state.components.join(', '))
    if (nodes !== undefined) for (const [name, value] of nodeLines(nodes, state.containerRuntime)) say(name, value)
    const told = store.status === 200 ? (JSON.parse(store.body) as StoreStatus) : undefined
    for (const leader of leaderLines(leases, told?.replicas ?? [])) say('leader', leader)
    if (told === undefined) say('store', `unknown: ${reasonIn(store)}`)
    else for (const [name, value] of storeLines(told)) say(name, value)
    if (state.debugUrl !== undefined) say('debug', state.debugUrl)
    say('kubeconfig', directory.kubeconfig)
  } finally {
    client.close()
  }
}

interface Got {
  /** 0: there was no answer, for the reason in `body`. */
  readonly status: number
  readonly body: string
}

async function get(client: HttpsClient, path: string): Promise<Got> {
  const late = new AbortController()
  const why = new Error(`no answer within ${PATIENCE_MS / 1000} s`)
  const timer = liveClock().setTimer(PATIENCE_MS, 'status', () => late.abort(why))
  try {
    const answer = await client.send({ method: 'GET', path, signal: late.signal })
    return { status: answer.status, body: Buffer.from(await answer.bytes()).toString() }
  } catch (error) {
    return { status: 0, body: messageOf(late.signal.aborted ? why : error) }
  } finally {
    timer.cancel()
  }
}

/** Why it is not what was asked for: a Status says so. */
function reasonIn({ status, body }: Got): string {
  if (status === 0) return body
  try {
    return (JSON.parse(body) as { message?: string }).message ?? `${status}`
  } catch {
    return body.trim() || `${status}`
  }
}

/** A health page names the checks that failed, and tells the reason of each where it is asked for alone. */
async function whyNot(client: HttpsClient, page: string): Promise<string> {
  const failed = [...page.matchAll(/^\[-\](\S+) failed/gm)].map(([, name = '']) => name)
  if (failed.length === 0) return page.trim()
  const reasons = await Promise.all(failed.map(async (name) => (await get(client, `/readyz/${name}`)).body.trim()))
  return [...new Set(reasons.map((reason) => reason.replace(/^internal server error: /, '')))].join('; ')
}

function nodeLines(got: Got, containerRuntime = 'simulated'): readonly (readonly ['nodes' | 'node', string])[] {
  if (got.status !== 200) return [['nodes', `unknown: ${reasonIn(got)}`]]
  const { items } = JSON.parse(got.body) as { readonly items: readonly Node[] }
  return [['nodes', readyLine(items, containerRuntime)], ...unwellLines(items).map((line) => ['node', line] as const)]
}

/** Where the objects are, and of a store that several API servers share a line for each of them. */
function storeLines(told: StoreStatus): readonly (readonly ['store' | 'replica' | 'etcd', string])[] {
  const { driver, revision, size, faults = [], replicas = [], own } = told
  const now = liveClock().now()
  return [
    ['store', `${driver}, ${size === undefined ? '' : `${mebibytes(size)}, `}revision ${revision}`],
    ...faults.map((fault) => ['etcd', fault] as const),
    ...replicas.map(({ id, url, host, behind, at }) => {
      const age = Math.max(0, Math.round((now - at) / 1000))
      const lag = behind === 0 ? 'up to date' : `${behind} ${behind === 1 ? 'revision' : 'revisions'} behind`
      const isSilent = now - at > SILENT_MS
      const said = isSilent ? `silent for ${age} s, ${lag} before that` : `${lag} ${age} s ago`
      return ['replica', `${url} on ${host}${id === own ? ' (this one)' : ''}: ${said}`] as const
    }),
  ]
}

const mebibytes = (bytes: number): string => `${(bytes / 2 ** 20).toFixed(1)} MiB`

/**
 * A line for each component that several processes may run and one leads, by its Lease, with the server of that process where it is
 * known: the Lease of a process that ended without giving it back has run out.
 */
function leaderLines(leases: Got, replicas: NonNullable<StoreStatus['replicas']>): readonly string[] {
  if (leases.status !== 200) return []
  const { items } = JSON.parse(leases.body) as { readonly items: readonly Lease[] }
  const now = liveClock().now()
  return items
    .filter(({ metadata }) => metadata.labels?.[API_SERVER_IDENTITY] === undefined)
    .map(({ metadata, spec = {} }) => {
      const { holderIdentity, renewTime = '', leaseDurationSeconds = 0 } = spec
      if (!holderIdentity) return `${metadata.name}: none`
      const isOver = Date.parse(renewTime) + leaseDurationSeconds * 1000 < now
      const at = replicas.find(({ holder }) => holderIdentity === holder)
      const where = at === undefined ? '' : ` at ${at.url}`
      return `${metadata.name}: ${holderIdentity}${where}${isOver ? `, whose lease ran out (last renewed ${renewTime})` : ''}`
    })
}

/** Longer than a server that works takes, for a check of an etcd that is out of reach. */
const PATIENCE_MS = 5000
/** A replica tells of itself every 10 s: one that has not for longer is stopped, was killed, or cannot reach the store. */
const SILENT_MS = 15_000
const API_SERVER_IDENTITY = 'apiserver.kubernetes.io/identity'
