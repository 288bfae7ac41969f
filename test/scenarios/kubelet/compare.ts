/** Brings our run and a recording into one form, so that they can be compared whole. */
import type { Json, JsonObject, KubeObject } from '../../../src/api/object.ts'
import { createNormalizer } from '../normalize.ts'
import { type Recording, sorted } from '../recording.ts'
import { type NodeStage, type NodeWrite, namespace } from './stage.ts'

export interface Compared {
  /** Of each pod, its statuses and what its metadata says of its end, in order. */
  readonly states: readonly Json[]
  /** The kubelet's writes, in order; tokens apart, which come beside the others. */
  readonly writes: readonly Json[]
  readonly tokens: readonly Json[]
  /** Each kind of Event once. */
  readonly events: readonly string[]
}

const text = (value: string): string =>
  value
    .replace(/[a-z]+:\/\/([0-9a-f]{64}|<id>)/g, 'runtime://<id>')
    .replace(/sha256:([0-9a-f]{64}|<digest>)/g, 'sha256:<digest>')
    .replace(/127\.0\.0\.1\b(?!:)|<hostip>/g, '<hostip>')
    .replace(/<ip>|<podip>/g, '<podip>')
    .replace(/<dns>|127\.0\.0\.53:53/g, '<dns>')
    .replace(/<uid[^>]*>/g, '<uid>')

/** Transition times differ or not by the second in which something happened: a patch names them only when they do. */
const untold = new Set(['lastTransitionTime', 'annotations'])

function plain(value: Json): Json {
  if (typeof value === 'string') return text(value)
  if (Array.isArray(value)) return value.map(plain)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value as JsonObject).filter(([key]) => !untold.has(key))
  return Object.fromEntries(entries.map(([key, inner]) => [key, plain(inner as Json)]))
}

function stateOf(type: string, object: JsonObject): Json {
  const { metadata, status } = object as { metadata: JsonObject; status: JsonObject }
  const { deletionGracePeriodSeconds = null, generation = null, finalizers = null } = metadata
  return sorted(plain({ type, generation, deletionGracePeriodSeconds, finalizers, status }))
}

const isToken = ({ uri }: { readonly uri: string }) => uri.endsWith('/token')
/** What a token request asks for; the recorder adds the empty status. */
const tokenOf = (write: NodeWrite): Json => writeOf({ ...write, body: (write.body as JsonObject)['spec'] as Json })
const writeOf = ({ verb, uri, code, body }: NodeWrite): Json => sorted(plain({ verb, uri, code, body }))

export function recorded(recording: Recording): Compared {
  const writes = recording.writes.filter(({ user }) => user.startsWith('node:'))
  return {
    states: recording.states
      .filter(({ resource }) => resource === 'pods')
      .map(({ type, object }) => stateOf(type, object)),
    writes: writes.filter((write) => !isToken(write)).map(writeOf),
    tokens: writes.filter(isToken).map(tokenOf),
    events: eventsOf(recording.events.filter(({ component }) => component === 'kubelet') as never),
  }
}

interface SeenEvent {
  readonly type: string
  readonly reason: string
  readonly message: string
  readonly fieldPath?: string
}

function eventsOf(events: readonly SeenEvent[]): string[] {
  const lines = events.map(
    ({ type, reason, message, fieldPath = '' }) => `${type} ${reason} ${fieldPath}: ${text(message)}`,
  )
  return [...new Set(lines)].sort()
}

export function seen(stage: NodeStage): Compared {
  const normalizer = createNormalizer(namespace)
  for (const { object } of stage.states) normalizer.learn(object as unknown as Json)
  const normal = (value: unknown) => normalizer.json(value as Json)
  const writes = stage.writes
    .filter(({ user }) => user.startsWith('system:node:'))
    .map((write) => ({ ...write, uri: normalizer.text(write.uri), body: normal(bodyOf(write)) }))
  return {
    states: stage.states.map(({ type, object }) => stateOf(type, normal(object) as JsonObject)),
    writes: writes.filter((write) => !isToken(write)).map(writeOf),
    tokens: writes.filter(isToken).map(tokenOf),
    events: eventsOf(
      stage.events.map((event) => {
        const { type, reason, message, involvedObject } = event as unknown as SeenEvent & { involvedObject: KubeObject }
        return { type, reason, message: normalizer.text(message), fieldPath: involvedObject['fieldPath'] ?? '' }
      }),
    ),
  }
}

/** Delete options, as recordings have them: without kind and version. */
function bodyOf({ verb, body }: NodeWrite): Json {
  if (verb !== 'delete') return body
  const { kind: _, apiVersion: __, ...options } = body as JsonObject
  return options as Json
}
