/**
 * The Namespace controller: empties a namespace that is being deleted, then takes its finalizer off. Pods go first, so that
 * what protects or feeds them outlives them.
 */

import type { Namespace, NamespaceStatus, Pod } from '../../api/generated/types.ts'
import { durationMs, type Int64, maxInt64 } from '../../api/objects/integers.ts'
import { isConflict, isNotFound } from '../../api/status.ts'
import { messageOf } from '../../base/errors.ts'
import type { DiscoveredResource } from '../../client/client.ts'
import { createWorkQueue, runWorkers } from '../../client/work-queue.ts'
import type { Controller, ControllerContext } from '../controller.ts'
import { type Content, contentConditions, emptyContent, withConditions } from './conditions.ts'

const namespacesResource = { group: '', version: 'v1', resource: 'namespaces' }
const finalizer = 'kubernetes'
/** Last-minute creations get this long to be seen. */
const graceMs = 5000
const finalizerEstimateSeconds = 15
const defaultPodGraceSeconds = 30
const workers = 10

class ContentRemainingError extends Error {
  readonly seconds: Int64
  constructor(seconds: Int64) {
    super(`some content remains in the namespace, estimate ${seconds} seconds before it is removed`)
    this.seconds = seconds
  }
}

export function createNamespaceController(context: ControllerContext): Controller {
  const { runtime, client, informers, signal } = context
  const log = runtime.log.named('namespace-controller')
  const namespaces = informers.informer<Namespace>(namespacesResource)
  const queue = createWorkQueue<string>(runtime, 'namespace', { maxDelayMs: 60_000 })
  const resource = client.resource<Namespace>(namespacesResource)

  async function sync(name: string): Promise<void> {
    if (namespaces.store.get(name) === undefined) return
    const namespace = await resource.get(name).catch((error) => {
      if (isNotFound(error)) return undefined
      throw error
    })
    if (namespace?.metadata.deletionTimestamp === undefined) return
    const finalizers: readonly string[] = namespace.spec?.finalizers ?? []
    if (finalizers.length === 0) return
    const seconds = await deleteAllContent(namespace)
    if (seconds > 0) throw new ContentRemainingError(seconds)
    await finalize(namespace)
  }

  async function reconcile(name: string): Promise<'retry' | undefined> {
    try {
      await sync(name)
      return undefined
    } catch (error) {
      if (error instanceof ContentRemainingError) {
        log.info(4, 'Content remaining in namespace', { namespace: name, waitSeconds: error.seconds })
        // Half of it in whole seconds, and one more.
        queue.addAfter(name, durationMs(BigInt(error.seconds) / 2n + 1n))
        return undefined
      }
      if (!signal.aborted) log.info(2, 'Deletion of namespace failed', { namespace: name, err: String(error) })
      return 'retry'
    }
  }

  /** Seconds to wait before looking again; 0 when nothing is left. @throws when some content could not be deleted */
  async function deleteAllContent(namespace: Namespace): Promise<number> {
    const name = namespace.metadata.name ?? ''
    const content = emptyContent()
    const found = await client.discover()
    if (found.failed.length > 0) content.discoveryFailure = discoveryFailure(found.failed)
    const deletable = found.resources.filter((entry) => entry.namespaced && entry.verbs.includes('delete'))
    const pods = deletable.filter((entry) => entry.group === '' && entry.resource === 'pods')
    const others = deletable.filter((entry) => !pods.includes(entry))
    let estimate: Int64 = 0
    const visit = async (entries: readonly DiscoveredResource[]) => {
      for (const entry of entries) {
        try {
          estimate = maxInt64(estimate, await deleteContent(entry, name, content))
        } catch (error) {
          if (signal.aborted) throw error
          content.failures.push(messageOf(error))
        }
      }
    }
    await visit(pods)
    const podsRemain = estimate > 0 || content.failures.length > 0
    if (podsRemain) forgetRemaining(content)
    else await visit(others)
    await updateConditions(namespace, content)
    if (content.discoveryFailure !== undefined) throw new Error(content.discoveryFailure)
    if (content.failures.length > 0) throw new Error(content.failures.join(', '))
    return estimate
  }

  async function deleteContent(entry: DiscoveredResource, namespace: string, content: Content): Promise<Int64> {
    const objects = client.resource(entry).namespace(namespace)
    const isPods = entry.group === '' && entry.resource === 'pods'
    const grace = isPods ? podGraceSeconds((await objects.list()).items) : 0
    const background = { propagationPolicy: 'Background' as const }
    if (entry.verbs.includes('deletecollection')) {
      await objects.deleteCollection(background)
    } else if (entry.verbs.includes('list')) {
      for (const item of (await objects.list()).items) {
        await objects.delete(item.metadata.name ?? '', background).catch((error) => {
          if (!isNotFound(error)) throw error
        })
      }
    }
    if (!entry.verbs.includes('list')) return 0
    const { items } = await objects.list({ metadataOnly: true })
    if (items.length === 0) return 0
    content.remaining.set(entry.group === '' ? `${entry.resource}.` : `${entry.resource}.${entry.group}`, items.length)
    let held = false
    for (const item of items) {
      for (const finalizer of item.metadata.finalizers ?? []) {
        held = true
        content.finalizers.set(finalizer, (content.finalizers.get(finalizer) ?? 0) + 1)
      }
    }
    if (grace > 0) return grace
    if (held) return finalizerEstimateSeconds
    throw new Error(
      `unexpected items still remain in namespace: ${namespace} for gvr: ${entry.group}/${entry.version}, Resource=${entry.resource}`,
    )
  }

  async function updateConditions(namespace: Namespace, content: Content): Promise<void> {
    const name = namespace.metadata.name ?? ''
    const conditions = contentConditions(content)
    for (let tries = 1, latest = namespace; ; tries++) {
      const status: NamespaceStatus = latest.status ?? {}
      const next = withConditions(status.conditions ?? [], conditions, runtime.clock.now())
      if (next === status.conditions) return
      try {
        await resource.update({ ...latest, status: { ...status, conditions: next } }, { subresource: 'status' })
        return
      } catch (error) {
        if (!isConflict(error) || tries >= 5) throw error
      }
      latest = await resource.get(name)
    }
  }

  async function finalize(namespace: Namespace): Promise<void> {
    const { metadata } = await resource.get(namespace.metadata.name ?? '').catch((error) => {
      if (isNotFound(error)) return namespace
      throw error
    })
    const rest = ((namespace.spec?.finalizers ?? []) as readonly string[]).filter((other) => other !== finalizer)
    const spec = rest.length === 0 ? {} : { finalizers: rest }
    try {
      await resource.update({ apiVersion: 'v1', kind: 'Namespace', metadata, spec }, { subresource: 'finalize' })
    } catch (error) {
      if (!isNotFound(error)) throw error
    }
  }

  return {
    name: 'namespace-controller',
    async start() {
      const enqueue = (namespace: Namespace) => {
        if (namespace.metadata.deletionTimestamp !== undefined) queue.addAfter(namespace.metadata.name ?? '', graceMs)
      }
      namespaces.addHandlers({ added: enqueue, updated: (_, namespace) => enqueue(namespace) })
      await namespaces.whenSynced(signal)
      runWorkers(runtime, queue, context.concurrentSyncs ?? workers, reconcile, signal)
    },
  }
}

/** While pods go, nothing else has been looked at: the conditions say nothing of what remains. */
function forgetRemaining(content: Content) {
  content.remaining.clear()
  content.finalizers.clear()
}

function podGraceSeconds(pods: readonly Pod[]): Int64 {
  let most: Int64 = 0
  for (const pod of pods) {
    const phase = pod.status?.phase
    if (phase === 'Succeeded' || phase === 'Failed') continue
    most = maxInt64(most, pod.spec?.terminationGracePeriodSeconds ?? defaultPodGraceSeconds)
  }
  return most
}

/** In the words of a client that asks for the aggregated form, where such groups are stale. */
function discoveryFailure(failed: readonly string[]): string {
  const each = failed.toSorted().map((version) => `${version}: stale GroupVersion discovery: ${version}`)
  return `Discovery failed for some groups, ${failed.length} failing: unable to retrieve the complete list of server APIs: ${each.join(', ')}`
}
