/**
 * Whether taking a finalizer away, or the delete itself, would be accepted. On what is being deleted already it is tried by a dry run, which
 * every webhook, policy and rule judges and which changes nothing; of anything else, without the right to that, and with --no-dry-run it
 * is inferred from what webhooks and policies are there.
 */
import type { APIService, MutatingAdmissionPolicy } from '../../api/generated/types.ts'
import type { KubeObject } from '../../api/object.ts'
import type { Read } from '../cluster-reader.ts'
import { asTold } from './as-told.ts'
import { conditionsOf, isWhole, variablesOf } from './expressions.ts'
import { isKubernetes } from './failures.ts'
import { type Link, lastLink, type ObjectRef, type ServiceRef, verdictOf } from './finding.ts'
import { API_SERVICES, itemsOf, kubectlName, type Look, VALIDATING_POLICIES } from './look.ts'
import { asksForUser, policyAsksForUser, policyLinks } from './policies.ts'
import {
  deletionOf,
  isMatched,
  namespaceObjectOf,
  removalOf,
  updateOf,
  type WriteRequest,
  type WritingUser,
} from './rules.ts'
import { schemaLinks } from './schemas.ts'
import { serviceState } from './services.ts'
import { deadHooks, type Hook, hooksFor, readHooks, runningHooks } from './webhooks.ts'

/** What stands against a write, by what is configured: what is sure, and then what would have to be asked. */
export async function configuredLinks(look: Look, write: WriteRequest): Promise<readonly Link[]> {
  return [
    ...(await deadHooks(look, write)),
    ...(await policyLinks(look, write)),
    ...(await runningHooks(look, write)).map(({ name, configuration }) => {
      const what = `what webhook ${name} (${configuration}) says to the ${write.operation}`
      return lastLink('slow', { kind: 'unseen', what, why: 'it was not tried, for want of a dry run' }, true)
    }),
  ]
}

/**
 * Of a write that a controller of Kubernetes would have made at once and that has not come about: webhooks that are asked about it. Nothing
 * else is known to stand against it.
 */
export async function silentRefusals(look: Look, write: WriteRequest, since: string): Promise<readonly Link[]> {
  return (await runningHooks(look, write)).map(({ name, configuration }) => {
    const message = `it is asked about it, and ${kubectlName(write.ref)} is as it was since ${since}; what it says is not tried here: kubectl delete --dry-run=server`
    const named = { by: 'webhook', name, configuration, operation: write.operation } as const
    return lastLink('refused', { kind: 'admission-refuses', ...named, message }, true)
  })
}

/** The same of what is sure to refuse. */
export async function refusalLinks(look: Look, write: WriteRequest): Promise<readonly Link[]> {
  return (await configuredLinks(look, write)).filter((link) => 'verdict' in link && link.verdict === 'refused')
}

/** Links for what stands against taking this finalizer away; none when it would be accepted. */
export async function removalLinks(
  look: Look,
  ref: ObjectRef,
  object: KubeObject,
  finalizer: string,
  users: readonly WritingUser[],
): Promise<readonly Link[]> {
  const write = removalOf(ref, object, finalizer, users)
  const inferred = async () => [
    ...(await schemaLinks(look, write)),
    ...(await putBackPerhaps(look, write, finalizer)),
    ...(await configuredLinks(look, write)),
  ]
  const index = object.metadata.finalizers?.indexOf(finalizer) ?? -1
  if (index < 0 || !(await mayTry(look, ref, object))) return inferred()
  const path = `/metadata/finalizers/${index}`
  const tried = await look.reader.tryPatch(ref, ref.namespace, ref.name, [
    { op: 'test', path: '/metadata/uid', value: object.metadata.uid ?? '' },
    { op: 'test', path, value: finalizer },
    { op: 'remove', path },
  ])
  if (tried.state !== 'found') return answerLinks(look, tried, 'UPDATE', inferred)
  const isBack = tried.value.metadata.finalizers?.includes(finalizer) === true
  return isBack ? [await putBack(look, ref, object, finalizer)] : refusalsOfOthers(look, write)
}

/** What is accepted of the caller may be refused to the user that is to write: by policies that ask for the user. */
const refusalsOfOthers = async (look: Look, write: WriteRequest): Promise<readonly Link[]> =>
  write.users.length === 0
    ? []
    : (await policyLinks(look, write, asksForUser)).filter((link) => verdictOf(link) === 'refused')

/**
 * Links for what stands against the delete that ends an object which is being deleted already and that no finalizer holds: a kubelet's
 * last one, or that of a collector.
 */
export async function deletionLinks(
  look: Look,
  ref: ObjectRef,
  object: KubeObject,
  users: readonly WritingUser[],
): Promise<readonly Link[]> {
  const write = deletionOf(ref, object, users)
  const inferred = () => refusalLinks(look, write)
  if (!(await mayTry(look, ref, object))) return inferred()
  const tried = await look.reader.tryDelete(ref, ref.namespace, ref.name, object.metadata.uid ?? '')
  return tried.state === 'found' ? refusalsOfOthers(look, write) : answerLinks(look, tried, 'DELETE', inferred)
}

/** Only what is being deleted already is ever tried, and only where the API server itself sees to it that a dry run is one. */
const mayTry = async (look: Look, ref: ObjectRef, { metadata }: KubeObject): Promise<boolean> =>
  look.dryRun && metadata.deletionTimestamp !== undefined && !(await isServedElsewhere(look, ref))

async function answerLinks(
  look: Look,
  tried: Exclude<Read<KubeObject>, { state: 'found' }>,
  operation: Operation,
  inferred: () => Promise<readonly Link[]>,
): Promise<readonly Link[]> {
  switch (tried.state) {
    case 'missing':
    case 'not-asked':
      return []
    case 'forbidden':
      return inferred()
    case 'failed': {
      const { code } = tried
      const message = asTold(tried.message)
      // A webhook with side effects may not be tried; and what changes meanwhile says nothing.
      if (/does not support dry run/.test(message) || code === 0 || code === 409 || isPatchTest(message))
        return inferred()
      const refusal = await refusalIn(look, message, operation)
      // What a policy says to the caller it need not say to the user that is to write.
      const { cause } = refusal ?? {}
      if (cause?.kind === 'admission-refuses' && cause.by === 'policy' && (await policyAsksForUser(look, cause.name)))
        return inferred()
      return [refusal ?? refusedBy('server', '', operation, message)]
    }
  }
}

/**
 * Whether an aggregated API server answers for the group (API concept: API aggregation): it may know nothing of dry runs, and write. What cannot
 * be told is taken for one, unless the group is Kubernetes' own.
 */
async function isServedElsewhere({ reader }: Look, { group, version }: ObjectRef): Promise<boolean> {
  if (group === '') return false
  const read = await reader.get<APIService>(API_SERVICES, '', `${version}.${group}`)
  if (read.state !== 'found') return !isKubernetes(group)
  return read.value.spec?.service !== undefined && read.value.spec.service !== null
}

/** Whichever write it was that a controller tells of. */
const OWN_WRITE = 'write that its controller makes'

/** A test of the patch failed: the object is another by now. */
const isPatchTest = (message: string) =>
  /test failed|testing value|does not apply|the server rejected our request/i.test(message)

type Operation = 'UPDATE' | 'DELETE' | typeof OWN_WRITE

const refusedBy = (
  by: 'webhook' | 'policy' | 'server',
  name: string,
  operation: Operation,
  message: string,
  more: { readonly service?: ServiceRef; readonly configuration?: string } = {},
): Link => lastLink('refused', { kind: 'admission-refuses', by, name, operation, message, ...more })

/** The webhook or policy that an error's text names as what refused; undefined: it names none. */
export async function refusalIn(look: Look, message: string, operation: Operation): Promise<Link | undefined> {
  const hookName = (/failed calling webhook "([^"]+)"/.exec(message) ??
    /admission webhook "([^"]+)"/.exec(message))?.[1]
  if (hookName !== undefined) {
    const hook = (await readHooks(look)).find(({ name }) => name === hookName)
    if (hook === undefined) return refusedBy('webhook', hookName, operation, message)
    const { configuration, service: of } = hook
    if (of === undefined) return refusedBy('webhook', hookName, operation, message, { configuration })
    const service = await serviceState(look, of.namespace, of.name)
    return refusedBy('webhook', hookName, operation, message, { service, configuration })
  }
  const policy = /ValidatingAdmissionPolicy '([^']+)'/.exec(message)?.[1]
  return policy === undefined ? undefined : refusedBy('policy', policy, operation, message)
}

/**
 * Of a write that was not tried: what a controller quotes of a webhook or policy that is asked about it. `unknown`: those whose answer is not
 * known; `told`: what controllers complain of.
 */
export async function quotedRefusal(
  look: Look,
  unknown: readonly Link[],
  told: readonly Link[],
): Promise<{ readonly refusal: Link; readonly complaint: Link } | undefined> {
  for (const complaint of unknown.length === 0 ? [] : told) {
    const { cause } = complaint
    const quoted = cause.kind === 'controller-failing' ? await refusalIn(look, cause.message, 'UPDATE') : undefined
    const named = quoted?.cause.kind === 'admission-refuses' ? ` ${quoted.cause.name} ` : ''
    const isAsked = unknown.some((link) => link.cause.kind === 'unseen' && link.cause.what.includes(named))
    if (quoted !== undefined && isAsked) return { refusal: { ...quoted, inferred: true }, complaint }
  }
  return undefined
}

/**
 * What a controller quotes of a webhook that must answer and cannot, whichever write of the controller's it was about. It says no more than the
 * complaint, and stands beside it.
 */
export async function quotedDeadHook(
  look: Look,
  ref: ObjectRef,
  object: KubeObject,
  complaint: Link,
): Promise<Link | undefined> {
  const { cause } = complaint
  if (cause.kind !== 'controller-failing') return undefined
  const { cause: refusal } = (await refusalIn(look, cause.message, OWN_WRITE)) ?? {}
  if (refusal?.kind !== 'admission-refuses' || refusal.by !== 'webhook') return undefined
  const { service, name, configuration } = refusal
  if (service === undefined || service.problem === '') return undefined
  const isIt = (hook: Hook) => hook.name === name && hook.configuration === configuration
  // One that may be left out cannot have refused.
  if ((await readHooks(look)).find(isIt)?.failurePolicy !== 'Fail') return undefined
  const isAsked = (await hooksFor(look, updateOf(ref, object))).some(isIt)
  return lastLink('refused', isAsked ? refusal : { ...refusal, isElsewhere: true }, complaint.inferred)
}

/** The removal is accepted, and undone on its way: what mutates this object adds the finalizer again. */
async function putBack(look: Look, ref: ObjectRef, object: KubeObject, finalizer: string): Promise<Link> {
  const write = updateOf(ref, object)
  const hooks = (await hooksFor(look, write)).filter(({ isMutating }) => isMutating)
  const policies = await mutatingPolicies(look, write)
  const by = [
    ...hooks.map(({ name, configuration }) => `webhook ${name} (${configuration})`),
    ...policies.map(mutatorName),
  ]
  return lastLink('refused', { kind: 'put-back', finalizer, by })
}

/** MutatingAdmissionPolicies that are asked about a write, or may be. */
async function mutatingPolicies(look: Look, write: WriteRequest): Promise<readonly MutatingAdmissionPolicy[]> {
  const { reader, kinds } = look
  const resource = kinds.ofResource(VALIDATING_POLICIES.group, 'mutatingadmissionpolicies')
  if (resource === undefined) return []
  const found: MutatingAdmissionPolicy[] = []
  for (const policy of itemsOf(await reader.list<MutatingAdmissionPolicy>(resource))) {
    if (!(await isMatched(look, policy.spec?.matchConstraints ?? {}, write))) continue
    const variables = variablesOf(write, await namespaceObjectOf(look, write))
    if (conditionsOf(policy.spec ?? {}, variables, isWhole(write)) !== 'not asked') found.push(policy)
  }
  return found
}

const mutatorName = ({ metadata }: MutatingAdmissionPolicy) => `MutatingAdmissionPolicy ${metadata?.name}`

/** Policies whose mutations name the finalizer: without a dry run that is all that tells of its being put back. */
async function putBackPerhaps(look: Look, write: WriteRequest, finalizer: string): Promise<readonly Link[]> {
  const by = (await mutatingPolicies(look, write)).filter(({ spec }) =>
    JSON.stringify(spec?.mutations ?? []).includes(finalizer),
  )
  return by.length === 0 ? [] : [lastLink('refused', { kind: 'put-back', finalizer, by: by.map(mutatorName) }, true)]
}
