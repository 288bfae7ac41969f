/**
 * How inspect looks at a cluster: each thing is asked for once, no more is asked than a budget allows, and what may not be seen,
 * is not there or fails is an answer, not an error. Nothing here changes anything: the only writes are dry runs and reviews (which
 * are sent as dry runs too). Of Secrets the metadata alone is asked for.
 */
import type { SelfSubjectReview, SubjectAccessReview } from '../api/generated/types.ts'
import type { Journal, KeptRecord } from '../api/journal.ts'
import type { Given, JsonObject, KubeObject, ObjectMeta } from '../api/object.ts'
import type { ApiRequest, ApiResponse, RequestBody, UserInfo } from '../api/request.ts'
import { StatusError } from '../api/status.ts'
import type { Clock } from '../base/clock.ts'
import { messageOf } from '../base/errors.ts'
import type { GroupVersionResource } from '../client/client.ts'
import { responseList, responseObject, responseText } from '../client/response.ts'
import type { Transport } from '../client/transport.ts'

/** What became of a question. */
export type Read<T> =
  | { readonly state: 'found'; readonly value: T }
  | { readonly state: 'missing'; readonly message: string }
  | { readonly state: 'forbidden'; readonly message: string }
  /** The server answered with an error, or (code 0) did not answer. */
  | { readonly state: 'failed'; readonly code: number; readonly message: string }
  /** It was not asked, since the budget of requests or of time is spent. */
  | { readonly state: 'not-asked'; readonly message: string }

export interface ListQuestion {
  /** '' or absent: all namespaces. */
  readonly namespace?: string
  readonly labelSelector?: string
  readonly fieldSelector?: string
  readonly metadataOnly?: boolean
}

export type TableRow = readonly unknown[]

export interface AccessQuestion {
  readonly user: string
  readonly groups: readonly string[]
  readonly verb: string
  readonly group: string
  readonly resource: string
  readonly subresource?: string
  readonly namespace: string
  readonly name?: string
}

/** What the caller itself may do; without a name: to all of them. */
export type OwnAccess = Omit<AccessQuestion, 'user' | 'groups'>

export interface ClusterReader {
  get<T extends KubeObject = KubeObject>(gvr: GroupVersionResource, namespace: string, name: string): Promise<Read<T>>
  list<T extends KubeObject = KubeObject>(
    gvr: GroupVersionResource,
    question?: ListQuestion,
  ): Promise<Read<readonly T[]>>
  /**
   * Columns that kubectl prints, of each object a row, without the object: the cells in the order of the names asked for, undefined where
   * there is no such column. Not noted where it fails.
   */
  rows(gvr: GroupVersionResource, fieldSelector: string, columns: readonly string[]): Promise<Read<readonly TableRow[]>>
  /** A path that is no resource, as text. */
  text(path: string, query?: Readonly<Record<string, string>>): Promise<Read<string>>
  /** A path as JSON, with an Accept header. */
  document<T = KubeObject>(path: string, accept: string): Promise<Read<T>>
  /** What the journal of a cluster of skiff has of an object. Not noted where there is none, or it may not be read. */
  journal(uid: string): Promise<Read<readonly KeptRecord[]>>
  /** Whether that user may do it, by the cluster's own authorizers. */
  mayDo(question: AccessQuestion): Promise<Read<boolean>>
  /** Whether the caller may do it. */
  mayI(question: OwnAccess): Promise<Read<boolean>>
  /** The name of the user that the cluster takes the caller for. */
  callerName(): Promise<Read<string>>
  /** What a JSON patch would be answered with. Only for objects that are being deleted already. */
  tryPatch(
    gvr: GroupVersionResource,
    namespace: string,
    name: string,
    patch: readonly JsonObject[],
  ): Promise<Read<KubeObject>>
  /** What a delete without a grace period would be answered with. Only for objects that are being deleted already. */
  tryDelete(gvr: GroupVersionResource, namespace: string, name: string, uid: string): Promise<Read<KubeObject>>
  /** What was asked and not answered, in the order in which it was asked. */
  readonly unseen: readonly Unseen[]
  readonly requests: number
  /** Requests that it may still make. */
  readonly left: number
  readonly dryRuns: number
}

export interface Unseen {
  readonly what: string
  readonly why: string
}

export interface ReaderOptions {
  /** Requests that it may make. */
  readonly budget: number
  /** How long one of them may take. */
  readonly requestMs: number
  /** How long all of them may take: what has no answer by then is not asked. */
  readonly totalMs: number
  readonly userAgent: string
  /** The user of its requests, for a transport within this process. */
  readonly user?: UserInfo
}

/** Requests under way at once. */
const PARALLEL = 16
const METADATA = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json'
const METADATA_LIST = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json'

const TABLE = 'application/json;as=Table;g=meta.k8s.io;v=v1'

export function createClusterReader(clock: Clock, transport: Transport, options: ReaderOptions): ClusterReader {
  const asked = new Map<string, Promise<Read<unknown>>>()
  const unseen: Unseen[] = []
  const waiting: (() => void)[] = []
  const began = clock.monotonic()
  let requests = 0
  let dryRuns = 0
  let underWay = 0

  interface Parts {
    readonly method: string
    readonly path: string
    readonly query?: URLSearchParams
    readonly accept?: string
    readonly body?: RequestBody
  }

  async function send<T>(parts: Parts, take: (response: ApiResponse) => T): Promise<Read<T>> {
    const left = began + options.totalMs - clock.monotonic()
    if (requests >= options.budget || left <= 0) {
      const message =
        left <= 0 ? 'the time for looking was over' : `${options.budget} requests had been made, which is the limit`
      return { state: 'not-asked', message }
    }
    requests++
    const query = parts.query ?? new URLSearchParams()
    if (query.get('dryRun') === 'All') dryRuns++
    const stop = new AbortController()
    if (underWay >= PARALLEL) await new Promise<void>((resolve) => waiting.push(resolve))
    underWay++
    const ms = Math.min(options.requestMs, Math.max(left, 1))
    const timer = clock.setTimer(ms, 'inspect request', () =>
      stop.abort(new Error(`no answer within ${Math.round(ms)} ms`)),
    )
    try {
      const request: ApiRequest = {
        method: parts.method,
        path: parts.path,
        query,
        headers: {
          'user-agent': options.userAgent,
          ...(parts.accept === undefined || transport.inProcess ? {} : { accept: parts.accept }),
        },
        signal: stop.signal,
        ...(parts.body === undefined ? {} : { body: parts.body }),
        ...(options.user !== undefined && transport.inProcess ? { user: options.user } : {}),
      }
      return { state: 'found', value: await take(await transport.send(request)) }
    } catch (error) {
      return refusal(stop.signal.aborted ? stop.signal.reason : error)
    } finally {
      timer.cancel()
      underWay--
      waiting.shift()?.()
    }
  }

  /** The same question is asked once. What is not answered is noted under `what`; undefined: it is not worth a note. */
  function once<T>(key: string, what: string | undefined, ask: () => Promise<Read<T>>): Promise<Read<T>> {
    const before = asked.get(key)
    if (before !== undefined) return before as Promise<Read<T>>
    const answer = ask().then((read) => {
      if (what !== undefined && read.state !== 'found' && read.state !== 'missing')
        unseen.push({ what, why: read.message })
      return read
    })
    asked.set(key, answer)
    return answer
  }

  const sendReview = <T>(group: string, kind: string, spec: object, take: (response: ApiResponse) => T) => {
    const object = { apiVersion: `${group}/v1`, kind, metadata: {}, ...spec }
    return send(
      {
        method: 'POST',
        path: `/apis/${group}/v1/${kind.toLowerCase()}s`,
        query: new URLSearchParams({ dryRun: 'All' }),
        body: { kind: 'object', object, contentType: 'application/json' },
      },
      take,
    )
  }
  const accessReview = (kind: string, spec: JsonObject): Promise<Read<boolean>> =>
    sendReview(
      'authorization.k8s.io',
      kind,
      { spec },
      (response) => (responseObject(response) as Given<SubjectAccessReview>).status?.allowed === true,
    )

  const named = (gvr: GroupVersionResource) => (gvr.group === '' ? gvr.resource : `${gvr.resource}.${gvr.group}`)

  return {
    get: (gvr, namespace, name) =>
      once(`get ${pathOf(gvr, namespace, name)}`, `${named(gvr)}/${name}${within(namespace)}`, () =>
        send(
          { method: 'GET', path: pathOf(gvr, namespace, name), ...(isSecrets(gvr) ? { accept: METADATA } : {}) },
          (response) => shown(gvr, responseObject(response)) as never,
        ),
      ),
    list(gvr, question = {}) {
      const { namespace = '', labelSelector, fieldSelector } = question
      const metadataOnly = question.metadataOnly === true || isSecrets(gvr)
      const query = new URLSearchParams()
      if (labelSelector !== undefined) query.set('labelSelector', labelSelector)
      if (fieldSelector !== undefined) query.set('fieldSelector', fieldSelector)
      const path = pathOf(gvr, namespace)
      const key = `list ${path}?${query} ${metadataOnly}`
      const everywhere = metadataOnly && query.size === 0 ? asked.get(`list ${pathOf(gvr, '')}? true`) : undefined
      const own = () =>
        once(key, `${named(gvr)}${within(namespace)}`, () =>
          send(
            { method: 'GET', path, query, ...(metadataOnly ? { accept: METADATA_LIST } : {}) },
            (response) => responseList(response).then(({ items }) => items.map((item) => shown(gvr, item))) as never,
          ),
        )
      if (everywhere === undefined || namespace === '') return own()
      // What may not be listed in all namespaces may yet be in this one.
      return (everywhere as Promise<Read<never>>).then((read) =>
        read.state === 'forbidden' ? own() : fromEverywhere(everywhere as never, namespace),
      )
    },
    rows(gvr, fieldSelector, columns) {
      const path = pathOf(gvr, '')
      const query = new URLSearchParams({ fieldSelector, includeObject: 'None' })
      return once(`rows ${path}?${query} ${columns}`, undefined, () =>
        send({ method: 'GET', path, query, accept: TABLE }, (response) => rowsOf(responseObject(response), columns)),
      )
    },
    text(path, query = {}) {
      const parameters = new URLSearchParams(query)
      return once(`text ${path}?${parameters}`, path, () =>
        send({ method: 'GET', path, query: parameters, accept: '*/*' }, responseText),
      )
    },
    document: <T>(path: string, accept: string) =>
      once(`document ${path}`, path, () =>
        send({ method: 'GET', path, accept }, (response) => responseObject(response) as T),
      ),
    journal: (uid) =>
      once(`journal ${uid}`, undefined, () =>
        send(
          {
            method: 'GET',
            path: '/skiff.dev/journal',
            query: new URLSearchParams({ uid }),
            accept: 'application/json',
          },
          (response) => recordsIn(responseObject(response)),
        ),
      ),
    mayDo({ user, groups, ...attributes }) {
      const spec = { user, groups, resourceAttributes: attributes }
      const what = `whether ${user} may ${attributes.verb} ${attributes.resource}`
      return once(`may ${JSON.stringify(spec)}`, what, () => accessReview('SubjectAccessReview', spec))
    },
    mayI(attributes) {
      const kind = 'SelfSubjectAccessReview'
      const what = `whether you may ${attributes.verb} ${attributes.resource}`
      return once(`may I ${JSON.stringify(attributes)}`, what, () =>
        accessReview(kind, { resourceAttributes: attributes }),
      )
    },
    callerName: () =>
      once('who am I', 'your user name', () =>
        sendReview(
          'authentication.k8s.io',
          'SelfSubjectReview',
          {},
          (response) => (responseObject(response) as Given<SelfSubjectReview>).status?.userInfo?.username ?? '',
        ),
      ),
    tryPatch: (gvr, namespace, name, patch) =>
      once(`try ${pathOf(gvr, namespace, name)} ${JSON.stringify(patch)}`, undefined, () =>
        send(
          {
            method: 'PATCH',
            path: pathOf(gvr, namespace, name),
            query: new URLSearchParams({ dryRun: 'All' }),
            accept: METADATA,
            body: { kind: 'object', object: patch as never, contentType: 'application/json-patch+json' },
          },
          (response) => shown(gvr, responseObject(response)),
        ),
      ),
    tryDelete: (gvr, namespace, name, uid) =>
      once(`try delete ${pathOf(gvr, namespace, name)} ${uid}`, undefined, () =>
        send(
          {
            method: 'DELETE',
            path: pathOf(gvr, namespace, name),
            // Where there is a body the query is not read: it is there for readers of the audit log.
            query: new URLSearchParams({ dryRun: 'All' }),
            accept: METADATA,
            body: { kind: 'object', object: dryDelete(uid) as never, contentType: 'application/json' },
          },
          (response) => shown(gvr, responseObject(response)),
        ),
      ),
    unseen,
    get requests() {
      return requests
    },
    get left() {
      return options.budget - requests
    },
    get dryRuns() {
      return dryRuns
    },
  }
}

const dryDelete = (uid: string) => ({
  apiVersion: 'v1',
  kind: 'DeleteOptions',
  dryRun: ['All'],
  gracePeriodSeconds: 0,
  preconditions: { uid },
})

const recordsIn = (answer: object): readonly KeptRecord[] => ('records' in answer ? (answer as Journal).records : [])

const isSecrets = ({ group, resource }: GroupVersionResource): boolean => group === '' && resource === 'secrets'

/** Of a Secret its metadata, whatever came; kubectl keeps the values that it applied in an annotation. */
function shown(gvr: GroupVersionResource, object: KubeObject): KubeObject {
  if (!isSecrets(gvr)) return object
  return { apiVersion: object.apiVersion, kind: object.kind, metadata: withoutApplied(object.metadata) }
}

/** Metadata without the annotation in which `kubectl apply` keeps what it sent, a Secret's values among it. */
export function withoutApplied({ annotations, ...metadata }: ObjectMeta): ObjectMeta {
  if (annotations === undefined) return metadata
  const { 'kubectl.kubernetes.io/last-applied-configuration': _applied, ...others } = annotations
  return { ...metadata, annotations: others }
}

const within = (namespace: string) => (namespace === '' ? '' : ` in namespace ${namespace}`)

async function fromEverywhere(all: Promise<Read<readonly KubeObject[]>>, namespace: string): Promise<Read<never>> {
  const read = await all
  if (read.state !== 'found') return read
  return {
    state: 'found',
    value: read.value.filter(({ metadata }) => metadata.namespace === namespace) as never,
  }
}

/** @throws Error for an answer that is no table */
function rowsOf(answer: KubeObject, columns: readonly string[]): readonly TableRow[] {
  if (!isTable(answer)) throw new Error(`${answer.kind} is no table`)
  const places = columns.map((column) => answer.columnDefinitions.findIndex(({ name }) => name === column))
  return (answer.rows ?? []).map(({ cells }) => places.map((place) => cells[place]))
}

interface Table extends KubeObject {
  readonly columnDefinitions: readonly { readonly name: string }[]
  readonly rows?: readonly { readonly cells: readonly unknown[] }[] | null
}

const isTable = (answer: KubeObject): answer is Table => answer.kind === 'Table'

function pathOf(gvr: GroupVersionResource, namespace: string, name?: string): string {
  const root = gvr.group === '' ? `/api/${gvr.version}` : `/apis/${gvr.group}/${gvr.version}`
  const scope = namespace === '' ? '' : `/namespaces/${encodeURIComponent(namespace)}`
  return `${root}${scope}/${gvr.resource}${name === undefined ? '' : `/${encodeURIComponent(name)}`}`
}

function refusal(error: unknown): Exclude<Read<never>, { state: 'found' }> {
  if (!(error instanceof StatusError)) return { state: 'failed', code: 0, message: messageOf(error) }
  const { code, message } = error
  if (code === 404) return { state: 'missing', message }
  if (code === 401 || (code === 403 && isAuthorization(error))) return { state: 'forbidden', message }
  return { state: 'failed', code, message }
}

/** Admission answers 403 as well, in other words. */
const isAuthorization = ({ message }: StatusError) => /: User "|cannot \S+ (resource|path) "/.test(message)
