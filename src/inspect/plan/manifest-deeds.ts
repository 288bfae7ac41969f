/** Deeds by files: `kubectl delete -f` of each in turn, and `kubectl apply --server-side -f`. */
import { type KubeObject, parseApiVersion } from '../../api/object.ts'
import { messageOf } from '../../base/errors.ts'
import { QuestionError } from '../question.ts'
import { type Causes, unreadBecause } from '../twin/partly-read.ts'
import type { ReadCluster } from '../twin/read-cluster.ts'
import type { Deed, DeedStage, Doing } from './deed.ts'
import {
  type DeleteRequest,
  deleteStage,
  elsewhere,
  type NamespaceOfFiles,
  notServed,
  placeOf,
  refusedUnread,
} from './delete-deed.ts'

export interface ManifestFile {
  /** As it was given. */
  readonly name: string
  readonly objects: readonly KubeObject[]
}

/** One file after the other; each waits for the end of what the one before names. @throws QuestionError */
export function uninstallDeed(
  read: ReadCluster,
  files: readonly ManifestFile[],
  namespace: NamespaceOfFiles,
  options: Omit<DeleteRequest, 'targets'>,
): Deed {
  const [first, ...rest] = files.map(({ name, objects }): DeedStage => {
    const targets = objects.map((object) => ({ object, ...namespace }))
    return deleteStage(read, `delete -f ${name}`, { ...options, targets })
  })
  if (first === undefined) throw new QuestionError('there is no file to uninstall')
  return { what: `uninstall ${files.map(({ name }) => name).join(', ')}`, stages: [first, ...rest] }
}

const MANAGER = 'skiff-plan'

/** What is applied is forced: conflicts of managers are not looked at. */
export function applyDeed(
  read: ReadCluster,
  files: readonly ManifestFile[],
  { namespace, isGiven = false }: NamespaceOfFiles,
): Deed {
  const all = files.flatMap(({ name, objects }) =>
    objects.map((object) => {
      const { group } = parseApiVersion(object.apiVersion)
      const resource = read.kinds.ofKind(group, object.kind)
      return { file: name, object, resource }
    }),
  )
  const what = `apply -f ${files.map(({ name }) => name).join(', ')}`
  const run = async ({ client, refused, asks, changed }: Doing) => {
    for (const { file, object, resource } of all) {
      const { name = '' } = object.metadata
      const what = `${file}: ${object.kind}/${name}`
      // kubectl looks all kinds up before it applies the first, and applies the others.
      if (resource === undefined) {
        refused({ what, message: notServed(object) })
        continue
      }
      const own = object.metadata.namespace ?? namespace
      if (resource.namespaced && isGiven && own !== namespace) {
        refused({ what, message: elsewhere(own, namespace) })
        continue
      }
      const metadata = resource.namespaced ? { ...object.metadata, namespace: own } : object.metadata
      const access = { group: resource.group, resource: resource.resource, name }
      const within = resource.namespaced ? own : ''
      const { version } = parseApiVersion(object.apiVersion)
      asks({ verb: 'patch', ...access, namespace: within })
      const unread = unreadBecause(read, resource, placeOf({ object, namespace }, resource))
      if (unread !== undefined) {
        refused({ what, ...refusedUnread(unread) })
        continue
      }
      const one = client.resource({ ...resource, version }).namespace(within)
      // To apply what is not there is to create it.
      const there = await one.get(name).catch(() => undefined)
      if (there === undefined) asks({ verb: 'create', ...access, namespace: within })
      await one
        .patch(name, 'apply', { ...object, metadata } as never, { fieldManager: MANAGER, force: true })
        .then(({ metadata: { uid = '' } }) => changed(uid))
        .catch((error) => refused({ what, message: messageOf(error) }))
    }
  }
  return { what, stages: [{ what, run }] }
}

/** Which objects of the source an apply of these may change: those of these names that were read. */
export function appliedTo(
  read: ReadCluster,
  files: readonly ManifestFile[],
  { namespace }: NamespaceOfFiles,
): Causes['changed'] {
  return files
    .flatMap(({ objects }) => objects)
    .flatMap((object) => {
      const { group } = parseApiVersion(object.apiVersion)
      const row = read.resources.find(({ resource, kind }) => resource.group === group && kind === object.kind)
      if (row === undefined) return []
      const { resource, namespaced } = row.resource
      const within = namespaced ? (object.metadata.namespace ?? namespace) : ''
      const { name = '' } = object.metadata
      const isThere = row.items.some(({ metadata }) => metadata.name === name && (metadata.namespace ?? '') === within)
      return isThere ? [{ group, resource, namespace: within, name }] : []
    })
}
