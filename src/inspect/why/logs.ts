/** What a controller's own log says of an object, since it was deleted. */

import type { Pod } from '../../api/generated/types.ts'
import type { JsonObject, KubeObject } from '../../api/object.ts'
import { asObject, asTexts } from '../../api/unchecked.ts'
import { withoutNone } from './failing-words.ts'
import { classify } from './failures.ts'
import { type FinalizerOwner, type Link, lastLink, type ObjectRef } from './finding.ts'
import { deletedAt, itemsOf, type Look, PODS, timeOf } from './look.ts'
import { escaped } from './whole-words.ts'
import type { Workload } from './workloads.ts'

/** Of many replicas one leads, and is not known: so many logs are read. */
const MOST_PODS = 3
const MOST_LINES = 500
const MOST_BYTES = 1 << 20
const MOST_SECONDS = 3600
/** Of a line, in characters. */
const MOST_SHOWN = 400

interface LogLine {
  /** In milliseconds since the epoch; NaN where the line has no time. */
  readonly at: number
  readonly time: string
  readonly text: string
}

/** Lines as `pods/log` gives them with `timestamps=true`. */
export function linesOf(log: string): readonly LogLine[] {
  return log.split('\n').flatMap((line): LogLine[] => {
    if (line.trim() === '') return []
    const space = line.indexOf(' ')
    const time = space < 0 ? '' : line.slice(0, space)
    const at = timeOf(time)
    return [Number.isNaN(at) ? { at, time: '', text: line } : { at, time, text: line.slice(space + 1) }]
  })
}

const ERROR =
  /\b(error|fatal|panic|ERR)\b|level=(error|fatal)|^E\d{4} |fail|denied|forbidden|refused|timed? ?out|cannot|unable/i
/** That another wrote the object first is tried again at once. */
const CONFLICT = /object has been modified|please apply your changes|optimistic lock/i

/**
 * A field: `"name":"a"`, `\"name\":\"a\"`, `name=a`, `name:a`; `name: a` only where nothing follows, for `namespace: not found` is a sentence's.
 */
const FIELD =
  /(?<![\w.-])\\?["']?([A-Za-z][\w.-]{0,62})(?:\\?["'] ?[:=] ?|[:=]|: (?=[^\s"'\\,;(){}[\]]{1,253}[ \t]*(?:[,;)}\]]|$)))(\\?["']?)([^\s"'\\,;(){}[\]]{1,253})\2/g
/** What stands between fields of one object. */
const BESIDE = /^[\s,;]{0,8}$/

/** The namespaces that a line tells the object's own name with: in one field, or in fields that stand together. */
function namespacesOfName(text: string, { name, kind, resource }: ObjectRef): readonly string[] {
  const field = new RegExp(
    `^(?:(?:${escaped(kind)}|${escaped(resource)}|object|resource|request)[._-]?)?(name(?:space)?)?$`,
    'i',
  )
  const told: string[] = []
  let beside: string[] = []
  let isOwn = false
  let end = 0
  const close = () => {
    if (isOwn) told.push(...beside)
    beside = []
    isOwn = false
  }
  for (const found of text.matchAll(FIELD)) {
    const [whole, key = '', , value = ''] = found
    if (!BESIDE.test(text.slice(end, found.index))) close()
    end = found.index + whole.length
    const part = field.exec(key)
    if (part === null) continue
    if (part[1]?.toLowerCase() === 'namespace') beside.push(value)
    else if (value === name) isOwn = true
    else if (value.endsWith(`/${name}`)) told.push(value.slice(0, -name.length - 1))
  }
  close()
  return told
}

/**
 * The newest line about an object: where it tells of a failure, that is one; what came after a failure and does not is work that goes on.
 *
 * A line is about it that has its name as a word of its own, and its uid, namespace or kind; not where its fields tell the name
 * with another namespace.
 *
 * @param ownNamespace of the controller, which its lines may tell as well
 */
export function newestAbout(
  lines: readonly LogLine[],
  ref: ObjectRef,
  since: number,
  ownNamespace = '',
): LogLine | undefined {
  const { name, namespace, kind, uid } = ref
  const word = new RegExp(`(?<![a-z0-9-])${escaped(name)}(?![a-z0-9-])`)
  const others = [kind, namespace].filter((text) => text !== '').map((text) => text.toLowerCase())
  const isElsewhere = (text: string) =>
    namespace !== '' && !text.includes(namespace) && namespacesOfName(text, ref).some((told) => told !== ownNamespace)
  const about = lines.filter(({ at, text }) => {
    // Clocks of seconds: a second of doubt.
    if (Number.isNaN(at) || at < since - 1000) return false
    if (uid !== undefined && text.includes(uid)) return true
    const lower = text.toLowerCase()
    return word.test(text) && others.some((other) => lower.includes(other)) && !isElsewhere(text)
  })
  return about.reduce<LogLine | undefined>(
    (best, one) => (best !== undefined && best.at > one.at ? best : one),
    undefined,
  )
}

export const isFailure = ({ text }: LogLine): boolean => ERROR.test(withoutNone(text)) && !CONFLICT.test(text)

/** Of a line in JSON its message and error; of one that quotes words within words (klog, logfmt) these as they were said. */
function wordsOf(text: string): string {
  const json = text.startsWith('{') ? parsed(text) : {}
  const said = asTexts([json['msg'] ?? json['message'], json['error'] ?? json['err']]).filter((one) => one !== '')
  const words = said.length === 0 ? text.replaceAll('\\"', '"') : said.join(': ')
  return words.length > MOST_SHOWN ? `${words.slice(0, MOST_SHOWN)}…` : words
}

function parsed(text: string): JsonObject {
  try {
    return asObject(JSON.parse(text))
  } catch {
    return {}
  }
}

/** A failure, or what it says besides; undefined: nothing. Needs the right to get `pods/log`; without it nothing is found, which the reader notes. */
export async function wordInLog(
  look: Look,
  ref: ObjectRef,
  object: KubeObject,
  workload: Workload,
  controller: FinalizerOwner,
): Promise<{ readonly failure?: Link; readonly says?: string } | undefined> {
  const { namespace, pods: selector } = workload
  const since = deletedAt(object.metadata)
  if (Number.isNaN(since)) return undefined
  const pods = itemsOf(await look.reader.list<Pod>(PODS, { namespace, ...selector }))
  const running = pods.filter(({ status }) => status?.phase === 'Running').slice(0, MOST_PODS)
  const logs = await Promise.all(running.map((pod) => logOf(look, pod, since)))
  const found = newestAbout(logs.flatMap(linesOf), ref, since, namespace)
  if (found === undefined) return undefined
  const { time, text } = found
  if (!isFailure(found)) return { says: wordsOf(text) }
  const said = {
    source: 'log',
    controller: controller.name,
    reason: 'its log says',
    message: wordsOf(text),
    at: time,
  } as const
  return { failure: lastLink(...classify(ref, said), true) }
}

/** The end of it since then; '' where it cannot be read. */
async function logOf({ reader, now }: Look, { metadata, spec }: Pod, since: number): Promise<string> {
  const { namespace = '', name = '' } = metadata ?? {}
  const names = spec?.containers.map((container) => container.name) ?? []
  const usual = metadata?.annotations?.['kubectl.kubernetes.io/default-container'] ?? 'manager'
  const container = names.includes(usual) ? usual : names[0]
  const seconds = Math.min(MOST_SECONDS, Math.max(1, Math.ceil((now - since) / 1000) + 1))
  const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods/${encodeURIComponent(name)}/log`
  const read = await reader.text(path, {
    timestamps: 'true',
    tailLines: String(MOST_LINES),
    limitBytes: String(MOST_BYTES),
    sinceSeconds: String(seconds),
    ...(container === undefined ? {} : { container }),
  })
  return read.state === 'found' ? read.value : ''
}
