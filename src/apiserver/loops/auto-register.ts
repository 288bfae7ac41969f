/**
 * Every group version that a CustomResourceDefinition serves has an APIService that says so, made and kept here, and gone with
 * it. One that somebody made himself, or took the label from, is left alone.
 */

import { sameJson } from '../../api/fields/values.ts'
import type { Fields, KubeObject } from '../../api/object.ts'
import { isAlreadyExists, isConflict, isNotFound } from '../../api/status.ts'
import { loopbackOf } from '../loopback.ts'
import { type LoopOptions, startLoop } from './settling.ts'

const FOLLOWED = ['apiextensions.k8s.io/customresourcedefinitions', 'apiregistration.k8s.io/apiservices']
const PATH = '/apis/apiregistration.k8s.io/v1/apiservices'
const MANAGED = 'kube-aggregator.kubernetes.io/automanaged'
/** Custom groups come after Kubernetes' own; their versions are in the order of their names. */
const GROUP_PRIORITY = 1000
const VERSION_PRIORITY = 100

export function startAutoRegisterLoop(options: LoopOptions): void {
  const work = () => register(options)
  startLoop(options, { name: 'api service registration', followed: FOLLOWED, work, settleMs: 20, retryMs: 1000 })
}

async function register({ reads, handler, signal }: LoopOptions): Promise<void> {
  const wanted = wantedServices(reads.list('apiextensions.k8s.io', 'customresourcedefinitions'))
  const present = reads.list('apiregistration.k8s.io', 'apiservices')
  const send = loopbackOf(handler, signal)
  for (const service of present) {
    const { name = '', labels, uid } = service.metadata
    const own = wanted.get(name)
    wanted.delete(name)
    if (labels?.[MANAGED] !== 'true') continue
    if (own === undefined) await unlessChanged(send('DELETE', `${PATH}/${name}`, deletionOf(uid)))
    else if (!sameJson(own['spec'], service['spec']))
      await unlessChanged(send('PUT', `${PATH}/${name}`, { ...service, spec: own['spec'] }))
  }
  for (const service of wanted.values()) await unlessChanged(send('POST', PATH, service))
}

/** By name. */
function wantedServices(definitions: readonly KubeObject[]): Map<string, KubeObject> {
  const wanted = new Map<string, KubeObject>()
  for (const definition of definitions) {
    const { group, versions }: Fields = definition['spec']
    for (const { name: version, served } of versions as readonly Fields[]) {
      if (served !== true) continue
      const name = `${version}.${group}`
      const spec = { group, version, groupPriorityMinimum: GROUP_PRIORITY, versionPriority: VERSION_PRIORITY }
      wanted.set(name, {
        apiVersion: 'apiregistration.k8s.io/v1',
        kind: 'APIService',
        metadata: { name, labels: { [MANAGED]: 'true' } },
        spec,
      })
    }
  }
  return wanted
}

const deletionOf = (uid: string | undefined): KubeObject => ({
  apiVersion: 'v1',
  kind: 'DeleteOptions',
  metadata: {},
  ...(uid === undefined ? {} : { preconditions: { uid } }),
})

/** What somebody changed in between is looked at again: his change brings the next turn. */
async function unlessChanged(sent: Promise<unknown>): Promise<void> {
  try {
    await sent
  } catch (error) {
    if (!isConflict(error) && !isNotFound(error) && !isAlreadyExists(error)) throw error
  }
}
