/**
 * Whether the caller may do what is planned: the source's own authorizers are asked about each kind of request that it makes, by
 * access reviews of the caller itself, which every user may send and which change nothing.
 */
import { createClusterReader, type OwnAccess, type Unseen } from '../cluster-reader.ts'
import type { TwinSource } from '../twin/read-cluster.ts'

/** A request of the deed, as authorization sees it. */
export type Asks = OwnAccess & { readonly name: string }

/** What the caller may not do. */
export interface Forbidden {
  /** As RBAC has it. */
  readonly verb: string
  readonly group: string
  /** With its subresource: `pods/eviction`. */
  readonly resource: string
  /** '' for what is in no namespace. */
  readonly namespace: string
  readonly names: readonly string[]
}

export interface Rights {
  /** The caller's name; '' where the source does not tell. */
  readonly caller: string
  readonly forbidden: readonly Forbidden[]
  /** What could not be asked. */
  readonly unread: readonly Unseen[]
}

const LIMITS = { budget: 300, requestMs: 20_000, totalMs: 60_000 }
/** A role may be about single names: of so many alike each is asked about. */
const MOST_NAMES = 20

/** A request for one Namespace is one in it, as authorization sees it: a Role there may allow it. */
const byName = (access: OwnAccess, name: string): OwnAccess & { readonly name: string } =>
  access.group === '' && access.resource === 'namespaces' ? { ...access, namespace: name, name } : { ...access, name }

export async function rightsOf(
  { runtime, transport, userAgent, user }: TwinSource,
  asked: readonly Asks[],
): Promise<Rights> {
  const options = { ...LIMITS, userAgent, ...(user === undefined ? {} : { user }) }
  const reader = createClusterReader(runtime.machineClock, transport, options)
  const caller = asked.length === 0 ? undefined : await reader.callerName()
  const alike = Map.groupBy(asked, ({ name: _, ...access }) => JSON.stringify(access))
  const forbidden = await Promise.all(
    [...alike.values()].map(async (ones): Promise<Forbidden | undefined> => {
      const [{ name: _, ...access }] = ones as [Asks, ...Asks[]]
      const ofAll = await reader.mayI(access)
      if (ofAll.state !== 'found' || ofAll.value) return undefined
      const names = [...new Set(ones.map(({ name }) => name))]
      const single = names.length > MOST_NAMES ? [] : names
      const answers = await Promise.all(single.map((name) => reader.mayI(byName(access, name))))
      const refused = names.filter((_, at) => {
        const answer = answers[at]
        return answer?.state !== 'found' || !answer.value
      })
      const { verb, group, resource, subresource, namespace } = access
      const whole = subresource === undefined ? resource : `${resource}/${subresource}`
      return refused.length === 0 ? undefined : { verb, group, resource: whole, namespace, names: refused }
    }),
  )
  return {
    caller: caller?.state === 'found' ? caller.value : '',
    forbidden: forbidden.filter((one) => one !== undefined),
    unread: reader.unseen,
  }
}
