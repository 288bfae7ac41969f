/** Everything in a cluster that is being deleted, and drains that wait: worst first. */
import type { Node } from '../../api/generated/types.ts'
import type { KubeObject } from '../../api/object.ts'
import type { NamedResource } from '../../client/aggregated-discovery.ts'
import { type Cause, compareVerdicts, lastCause } from './finding.ts'
import { deletedAt, itemsOf, type Look, NODES } from './look.ts'
import { markedOf } from './marked.ts'
import { listFailure } from './unreadable.ts'
import { conclude, type Explanation, explainObject, unexplained } from './why.ts'

export interface Survey {
  /** The worst first, of equals the oldest. */
  readonly found: readonly Explanation[]
  /** Objects alike (kind, namespace, finalizers) that are not explained one by one. */
  readonly alike: number
}

/** Of objects alike so many are explained. */
const EXPLAINED = 2
/** Requests that are kept for explaining. */
const GROUPS = 40

export interface SurveyedPlace {
  readonly namespace: string
  /** It was asked about that namespace; else what may not be listed in all is listed there. */
  readonly isGiven: boolean
}

const EVERYWHERE: SurveyedPlace = { namespace: 'default', isGiven: false }

export async function survey(look: Look, { namespace, isGiven } = EVERYWHERE): Promise<Survey> {
  const resources = look.kinds.resources.filter(
    // Events are the same objects in both of their groups.
    ({ group, verbs }) => verbs.includes('list') && verbs.includes('delete') && group !== 'events.k8s.io',
  )
  const marksOf = async (resource: NamedResource) => {
    if (isGiven) return markedOf(look, resource, namespace)
    const read = await markedOf(look, resource)
    return read.state === 'forbidden' && resource.namespaced ? markedOf(look, resource, namespace) : read
  }
  const unreadable: Explanation[] = []
  const lists = await Promise.all(
    resources
      .filter(({ namespaced }) => namespaced || !isGiven)
      .map(async (resource) => {
        const read = await marksOf(resource)
        if (read.state === 'failed') unreadable.push(...(await unlisted(look, resource, read)))
        return itemsOf(read).map((object) => ({ resource, object }))
      }),
  )
  const marked = lists.flat().toSorted((a, b) => deletedAt(a.object.metadata) - deletedAt(b.object.metadata))
  const groups = Map.groupBy(marked, ({ resource, object: { metadata } }) =>
    JSON.stringify([resource.group, resource.resource, metadata.namespace, metadata.finalizers ?? []]),
  )
  const chosen = [...groups.values()].slice(0, GROUPS).flatMap((alike) => alike.slice(0, EXPLAINED))
  const explained = await Promise.all(chosen.map(({ resource, object }) => explainOne(look, resource, object)))
  const found = [...explained, ...unreadable, ...(isGiven ? [] : await blockedDrains(look))].toSorted(
    (a, b) => compareVerdicts(b.verdict, a.verdict) || a.since.localeCompare(b.since),
  )
  return { found, alike: marked.length - chosen.length }
}

/** A fault in looking at one object hides no other. */
const explainOne = (look: Look, resource: NamedResource, object: KubeObject): Promise<Explanation> =>
  explainObject(look, resource, object).catch((thrown: unknown) => unexplained(resource, object, thrown))

async function unlisted(
  look: Look,
  resource: NamedResource,
  read: Parameters<typeof listFailure>[2],
): Promise<readonly Explanation[]> {
  const { group, version, kind, resource: plural } = resource
  const ref = { group, version, resource: plural, kind, namespace: '', name: '*' }
  return (await listFailure(look, resource, read)).map((link) => conclude(ref, 'unreadable', '', link))
}

const isOfDelete = (cause: Cause) => cause.kind === 'admission-refuses' && cause.operation === 'DELETE'

/** Nodes that are cordoned and whose pods no eviction may take. */
async function blockedDrains(look: Look): Promise<readonly Explanation[]> {
  const resource = look.kinds.ofResource('', 'nodes')
  const nodes = itemsOf(await look.reader.list(NODES)) as readonly KubeObject[]
  if (resource === undefined) return []
  const cordoned = nodes.filter((node) => {
    const { spec, metadata } = node as Node
    return spec?.unschedulable === true && metadata.deletionTimestamp === undefined
  })
  const explained = await Promise.all(cordoned.slice(0, 10).map((node) => explainOne(look, resource, node)))
  // That its delete would be refused holds no drain.
  return explained.filter(({ chain, cause }) => lastCause(chain).verdict !== 'not-stuck' && !isOfDelete(cause))
}
