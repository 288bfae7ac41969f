/**
 * What KMS v2 stores of a value (KEP-3299): a protobuf message of the ciphertext, the key that encrypted it as a plugin has wrapped it, and
 * what the plugin wants to see again when it is to unwrap it.
 */

export interface WrappedKey {
  /** As the plugin gave it. */
  readonly source: Uint8Array
  /** What the source is once it is unwrapped: see data-keys.ts. */
  readonly type: number
  /** The plugin's name of the key by which it is wrapped. */
  readonly keyId: string
  readonly annotations: Readonly<Record<string, Uint8Array>>
}

export interface EncryptedObject {
  readonly data: Uint8Array
  readonly key: WrappedKey
}

const [DATA, KEY_ID, SOURCE, ANNOTATIONS, TYPE] = [1, 2, 3, 4, 5]
const [VARINT, BYTES] = [0, 2]

/** All of the message but the ciphertext: the same for every value of one key. */
export function encodeWrappedKey({ source, type, keyId, annotations }: WrappedKey): Buffer {
  return Buffer.concat([
    bytesField(KEY_ID, Buffer.from(keyId)),
    bytesField(SOURCE, source),
    ...Object.keys(annotations)
      .sort()
      .map((name) =>
        bytesField(
          ANNOTATIONS,
          Buffer.concat([bytesField(1, Buffer.from(name)), bytesField(2, annotations[name] as Uint8Array)]),
        ),
      ),
    ...(type === 0 ? [] : [Buffer.concat([varint(TYPE * 8 + VARINT), varint(type)])]),
  ])
}

export const encodeData = (data: Uint8Array): Buffer => bytesField(DATA, data)

/** @throws Error for what is no such message */
export function decodeEncryptedObject(message: Uint8Array): EncryptedObject {
  let data: Uint8Array = new Uint8Array()
  let source: Uint8Array = new Uint8Array()
  let type = 0
  let keyId = ''
  const annotations: Record<string, Uint8Array> = {}
  for (const [field, value] of fieldsOf(message)) {
    if (typeof value === 'number') {
      if (field === TYPE) type = value
    } else if (field === DATA) data = value
    else if (field === KEY_ID) keyId = textOf(value)
    else if (field === SOURCE) source = value
    else if (field === ANNOTATIONS) {
      let [name, content]: [string, Uint8Array] = ['', new Uint8Array()]
      for (const [part, given] of fieldsOf(value)) {
        if (typeof given === 'number') continue
        if (part === 1) name = textOf(given)
        else if (part === 2) content = given
      }
      Object.defineProperty(annotations, name, { value: content, enumerable: true })
    }
  }
  if (data.length === 0) throw new Error('failed to validate encrypted object: encrypted data is empty')
  return { data, key: { source, type, keyId, annotations } }
}

const textOf = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8')

function bytesField(field: number, value: Uint8Array): Buffer {
  return Buffer.concat([varint(field * 8 + BYTES), varint(value.length), value])
}

function varint(value: number): Buffer {
  const bytes: number[] = []
  let rest = value
  for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128)
  return Buffer.from([...bytes, rest])
}

/** Those of the kinds that the message has. */
function* fieldsOf(message: Uint8Array): Generator<readonly [number, number | Uint8Array]> {
  let at = 0
  const number = () => {
    let value = 0
    for (let scale = 1; ; scale *= 128) {
      const byte = message[at++]
      if (byte === undefined || scale > 2 ** 63) throw new Error('unexpected EOF')
      value += (byte & 127) * scale
      if (byte < 128) return value
    }
  }
  while (at < message.length) {
    const tag = number()
    const field = Math.floor(tag / 8)
    if (tag % 8 === VARINT) yield [field, number()]
    else if (tag % 8 === BYTES) {
      const length = number()
      if (at + length > message.length) throw new Error('unexpected EOF')
      yield [field, message.subarray(at, at + length)]
      at += length
    } else throw new Error(`proto: illegal wireType ${tag % 8}`)
  }
}
