/** skiff status: what runs in a directory, and whether it is well. Exit code 1 when nothing runs or it is not ready. */

import { existsSync } from 'node:fs'
import { messageOf } from '../base/errors.ts'
import { adminClient } from '../cluster/admin-client.ts'
import { clusterDirectory, holder, readState } from '../cluster/directory.ts'
import type { HttpsClient } from '../http/client.ts'

export async function status(dataDir: string): Promise<void> {
  const directory = clusterDirectory(dataDir)
  const pid = holder(directory)
  const state = readState(directory)
  const say = (name: string, value: string) => process.stdout.write(`${`${name}:`.padEnd(12)}${value}\n`)
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
    say('components', state.components.join(', '))
    if (state.components.includes('kubelet')) say('nodes', await nodes(client, state.containerRuntime))
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
