/** Plays stories to a cluster of which the audit log can be read: a real one, or ours in a process of its own. */
import { closeSync, openSync, readSync, statSync } from 'node:fs'
import type { Fields } from '../../src/api/object.ts'
import { messageOf } from '../../src/base/errors.ts'
import { liveRuntime } from '../../src/base/live-runtime.ts'
import { kubeconfigTransport } from '../../src/client/kubeconfig-transport.ts'
import { createClient } from '../../src/client/transport.ts'
import { startNodeStandIn } from '../../test/scenarios/node-stand-in.ts'
import { type AuditedWrite, writesOf } from './audited.ts'
import type { PlayedStory } from './facts.ts'
import { playStory } from './play.ts'
import { resourcesOf } from './scene.ts'
import type { Story } from './story.ts'

export interface LiveOptions {
  readonly kubeconfig: string
  /** On this machine, as kube-apiserver's --audit-log-path says. */
  readonly auditLog: string
  readonly atOnce: number
  played(name: string, story: PlayedStory): void
  say(text: string): void
}

/** Those that would be seen by others come one after the other, when the rest is over. */
export async function playLive(stories: ReadonlyMap<string, Story>, options: LiveOptions): Promise<void> {
  const runtime = liveRuntime()
  const { transport } = kubeconfigTransport(runtime, options.kubeconfig)
  const clientAs = (userAgent: string) => createClient(runtime, transport, { userAgent })
  const [user, kwok] = [clientAs('user'), clientAs('kwok')]
  const stopping = new AbortController()
  // The timers of a runtime keep no process alive.
  const alive = setInterval(() => {}, 60_000)
  const nodes = kwok.resource({ group: '', version: 'v1', resource: 'nodes' })
  await nodes.delete('idle').catch(() => {})
  await startNodeStandIn(runtime, kwok, stopping.signal).add('idle', { runsPods: false })
  await nodes.patch('idle', 'merge', { spec: { taints: [{ key: 'idle', effect: 'NoSchedule' }] } })
  const resources = await resourcesOf(user)
  const writes = auditReader(options.auditLog)
  const play = async ([name, story]: readonly [string, Story]) => {
    try {
      const observer = clientAs('observer')
      const { clock } = runtime
      const playing = { name, story, clock, user, observer, resources, isShared: true, writes }
      options.played(name, await playStory(playing))
    } catch (error) {
      options.say(`${name} could not be played: ${messageOf(error)}`)
    }
  }
  const isAlone = ([, { nodes: own, exclusive }]: readonly [string, Story]) => own !== undefined || exclusive === true
  const together = [...stories].filter((one) => !isAlone(one))
  const worker = async () => {
    for (let next = together.shift(); next !== undefined; next = together.shift()) await play(next)
  }
  await Promise.all(Array.from({ length: options.atOnce }, worker))
  for (const one of [...stories].filter(isAlone)) await play(one)
  stopping.abort()
  clearInterval(alive)
}

/** Reads what has come to the log, from its end on. */
function auditReader(path: string): () => Promise<readonly AuditedWrite[]> {
  let at = statSync(path, { throwIfNoEntry: false })?.size ?? 0
  let rest = ''
  const all: AuditedWrite[] = []
  return async () => {
    const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0
    // It was rotated.
    if (size < at) [at, rest] = [0, '']
    const bytes = Buffer.alloc(size - at)
    if (bytes.length === 0) return all
    const file = openSync(path, 'r')
    readSync(file, bytes, 0, bytes.length, at)
    closeSync(file)
    at = size
    const lines = (rest + bytes.toString()).split('\n')
    rest = lines.pop() ?? ''
    all.push(...writesOf(lines.filter(isWrite).map((line) => JSON.parse(line) as Fields)))
    return all
  }
}

const isWrite = (line: string): boolean => line.includes('s-') && !/"verb":"(get|list|watch)"/.test(line)
