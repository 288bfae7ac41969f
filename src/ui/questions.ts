/** What the page asks: each question with its answer. All reads but one, the delete. */
import type { KubeObject } from '../api/object.ts'
import type { ApiRequest } from '../api/request.ts'
import { badRequest } from '../api/status.ts'
import type { Runtime } from '../base/runtime.ts'
import type { HttpsTransport } from '../client/https-transport.ts'
import { createClient } from '../client/transport.ts'
import { createClusterReader } from '../inspect/cluster-reader.ts'
import { readKinds } from '../inspect/kinds.ts'
import { deleteDeed, namedTargets, targetNamespaces } from '../inspect/plan/delete-deed.ts'
import { planIn, readModel } from '../inspect/plan/plan.ts'
import { QuestionError } from '../inspect/question.ts'
import { readerOf, readJournal, tell } from '../inspect/timeline/ask.ts'
import { tellingEvent } from '../inspect/timeline/record.ts'
import { recordsOf } from '../inspect/timeline/recorded.ts'
import type { ToldRecord } from '../inspect/timeline/steps.ts'
import type { Timeline } from '../inspect/timeline/timeline-types.ts'
import { surveyOf, whyOf } from './explain.ts'
import { feed } from './feed.ts'
import {
  CASCADES,
  type Deleted,
  type DeleteQuestion,
  type ObjectDetails,
  type ObjectName,
  type Plan,
} from './protocol.ts'
import { endingsOf, replayOf } from './replay.ts'
import { openScene, type Scene } from './scene.ts'

export interface Questions {
  /** By method and path. Each rejects with a StatusError or QuestionError that is told. */
  readonly byPath: ReadonlyMap<string, (request: ApiRequest) => Promise<unknown>>
  watch(request: ApiRequest): Promise<AsyncIterable<Uint8Array>>
  stop(): void
}

interface Asking {
  readonly runtime: Runtime
  readonly transport: Pick<HttpsTransport, 'send' | 'inProcess' | 'host'>
  readonly version: string
}

/** A page that is opened again soon finds what was watched for it. */
const SCENE_LIVES_MS = 60_000
const DISCOVERY = { budget: 200, requestMs: 20_000, totalMs: 60_000 }
const LONGEST_NAME = 512

interface OpenScene {
  readonly scene: Promise<Scene>
  users: number
}

export function createQuestions({ runtime, transport, version }: Asking): Questions {
  const { clock } = runtime
  const agent = (what: string) => `skiff/${version} ui ${what}`
  const client = createClient(runtime, transport, { userAgent: agent('watch') })
  const scenes = new Map<string, OpenScene>()

  const kindsNow = (what: string) =>
    readKinds(createClusterReader(clock, transport, { ...DISCOVERY, userAgent: agent(what) }))

  function scenesOf(namespace: string): OpenScene {
    const open = scenes.get(namespace)
    if (open !== undefined) return open
    const scene = openScene({ runtime, client, readKinds: () => kindsNow('watch'), namespace })
    const made: OpenScene = { scene, users: 0 }
    scenes.set(namespace, made)
    scene.catch(() => scenes.delete(namespace))
    return made
  }

  function leave(namespace: string, open: OpenScene): void {
    open.users--
    clock.setTimer(SCENE_LIVES_MS, 'ui scene', () => {
      if (open.users > 0 || scenes.get(namespace) !== open) return
      scenes.delete(namespace)
      void open.scene.then((scene) => scene.stop())
    })
  }

  async function* watched(namespace: string, scene: Scene, signal: AbortSignal, open: OpenScene) {
    try {
      yield* feed(clock, scene, signal)
    } finally {
      leave(namespace, open)
    }
  }

  async function watch({ query, signal }: ApiRequest) {
    const namespace = nameIn(query, 'namespace', true)
    const open = scenesOf(namespace)
    open.users++
    try {
      return watched(namespace, await open.scene, signal, open)
    } catch (error) {
      open.users--
      throw error
    }
  }

  async function namespaces(): Promise<readonly string[]> {
    const list = await client
      .resource({ group: '', version: 'v1', resource: 'namespaces' })
      .list({ metadataOnly: true })
    return list.items.map(({ metadata }) => metadata.name ?? '').sort()
  }

  const whyAsking = { clock, transport, userAgent: agent('why'), dryRun: true }

  async function why({ query }: ApiRequest) {
    if (!query.has('resource')) return surveyOf(whyAsking)
    const { namespace, name, ...kind } = objectIn(query)
    return whyOf(whyAsking, { kind: kindWord(kind), namespace, name })
  }

  async function details({ query }: ApiRequest): Promise<ObjectDetails> {
    const { group, version: served, resource, namespace, name } = objectIn(query)
    const objects = client.resource({ group, version: served, resource }).namespace(namespace)
    return detailsOf(await objects.get(name, { metadataOnly: true }))
  }

  async function plan(request: ApiRequest): Promise<Plan> {
    const { cascade, gracePeriodSeconds, ...object } = deleteIn(request)
    const source = { runtime, transport, userAgent: agent('plan') }
    const target = { kind: kindWord(object), namespace: object.namespace, name: object.name }
    const model = await readModel(source, { orIn: targetNamespaces([target]), named: namedTargets([target]) })
    const grace = gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }
    // A page is waited for: one order of the controllers must do.
    return planIn(source, model, deleteDeed(model.read, { targets: [target], cascade, ...grace }), { orders: 0 })
  }

  async function remove(request: ApiRequest): Promise<Deleted> {
    const { group, version: served, resource, namespace, name, uid, cascade, gracePeriodSeconds } = deleteIn(request)
    const own = createClient(runtime, transport, { userAgent: agent('delete') })
    const answer = await own
      .resource({ group, version: served, resource })
      .namespace(namespace)
      .delete(name, {
        propagationPolicy: POLICIES[cascade],
        // What has the name by now may be another one.
        preconditions: { uid },
        ...(gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }),
      })
    const isGone = answer.kind === 'Status' || answer.metadata.deletionTimestamp === undefined
    return { message: `${resource}/${name} ${isGone ? 'is gone' : 'is marked as deleted'}` }
  }

  /** Of the journal where there is one that may be read, else of what was seen while the page was open. */
  async function records(namespace: string): Promise<readonly [readonly ToldRecord[], Timeline['source']]> {
    const reader = readerOf({ clock, transport, userAgent: agent('timeline') })
    const journal = await readJournal(reader)
    if (journal.state === 'found') return [journal.value, 'journal']
    const scene = await scenes.get(namespace)?.scene
    const events = await reader.list({ group: '', version: 'v1', resource: 'events' }, { namespace })
    const told = events.state === 'found' ? events.value.map(tellingEvent) : []
    return [recordsOf({ states: scene?.states ?? [], audited: [], events: told }), 'recording']
  }

  async function timeline({ query }: ApiRequest) {
    const scope = nameIn(query, 'scope', true)
    const [told, source] = await records(scope)
    if (!query.has('resource')) return endingsOf(told, source, scope)
    const { group, resource, namespace, name } = objectIn(query)
    const uid = nameIn(query, 'uid', true)
    const target = { kind: group === '' ? resource : `${resource}.${group}`, namespace, name }
    const question = { target, cascade: true, ...(uid === '' ? {} : { uid }) }
    const [found] = tell(told, await kindsNow('timeline'), question, source)
    if (found === undefined) throw new QuestionError(`nothing is told of ${resource}/${name}`)
    return replayOf(found, told)
  }

  return {
    byPath: new Map<string, (request: ApiRequest) => Promise<unknown>>([
      ['GET /api/namespaces', namespaces],
      ['GET /api/why', why],
      ['GET /api/object', details],
      ['GET /api/timeline', timeline],
      ['POST /api/plan', plan],
      ['POST /api/delete', remove],
    ]),
    watch,
    stop() {
      for (const { scene } of scenes.values()) void scene.then((open) => open.stop()).catch(() => {})
      scenes.clear()
    },
  }
}

const POLICIES = { background: 'Background', foreground: 'Foreground', orphan: 'Orphan' } as const

/** As kubectl takes it: `pods.v1.`, `deployments.v1.apps`. */
const kindWord = ({ group, version, resource }: Pick<ObjectName, 'group' | 'version' | 'resource'>) =>
  version === '' ? (group === '' ? resource : `${resource}.${group}`) : `${resource}.${version}.${group}`

/** What cannot be in a segment of a path. Objects of some kinds (RBAC) may have all else in their names, spaces too. */
const NOT_IN_NAMES = /[/%]/
const NOT_IN_WORDS = /[/%\s]/

/** @throws StatusError 400 for what no object can be called */
function checkedName(what: string, value: unknown, mayBeEmpty = false): string {
  const isName =
    typeof value === 'string' &&
    value.length <= LONGEST_NAME &&
    !(what === 'name' ? NOT_IN_NAMES : NOT_IN_WORDS).test(value) &&
    value !== '.' &&
    value !== '..'
  if (!isName || (value === '' && !mayBeEmpty)) throw badRequest(`${what} is missing, or cannot be one`)
  return value
}

const nameIn = (query: URLSearchParams, what: string, mayBeEmpty = false) =>
  checkedName(what, query.get(what) ?? '', mayBeEmpty)

function objectIn(query: URLSearchParams): ObjectName {
  return {
    group: nameIn(query, 'group', true),
    version: nameIn(query, 'version', true),
    resource: nameIn(query, 'resource'),
    namespace: nameIn(query, 'namespace', true),
    name: nameIn(query, 'name'),
  }
}

/** @throws StatusError 400 */
function deleteIn({ body }: ApiRequest): DeleteQuestion {
  if (body?.kind !== 'bytes' || !body.contentType.startsWith('application/json'))
    throw badRequest('the question must be JSON')
  let asked: Partial<Record<keyof DeleteQuestion, unknown>>
  try {
    asked = JSON.parse(Buffer.from(body.bytes).toString())
  } catch (cause) {
    throw badRequest('the question is no JSON', cause)
  }
  if (typeof asked !== 'object' || asked === null) throw badRequest('the question is no object')
  const { cascade, gracePeriodSeconds: grace } = asked
  const policy = CASCADES.find((one) => one === cascade)
  if (policy === undefined) throw badRequest(`cascade is one of ${CASCADES.join(', ')}`)
  if (grace !== undefined && !(Number.isInteger(grace) && (grace as number) >= 0 && (grace as number) < 2 ** 31))
    throw badRequest('gracePeriodSeconds is no number of seconds')
  return {
    group: checkedName('group', asked.group, true),
    version: checkedName('version', asked.version),
    resource: checkedName('resource', asked.resource),
    namespace: checkedName('namespace', asked.namespace, true),
    name: checkedName('name', asked.name),
    uid: checkedName('uid', asked.uid),
    cascade: policy,
    ...(grace === undefined ? {} : { gracePeriodSeconds: grace as number }),
  }
}

function detailsOf({ metadata }: KubeObject): ObjectDetails {
  return {
    labels: Object.entries(metadata.labels ?? {}),
    managers: (metadata.managedFields ?? []).map(({ manager = '', operation = '', subresource, time = '' }) => ({
      manager,
      what: subresource === undefined ? operation : `${operation} of ${subresource}`,
      time,
    })),
    resourceVersion: metadata.resourceVersion ?? '',
  }
}
