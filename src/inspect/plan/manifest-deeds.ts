/** Deeds by files: `kubectl delete -f` of each in turn, and `kubectl apply --server-side -f`. */
import type { CustomResourceDefinition } from '../../api/generated/types.ts'
import type { KubeObject } from '../../api/object.ts'
import { messageOf } from '../../base/errors.ts'
import { QuestionError } from '../question.ts'
import type { ReadCluster } from '../twin/read-cluster.ts'
import type { Deed, DeedStage, Doing } from './deed.ts'
import { type DeleteRequest, deleteStage } from './delete-deed.ts'

export interface ManifestFile {
  /** As it was given. */
  readonly name: string
  readonly objects: readonly KubeObject[]
}

/** One file after the other; each waits for the end of what the one before names. @throws QuestionError */
export function uninstallDeed(
  read: ReadCluster,
  files: readonly ManifestFile[],
  namespace: string,
  options: Omit<DeleteRequest, 'targets'>,
): Deed {
  const [first, ...rest] = files.map(({ name, objects }): DeedStage => {
    const targets = objects.map((object) => ({ object, namespace }))
    return deleteStage(read, `delete -f ${name}`, { ...options, targets })
  })
  if (first === undefined) throw new QuestionError('there is no file to uninstall')
  return { what: `uninstall ${files.map(({ name }) => name).join(', ')}`, stages: [first, ...rest] }
}

const isDefinition = (object: KubeObject): object is CustomResourceDefinition =>
  object.kind === 'CustomResourceDefinition' && (object as CustomResourceDefinition).spec?.names !== undefined

const MANAGER = 'skiff-plan'
/** How often a definition that was applied just now is looked for. */
const TRIES = 20

/** What is applied is forced: conflicts of managers are not looked at. */
export function applyDeed({ kinds }: ReadCluster, files: readonly ManifestFile[], namespace: string): Deed {
  const made = new Map<string, { readonly group: string; readonly resource: string; readonly namespaced: boolean }>()
  for (const { objects } of files)
    for (const { spec } of objects.filter(isDefinition))
      made.set(`${spec.group}/${spec.names.kind}`, {
        group: spec.group,
        resource: spec.names.plural,
        namespaced: spec.scope === 'Namespaced',
      })
  const resourceOf = ({ apiVersion, kind }: KubeObject) => {
    const at = apiVersion.indexOf('/')
    const group = at < 0 ? '' : apiVersion.slice(0, at)
    const found = kinds.ofKind(group, kind) ?? made.get(`${group}/${kind}`)
    if (found === undefined)
      throw new QuestionError(
        `the server serves no ${kind} of ${apiVersion}: kubectl api-resources lists what it serves`,
      )
    return { ...found, version: apiVersion.slice(at + 1) }
  }
  const all = files.flatMap(({ name, objects }) =>
    objects.map((object) => ({ file: name, object, resource: resourceOf(object) })),
  )
  const what = `apply -f ${files.map(({ name }) => name).join(', ')}`
  const run = async ({ client, clock, refused, asks }: Doing) => {
    for (const { file, object, resource } of all) {
      const own = object.metadata.namespace ?? namespace
      const { name = '' } = object.metadata
      const metadata = resource.namespaced ? { ...object.metadata, namespace: own } : object.metadata
      const access = { group: resource.group, resource: resource.resource, name }
      const within = resource.namespaced ? own : ''
      asks({ verb: 'patch', ...access, namespace: within })
      // To apply what is not there is to create it.
      const there = await client
        .resource(resource)
        .namespace(within)
        .get(name)
        .catch(() => undefined)
      if (there === undefined) asks({ verb: 'create', ...access, namespace: within })
      const apply = () =>
        client
          .resource(resource)
          .namespace(within)
          .patch(name, 'apply', { ...object, metadata } as never, { fieldManager: MANAGER, force: true })
      for (let left = made.has(`${resource.group}/${object.kind}`) ? TRIES : 1; left > 0; left--) {
        try {
          await apply()
          break
        } catch (error) {
          if (left === 1) refused({ what: `${file}: ${object.kind}/${name}`, message: messageOf(error) })
          else await clock.advance(500)
        }
      }
    }
  }
  return { what, stages: [{ what, run }] }
}
