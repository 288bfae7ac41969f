/**
 * What the scheduler and the controllers of claims and device taints wrote, step by step, in a form in which a real cluster's
 * writes and ours compare: names made by chance, uids and times are told by what they are. The writes on one object keep their
 * order; those on several are in no order.
 */
import { readFileSync } from 'node:fs'
import type { Fields, Json, KubeObject } from '../../src/api/object.ts'
import { sorted } from '../scenarios/recording.ts'

/** By user name. */
export const WRITERS: Readonly<Record<string, string>> = {
  'system:kube-scheduler': 'scheduler',
  'system:serviceaccount:kube-system:resource-claim-controller': 'claims',
  'system:serviceaccount:kube-system:device-taint-eviction-controller': 'taints',
  'system:serviceaccount:kube-system:generic-garbage-collector': 'garbage collector',
}

export interface SeenWrite {
  readonly writer: string
  /** create, update, patch or delete. */
  readonly verb: string
  readonly resource: string
  readonly subresource: string
  readonly name: string
  readonly code: number
  readonly body: Fields
}

/** A step's writes, by what they are on. */
export type SeenStep = Readonly<Record<string, readonly Json[]>>

const folder = new URL('./recordings/', import.meta.url)
export const recordingFile = (name: string): URL => new URL(`${name}.json`, folder)
export const readRecording = (name: string): readonly SeenStep[] =>
  JSON.parse(readFileSync(recordingFile(name), 'utf8'))
export const recordingText = (steps: readonly SeenStep[]): string =>
  `[\n${steps.map((step) => stepText(step)).join(',\n')}\n]\n`
const stepText = (step: SeenStep): string =>
  `  {${Object.entries(step)
    .map(
      ([on, writes]) =>
        `\n    ${JSON.stringify(on)}: [\n${writes.map((w) => `      ${JSON.stringify(w)}`).join(',\n')}\n    ]`,
    )
    .join(',')}${Object.keys(step).length === 0 ? '' : '\n  '}}`

/** Remembers what names and uids mean; `known`: objects as they were seen, in the order in which they were made. */
export function createNeutral(namespace: string) {
  const replaced = new Map<string, string>([[namespace, '$NS']])
  const generated = new Map<string, number>()
  return {
    know(objects: readonly KubeObject[]): void {
      for (const { kind, metadata } of objects) {
        const { name = '', uid = '', generateName } = metadata
        if (replaced.has(uid)) continue
        let told = name
        if (generateName !== undefined) {
          const count = (generated.get(generateName) ?? 0) + 1
          generated.set(generateName, count)
          told = `${generateName}<${count}>`
          replaced.set(name, told)
        }
        replaced.set(uid, `<uid of ${kind} ${told}>`)
      }
    },
    text(text: string): string {
      let result = text
      for (const [from, to] of replaced) result = result.replaceAll(from, to)
      return result
        .replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '<uid>')
        .replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, '<time>')
    },
  }
}
export type Neutral = ReturnType<typeof createNeutral>

/** `told`: Events of earlier steps; one that is told again is counted, now at once and now later. */
export function stepOf(writes: readonly SeenWrite[], neutral: Neutral, told: Set<string>): SeenStep {
  const step = new Map<string, Json[]>()
  for (const write of writes) {
    const event = write.resource === 'events'
    if (event && write.verb !== 'create') continue
    // Who was beaten to it tries again, or has nothing left to do.
    if (write.code === 409 || (write.code === 404 && write.verb === 'delete')) continue
    const isEnd = write.resource === 'resourceclaims' && write.verb === 'delete'
    if (write.writer === 'garbage collector' && !isEnd) continue
    // The claim of a pod that is gone is deleted by whichever controller comes first.
    if (isEnd) {
      step.set(neutral.text(`end of ${nameOf(write)}`), ['deleted'])
      continue
    }
    const on = event ? eventOn(write.body) : `${write.writer} ${write.resource}/${nameOf(write)}`
    const what = JSON.parse(neutral.text(JSON.stringify(event ? eventText(write.body) : writeOf(write)))) as Json
    const key = neutral.text(on)
    if (event && told.has(`${key} ${JSON.stringify(what)}`)) continue
    if (event) told.add(`${key} ${JSON.stringify(what)}`)
    step.set(key, [...(step.get(key) ?? []), what])
  }
  return Object.fromEntries([...step].sort(([a], [b]) => (a < b ? -1 : 1)))
}

const nameOf = ({ name, body }: SeenWrite): string =>
  name || (body['metadata']?.name ?? body['metadata']?.generateName ?? '')

function eventOn(body: Fields): string {
  const about: Fields = body['regarding'] ?? body['involvedObject'] ?? {}
  return `event on ${about['kind']}/${about['name']}`
}

function eventText(body: Fields): string {
  const who: string = body['reportingController'] ?? body['source']?.component ?? ''
  return `${who}: ${body['type']} ${body['reason']}: ${body['note'] ?? body['message']}`
}

function writeOf({ verb, subresource, code, body }: SeenWrite): Json {
  const title = `${verb}${subresource === '' ? '' : ` ${subresource}`}${code < 300 ? '' : ` ${code}`}`
  return sorted({ [title]: bodyOf(verb, subresource, body) } as Json) as Json
}

function bodyOf(verb: string, subresource: string, body: Fields): Json {
  if (subresource === 'binding') return (body['target'] ?? null) as Json
  if (verb === 'delete') return (body['preconditions'] ?? {}) as Json
  if (verb === 'create') {
    const { status = {}, ...rest } = body
    return (Object.keys(status).length === 0 ? rest : body) as Json
  }
  if (verb !== 'update') return body as Json
  const { finalizers = [] } = body['metadata'] ?? {}
  return { finalizers, status: body['status'] ?? {} }
}
