/** Answers of an API server, from either transport, as what a caller wants: an object, a list, a text, or a StatusError. */
import type { Status } from '../api/generated/types.ts'
import { withoutManagedFields } from '../api/metadata.ts'
import type { Given, KubeObject } from '../api/object.ts'
import type { ApiResponse, StoredObject } from '../api/request.ts'
import { StatusError } from '../api/status.ts'
import { jsonText, parseExactly } from '../api/values/json.ts'
import type { KubeList, ListOptions } from './client.ts'
import type { Requester } from './transport.ts'

const decoder = new TextDecoder()

function joinText(bytes: readonly Uint8Array[]): string {
  if (bytes.length === 1) return decoder.decode(bytes[0])
  return bytes.map((part) => decoder.decode(part, { stream: true })).join('') + decoder.decode()
}

/** The StatusError in `error`, or undefined when the request failed without an answer. */
export function statusOf(error: unknown): StatusError | undefined {
  return error instanceof StatusError ? error : undefined
}

/** A failure's Status object as the error that it stands for. */
export function errorFromStatus({ code, reason, message, details }: Given<Status>, httpCode = 500): StatusError {
  return new StatusError(Number(code ?? httpCode), String(reason ?? ''), String(message ?? ''), details)
}

/** @throws StatusError for a Status of Failure; Error for an answer that is no object */
export function responseObject(response: ApiResponse): KubeObject {
  const object: Given<Status> = bare(response)
  if (object.kind === 'Status' && object.status === 'Failure') throw errorFromStatus(object, response.status)
  if (response.status >= 400) throw new StatusError(response.status, '', jsonText(object))
  return object
}

function bare(response: ApiResponse): KubeObject {
  switch (response.kind) {
    case 'object':
      return response.object
    case 'bytes': {
      const text = joinText(response.bytes)
      try {
        return parseExactly(text) as KubeObject
      } catch (cause) {
        if (response.status >= 400) throw new StatusError(response.status, '', text, undefined, { cause })
        throw new Error('the server answered something that is not JSON', { cause })
      }
    }
    case 'list':
      return { ...response.list, items: response.items.map((item) => item.object) }
    default:
      throw new Error(`unexpected answer of kind ${response.kind}`)
  }
}

const atOnce: Requester['inTurns'] = async (items, act) => items.map(act)

/** Items of a typed list come without kind and apiVersion on a wire; here every item has them. */
export async function responseList<T extends KubeObject>(
  response: ApiResponse,
  {
    inTurns = atOnce,
    withoutManagedFields: areTrimmed = false,
  }: Partial<Pick<Requester, 'inTurns'>> & ListOptions = {},
): Promise<KubeList<T>> {
  if (response.kind === 'list') {
    // What is asked for here first is parsed now.
    const objectOf = (item: StoredObject) =>
      areTrimmed ? (item.trimmed ?? withoutManagedFields(item.object)) : item.object
    return {
      metadata: response.list.metadata as KubeList<T>['metadata'],
      items: (await inTurns(response.items, objectOf)) as KubeObject[] as T[],
    }
  }
  const list: KubeObject & { readonly items?: readonly T[] | null } = responseObject(response)
  const kind = list.kind.replace(/List$/, '')
  const items = (list.items ?? []).map((item) => {
    const whole = (item.kind !== undefined ? item : { apiVersion: list.apiVersion, kind, ...(item as object) }) as T
    return areTrimmed ? withoutManagedFields(whole) : whole
  })
  return { metadata: list.metadata as KubeList<T>['metadata'], items }
}

export function responseText(response: ApiResponse): string {
  if (response.kind === 'bytes') return joinText(response.bytes)
  return jsonText(bare(response))
}

const MOST_BYTES = 64 * 1024 * 1024

/** The same, of an answer that another server gives as well (a proxied one), once it is there. @throws Error when it is too long */
export async function wholeText(response: ApiResponse): Promise<string> {
  if (response.kind !== 'stream') return responseText(response)
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response.chunks) {
    size += chunk.length
    if (size > MOST_BYTES) throw new Error(`the answer is longer than ${MOST_BYTES} bytes`)
    chunks.push(chunk)
  }
  return joinText(chunks)
}
