/** What `kubectl delete` does: which objects its arguments name, and one DELETE for each, in order. */
import { type KubeObject, parseApiVersion } from '../../api/object.ts'
import { isNotFound } from '../../api/status.ts'
import { messageOf } from '../../base/errors.ts'
import type { NamedResource } from '../../client/aggregated-discovery.ts'
import type { ClientDeleteOptions, ListOptions } from '../../client/client.ts'
import type { Kinds } from '../kinds.ts'
import { servedResource, servedResources } from '../question.ts'
import { unreadBecause } from '../twin/partly-read.ts'
import type { NamedObject, ReadCluster } from '../twin/read-cluster.ts'
import type { Deed, DeedStage, Doing } from './deed.ts'
import type { RefusedRequest } from './plan.ts'

export interface DeleteRequest {
  readonly targets: readonly DeleteTarget[]
  /** kubectl's --cascade. Default: background. */
  readonly cascade?: 'background' | 'foreground' | 'orphan'
  /** Seconds; 0 is kubectl's --force --grace-period=0, 1 its --now. Default: each object's own. */
  readonly gracePeriodSeconds?: number
  /** What is not there is no failure. */
  readonly ignoreNotFound?: boolean
}

export type DeleteTarget =
  | { readonly kind: string; readonly namespace: string; readonly name: string }
  | ({
      readonly kind: string
      /** '': all namespaces. */
      readonly namespace: string
    } & Pick<ListOptions, 'labelSelector' | 'fieldSelector'>)
  /** As a manifest has it. */
  | ({ readonly object: KubeObject } & NamespaceOfFiles)

/** Of objects that name none. */
export interface NamespaceOfFiles {
  readonly namespace: string
  /** It was asked for: objects that name another are refused. */
  readonly isGiven?: boolean
}

export const elsewhere = (own: string, namespace: string): string =>
  `its namespace ${own} is not ${namespace}, which --namespace says`

/** What was not read may be there: no request about it can be planned. */
export const refusedUnread = (why: string): Omit<RefusedRequest, 'what'> => ({
  message: `what there is could not be read: ${why}`,
  isUnread: true,
})

export const notServed = ({ apiVersion, kind }: KubeObject): string =>
  `the server serves no ${kind} of ${apiVersion}: its definition must be there before kubectl begins`

/** @throws QuestionError for a kind that is not served, where it is not a file's */
export function deleteDeed(read: ReadCluster, request: DeleteRequest): Deed {
  const what = `delete ${request.targets.map(wordsOf).join(', ')}`
  return { what, stages: [deleteStage(read, what, request)] }
}

/** @throws QuestionError */
export function deleteStage(read: ReadCluster, what: string, request: DeleteRequest): DeedStage {
  const asked = request.targets.map((target) => ({ target, resources: targetResources(read, target) }))
  const targets = asked.flatMap(({ target, resources }) => resources.map((resource) => ({ target, resource })))
  const unserved = asked.flatMap(({ target, resources }) =>
    resources.length === 0 && 'object' in target ? [{ target }] : [],
  )
  return {
    what,
    async run(doing) {
      // kubectl looks all of them up before it deletes the first.
      const found: Found[] = []
      for (const { target } of unserved)
        doing.refused({
          what: `${target.object.kind}/${target.object.metadata.name}`,
          message: notServed(target.object),
        })
      for (const { target, resource } of targets)
        found.push(...(await objectsOf(doing, read, target, resource, request.ignoreNotFound === true)))
      for (const one of found) await deleteOne(doing, one, request)
    },
  }
}

const wordsOf = (target: DeleteTarget): string => {
  if ('object' in target) return `${target.object.kind}/${target.object.metadata?.name ?? ''}`
  if ('name' in target) return `${target.kind}/${target.name}`
  return `${target.kind}${target.labelSelector === undefined ? ' (all)' : ` -l ${target.labelSelector}`}`
}

const nameIn = (target: DeleteTarget): string | undefined =>
  'object' in target ? (target.object.metadata.name ?? '') : 'name' in target ? target.name : undefined

/** What a delete names one by one, for the reading of it. */
export const namedTargets =
  (targets: readonly DeleteTarget[]) =>
  (kinds: Kinds): readonly NamedObject[] =>
    targets.flatMap((target) => {
      const name = nameIn(target)
      if (name === undefined) return []
      return targetResources({ kinds }, target).map((resource) => ({
        resource,
        namespace: (resource.namespaced ? placeOf(target, resource) : undefined) ?? '',
        name,
      }))
    })

function targetResources({ kinds }: Pick<ReadCluster, 'kinds'>, target: DeleteTarget): readonly NamedResource[] {
  if ('name' in target) return [servedResource(kinds, target.kind)]
  if (!('object' in target)) return servedResources(kinds, target.kind)
  const { apiVersion = '', kind } = target.object
  const { group, version } = parseApiVersion(apiVersion)
  // It is asked for in the version of the manifest, which may have to be converted.
  const same = kinds.everyVersion.find((one) => one.group === group && one.version === version && one.kind === kind)
  return [same ?? kinds.ofKind(group, kind)].filter((one) => one !== undefined)
}

interface Found {
  readonly resource: NamedResource
  readonly namespace: string
  readonly name: string
  readonly uid: string
}

async function objectsOf(
  { client, refused }: Doing,
  read: ReadCluster,
  target: DeleteTarget,
  resource: NamedResource,
  ignoreNotFound: boolean,
): Promise<readonly Found[]> {
  const single = nameIn(target)
  const unread = unreadBecause(read, resource, placeOf(target, resource), single)
  if (unread !== undefined) {
    refused({ what: `${resource.resource}/${single ?? '*'}`, ...refusedUnread(unread) })
    return []
  }
  if ('object' in target || 'name' in target) {
    const name = 'object' in target ? (target.object.metadata.name ?? '') : target.name
    const own = 'object' in target ? target.object.metadata.namespace : undefined
    const namespace = resource.namespaced ? (own ?? target.namespace) : ''
    if ('object' in target && target.isGiven === true && resource.namespaced && namespace !== target.namespace) {
      refused({ what: `${resource.resource}/${name}`, message: elsewhere(namespace, target.namespace) })
      return []
    }
    try {
      const { metadata } = await client.resource(resource).namespace(namespace).get(name)
      return [{ resource, namespace, name, uid: metadata.uid ?? '' }]
    } catch (error) {
      if (!isNotFound(error)) refused({ what: `${resource.resource}/${name}`, message: messageOf(error) })
      else if (!ignoreNotFound)
        refused({ what: `${resource.resource}/${name}`, message: messageOf(error), isMissing: true })
      return []
    }
  }
  const { labelSelector, fieldSelector } = target
  const { items } = await client
    .resource(resource)
    .namespace(resource.namespaced ? target.namespace : '')
    .list({
      ...(labelSelector === undefined ? {} : { labelSelector }),
      ...(fieldSelector === undefined ? {} : { fieldSelector }),
    })
  return items.map(({ metadata: { name = '', namespace = '', uid = '' } }) => ({ resource, namespace, name, uid }))
}

/** The namespace that a target is in, or is; undefined: it may be anywhere, or is in none. */
export function placeOf(target: DeleteTarget, { group, resource, namespaced }: NamedResource): string | undefined {
  const own = 'object' in target ? target.object.metadata.namespace : undefined
  if (namespaced) return (own ?? target.namespace) || undefined
  if (group !== '' || resource !== 'namespaces') return undefined
  return 'object' in target ? target.object.metadata.name : 'name' in target ? target.name : undefined
}

/** The namespaces that a delete of these is about, as far as that can be told before it is known what the cluster serves. */
export function targetNamespaces(targets: readonly DeleteTarget[]): readonly string[] {
  const names = targets.flatMap((target) => {
    if ('object' in target) return manifestNamespaces([target.object], target)
    const isOne = /^(ns|namespaces?)(\.v1\.?)?$/i.test(target.kind)
    return isOne && 'name' in target ? [target.name] : [target.namespace]
  })
  return [...new Set(names)].filter((name) => name !== '')
}

/** The namespaces in which a file's objects are, and those that are in it. */
export function manifestNamespaces(objects: readonly KubeObject[], { namespace }: NamespaceOfFiles): readonly string[] {
  const names = objects.flatMap(({ kind, metadata }) => [
    metadata.namespace || namespace,
    ...(kind === 'Namespace' && metadata.name !== undefined ? [metadata.name] : []),
  ])
  return [...new Set(names)]
}

const POLICIES = { background: 'Background', foreground: 'Foreground', orphan: 'Orphan' } as const

async function deleteOne(doing: Doing, { resource, namespace, name, uid }: Found, request: DeleteRequest) {
  const { client, refused, named, asks, between } = doing
  asks({ verb: 'delete', group: resource.group, resource: resource.resource, namespace, name })
  const { cascade = 'background', gracePeriodSeconds } = request
  const options: ClientDeleteOptions = {
    propagationPolicy: POLICIES[cascade],
    ...(gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }),
  }
  try {
    await client.resource(resource).namespace(namespace).delete(name, options)
    named(uid)
  } catch (error) {
    // An owner that was named as well may have taken it already.
    if (!isNotFound(error)) refused({ what: `${resource.resource}/${name}`, message: messageOf(error) })
  }
  await between()
}
