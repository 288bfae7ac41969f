/** Webhooks of admission: which are asked about a write, and which of these must answer and cannot. */
import type { ValidatingWebhookConfiguration } from '../../api/generated/types.ts'
import { conditionsOf, isWhole, variablesOf } from './expressions.ts'
import { type Link, lastLink } from './finding.ts'
import { itemsOf, type Look, MUTATING_WEBHOOKS, VALIDATING_WEBHOOKS } from './look.ts'
import { isSelected, type RuleSelectors, ruleMatches, type WhyRule, type WriteRequest } from './rules.ts'
import { serviceState } from './services.ts'

export interface Hook extends RuleSelectors {
  readonly configuration: string
  readonly name: string
  readonly isMutating: boolean
  readonly failurePolicy: string
  readonly matchPolicy: string | undefined
  readonly rules: readonly WhyRule[]
  readonly matchConditions: readonly { readonly expression: string }[]
  readonly service: { readonly namespace: string; readonly name: string } | undefined
}

export async function readHooks({ reader }: Look): Promise<readonly Hook[]> {
  const [validating, mutating] = await Promise.all(
    [VALIDATING_WEBHOOKS, MUTATING_WEBHOOKS].map((gvr) => reader.list<ValidatingWebhookConfiguration>(gvr)),
  )
  return [validating, mutating].flatMap((read, index) =>
    itemsOf(read ?? { state: 'missing', message: '' }).flatMap(({ metadata, webhooks }) =>
      (webhooks ?? []).map(
        ({
          name,
          failurePolicy,
          matchPolicy,
          rules,
          matchConditions,
          clientConfig,
          namespaceSelector,
          objectSelector,
        }): Hook => ({
          configuration: metadata.name ?? '',
          name,
          isMutating: index === 1,
          failurePolicy: failurePolicy ?? 'Fail',
          matchPolicy,
          rules: rules ?? [],
          matchConditions: matchConditions ?? [],
          service: clientConfig.service,
          ...(namespaceSelector === undefined ? {} : { namespaceSelector }),
          ...(objectSelector === undefined ? {} : { objectSelector }),
        }),
      ),
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

/** Those that are asked about a write, or may be: their conditions are not always known. */
export async function hooksFor(look: Look, write: WriteRequest): Promise<readonly Hook[]> {
  const found: Hook[] = []
  for (const hook of await readHooks(look)) {
    if (!ruleMatches(look, hook.rules, write, hook.matchPolicy) || !(await isSelected(look, hook, write))) continue
    const users = write.users.length === 0 ? [undefined] : write.users
    const answers = users.map((user) => conditionsOf(hook, variablesOf(write, undefined, user), isWhole(write)))
    if (answers.some((answer) => answer !== 'not asked')) found.push(hook)
  }
  return found
}

/** Webhooks that would be asked, must answer, and cannot. */
export async function deadHooks(look: Look, write: WriteRequest): Promise<readonly Link[]> {
  const links: Link[] = []
  for (const { configuration, name, service, failurePolicy } of await hooksFor(look, write)) {
    if (service === undefined || failurePolicy !== 'Fail') continue
    const state = await serviceState(look, service.namespace, service.name)
    if (state.problem === '') continue
    const { operation, subresource } = write
    const message = `it must answer (failurePolicy Fail), and its Service ${service.namespace}/${service.name} cannot: ${state.problem}`
    const named = { by: 'webhook', name, operation: operationWords(operation, subresource) } as const
    links.push(
      lastLink('refused', { kind: 'admission-refuses', ...named, message, service: state, configuration }, true),
    )
  }
  return links
}

/** Webhooks that would be asked, and as far as is known can answer. */
export async function runningHooks(look: Look, write: WriteRequest): Promise<readonly Hook[]> {
  const found: Hook[] = []
  for (const hook of await hooksFor(look, write)) {
    const { service } = hook
    const state = service === undefined ? undefined : await serviceState(look, service.namespace, service.name)
    if (state === undefined || state.problem === '') found.push(hook)
  }
  return found
}

/** `UPDATE`, or `UPDATE of its status`. */
export const operationWords = (operation: string, subresource: string): string =>
  subresource === '' ? operation : `${operation} of its ${subresource}`
