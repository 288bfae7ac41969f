/** skiff plan: what would come of a delete, a drain, an uninstall or an apply, in any cluster; nothing is done there (docs/plan.md). */
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { type CompiledSelector, parseLabelSelector } from '../api/objects/label-selector.ts'
import { messageOf } from '../base/errors.ts'
import { liveRuntime } from '../base/live-runtime.ts'
import { plainLine } from '../base/plain-text.ts'
import type { Runtime } from '../base/runtime.ts'
import { StartError } from '../cluster/errors.ts'
import { manifestsOf } from '../cluster/initial-crds-and-objects.ts'
import { SKIFF_VERSION } from '../cluster/version.ts'
import type { Deed } from '../inspect/plan/deed.ts'
import {
  type DeleteRequest,
  type DeleteTarget,
  deleteDeed,
  manifestNamespaces,
  type NamespaceOfFiles,
  namedTargets,
  targetNamespaces,
} from '../inspect/plan/delete-deed.ts'
import { type DrainRequest, drainDeed } from '../inspect/plan/drain-deed.ts'
import { closedGates, type PlanGates } from '../inspect/plan/gates.ts'
import { appliedTo, applyDeed, type ManifestFile, uninstallDeed } from '../inspect/plan/manifest-deeds.ts'
import { type PlanOptions, planIn, readModel } from '../inspect/plan/plan.ts'
import { type PlanForm, planAs } from '../inspect/plan/report.ts'
import { servedResource } from '../inspect/question.ts'
import type { Causes } from '../inspect/twin/partly-read.ts'
import type { ReadCluster, TwinSource } from '../inspect/twin/read-cluster.ts'
import { type ClusterFlags, chosenCluster, told } from './any-cluster.ts'

export interface PlanFlags extends ClusterFlags, PlanGates {
  readonly namespace?: string
  readonly output: PlanForm
  readonly secrets?: boolean
}

export interface DeleteFlags extends PlanFlags {
  readonly filename: readonly string[]
  readonly selector?: string
  readonly fieldSelector?: string
  readonly all?: boolean
  readonly allNamespaces?: boolean
  readonly cascade: NonNullable<DeleteRequest['cascade']>
  readonly gracePeriod?: number
  readonly now?: boolean
  readonly force?: boolean
  readonly ignoreNotFound?: boolean
  readonly recursive?: boolean
  readonly kustomize?: string
  readonly raw?: string
  readonly interactive?: boolean
}

/** What a gate says: nothing was refused, but more would go than may. */
const GATE_CLOSED = 20
/** A part of the deed is refused, may not be done by the caller, or something would stay for ever. */
const INCOMPLETE = 21

interface Asked {
  /** The namespaces that it is about. */
  readonly about: readonly string[]
  /** What it names one by one. */
  readonly named?: NonNullable<PlanOptions['named']>
  /** What of the source it changes without deleting it. */
  changes?(read: ReadCluster): Causes['changed']
  deedOf(read: ReadCluster): Deed
}

/** `ask`: what is wrong with the question is said before the cluster is asked. */
async function planned(flags: PlanFlags, ask: (namespace: NamespaceOfFiles) => Asked): Promise<void> {
  const runtime: Runtime = liveRuntime()
  const { transport, namespace } = chosenCluster(runtime, flags)
  const source: TwinSource = { runtime, transport, userAgent: `skiff/${SKIFF_VERSION} plan` }
  try {
    const { about, named, changes, deedOf } = ask(
      flags.namespace === undefined ? { namespace } : { namespace: flags.namespace, isGiven: true },
    )
    const { plan, read } = await told(transport, async () => {
      const reading = { secrets: flags.secrets === true, orIn: about, ...(named === undefined ? {} : { named }) }
      const model = await readModel(source, reading)
      // What cannot be asked is said before anything is rehearsed.
      for (const kind of flags.expectNone) servedResource(model.read.kinds, kind)
      return { plan: await planIn(source, model, deedOf(model.read)), read: model.read }
    })
    process.stdout.write(planAs(flags.output, plan))
    const closed = closedGates(plan, read, flags, changes?.(read) ?? [])
    for (const line of closed) process.stderr.write(`skiff: ${plainLine(line)}\n`)
    process.exitCode =
      closed.length > 0
        ? GATE_CLOSED
        : plan.refused.length + plan.forbidden.length + plan.stays.length > 0
          ? INCOMPLETE
          : 0
  } finally {
    transport.close()
  }
}

export async function tellPlanOfDelete(words: readonly string[], flags: DeleteFlags): Promise<void> {
  const { filename, cascade, ignoreNotFound = flags.all === true } = flags
  requirePlannable(flags)
  const seconds = graceOf(flags)
  const files = filename.map((name) => manifestFile(name, flags.recursive === true))
  await planned(flags, (namespace) => {
    const request: DeleteRequest = {
      targets:
        files.length > 0
          ? targetsOfFiles(words, files, flags, namespace)
          : targetsOf(words, flags, namespace.namespace),
      cascade,
      ignoreNotFound,
      ...(seconds === undefined ? {} : { gracePeriodSeconds: seconds }),
    }
    const { targets } = request
    return {
      about: targetNamespaces(targets),
      named: namedTargets(targets),
      deedOf: (read) => deleteDeed(read, request),
    }
  })
}

/** As kubectl takes its flags: less than 0 is each object's own, and 0 is 1 where nothing is forced. @throws StartError */
function graceOf({ now = false, force = false, gracePeriod = -1 }: DeleteFlags): number | undefined {
  if (now && gracePeriod !== -1) throw new StartError('--now and --grace-period cannot be given together')
  const seconds = now ? 1 : gracePeriod
  if (force && seconds > 0) throw new StartError('--force and a grace period greater than 0 cannot be given together')
  if (force) return 0
  return seconds < 0 ? undefined : Math.max(seconds, 1)
}

/** What kubectl takes and a plan does not, each with what to do instead. @throws StartError */
function requirePlannable({ kustomize, raw, interactive, filename, fieldSelector }: DeleteFlags): void {
  if (filename.length > 0 && fieldSelector !== undefined)
    throw new StartError('with -f no --field-selector is given: files have no such fields')
  if (kustomize !== undefined)
    throw new StartError('-k builds nothing here: kubectl kustomize DIR | skiff plan delete -f -')
  if (raw !== undefined) throw new StartError('--raw names a path, and a plan is of objects: say TYPE/NAME')
  if (interactive === true) throw new StartError('-i asks before it deletes, and a plan deletes nothing')
  const url = filename.find((name) => /^https?:\/\//i.test(name))
  if (url !== undefined) throw new StartError('-f fetches no URL here: curl -fsSL URL | skiff plan delete -f -')
}

/** As kubectl does, a selector picks among a file's objects by the labels that they have there. @throws StartError */
function targetsOfFiles(
  words: readonly string[],
  files: readonly ManifestFile[],
  { selector, all, allNamespaces }: DeleteFlags,
  namespace: NamespaceOfFiles,
): DeleteTarget[] {
  if (words.length > 0) throw new StartError('with -f no kinds or names are given')
  if (all === true && selector !== undefined) throw new StartError('--all and a selector cannot be given together')
  if (allNamespaces === true)
    throw new StartError('with -f no -A is given: objects are in the namespaces that they name')
  const labels = labelsOf(selector ?? '')
  return files
    .flatMap(({ objects }) => objects)
    .filter(({ metadata }) => labels.matches(metadata.labels))
    .map((object) => ({ object, ...namespace }))
}

/** @throws StartError */
function labelsOf(selector: string): CompiledSelector {
  try {
    return parseLabelSelector(selector)
  } catch (error) {
    throw new StartError(`the selector cannot be read: ${plainLine(messageOf(error))}`, { cause: error })
  }
}

/** `TYPE NAME…`, `TYPE/NAME…`, `TYPE[,TYPE] -l …`, `TYPE --all`. @throws StartError */
function targetsOf(words: readonly string[], flags: DeleteFlags, own: string): DeleteTarget[] {
  const { selector, fieldSelector, all = false, allNamespaces = false } = flags
  const namespace = allNamespaces ? '' : own
  const [first = '', ...names] = words
  if (first === '') throw new StartError('say what is to be deleted: TYPE NAME, TYPE/NAME, TYPE -l SELECTOR or -f FILE')
  const isChoice = selector !== undefined || fieldSelector !== undefined || all
  if (all && (selector !== undefined || fieldSelector !== undefined))
    throw new StartError('--all and a selector cannot be given together')
  if (first.includes('/')) {
    if (isChoice) throw new StartError('with TYPE/NAME no selector is given')
    return words.map((word) => {
      const [kind = '', name = '', ...more] = word.split('/')
      if (kind === '' || name === '' || more.length > 0)
        throw new StartError(`say TYPE/NAME: not ${JSON.stringify(plainLine(word, 200))}`)
      return { kind, namespace: own, name: checked(name) }
    })
  }
  const kinds = first.split(',').filter((kind) => kind !== '')
  if (names.length > 0) {
    if (isChoice) throw new StartError('a name and a selector cannot be given together')
    if (allNamespaces) throw new StartError('a name cannot be looked for in all namespaces')
    return kinds.flatMap((kind) => names.map((name) => ({ kind, namespace: own, name: checked(name) })))
  }
  if (!isChoice) throw new StartError('say which: a name, -l SELECTOR, --field-selector or --all')
  return kinds.map((kind) => ({
    kind,
    namespace,
    ...(selector === undefined ? {} : { labelSelector: selector }),
    ...(fieldSelector === undefined ? {} : { fieldSelector }),
  }))
}

function checked(name: string): string {
  if (name.length > 512 || /[/%]/.test(name) || name === '.' || name === '..')
    throw new StartError(`no object can have the name ${JSON.stringify(plainLine(name, 200))}`)
  return name
}

/** `-` is standard input. @throws StartError */
function manifestFile(name: string, isRecursive: boolean): ManifestFile {
  const paths = name === '-' ? ['/dev/stdin'] : isRecursive ? [name, ...foldersIn(name)] : [name]
  const objects = paths
    .flatMap((path) => manifestsOf(path))
    .map(({ object, from }) => {
      if (!object.metadata.name) throw new StartError(`${from}: an object in it has no name`)
      checked(object.metadata.name)
      return object
    })
  if (objects.length === 0) throw new StartError(`${name}: there is no object in it`)
  return { name, objects }
}

/** All folders in a folder, in the order of their paths; none in a file. */
function foldersIn(name: string): readonly string[] {
  if (statSync(name, { throwIfNoEntry: false })?.isDirectory() !== true) return []
  return readdirSync(name, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
}

export async function tellPlanOfDrain(
  names: readonly string[],
  flags: PlanFlags &
    Omit<DrainRequest, 'nodes' | 'timeoutMs'> & {
      readonly gracePeriod?: number
      readonly selector?: string
      readonly skipWaitForDeleteTimeout?: number
      readonly timeout?: number
    },
) {
  const { gracePeriod, ignoreDaemonsets, deleteEmptydirData, force, disableEviction, podSelector, selector } = flags
  const { skipWaitForDeleteTimeout = 0, timeout = 0 } = flags
  if (names.length > 0 && selector !== undefined) throw new StartError('a node and --selector cannot be given together')
  if (names.length === 0 && selector === undefined) throw new StartError('say which: NODE… or -l SELECTOR')
  for (const one of [selector, podSelector]) labelsOf(one ?? '')
  const request: DrainRequest = {
    nodes: selector === undefined ? names.map((name) => checked(name.replace(/^nodes?\//, ''))) : { selector },
    ignoreDaemonsets: ignoreDaemonsets === true,
    deleteEmptydirData: deleteEmptydirData === true,
    force: force === true,
    disableEviction: disableEviction === true,
    ...(podSelector === undefined ? {} : { podSelector }),
    ...(skipWaitForDeleteTimeout > 0 ? { skipWaitForDeleteTimeoutSeconds: skipWaitForDeleteTimeout } : {}),
    ...(timeout > 0 ? { timeoutMs: timeout } : {}),
    ...(gracePeriod === undefined || gracePeriod < 0 ? {} : { gracePeriodSeconds: gracePeriod }),
  }
  await planned(flags, () => ({ about: [], deedOf: (read) => drainDeed(read, request) }))
}

export async function tellPlanOfUninstall(
  names: readonly string[],
  flags: PlanFlags & Pick<DeleteFlags, 'cascade' | 'ignoreNotFound'>,
) {
  const files = names.map((name) => manifestFile(name, false))
  const { cascade, ignoreNotFound = false } = flags
  await planned(flags, (namespace) => ({
    about: namespacesOfFiles(files, namespace),
    deedOf: (read) => uninstallDeed(read, files, namespace, { cascade, ignoreNotFound }),
  }))
}

export async function tellPlanOfApply(flags: PlanFlags & Pick<DeleteFlags, 'filename'>): Promise<void> {
  if (flags.filename.length === 0) throw new StartError('say what is to be applied: -f FILE')
  const files = flags.filename.map((name) => manifestFile(name, false))
  await planned(flags, (namespace) => ({
    about: namespacesOfFiles(files, namespace),
    changes: (read) => appliedTo(read, files, namespace),
    deedOf: (read) => applyDeed(read, files, namespace),
  }))
}

const namespacesOfFiles = (files: readonly ManifestFile[], namespace: NamespaceOfFiles): readonly string[] =>
  manifestNamespaces(
    files.flatMap(({ objects }) => objects),
    namespace,
  )
