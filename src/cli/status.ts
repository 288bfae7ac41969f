/** skiff status: what runs in a directory, and whether it is well. Exit code 1 when nothing runs or it is not ready. */

import { existsSync } from 'node:fs'
import type { Lease } from '../api/generated/types.ts'
import { messageOf } from '../base/errors.ts'
import { liveClock } from '../base/live-clock.ts'
import { plainLine } from '../base/plain-text.ts'
import { adminClient } from '../cluster/admin-client.ts'
import type { StoreStatus } from '../cluster/apiserver.ts'
import { clusterDirectory, holder, readState } from '../cluster/directory.ts'
import type { HttpsClient } from '../http/client.ts'

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
  const client = adminClient(directory.pki, state.url)
  try {
    const ready = await get(client, '/readyz')
    if (ready.status !== 200) process.exitCode = 1
    say('ready', ready.status === 200 ? 'yes' : `no: ${await whyNot(client, ready.body)}`)
    say('server', state.url)
    say('version', state.version)
    say('since', state.since)
    if (state.clock === 'manual') say('clock', 'manual: skiff clock status tells where it stands')
    say('components', state.components.join(', '))
    if (state.components.includes('kubelet')) say('nodes', await nodes(client, state.containerRuntime))
    for (const leader of await leaders(client)) say('leader', leader)
    for (const [name, value] of await store(client)) say(name, value)
    if (state.debugUrl !== undefined) say('debug', state.debugUrl)
    say('kubeconfig', directory.kubeconfig)
  } finally {
    client.close()
  }
}

async function get(client: HttpsClient, path: string): Promise<{ status: number; body: string }> {
  try {
    const answer = await client.send({ method: 'GET', path })
    return { status: answer.status, body: Buffer.from(await answer.bytes()).toString() }
  } catch (error) {
    return { status: 0, body: messageOf(error) }
  }
}

/** A health page names the checks that failed, and tells the reason of each where it is asked for alone. */
async function whyNot(client: HttpsClient, page: string): Promise<string> {
  const failed = [...page.matchAll(/^\[-\](\S+) failed/gm)].map(([, name = '']) => name)
  if (failed.length === 0) return page.trim()
  const reasons = await Promise.all(failed.map(async (name) => (await get(client, `/readyz/${name}`)).body.trim()))
  return [...new Set(reasons.map((reason) => reason.replace(/^internal server error: /, '')))].join('; ')
}

async function nodes(client: HttpsClient, containerRuntime: string | undefined): Promise<string> {
  const { status: code, body } = await get(client, '/api/v1/nodes')
  if (code !== 200) return 'unknown'
  const { items } = JSON.parse(body) as {
    items: { status?: { conditions?: { type: string; status: string }[] } }[]
  }
  const isReady = (node: (typeof items)[number]) =>
    node.status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') === true
  return `${items.filter(isReady).length} of ${items.length} ready, ${containerRuntime ?? 'simulated'}`
}

/** Where the objects are, and of a store that several API servers share a line for each of them. */
async function store(client: HttpsClient): Promise<readonly (readonly ['store' | 'replica', string])[]> {
  const { status: code, body } = await get(client, '/skiff.dev/store')
  if (code !== 200) return []
  const { driver, revision, size, replicas = [], own } = JSON.parse(body) as StoreStatus
  const now = liveClock().now()
  return [
    ['store', `${driver}, ${size === undefined ? '' : `${mebibytes(size)}, `}revision ${revision}`],
    ...replicas.map(({ id, url, host, behind, at }) => {
      const age = Math.max(0, Math.round((now - at) / 1000))
      const lag = behind === 0 ? 'up to date' : `${behind} ${behind === 1 ? 'revision' : 'revisions'} behind`
      return ['replica', `${url} on ${host}${id === own ? ' (this one)' : ''}: ${lag} ${age} s ago`] as const
    }),
  ]
}

const mebibytes = (bytes: number): string => `${(bytes / 2 ** 20).toFixed(1)} MiB`

/**
 * A line for each component that several processes may run and one leads, by its Lease: the one of a process that ended without giving it
 * back has run out.
 */
async function leaders(client: HttpsClient): Promise<readonly string[]> {
  const { status: code, body } = await get(client, '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases')
  if (code !== 200) return []
  const { items } = JSON.parse(body) as { readonly items: readonly Lease[] }
  const now = liveClock().now()
  return items
    .filter(({ metadata }) => metadata.labels?.[API_SERVER_IDENTITY] === undefined)
    .map(({ metadata, spec = {} }) => {
      const { holderIdentity, renewTime = '', leaseDurationSeconds = 0 } = spec
      if (!holderIdentity) return `${metadata.name}: none`
      const isOver = Date.parse(renewTime) + leaseDurationSeconds * 1000 < now
      return `${metadata.name}: ${holderIdentity}${isOver ? `, whose lease ran out (last renewed ${renewTime})` : ''}`
    })
}

const API_SERVER_IDENTITY = 'apiserver.kubernetes.io/identity'
