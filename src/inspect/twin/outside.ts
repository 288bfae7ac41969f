/** What of a cluster a twin does not have: servers that the source calls. None of them is called from a twin. */
import type {
  APIService,
  CustomResourceDefinition,
  MutatingWebhookConfiguration,
  ValidatingWebhookConfiguration,
} from '../../api/generated/types.ts'
import type { ReadCluster } from './read-cluster.ts'
import { listedItems } from './twin.ts'

export interface OutsideServer {
  readonly kind: 'validating webhook' | 'mutating webhook' | 'aggregated API' | 'conversion webhook'
  /** Of the object that names it. */
  readonly object: string
  /** Of webhooks: which of the object's. */
  readonly name: string
  /** `service NAMESPACE/NAME`, or a URL's host. */
  readonly server: string
  /** Of webhooks: a request is refused when it does not answer. */
  readonly mustAnswer: boolean
  /** Of admission webhooks: the requests that it is asked about. */
  readonly rules: readonly WebhookRule[]
}

export interface WebhookRule {
  readonly groups: readonly string[]
  readonly resources: readonly string[]
  readonly operations: readonly string[]
}

interface ClientConfig {
  readonly service?: { readonly namespace?: string; readonly name?: string }
  readonly url?: string
}

function serverOf({ service, url }: ClientConfig): string {
  if (service !== undefined) return `service ${service.namespace}/${service.name}`
  try {
    return new URL(url ?? '').host
  } catch {
    return 'an address that is none'
  }
}

export function outsideOf(read: ReadCluster): readonly OutsideServer[] {
  const admission = 'admissionregistration.k8s.io'
  const hooks = (kind: OutsideServer['kind'], resource: string) =>
    listedItems<ValidatingWebhookConfiguration & MutatingWebhookConfiguration>(read, admission, resource).flatMap(
      ({ metadata, webhooks = [] }) =>
        webhooks.map(
          ({ name, clientConfig, failurePolicy, rules = [] }): OutsideServer => ({
            kind,
            object: metadata.name ?? '',
            name,
            server: serverOf(clientConfig),
            mustAnswer: failurePolicy !== 'Ignore',
            rules: rules.map(({ apiGroups = [], resources = [], operations = [] }) => ({
              groups: apiGroups,
              resources,
              operations,
            })),
          }),
        ),
    )
  const apis = listedItems<APIService>(read, 'apiregistration.k8s.io', 'apiservices').flatMap(({ metadata, spec }) =>
    spec?.service === undefined || spec.service === null
      ? []
      : [
          {
            kind: 'aggregated API' as const,
            object: metadata.name ?? '',
            name: '',
            server: serverOf({ service: spec.service }),
            mustAnswer: true,
            rules: [],
          },
        ],
  )
  const conversions = listedItems<CustomResourceDefinition>(
    read,
    'apiextensions.k8s.io',
    'customresourcedefinitions',
  ).flatMap(({ metadata, spec }) =>
    spec.conversion?.strategy !== 'Webhook'
      ? []
      : [
          {
            kind: 'conversion webhook' as const,
            object: metadata.name ?? '',
            name: '',
            server: serverOf(spec.conversion.webhook?.clientConfig ?? {}),
            mustAnswer: true,
            rules: [],
          },
        ],
  )
  return [
    ...hooks('mutating webhook', 'mutatingwebhookconfigurations'),
    ...hooks('validating webhook', 'validatingwebhookconfigurations'),
    ...apis,
    ...conversions,
  ]
}

export const outsideWords = (servers: readonly OutsideServer[]): readonly string[] =>
  servers.map(
    ({ kind, object, name, server }) => `${kind} ${name === '' ? object : `${name} of ${object}`} (${server})`,
  )

/** Whether an admission webhook is asked about deletes of these objects. */
export function isAskedOnDelete({ rules }: OutsideServer, group: string, resource: string): boolean {
  const has = (list: readonly string[], one: string) => list.includes('*') || list.includes(one)
  return rules.some(
    ({ groups, resources, operations }) =>
      has(operations, 'DELETE') && has(groups, group) && (has(resources, resource) || resources.includes('*/*')),
  )
}
