/** DELETE of a collection: each of the objects a list would give, by the rules of a single delete. */
import type { KubeObject } from '../../api/object.ts'
import type { ApiResponse, StoredObject } from '../../api/request.ts'
import { isNotFound } from '../../api/status.ts'
import { deleteObject } from '../registry/delete.ts'
import type { DeleteOptions } from '../registry/strategy.ts'
import { decodeDeleteOptions } from './body.ts'
import type { ResourceRequest } from './context.ts'
import { admitDelete } from './delete.ts'
import { respondList } from './list.ts'
import { list } from './list-limit-continue-and-resource-version.ts'
import { negotiate } from './negotiate.ts'
import { type ListQuery, listOptions, validateDeleteOptions } from './options.ts'
import { selectionOf } from './selectors.ts'
import { writeContext } from './write.ts'

/** As many are deleted at a time, by one write of the store: its wait, not the work, was what a large collection took. */
const WORKERS = 64

/** Answers with the objects as they were listed. */
export async function handleDeleteCollection(resource: ResourceRequest): Promise<ApiResponse> {
  const { request, info, endpoint } = resource
  const representation = negotiate(request, { kind: endpoint })
  const selector = listOptions(request.query)
  const selection = selectionOf(endpoint.row, endpoint.strategy, selector)
  const options = decodeDeleteOptions(resource)
  validateDeleteOptions(options, true)
  const dryRun = (options.dryRun?.length ?? 0) > 0
  resource.warnings.push(...(endpoint.strategy.warningsOnDelete?.(options) ?? []))
  const listed = await list(resource, atOneVersion(selector), selection)
  // What cannot be read is not deleted, nor is anything beside it.
  if (endpoint.served.byWebhook) await endpoint.served.entries(listed.items)
  const attributes = { dryRun, options: { ...options } }
  await deleteEach(resource, listed.items, options, (namespace, existing) =>
    // Admission is asked about the collection: the request names no object.
    admitDelete({ ...resource, info: { ...info, name: '', namespace } }, attributes, existing),
  )
  return respondList(resource, listed, representation)
}

/** Kubernetes reads what is to go by pages, and pages are those of the version that is named. */
const atOneVersion = (options: ListQuery): ListQuery =>
  options.resourceVersionMatch === '' && !['', '0'].includes(options.resourceVersion)
    ? { ...options, resourceVersionMatch: 'Exact' }
    : options

/**
 * Those that are gone meanwhile are passed over. They are validated one after the other, and what comes behind one that is refused stays:
 * kube-apiserver deletes them one by one. None of them goes on when this has ended. @throws StatusError what `validate` throws, or a delete
 */
export async function deleteEach(
  resource: ResourceRequest,
  items: readonly StoredObject[],
  options: DeleteOptions,
  validate: (namespace: string, existing: KubeObject | undefined) => void | Promise<void>,
): Promise<void> {
  const { context, info } = resource
  const dryRun = (options.dryRun?.length ?? 0) > 0
  const turns = createTurns()
  let next = 0
  const worker = async () => {
    while (next < items.length && !turns.hasFailed) {
      const at = next++
      try {
        const { name = '', namespace = '' } = items[at]?.object.metadata ?? {}
        const write = writeContext({ ...resource, info: { ...info, name, namespace } }, { dryRun })
        await deleteObject(context.registry, write, options, async (existing) => {
          await turns.come(at)
          await validate(namespace, existing)
          turns.end(at)
        })
      } catch (error) {
        if (error === BEHIND) return
        if (isNotFound(error)) continue
        turns.fail()
        throw error
      } finally {
        turns.end(at)
      }
    }
  }
  const ends = await Promise.allSettled(Array.from({ length: Math.min(WORKERS, items.length) }, worker))
  for (const end of ends) if (end.status === 'rejected') throw end.reason
}

/** Thrown to those behind one that failed. */
const BEHIND = new Error('one before it was not deleted')

/** Lets those that began together go on one after the other, in order. */
function createTurns() {
  const waiting = new Map<number, () => void>()
  const ended = new Set<number>()
  let turn = 0
  let hasFailed = false
  return {
    get hasFailed() {
      return hasFailed
    },
    /** @throws BEHIND */
    async come(at: number): Promise<void> {
      if (at > turn && !hasFailed) await new Promise<void>((resolve) => waiting.set(at, resolve))
      if (hasFailed) throw BEHIND
    },
    /** Once or more often. */
    end(at: number): void {
      if (at < turn) return
      ended.add(at)
      while (ended.delete(turn)) turn++
      waiting.get(turn)?.()
      waiting.delete(turn)
    },
    fail(): void {
      hasFailed = true
      for (const wake of waiting.values()) wake()
    },
  }
}
