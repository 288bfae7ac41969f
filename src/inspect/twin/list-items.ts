/** Lists a resource for a twin: every object as the store has it, without parsing more of it than metadata. */
import { listHead, readListText } from '../../api/codec/list-text.ts'
import type { ApiResponse } from '../../api/request.ts'
import { isExpired } from '../../api/status.ts'
import type { Client, GroupVersionResource } from '../../client/client.ts'
import { responseList } from '../../client/response.ts'
import { type StoredItem, storedItem, unparsedItem } from '../../cluster/twin.ts'

/** What is listed, and how the store has it. */
export interface ItemForm {
  readonly resource: GroupVersionResource
  readonly apiVersion: string
  readonly kind: string
}

interface Page {
  readonly items: readonly StoredItem[]
  readonly next: string | undefined
}

const PAGE = 500

/** All of a list, in pages. One whose pages ended too late is begun anew, whole. @throws StatusError */
export async function listItems(
  client: Client,
  form: ItemForm,
  namespace: string,
  metadataOnly = false,
): Promise<readonly StoredItem[]> {
  const resource = client.resource(form.resource).namespace(namespace)
  try {
    return await inPages(
      (next) => resource.listAnswer({ metadataOnly, limit: PAGE, ...(next === '' ? {} : { continue: next }) }),
      form,
    )
  } catch (error) {
    if (!isExpired(error)) throw error
    return (await pageOf(await resource.listAnswer({ metadataOnly }), form)).items
  }
}

/** The next page is asked for before one is looked at: the server makes it meanwhile. */
async function inPages(ask: (next: string) => Promise<ApiResponse>, form: ItemForm): Promise<readonly StoredItem[]> {
  const items: StoredItem[] = []
  for (let coming: Promise<ApiResponse> | undefined = ask(''); coming !== undefined; ) {
    const answer = await coming
    const early = earlyNext(answer)
    coming = early === undefined ? undefined : ask(early)
    // Where looking at this one fails, what became of the next is no matter.
    coming?.catch(() => {})
    const page = await pageOf(answer, form)
    for (const item of page.items) items.push(item)
    if (coming === undefined && page.next !== undefined) coming = ask(page.next)
  }
  return items
}

const nextOf = (metadata: { readonly continue?: string } | undefined): string | undefined =>
  metadata?.continue || undefined

const earlyNext = (answer: ApiResponse): string | undefined =>
  answer.kind === 'bytes' && answer.bytes[0] !== undefined ? nextOf(listHead(answer.bytes[0])?.metadata) : undefined

async function pageOf(answer: ApiResponse, { apiVersion, kind }: ItemForm): Promise<Page> {
  if (answer.kind === 'bytes') {
    const bytes = answer.bytes.length === 1 ? answer.bytes[0] : Buffer.concat(answer.bytes)
    const head = `{"kind":${JSON.stringify(kind)},"apiVersion":${JSON.stringify(apiVersion)},`
    const text = readListText(bytes ?? Buffer.alloc(0), head)
    if (text !== undefined)
      return {
        items: text.items.map(({ metadata, stored }) => unparsedItem(metadata, stored)),
        next: nextOf(text.list.metadata),
      }
  }
  const { items, metadata } = await responseList(answer)
  return { items: items.map((item) => storedItem({ ...item, apiVersion, kind })), next: nextOf(metadata) }
}
