/**
 * Whether taking a finalizer away would be accepted. It is tried by a dry run, which every webhook, policy and rule judges and which
 * changes nothing; without the right to that (or with --no-dry-run) it is inferred from what webhooks and policies are there.
 */
import type {
  APIService,
  ValidatingAdmissionPolicy,
  ValidatingWebhookConfiguration,
} from '../../api/generated/types.ts'
import type { KubeObject } from '../../api/object.ts'
import { labelSelectorOf } from '../../api/objects/label-selector.ts'
import { isKubernetes } from './failures.ts'
import { type Link, lastLink, type ObjectRef, type ServiceRef } from './finding.ts'
import {
  API_SERVICES,
  foundOf,
  itemsOf,
  type Look,
  MUTATING_WEBHOOKS,
  NAMESPACES,
  VALIDATING_POLICIES,
  VALIDATING_WEBHOOKS,
} from './look.ts'
import { policyLinks } from './policies.ts'
import { ruleMatches, type WhyRule } from './rules.ts'
import { serviceState } from './services.ts'

interface Hook {
  readonly configuration: string
  readonly name: string
  readonly isMutating: boolean
  readonly failurePolicy: string
  readonly rules: readonly WhyRule[]
  readonly service: { readonly namespace: string; readonly name: string } | undefined
  matches(ref: ObjectRef, object: KubeObject, namespaceLabels: Readonly<Record<string, string>> | undefined): boolean
}

async function readHooks({ reader }: Look): Promise<readonly Hook[]> {
  const [validating, mutating] = await Promise.all(
    [VALIDATING_WEBHOOKS, MUTATING_WEBHOOKS].map((gvr) => reader.list<ValidatingWebhookConfiguration>(gvr)),
  )
  return [validating, mutating].flatMap((read, index) =>
    itemsOf(read ?? { state: 'missing', message: '' }).flatMap(({ metadata, webhooks }) =>
      (webhooks ?? []).map((hook): Hook => {
        const spaces = labelSelectorOf(hook.namespaceSelector ?? {})
        const objects = labelSelectorOf(hook.objectSelector ?? {})
        return {
          configuration: metadata.name ?? '',
          name: hook.name,
          isMutating: index === 1,
          failurePolicy: hook.failurePolicy ?? 'Fail',
          rules: hook.rules ?? [],
          service: hook.clientConfig.service,
          matches: (ref, object, labels) =>
            objects.matches(object.metadata.labels) && (ref.namespace === '' || spaces.matches(labels)),
        }
      }),
    ),
  )
}

/** Webhooks' Services that a rule names this group for. */
export async function webhooksOfGroup(look: Look, group: string) {
  const hooks = await readHooks(look)
  return hooks.flatMap(({ rules, service }) =>
    service !== undefined && rules.some(({ apiGroups }) => apiGroups?.includes(group)) ? [service] : [],
  )
}

async function hooksFor(look: Look, ref: ObjectRef, object: KubeObject, operation: string): Promise<readonly Hook[]> {
  const hooks = (await readHooks(look)).filter(({ rules }) => ruleMatches(rules, ref, operation))
  if (hooks.length === 0) return hooks
  const space = ref.namespace === '' ? undefined : foundOf(await look.reader.get(NAMESPACES, '', ref.namespace))
  return hooks.filter((hook) => hook.matches(ref, object, space?.metadata.labels))
}

/** Webhooks that would be asked, must answer, and cannot. */
export async function deadHooks(
  look: Look,
  ref: ObjectRef,
  object: KubeObject,
  operation: 'UPDATE' | 'DELETE',
): Promise<readonly Link[]> {
  const hooks = (await hooksFor(look, ref, object, operation)).filter(({ failurePolicy }) => failurePolicy === 'Fail')
  const links: Link[] = []
  for (const { configuration, name, service } of hooks) {
    if (service === undefined) continue
    const state = await serviceState(look, service.namespace, service.name)
    if (state.problem === '') continue
    links.push(
      lastLink(
        'refused',
        {
          kind: 'admission-refuses',
          by: 'webhook',
          name,
          operation,
          message: `it must answer (failurePolicy Fail), and its Service ${service.namespace}/${service.name} cannot: ${state.problem}`,
          service: state,
          configuration,
        },
        true,
      ),
    )
  }
  return links
}

/** Links for what stands against taking this finalizer away; none when it would be accepted. */
export async function removalLinks(
  look: Look,
  ref: ObjectRef,
  object: KubeObject,
  finalizer: string,
): Promise<readonly Link[]> {
  const inferred = async () => [
    ...(await deadHooks(look, ref, object, 'UPDATE')),
    ...(await policyLinks(look, ref, object, finalizer)),
  ]
  const index = object.metadata.finalizers?.indexOf(finalizer) ?? -1
  // Only what is being deleted already is ever tried, and only where the API server itself sees to it that a dry run is one.
  if (!look.dryRun || index < 0 || object.metadata.deletionTimestamp === undefined) return inferred()
  if (await isServedElsewhere(look, ref)) return inferred()
  const path = `/metadata/finalizers/${index}`
  const tried = await look.reader.tryPatch(ref, ref.namespace, ref.name, [
    { op: 'test', path: '/metadata/uid', value: object.metadata.uid ?? '' },
    { op: 'test', path, value: finalizer },
    { op: 'remove', path },
  ])
  switch (tried.state) {
    case 'found':
      return tried.value.metadata.finalizers?.includes(finalizer) === true
        ? [await putBack(look, ref, object, finalizer)]
        : []
    case 'missing':
    case 'not-asked':
      return []
    case 'forbidden':
      return inferred()
    case 'failed': {
      const { code, message } = tried
      // A webhook with side effects may not be tried; and what changes meanwhile says nothing.
      if (/does not support dry run/.test(message) || code === 0 || code === 409 || isPatchTest(message))
        return inferred()
      return [(await refusalIn(look, message, 'UPDATE')) ?? refusedBy('server', '', 'UPDATE', message)]
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

/** A test of the patch failed: the object is another by now. */
const isPatchTest = (message: string) =>
  /test failed|testing value|does not apply|the server rejected our request/i.test(message)

type Operation = 'UPDATE' | 'DELETE'

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

/** The removal is accepted, and undone on its way: what mutates this object adds the finalizer again. */
async function putBack(look: Look, ref: ObjectRef, object: KubeObject, finalizer: string): Promise<Link> {
  const hooks = (await hooksFor(look, ref, object, 'UPDATE')).filter(({ isMutating }) => isMutating)
  const policies = await mutatingPolicies(look, ref)
  const by = [...hooks.map(({ name, configuration }) => `webhook ${name} (${configuration})`), ...policies]
  return lastLink('refused', { kind: 'put-back', finalizer, by })
}

async function mutatingPolicies({ reader, kinds }: Look, ref: ObjectRef): Promise<readonly string[]> {
  const resource = kinds.ofResource(VALIDATING_POLICIES.group, 'mutatingadmissionpolicies')
  if (resource === undefined) return []
  return itemsOf(await reader.list<ValidatingAdmissionPolicy>(resource))
    .filter(({ spec }) => ruleMatches(spec?.matchConstraints?.resourceRules ?? [], ref, 'UPDATE'))
    .map(({ metadata }) => `MutatingAdmissionPolicy ${metadata.name}`)
}
