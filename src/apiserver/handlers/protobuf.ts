/** Answers in protobuf: objects, lists and watches out of the messages that the cache keeps. */
import {
  encodeMessage,
  encodeProtobuf,
  encodeProtobufWatchEvent,
  envelopeAround,
  frameAround,
  listAround,
} from '../../api/codec/protobuf.ts'
import { asJson, type KubeObject, parseApiVersion } from '../../api/object.ts'
import type { StoredObject, WatchEvent } from '../../api/request.ts'
import type { StructSchema } from '../../api/schema/schema.ts'
import { builtinKind } from '../../api/scheme/scheme.ts'
import { internalError } from '../../api/status.ts'
import type { Runtime } from '../../base/runtime.ts'
import { inTurns } from '../../base/turns.ts'

/** A kind as it leaves: what its envelope says, and how its objects are encoded. */
export interface MessageForm {
  readonly apiVersion: string
  readonly kind: string
  readonly schema: StructSchema
  readonly encode: (object: KubeObject) => Uint8Array
}

const forms = new Map<string, MessageForm>()

/** The same object every time. The machinery's kinds (Status, PartialObjectMetadata) are known under any version of it. */
export function messageForm(apiVersion: string, kind: string): MessageForm {
  const name = `${apiVersion}/${kind}`
  let form = forms.get(name)
  if (form === undefined) {
    const { group, version } = parseApiVersion(apiVersion)
    const known = builtinKind(group, version, kind) ?? builtinKind('meta.k8s.io', 'v1', kind)
    if (typeof known !== 'object') throw internalError(`${kind} of ${apiVersion} has no protobuf form`)
    const { schema } = known
    form = { apiVersion, kind, schema, encode: (object) => encodeMessage(asJson(object), schema) }
    forms.set(name, form)
  }
  return form
}

/** Any object that has a form. */
export function objectBytes(object: KubeObject): Uint8Array {
  return encodeProtobuf(asJson(object), messageForm(object.apiVersion ?? '', object.kind).schema)
}

/** An object of the cache, as it stands there. */
export function storedPieces(stored: StoredObject, form: MessageForm): readonly Uint8Array[] {
  const message = messageOf(stored, form)
  const [before, after] = envelopeAround(form.apiVersion, form.kind, message.length)
  return [before, message, after]
}

function messageOf(stored: StoredObject, form: MessageForm): Uint8Array {
  return stored.message === undefined ? form.encode(stored.object) : stored.message(form.encode)
}

/** Other requests get their turns while the messages are made. */
export async function listBytes(
  list: KubeObject,
  items: readonly StoredObject[],
  form: MessageForm,
  runtime: Runtime,
): Promise<readonly Uint8Array[]> {
  const messages = await inTurns(runtime, 'protobuf list', items, (item) => messageOf(item, form))
  const { schema } = messageForm(list.apiVersion, list.kind)
  return listAround({ apiVersion: list.apiVersion, kind: list.kind, metadata: asJson(list.metadata) }, schema, messages)
}

/** Encodes the events of a watch whose objects have this form. */
export function frameEncoder(form: MessageForm): (event: WatchEvent) => Uint8Array {
  const stored = (type: WatchEvent['type'], one: StoredObject) =>
    frameAround(type, form.apiVersion, form.kind, messageOf(one, form))
  return (event) => {
    if (event.frame !== undefined) return event.frame(stored)
    const { schema } = event.type === 'ERROR' ? messageForm('v1', 'Status') : form
    return encodeProtobufWatchEvent(event.type, asJson(event.object), schema)
  }
}
