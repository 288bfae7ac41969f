/**
 * One revision of one object: bytes as stored, parsed and encoded only when asked for, and then once for all.
 *
 * Stored is the JSON of the storage version, kind, apiVersion and metadata in front, without resourceVersion. Served, the
 * same bytes have the resourceVersion as the first field of metadata. A `full` object is built once; a list takes its
 * items out of the same bytes (`tail`), behind kind and apiVersion.
 */
import { afterValue } from '../../api/codec/json-text.ts'
import { deepFreeze } from '../../api/freeze.ts'
import { withoutManagedFields } from '../../api/metadata.ts'
import { asKubeObject, type KubeObject } from '../../api/object.ts'
import { noParts, type Parts, type WrittenPart } from '../../api/parts.ts'
import type { StoredObject } from '../../api/request.ts'
import { jsonText, parseExactly } from '../../api/values/json.ts'
import type { EntryMemory } from './entry-memory.ts'
import type { Holder, Recent } from './recent.ts'
import type { SelectedFields, SelectedValues } from './selected.ts'
import { withoutField } from './skipped-field.ts'
import { storedText } from './stored-text.ts'
import type { UnreadableValue } from './unreadable.ts'

export interface CacheEntry extends StoredObject {
  /**
   * The full JSON from `"metadata"` on, up to and with the last brace: an item of a list is `{` and this. A view, not a
   * copy.
   */
  tail(): Uint8Array
  metadataJson(): string
  message(encode: (object: KubeObject) => Uint8Array): Uint8Array
  /** Bytes held; for bounding what holds entries. */
  readonly size: number
  /** The same object in another form (a served version), made once; this very entry when nothing changes. */
  as(form: ServedForm): CacheEntry
  /** Whether its full JSON begins with these bytes, which end where metadata begins. */
  begins(head: Uint8Array): boolean
  /** The same object as of another revision: what a DELETED event carries. */
  at(revision: number): CacheEntry
  /** It outlives those written with it: its bytes go where such bytes lie close together. */
  keep(): void
  /** Its bytes, if they were kept, go where memory for such bytes has begun anew. */
  move(): void
  /** See CurrentObject. */
  asWritten(written: KubeObject): KubeObject
  readonly trimmed: KubeObject
  /** Another revision has taken its place: what is made of it is not kept. */
  forgetTrimmed(): void
  /** Other forms of it, which can be made again, are not kept. */
  forgetMade(): void
  /** What selectors ask of it: taken once, and kept without the object. */
  selected(fields: SelectedFields): SelectedValues
  /** Why it cannot be read: whatever is asked of it but its key and revision throws the answer to that, a StatusError. */
  readonly unreadable?: UnreadableValue
}

/**
 * How objects are served when not simply as they are stored. Compared by identity: made once per resource and version. Of
 * forms with one name an entry keeps the one it was asked for last.
 */
export interface ServedForm {
  readonly name: string
  /** Pure; gives the very same object when it has this form already. */
  convert(object: KubeObject): KubeObject
  /** A form from which this one differs by the beginning of its bytes, up to metadata, alone: nothing need be parsed. */
  readonly like?: { readonly form: ServedForm; readonly head: Buffer; readonly ownHead: Buffer }
}

const METADATA = Buffer.from('"metadata":{')
const MANAGED_FIELDS = Buffer.from('"managedFields":')

/** The bytes to store: the object without resourceVersion, with kind, apiVersion and metadata in front. */
export function encodeStored(
  object: KubeObject,
  parts?: Parts,
  allocate: EntryMemory['allocate'] = Buffer.allocUnsafe,
): Uint8Array {
  const text = textToStore(object, parts)
  const bytes = allocate(Buffer.byteLength(text))
  bytes.write(text)
  return bytes
}

function textToStore(object: KubeObject, parts: Parts = noParts): string {
  if (isStoredForm(object)) return storedText(object, parts)
  const { kind, apiVersion, metadata, ...rest } = object
  const { resourceVersion: _, ...stored } = metadata ?? {}
  return jsonText({ kind, apiVersion, metadata: stored, ...rest })
}

function isStoredForm(object: KubeObject): boolean {
  if (object.metadata === undefined || object.metadata.resourceVersion !== undefined) return false
  let place = 0
  for (const name in object) {
    if (name !== FRONT[place++]) return false
    if (place === FRONT.length) return true
  }
  return false
}

const FRONT = ['kind', 'apiVersion', 'metadata']

/** @throws SyntaxError when the bytes are no JSON */
export function decodeStored(value: Uint8Array, revision: number, spec?: WrittenPart): KubeObject {
  return withRevision(parsed(textOf(value), spec), revision)
}

/** `spec`, when given, is what the text was made with: it need not be parsed. */
function parsed(text: string, spec: WrittenPart | undefined): KubeObject {
  const known = spec && `"spec":${spec.text()}`
  const at = known === undefined ? -1 : text.indexOf(known)
  if (spec === undefined || known === undefined || at < 0) return parseExactly(text) as KubeObject
  const object = parseExactly(`${text.slice(0, at)}"spec":0${text.slice(at + known.length)}`) as { spec: unknown }
  if (object.spec !== 0) return parseExactly(text) as KubeObject
  object.spec = spec.part()
  return asKubeObject(object)
}

/** An object that was made for one answer, in the shape of what storage holds. */
export function encodedObject(key: string, revision: number, object: KubeObject): StoredObject {
  let line: Buffer | undefined
  const bytes = () => (line ??= Buffer.from(`${jsonText(object)}\n`))
  return { key, revision, object, json: () => bytes().subarray(0, -1), line: bytes }
}

function withRevision(object: KubeObject, revision: number): KubeObject {
  const resourceVersion = String(revision)
  if (object.metadata?.resourceVersion === resourceVersion) return object
  return { ...object, metadata: { ...object.metadata, resourceVersion } }
}

export interface EntryOptions {
  readonly memory: EntryMemory
  /** Objects are frozen deeply when parsed: in tests. */
  readonly freeze: boolean
  /** The pool of entries that may keep their objects; without it all do. */
  readonly recent?: Recent
  /** What is read when a server starts outlives those read with it (see keep). */
  readonly kept?: boolean
  /** Where what is loaded at the start may be found, and is put. */
  readonly shared?: SharedEntries
}

/** Entries of values that several servers begin with, by the value: what one of them parses or encodes the others need not. */
export type SharedEntries = WeakMap<Uint8Array, CacheEntry>

/** The object of a write that was just encoded, so that the cache need not parse its bytes. */
export interface Encoded {
  readonly object: KubeObject
  /** Its spec, if that recurs. */
  readonly spec: WrittenPart | undefined
}

/** `known`, when given, is what `value` encodes. */
export function createEntry(
  key: string,
  revision: number,
  value: Uint8Array,
  options: EntryOptions,
  known?: Encoded,
): CacheEntry {
  return new Entry(key, revision, value, options, known?.object, known?.spec)
}

/** A class, because there are as many as objects: methods on a prototype take no memory per entry. */
class Entry implements CacheEntry, Holder {
  readonly key: string
  readonly revision: number
  readonly size: number
  readonly #options: EntryOptions
  /** Given up once `#line`, which holds the same, is made. */
  #stored: Uint8Array | undefined
  /** As it is served, with the end of its line. */
  #line: Buffer | undefined
  #tailStart = 0
  #object: KubeObject | undefined
  /** Its spec, if that recurs. */
  readonly #spec: WrittenPart | undefined
  /** Whether `#object` has the resourceVersion: what is known of a write has not. */
  #complete = false
  /** Whether the object was asked for: at all, and since release() was. */
  #given = false
  #used = false
  /** The object that was given and then released: a reader may have kept it, and shares it with the next one. */
  #weak: WeakRef<KubeObject> | undefined
  /** The object without what informers drop; kept as long as this is the newest revision, since informers hold it too. */
  #trimmed: KubeObject | undefined
  /** A form in which it is served as it is. */
  #settled: ServedForm | undefined
  #others: Map<string, { readonly form: ServedForm; readonly entry: CacheEntry }> | undefined
  #message: Uint8Array | undefined
  #selected: SelectedValues | undefined
  #kept: boolean

  constructor(
    key: string,
    revision: number,
    value: Uint8Array,
    options: EntryOptions,
    known: KubeObject | undefined,
    spec?: WrittenPart,
  ) {
    this.key = key
    this.revision = revision
    this.size = value.byteLength
    this.#options = options
    this.#kept = options.kept === true
    this.#stored = value
    this.#spec = spec
    if (known) this.#hold(known, false)
  }

  get object(): KubeObject {
    this.#given = true
    this.#used = true
    if (this.#object === undefined) {
      const shared = this.#weak?.deref()
      this.#hold(shared ?? this.#parsed(), shared !== undefined)
    }
    if (!this.#complete) {
      this.#object = freezeIf(this.#options, withRevision(this.#object as KubeObject, this.revision))
      this.#complete = true
    }
    return this.#object as KubeObject
  }

  asWritten(written: KubeObject): KubeObject {
    const used = this.#used
    if (this.#object === undefined && this.#weak?.deref() === undefined) this.#hold(written, false)
    const { object } = this
    this.#used = used
    return object
  }

  get trimmed(): KubeObject {
    this.#trimmed ??= freezeIf(this.#options, withRevision(this.#lessParsed(), this.revision))
    return this.#trimmed
  }

  forgetTrimmed(): void {
    this.#trimmed = undefined
  }

  /** Without managedFields, which are a third of a pod and half of the work of parsing it. */
  #lessParsed(): KubeObject {
    const known = this.#object ?? this.#weak?.deref()
    if (known !== undefined) return withoutManagedFields(known)
    const bytes = this.#line ?? (this.#stored as Uint8Array)
    const json = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    const start = this.#line === undefined ? metadataStart(json, this.#options.memory) : this.#tailStart
    if (start < 0) return withoutManagedFields(this.#parsed())
    return parsed(withoutField(json, start + METADATA.length, MANAGED_FIELDS), this.#spec)
  }

  release(): boolean {
    if (this.#used) {
      this.#used = false
      return false
    }
    if (this.#given && this.#object !== undefined) this.#weak = new WeakRef(this.#object)
    this.#object = undefined
    return true
  }

  #hold(object: KubeObject, complete: boolean): void {
    this.#object = object
    this.#complete = complete
    this.#options.recent?.add(this)
  }

  #parsed(): KubeObject {
    return this.#line
      ? parsed(textOf(this.#line), this.#spec)
      : decodeStored(this.#stored as Uint8Array, this.revision, this.#spec)
  }

  json(form: 'full' | 'item'): Uint8Array {
    const line = this.#lineBytes()
    if (form === 'full') return line.subarray(0, -1)
    const item = Buffer.allocUnsafe(line.length - this.#tailStart)
    item[0] = 0x7b
    line.copy(item, 1, this.#tailStart, line.length - 1)
    return item
  }

  line(): Uint8Array {
    return this.#lineBytes()
  }

  tail(): Uint8Array {
    return this.#lineBytes().subarray(this.#tailStart, -1)
  }

  metadataJson(): string {
    const { memory } = this.#options
    const line = this.#line
    const stored = line ?? Buffer.from(this.#stored!.buffer, this.#stored!.byteOffset, this.#stored!.byteLength)
    const start = line === undefined ? metadataStart(stored, memory) : this.#tailStart
    // Bytes that another API server wrote, in another order.
    if (start < 0) return jsonText((this.#object ?? this.#parsed()).metadata)
    const at = start + METADATA.length
    const fields = stored.toString('utf8', at, afterValue(stored, at, 1))
    return line === undefined ? `{${revisionField(this.revision, fields === '}')}${fields}` : `{${fields}`
  }

  message(encode: (object: KubeObject) => Uint8Array): Uint8Array {
    // The object is not kept for it: a list of thousands would hold them all.
    this.#message ??= encode(this.#object === undefined ? this.#parsed() : this.object)
    return this.#message
  }

  as(form: ServedForm): CacheEntry {
    if (this.#settled === form) return this
    const known = this.#others?.get(form.name)
    if (known?.form === form) return known.entry
    const entry = this.#renamed(form) ?? this.#converted(form)
    if (entry === this) this.#settled = form
    else {
      this.#others ??= new Map()
      this.#others.set(form.name, { form, entry })
    }
    return entry
  }

  #converted(form: ServedForm): CacheEntry {
    // The object is not kept for it: a list of thousands would hold them all.
    const object = this.#object === undefined ? this.#parsed() : this.object
    const converted = form.convert(object)
    if (converted === object) return this
    return new Entry(this.key, this.revision, encodeStored(converted), this.#options, converted)
  }

  begins(head: Uint8Array): boolean {
    const line = this.#lineBytes()
    return this.#tailStart === head.length && line.compare(head, 0, head.length, 0, head.length) === 0
  }

  /** undefined where more than the beginning differs. */
  #renamed({ like }: ServedForm): CacheEntry | undefined {
    if (like === undefined || this.as(like.form) !== this || !this.begins(like.head)) return undefined
    const line = this.#lineBytes()
    const { head, ownHead } = like
    const other = this.#options.memory.allocatePassing(ownHead.length + line.length - head.length)
    ownHead.copy(other, 0)
    line.copy(other, ownHead.length, head.length)
    const entry = new Entry(this.key, this.revision, other, this.#options, undefined)
    entry.#beLine(other, ownHead.length)
    return entry
  }

  #beLine(line: Buffer, tailStart: number): void {
    this.#line = line
    this.#tailStart = tailStart
    this.#stored = undefined
  }

  at(revision: number): CacheEntry {
    const entry = new Entry(this.key, revision, this.#storedBytes(), this.#options, this.#object, this.#spec)
    entry.#settled = this.#settled
    if (this.#trimmed !== undefined) entry.#trimmed = freezeIf(this.#options, withRevision(this.#trimmed, revision))
    return entry
  }

  selected(fields: SelectedFields): SelectedValues {
    if (!fields.holds(this.#selected)) {
      // The object is not kept for it, as for a message.
      this.#selected = fields.take(this.#trimmed ?? this.#lessParsed())
    }
    return this.#selected
  }

  keep(): void {
    if (this.#kept) return
    this.#kept = true
    if (this.#line) this.move()
    else this.#lineBytes()
  }

  move(): void {
    const line = this.#line
    if (!line || !this.#kept) return
    const moved = this.#options.memory.allocate(line.length)
    line.copy(moved)
    this.#line = moved
    this.#others = undefined
  }

  forgetMade(): void {
    this.#message = undefined
    this.#others = undefined
  }

  #storedBytes(): Uint8Array {
    if (this.#stored) return this.#stored
    const line = this.#line as Buffer
    const start = this.#tailStart + METADATA.length
    let end = start + `"resourceVersion":"${this.revision}"`.length
    if (line[end] === 0x2c) end++
    return Buffer.concat([line.subarray(0, start), line.subarray(end, -1)])
  }

  #lineBytes(): Buffer {
    if (this.#line) return this.#line
    const stored = this.#stored as Uint8Array
    const { memory } = this.#options
    let bytes = Buffer.from(stored.buffer, stored.byteOffset, stored.byteLength)
    this.#tailStart = metadataStart(bytes, memory)
    if (this.#tailStart < 0) {
      // Bytes that another API server wrote, in another order.
      bytes = Buffer.from(encodeStored(decodeStored(bytes, this.revision)))
      this.#tailStart = metadataStart(bytes, memory)
    }
    const line = servedLine(
      bytes,
      this.#tailStart,
      this.revision,
      this.#kept ? memory.allocate : memory.allocatePassing,
    )
    this.#beLine(line, this.#tailStart)
    return line
  }
}

/** Where `"metadata":{` begins when kind, apiVersion and metadata come first, as encodeStored writes them; else -1. */
function metadataStart(bytes: Buffer, memory: EntryMemory): number {
  const { lastHead } = memory
  const known = lastHead.length
  if (known > 0 && bytes.length > known && bytes.compare(lastHead, 0, known, 0, known) === 0)
    return known - METADATA.length
  const start = bytes.subarray(0, 512).indexOf(METADATA)
  if (start < 0) return -1
  const head = bytes.toString('latin1', 0, start)
  if (!/^\{"kind":"[^"\\]*","apiVersion":"[^"\\]*",$/.test(head)) return -1
  memory.lastHead = Buffer.from(bytes.subarray(0, start + METADATA.length))
  return start
}

/** As it stands first in metadata; nothing may follow. */
const revisionField = (revision: number, isLast: boolean) => `"resourceVersion":"${revision}"${isLast ? '' : ','}`

/** The stored bytes with their revision, and the end of a line. */
function servedLine(bytes: Buffer, start: number, revision: number, allocate: (size: number) => Buffer): Buffer {
  const at = start + METADATA.length
  const isEmpty = bytes[at] === 0x7d
  const inserted = revisionField(revision, isEmpty)
  const out = allocate(bytes.length + inserted.length + 1)
  bytes.copy(out, 0, 0, at)
  out.write(inserted, at, 'latin1')
  bytes.copy(out, at + inserted.length, at)
  out[out.length - 1] = 0x0a
  return out
}

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8')
}

function freezeIf({ freeze }: EntryOptions, object: KubeObject): KubeObject {
  return freeze ? deepFreeze(object) : object
}
