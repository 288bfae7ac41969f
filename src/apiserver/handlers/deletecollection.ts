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
import { list } from './list-from-cache-or-store.ts'
import { negotiate } from './negotiate.ts'
import { listOptions, validateDeleteOptions } from './options.ts'
import { writeContext } from './write.ts'

/** As many are deleted at a time, by one write of the store: its wait, not the work, was what a large collection took. */
const WORKERS = 64

/** Answers with the objects as they were listed. */
export async function handleDeleteCollection(resource: ResourceRequest): Promise<ApiResponse> {
  const { request, info, row, endpoint } = resource
  const representation = negotiate(request, { row })
  const selector = listOptions(request.query)
  const options = decodeDeleteOptions(resource)
  validateDeleteOptions(options, true)
  const dryRun = (options.dryRun?.length ?? 0) > 0
  resource.warnings.push(...(endpoint.strategy.warningsOnDelete?.(options) ?? []))
  const listed = await list(resource, selector)
  // What cannot be read is not deleted, nor is anything beside it.
  if (endpoint.served.byWebhook) await endpoint.served.entries(listed.items)
  const attributes = { dryRun, options: { ...options } }
  await deleteEach(resource, listed.items, options, (namespace, existing) =>
    // Admission is asked about the collection: the request names no object.
    admitDelete({ ...resource, info: { ...info, name: '', namespace } }, attributes, existing),
  )
  return respondList(resource, listed, representation)
}

/** Those that are gone meanwhile are passed over. @throws StatusError what `validate` throws, or a delete */
export async function deleteEach(
  resource: ResourceRequest,
  items: readonly StoredObject[],
  options: DeleteOptions,
  validate: (namespace: string, existing: KubeObject | undefined) => void | Promise<void>,
): Promise<void> {
  const { context, info } = resource
  const dryRun = (options.dryRun?.length ?? 0) > 0
  const left = [...items].reverse()
  const worker = async () => {
    for (let item = left.pop(); item !== undefined; item = left.pop()) {
      const { name = '', namespace = '' } = item.object.metadata
      const write = writeContext({ ...resource, info: { ...info, name, namespace } }, { dryRun })
      try {
        await deleteObject(context.registry, write, options, (existing) => validate(namespace, existing))
      } catch (error) {
        if (!isNotFound(error)) throw error
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(WORKERS, items.length) }, worker))
}
