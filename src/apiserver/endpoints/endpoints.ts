/**
 * endpoints: each row of the scheme compiled into one object, once per server: what handlers and the store ask of a resource
 * (registry/endpoint.ts). Made in two ways, from a row of the generated table and from one that a definition made. Wired by
 * the server; knows no requests.
 */
import type { CustomVersion, ResourceRow, Scheme } from '../../api/scheme/resource.ts'
import { customStrategy } from '../customresources/strategy.ts'
import type { WebhookConversion } from '../customresources/webhook.ts'
import type { ResourceEndpoint } from '../registry/endpoint.ts'
import { builtinStrategy, type Strategies } from '../registry/strategies/index.ts'
import { builtinVersions } from './builtin-versions.ts'
import { customVersions, type FormsOfDefinition } from './custom-versions.ts'

/** Made at the first request for the row, kept as long as the row. */
export function createEndpoints(
  scheme: Scheme,
  strategies: Strategies,
  webhook: WebhookConversion,
): (row: ResourceRow) => ResourceEndpoint {
  const made = new WeakMap<ResourceRow, ResourceEndpoint>()
  const forms = new WeakMap<CustomVersion['schemasOf'], FormsOfDefinition>()

  function formsOf({ schemasOf }: CustomVersion): FormsOfDefinition {
    let known = forms.get(schemasOf)
    if (known === undefined) {
      known = new Map()
      forms.set(schemasOf, known)
    }
    return known
  }

  function compile(row: ResourceRow): ResourceEndpoint {
    const { custom } = row
    if (custom !== undefined)
      return { row, strategy: customStrategy(row, custom), ...customVersions(row, custom, webhook, formsOf(custom)) }
    return {
      row,
      strategy: builtinStrategy(row, strategies),
      ...builtinVersions(row, scheme),
    }
  }

  return (row) => {
    let endpoint = made.get(row)
    if (endpoint === undefined) {
      endpoint = compile(row)
      made.set(row, endpoint)
    }
    return endpoint
  }
}
