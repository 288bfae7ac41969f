/** Makes everyday's stories on a cluster, plans each, does it there with kubectl, and compares. */
import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { judgeOne } from '../../conformance/plans/judge.ts'
import { sleep } from '../../src/base/clock.ts'
import { liveRuntime } from '../../src/base/live-runtime.ts'
import { kubeconfigTransport } from '../../src/client/kubeconfig-transport.ts'
import { createClient } from '../../src/client/transport.ts'
import { createClusterReader } from '../../src/inspect/cluster-reader.ts'
import { readKinds } from '../../src/inspect/kinds.ts'
import type { Plan } from '../../src/inspect/plan/plan.ts'
import { withCauses } from '../../src/inspect/timeline/causes.ts'
import { recordsOf } from '../../src/inspect/timeline/recorded.ts'
import type { RecordedRecord, SeenState } from '../../src/inspect/timeline/seen.ts'
import { stepsOf } from '../../src/inspect/timeline/steps.ts'
import { type Watched, watchCluster } from '../../src/inspect/timeline/watch.ts'
import { type Kubectl, kubectlFor } from '../kubectl.ts'
import type { Everyday } from './everyday.ts'

export interface Done {
  readonly story: Everyday
  readonly plan: Plan | undefined
  /** In words; none: it came as planned. */
  readonly differences: readonly string[]
}

const skiff = fileURLToPath(new URL('../../bin/skiff.js', import.meta.url))
const AT_ONCE = 3
const QUIET_MS = 5_000
/** What is held may be looked at again this late. */
const HELD_QUIET_MS = 65_000
const LONGEST_MS = 240_000
/** How much longer or shorter than planned something may take: the machine is not the plan's. */
const LOOSE_MS = 4_000
const TURN_MS = 5_000
const never = new AbortController().signal

interface Staged {
  readonly story: Everyday
  readonly ns: string
  readonly nodes: readonly string[]
  readonly directory: string
  /** Texts of the story with the names that it has here. */
  fill(text: string): string
}

/** `heldQuietMs`: how long nothing may have changed for it to be at rest, where something is held. */
export async function doEveryday(
  kubeconfig: string,
  stories: readonly Everyday[],
  heldQuietMs = HELD_QUIET_MS,
): Promise<readonly Done[]> {
  const runtime = liveRuntime()
  const { transport } = kubeconfigTransport(runtime, kubeconfig)
  const alive = setInterval(() => {}, 60_000)
  const stop = new AbortController()
  const root = mkdtempSync(join(tmpdir(), 'everyday-'))
  const kubectl = kubectlFor(kubeconfig)
  try {
    const client = createClient(runtime, transport, { userAgent: 'everyday' })
    const staged = await stage(kubectl, stories, root)
    const limits = { budget: 1000, requestMs: 20_000, totalMs: 60_000, userAgent: 'everyday' }
    const kindsNow = async () => (await readKinds(createClusterReader(runtime.clock, transport, limits))).resources
    const first = watchCluster(runtime, client, await kindsNow(), '', stop.signal)
    const longest = Math.max(...stories.map(({ made }) => made.length))
    for (let wave = 0; wave < longest; wave++) {
      await each(staged, (one) => makeWave(kubectl, one, wave))
      await untilRest(runtime, first, QUIET_MS, QUIET_MS)
    }
    await each(staged, async (one) => {
      for (const command of one.story.prepared ?? [])
        await must(kubectl, one, await withFirstPod(kubectl, one, command))
    })
    // The garbage collector of Kubernetes looks twice a minute for kinds that are new.
    if (stories.some(({ made }) => JSON.stringify(made).includes('CustomResourceDefinition')))
      await sleep(runtime.clock, 45_000, never)
    const watched = watchCluster(runtime, client, await kindsNow(), '', stop.signal)
    while (watched.unwatched().length > 0) await sleep(runtime.clock, 200, never)
    await untilRest(runtime, watched, QUIET_MS, QUIET_MS)

    const plans = await each(staged, (one) => askPlan(kubeconfig, one))
    const from = watched.states.length
    const known = latestOf(watched.states)
    const ended = await each(staged, async (one, at) => {
      const before = watched.states.length
      const errors = await doIt(kubectl, one)
      const most = Math.max(0, ...(plans[at]?.plan?.goes ?? []).map(({ removed }) => removed.most))
      return { errors, before, restAt: runtime.clock.monotonic() + most + QUIET_MS }
    })
    const last = Math.max(...ended.map(({ restAt }) => restAt)) - runtime.clock.monotonic()
    await untilRest(runtime, watched, QUIET_MS, heldQuietMs, Math.min(last, LONGEST_MS))
    const states = [...known.values(), ...watched.states.slice(from)]
    const records = recordsOf({ states, audited: [], events: [] }).filter(({ uid }) => known.has(uid))
    return staged.map((one, at) => {
      const { plan, problems } = plans[at] as Planned
      if (plan === undefined) return { story: one.story, plan, differences: problems }
      const made = watched.states.slice(from).filter(({ object }) => !known.has(object.uid))
      const { errors } = ended[at] as (typeof ended)[number]
      return { story: one.story, plan, differences: [...problems, ...compare(one, plan, records, made, errors)] }
    })
  } finally {
    stop.abort()
    clearInterval(alive)
    transport.close()
    rmSync(root, { recursive: true })
  }
}

async function stage(kubectl: Kubectl, stories: readonly Everyday[], root: string): Promise<readonly Staged[]> {
  const nodes: string[] = (await kubectl.json('get', 'nodes', '-o', 'json')).items
    .filter((node: { spec: { taints?: unknown } }) => node.spec.taints === undefined)
    .map((node: { metadata: { name: string } }) => node.metadata.name)
  // One stays for all others.
  const free = nodes.slice(1)
  const stamp = Math.floor(process.hrtime()[0] % 100_000).toString(36)
  return each(stories, async (story, at): Promise<Staged> => {
    const ns = `e${stamp}-${at}`
    const own = free.splice(0, story.nodes ?? 0)
    if (own.length < (story.nodes ?? 0)) throw new Error(`the cluster has too few nodes for ${story.name}`)
    const directory = join(root, ns)
    const fill = (text: string) =>
      own.reduce((filled, node, place) => filled.replaceAll(`NODE-${place + 1}`, node), text.replaceAll('NS', ns))
    await kubectl('create', 'namespace', ns)
    for (const node of own) {
      await kubectl('label', 'node', node, `everyday=${ns}`, '--overwrite')
      await kubectl('taint', 'node', node, `everyday=${ns}:NoSchedule`, '--overwrite')
    }
    return { story, ns, nodes: own, directory, fill }
  })
}

async function must(
  kubectl: Kubectl,
  { story, ns }: Staged,
  command: readonly string[],
  input?: string,
): Promise<string> {
  const { code, out, err } = await kubectl.run(['-n', ns, ...command], input)
  if (code !== 0) throw new Error(`${story.name}: kubectl ${command.join(' ')}: ${err}`)
  return out
}

async function makeWave(kubectl: Kubectl, one: Staged, wave: number): Promise<void> {
  const objects = one.story.made[wave]
  if (objects === undefined) return
  let text = one.fill(objects.map((object) => JSON.stringify(object)).join('\n---\n'))
  for (const [whole, kind = '', name = ''] of text.matchAll(/UID-OF\/([a-z0-9.-]+)\/([a-z-]+)/g))
    text = text.replaceAll(whole, await must(kubectl, one, ['get', kind, name, '-o', 'jsonpath={.metadata.uid}']))
  const apply = ['apply', '--server-side', '--force-conflicts', '-f', '-']
  const { clock } = liveRuntime()
  // What a definition tells of may be served a moment later.
  for (let tries = 0; ; tries++)
    try {
      await must(kubectl, one, apply, text)
      return
    } catch (error) {
      if (tries === 5) throw error
      await sleep(clock, 1000, never)
    }
}

async function withFirstPod(kubectl: Kubectl, one: Staged, command: readonly string[]): Promise<readonly string[]> {
  if (!command.includes('FIRST-POD')) return command.map(one.fill)
  const [name = ''] = (await must(kubectl, one, ['get', 'pods', '-o', 'name'])).split('\n')
  return command.map((word) => (word === 'FIRST-POD' ? name : one.fill(word)))
}

interface Planned {
  readonly plan: Plan | undefined
  readonly problems: readonly string[]
}

const within = ({ story, ns }: Staged): readonly string[] => (story.isWide === true ? [] : ['-n', ns])

async function askPlan(kubeconfig: string, one: Staged): Promise<Planned> {
  const { story, directory, fill } = one
  writeFiles(one)
  const problems: string[] = []
  const ask = (more: readonly string[]) =>
    run(process.execPath, [skiff, 'plan', ...story.asked.map(fill), ...within(one), ...more], kubeconfig, directory)
  const { out, err, code } = await ask(['-o', 'json'])
  if (out === '') return { plan: undefined, problems: [`skiff plan ends with ${code}: ${err}`] }
  for (const [wanted, ...more] of story.gates ?? []) {
    const gate = await ask(more.map(fill))
    if (gate.code !== wanted) problems.push(`${more.join(' ')} ends with ${gate.code}, not ${wanted}: ${gate.err}`)
  }
  return { plan: JSON.parse(out), problems }
}

function writeFiles({ story, directory, fill }: Staged): void {
  rmSync(directory, { recursive: true, force: true })
  mkdirSync(directory)
  for (const [name, objects] of Object.entries(story.files ?? {}))
    writeFileSync(join(directory, name), fill(objects.map((object) => JSON.stringify(object)).join('\n---\n')))
}

/** What kubectl was refused. */
async function doIt(kubectl: Kubectl, one: Staged): Promise<string> {
  const { story, directory, fill } = one
  const [verb, ...words] = story.asked.map(fill)
  const inFolder = (word: string) => (word.endsWith('.yaml') ? join(directory, word) : word)
  const commands =
    verb === 'uninstall'
      ? words.map((word) => ['delete', '-f', inFolder(word), '--timeout=20s'])
      : verb === 'apply'
        ? [['apply', '--server-side', '--force-conflicts', ...words.map(inFolder)]]
        : verb === 'delete'
          ? [['delete', ...words.map(inFolder), '--wait=false']]
          : [['drain', ...words]]
  const acting = new AbortController()
  const acted = Promise.all((story.acts ?? []).map((what) => actOn(kubectl, one, fill(what), acting.signal)))
  let errors = ''
  for (const command of commands) errors += (await kubectl.run([...within(one), ...command])).err
  acting.abort()
  await acted
  return errors
}

/** As its controller does, the finalizers are taken off when it is marked. */
async function actOn(kubectl: Kubectl, one: Staged, what: string, signal: AbortSignal): Promise<void> {
  const { clock } = liveRuntime()
  while (!signal.aborted) {
    const got = await kubectl.run(['-n', one.ns, 'get', what, '-o', 'jsonpath={.metadata.deletionTimestamp}'])
    if (got.code === 0 && got.out !== '') {
      await kubectl.run(['-n', one.ns, 'patch', what, '--type=merge', '-p', '{"metadata":{"finalizers":null}}'])
      return
    }
    await sleep(clock, 300, never)
  }
}

/** What goes along with another, named otherwise. */
const ALONG: ReadonlySet<string> = new Set(['ipaddresses', 'leases'])

function compare(
  one: Staged,
  plan: Plan,
  records: readonly RecordedRecord[],
  made: readonly SeenState[],
  errors: string,
): readonly string[] {
  const isOwn = ({ namespace, name, resource }: { namespace: string; name: string; resource: string }) =>
    new RegExp(`(^|[^a-z0-9])${one.ns}($|[^0-9])`).test(`${namespace} ${name}`) ||
    (resource === 'nodes' && one.nodes.includes(name))
  const own = records.filter((record) => isOwn(record))
  const { differences } = judgeOne({ name: one.ns, isOwn, plan, records: own, steps: withCauses(stepsOf(own)) })
  const found = [...differences]
  for (const { object } of [...plan.goes, ...plan.stays, ...plan.orphaned])
    if (!isOwn(object) && !ALONG.has(object.resource))
      found.push(`${object.resource}/${object.name} of ${object.namespace} is not its own`)
  // What was made in place of others, and is there.
  const there = new Map<string, SeenState>()
  for (const state of made) {
    if (state.object.resource !== 'pods' || !isOwn(state.object)) continue
    if (state.type === 'DELETED') there.delete(state.object.uid)
    else there.set(state.object.uid, state)
  }
  const pods = plan.appears.filter(({ kind }) => kind === 'Pod').length
  if (pods !== there.size) found.push(`${there.size} pods appeared, ${pods} were to`)
  found.push(...compareTimes(plan, own))
  // The words for what a drain would not take are the plan's own, as is what a drain that waits in vain is told.
  const last = errors.replaceAll(/^.*will retry after.*\n/gm, '')
  const isRefused = /rror from server|cannot delete|does not match the namespace|evict/.test(last)
  if (plan.refused.length > 0 !== isRefused && one.story.asked[0] !== 'uninstall')
    found.push(`refused: ${JSON.stringify(plan.refused)}, kubectl: ${errors}`)
  return found
}

/** When each object went, against when it was to go. */
function compareTimes(plan: Plan, records: readonly RecordedRecord[]): readonly string[] {
  if (plan.stages.some(({ ended }) => ended === undefined)) return []
  const began = Math.min(...records.map(({ time }) => time))
  const found: string[] = []
  const isEmptied = plan.goes.some(({ object }) => object.kind === 'Namespace')
  for (const { object, removed, certainty } of plan.goes) {
    const end = records.find(({ uid, after }) => uid === object.uid && after === undefined)
    if (end === undefined || certainty !== 'goes') continue
    const took = end.time - began
    // Pods of KWOK may be gone before the namespace controller looks for them a first time: it needs a turn less then.
    const early = isEmptied ? TURN_MS : 0
    if (took < removed.least - LOOSE_MS - early || took > removed.most + LOOSE_MS)
      found.push(`${object.resource}/${object.name} took ${took} ms, planned ${removed.least} to ${removed.most}`)
  }
  return found
}

function latestOf(states: readonly SeenState[]): ReadonlyMap<string, SeenState> {
  const latest = new Map<string, SeenState>()
  for (const state of states)
    if (state.type === 'DELETED') latest.delete(state.object.uid)
    else latest.set(state.object.uid, { ...state, type: 'ADDED' })
  return latest
}

async function untilRest(
  { clock }: ReturnType<typeof liveRuntime>,
  watched: Watched,
  quietMs: number,
  heldQuietMs: number,
  leastMs = 0,
): Promise<void> {
  const began = clock.monotonic()
  while (clock.monotonic() - began < LONGEST_MS) {
    const wanted = watched.going.size > 0 ? Math.max(quietMs, heldQuietMs) : quietMs
    const isQuiet = clock.monotonic() - Math.max(began, watched.changedAt) >= wanted
    if (isQuiet && clock.monotonic() - began >= leastMs) return
    await sleep(clock, 250, never)
  }
}

function run(command: string, args: readonly string[], kubeconfig: string, cwd: string) {
  const child = spawn(command, args, { cwd, env: { ...process.env, KUBECONFIG: kubeconfig } })
  let out = ''
  let err = ''
  child.stdout.setEncoding('utf8').on('data', (text) => {
    out += text
  })
  child.stderr.setEncoding('utf8').on('data', (text) => {
    err += text
  })
  return new Promise<{ readonly code: number | null; readonly out: string; readonly err: string }>(
    (resolve, reject) => {
      child.on('error', reject)
      child.on('close', (code) => resolve({ code, out, err }))
    },
  )
}

async function each<T, R>(items: readonly T[], work: (item: T, at: number) => Promise<R>): Promise<R[]> {
  const results: R[] = []
  let next = 0
  const worker = async () => {
    for (let at = next++; at < items.length; at = next++) results[at] = await work(items[at] as T, at)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
  return results
}
