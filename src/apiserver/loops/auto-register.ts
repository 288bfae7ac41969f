/**
 * Every group version that a CustomResourceDefinition serves has an APIService that says so, made and kept here, and gone with
 * it. One that a user made, or took the label from, is left alone.
 */

import type { APIService, CustomResourceDefinition, CustomResourceDefinitionSpec } from '../../api/generated/types.ts'
import type { Given, KubeObject } from '../../api/object.ts'
import { sameJson } from '../../api/same.ts'
import { isAlreadyExists, isConflict, isNotFound } from '../../api/status.ts'
import { loopbackOf } from '../loopback.ts'
import { type LoopOptions, startKeyedLoop } from './settling.ts'

const DEFINITIONS = 'apiextensions.k8s.io/customresourcedefinitions'
const SERVICES = 'apiregistration.k8s.io/apiservices'
const PATH = '/apis/apiregistration.k8s.io/v1/apiservices'
const MANAGED = 'kube-aggregator.kubernetes.io/automanaged'
/** Custom groups come after Kubernetes' own; their versions are in the order of their names. */
const GROUP_PRIORITY = 1000
const VERSION_PRIORITY = 100

/** Keys are names of APIServices: `VERSION.GROUP`. */
export function startAutoRegisterLoop(options: LoopOptions): void {
  const { reads } = options
  const served = createServedVersions()
  startKeyedLoop(options, {
    name: 'api service registration',
    followed: [DEFINITIONS, SERVICES],
    all() {
      for (const definition of reads.list<CustomResourceDefinition>(
        'apiextensions.k8s.io',
        'customresourcedefinitions',
      ))
        served.put(definition.metadata.name ?? '', definition)
      const present = reads
        .list<APIService>('apiregistration.k8s.io', 'apiservices')
        .map(({ metadata }) => metadata.name ?? '')
      return [...present, ...served.names()]
    },
    concerned({ key, entry }) {
      const name = key.slice(key.lastIndexOf('/') + 1)
      return key.includes(DEFINITIONS) ? served.put(name, entry?.object) : [name]
    },
    work: (name) => register(options, name, served.has(name)),
    settleMs: 20,
    retryMs: 1000,
  })
}

/** Which definitions serve each group version. */
function createServedVersions() {
  const byDefinition = new Map<string, readonly string[]>()
  const users = new Map<string, Set<string>>()
  return {
    has: (name: string): boolean => users.has(name),
    names: (): Iterable<string> => users.keys(),
    /** Gives the group versions that it served or serves now, but not both. */
    put(definition: string, object: KubeObject | undefined): readonly string[] {
      const before = byDefinition.get(definition) ?? []
      const now = object === undefined ? [] : servicesOf(object)
      if (now.length === 0) byDefinition.delete(definition)
      else byDefinition.set(definition, now)
      const lost = before.filter((name) => !now.includes(name))
      const added = now.filter((name) => !before.includes(name))
      for (const name of lost) {
        const left = users.get(name)
        left?.delete(definition)
        if (left?.size === 0) users.delete(name)
      }
      for (const name of added) users.set(name, (users.get(name) ?? new Set()).add(definition))
      return [...lost, ...added]
    },
  }
}

function servicesOf(definition: Given<CustomResourceDefinition>): readonly string[] {
  const { group, versions = [] }: Partial<CustomResourceDefinitionSpec> = definition.spec ?? {}
  return versions.filter(({ served }) => served === true).map(({ name }) => `${name}.${group}`)
}

async function register({ reads, handler, signal }: LoopOptions, name: string, isServed: boolean): Promise<void> {
  const send = loopbackOf(handler, signal)
  const present = reads.get<APIService>('apiregistration.k8s.io', 'apiservices', '', name)
  if (present === undefined) {
    if (isServed) await unlessChanged(send('POST', PATH, serviceOf(name)))
    return
  }
  const { labels, uid } = present.metadata
  if (labels?.[MANAGED] !== 'true') return
  const { spec } = serviceOf(name)
  if (!isServed) await unlessChanged(send('DELETE', `${PATH}/${name}`, deletionOf(uid)))
  else if (!sameJson(spec, present.spec)) await unlessChanged(send('PUT', `${PATH}/${name}`, { ...present, spec }))
}

function serviceOf(name: string) {
  // A version has no dot.
  const dot = name.indexOf('.')
  const [version, group] = [name.slice(0, dot), name.slice(dot + 1)]
  const spec = { group, version, groupPriorityMinimum: GROUP_PRIORITY, versionPriority: VERSION_PRIORITY }
  return {
    apiVersion: 'apiregistration.k8s.io/v1',
    kind: 'APIService',
    metadata: { name, labels: { [MANAGED]: 'true' } },
    spec,
  }
}

const deletionOf = (uid: string | undefined): KubeObject => ({
  apiVersion: 'v1',
  kind: 'DeleteOptions',
  metadata: {},
  ...(uid === undefined ? {} : { preconditions: { uid } }),
})

/** What was changed in between is looked at again: that change brings the next turn. */
async function unlessChanged(sent: Promise<unknown>): Promise<void> {
  try {
    await sent
  } catch (error) {
    if (!isConflict(error) && !isNotFound(error) && !isAlreadyExists(error)) throw error
  }
}
